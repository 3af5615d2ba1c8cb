/** What was asked, how often each packet was sent, and what came back. */
import { Direction, OpcodeBit } from '../../../device/wire/index.js';
import type { Half } from '../captures/halves.js';
import type { Sightings } from '../captures/sightings.js';
import { greatest, lowerBound } from '../numbers.js';
import { AnswerKind, Answers } from './answers.js';
import { Packets, placesOf } from './packets.js';
import { newestFirst, type Request, Requests } from './requests.js';

/** An answer seen this much before its request still answers it: captures of several queues are not in order. */
const DISORDER_US = 50;
const NOTHING = -(2 ** 31);

/** A half of a connection, looked through. */
export interface Study {
  readonly half: Half;
  readonly sightings: Sightings;
  /** Whether there is a capture of each end, which shows what was sent and what arrived there. */
  readonly atRequester: boolean;
  readonly atResponder: boolean;
  readonly requests: Requests;
  /** Answers that the requester got, or where it was not captured, that the responder sent. */
  readonly answers: Answers;
  /** Answers that the responder is known to have sent. */
  readonly given: Answers;
  /** What answers acknowledge of what was sent before them. */
  readonly reach: Reach;
  /** The greatest place that an answer acknowledges; -1 when none does. */
  readonly acknowledged: number;
  /** Rows of damaged packets of this half seen at either end as they arrived. */
  readonly damagedAtRequester: readonly number[];
  readonly damagedAtResponder: readonly number[];
}

/** Places that answers acknowledge, for questions about many moments. An answer acknowledges only what was sent before it. */
export class Reach {
  /** By answer: the greatest place that it or an earlier one acknowledges; that it or a later one does. */
  readonly #upTo: Int32Array;
  readonly #from: Int32Array;

  /**
   * @param sent rows of requests as they were sent
   * @param extents for each of them, the last place that it asks for
   */
  constructor(
    private readonly sightings: Sightings,
    private readonly answers: Answers,
    sent: Uint32Array,
    extents: Int32Array,
  ) {
    const n = answers.length;
    const own = new Int32Array(n);
    const end = greatest(extents);
    let next = 0;
    let greatestSent = NOTHING;
    for (let i = 0; i < n; i += 1) {
      const row = answers.rows[i];
      const us = sightings.timeUs(row) + DISORDER_US;
      while (next < sent.length && (sent[next] < row || sightings.timeUs(sent[next]) <= us)) {
        greatestSent = Math.max(greatestSent, extents[next]);
        next += 1;
      }
      const place = answers.acknowledges(i);
      own[i] = place <= end ? Math.min(place, greatestSent) : NOTHING;
    }
    this.#upTo = own.slice();
    this.#from = own;
    for (let i = 1; i < n; i += 1) this.#upTo[i] = Math.max(this.#upTo[i - 1], this.#upTo[i]);
    for (let i = n - 2; i >= 0; i -= 1) this.#from[i] = Math.max(this.#from[i + 1], this.#from[i]);
  }

  /** The greatest place that was acknowledged before a row. */
  before(row: number): number {
    const n = lowerBound(this.answers.rows, row);
    return n === 0 ? -Infinity : this.#upTo[n - 1];
  }

  /** The greatest place that an answer to what was sent at a row may acknowledge. */
  after(row: number): number {
    const { rows } = this.answers;
    const us = this.sightings.timeUs(row) - DISORDER_US;
    let n = lowerBound(rows, row);
    while (n > 0 && this.sightings.timeUs(rows[n - 1]) >= us) n -= 1;
    return n === rows.length ? -Infinity : this.#from[n];
  }

  /** The greatest place of all. */
  get all(): number {
    return this.#upTo.length === 0 ? -Infinity : this.#upTo[this.#upTo.length - 1];
  }
}

function select(sightings: Sightings, rows: Uint32Array, wanted: Direction): Uint32Array {
  const { table } = sightings;
  return rows.filter((row) => {
    const direction = table.direction(row);
    return direction === Direction.UNKNOWN || direction === wanted;
  });
}

function reachOf(sightings: Sightings, half: Half, requests: Requests, answers: Answers, atRequester: boolean): Reach {
  const { table } = sightings;
  const { packets } = requests;
  const extents = packets.places.slice();
  for (let i = 0; i < requests.length; i += 1) {
    const request = requests.at(i);
    if ((requests.bits(request) & OpcodeBit.READ_REQUEST) === 0) continue;
    for (let packet = request.begin; packet < request.end; packet += 1) extents[packet] = request.last;
  }
  const isSent = (row: number): boolean => !atRequester || table.direction(row) !== Direction.IN;
  const sent = half.requests.filter(isSent);
  const of = new Int32Array(sent.length);
  let n = 0;
  for (const [i, row] of half.requests.entries()) if (isSent(row)) of[n++] = extents[packets.numberOfRow[i]];
  return new Reach(sightings, answers, sent, of);
}

export function study(half: Half, sightings: Sightings): Study {
  const { table } = sightings;
  const atRequester = sightings.isVantage(half.requester);
  const atResponder = sightings.isVantage(half.responder);
  const at = (wanted: Direction): Answers => {
    const rows = select(sightings, half.answers, wanted);
    return new Answers(sightings, rows, placesOf(sightings, table.psn(half.requests[0]), rows));
  };
  const given = at(Direction.OUT);
  const answers = atRequester ? at(Direction.IN) : given;
  const requests = new Requests(sightings, new Packets(sightings, half, atRequester), answers);
  const reach = reachOf(sightings, half, requests, answers, atRequester);
  const damagedAt = (address: string): number[] =>
    half.damaged.filter((row) => table.direction(row) !== Direction.OUT && sightings.destination(row) === address);
  return {
    half,
    sightings,
    atRequester,
    atResponder,
    requests,
    answers,
    given,
    reach,
    acknowledged: Math.max(-1, reach.all),
    damagedAtRequester: damagedAt(half.requester),
    damagedAtResponder: damagedAt(half.responder),
  };
}

/** When it was tried to have a request answered: each time that the packet that was sent most often was sent, or a rest. */
export function attemptsOf(requests: Requests, request: Request): readonly number[] {
  const { sent } = requests.packets;
  if (requests.hasAgain(request)) {
    const rows: number[] = [];
    for (let packet = request.begin; packet < request.end; packet += 1) rows.push(...sent.of(packet));
    return rows.sort((a, b) => a - b);
  }
  let most = request.begin;
  for (let packet = request.begin; packet < request.end; packet += 1)
    if (sent.count(packet) > sent.count(most)) most = packet;
  return sent.of(most);
}

/** Whether a request is one that an acknowledgement does not answer: it waits for data. */
export const wantsData = (requests: Requests, request: Request): boolean => (requests.bits(request) & WITH_DATA) !== 0;

const WITH_DATA = OpcodeBit.READ_REQUEST | OpcodeBit.ATOMIC | OpcodeBit.ATOMIC_WRITE | OpcodeBit.FLUSH;

/** What data came, for questions about requests that wait for some. */
class Data {
  readonly #came = new Set<number>();
  /** By place: the last row that ends a READ there. */
  readonly #ends = new Map<number, number>();
  /** Rows of data before the newest request, and the greatest place of each or a later one. */
  readonly #rows: number[] = [];
  readonly #places: number[] = [];

  constructor({ answers }: Study, newest: number) {
    for (let i = 0; i < answers.length; i += 1) {
      if (answers.kind(i) !== AnswerKind.DATA) continue;
      const place = answers.places[i];
      const row = answers.rows[i];
      this.#came.add(place);
      if (answers.ends(i)) this.#ends.set(place, row);
      if (row >= newest) continue;
      this.#rows.push(row);
      this.#places.push(place);
    }
    for (let i = this.#places.length - 2; i >= 0; i -= 1)
      this.#places[i] = Math.max(this.#places[i], this.#places[i + 1]);
  }

  hasAll({ first, last }: Request): boolean {
    for (let place = first; place <= last; place += 1) if (!this.#came.has(place)) return false;
    return true;
  }

  endedAfter({ last }: Request, row: number): boolean {
    return (this.#ends.get(last) ?? -1) > row;
  }

  /** Whether data of something later came after a row, and something new was asked for after that. */
  wentOn({ last }: Request, row: number): boolean {
    const n = lowerBound(this.#rows, row + 1);
    return n < this.#rows.length && this.#places[n] > last;
  }
}

/** The first request that has no answer. What acknowledges a READ without bringing its data does not answer it. */
export function firstPending(study: Study): Request | undefined {
  const { requests, reach } = study;
  const newest = newestFirst(requests);
  let data: Data | undefined;
  for (const request of requests) {
    const sentAt = requests.packets.sent.first(request.end - 1);
    if (request.last > reach.after(Math.max(0, sentAt))) return request;
    if (!wantsData(requests, request)) continue;
    data ??= new Data(study, newest);
    if (data.hasAll(request)) continue;
    // A capture may lack a packet that was there; who has its end, and asks no more, has it all.
    const triedLast = attemptsOf(requests, request).at(-1) ?? 0;
    if (data.endedAfter(request, triedLast)) continue;
    // A requester that asked for new things, though it had seen that something later was answered, lacked nothing.
    if (newest >= triedLast && data.wentOn(request, triedLast)) continue;
    return request;
  }
  return undefined;
}
