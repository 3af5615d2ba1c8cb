/** What made the requester send something once more, as far as a capture shows. */
import { NakCode, PacketBit } from '../../../device/wire/index.js';
import { lowerBound } from '../numbers.js';
import { type Answer, AnswerKind, type Answers } from '../requests/answers.js';
import type { Request } from '../requests/requests.js';
import { type Study, wantsData } from '../requests/study.js';

export const Why = {
  /** A NAK asked for it, or for something before it. */
  NAK: 'nak',
  /** The peer was not ready before. */
  NOT_READY: 'not-ready',
  /** It asks for the end of what a READ had asked for. */
  REST: 'rest',
  /** What was asked for later had been answered already. */
  PASSED: 'passed',
  /** It asks for an acknowledgement, which it had not done before. */
  QUESTION: 'question',
  ANSWERED: 'answered',
  NOTHING: 'nothing',
} as const;
export type Why = (typeof Why)[keyof typeof Why];

/** A packet that was sent though it, or what it asks for, had been sent before. */
export interface Repeat {
  /** The packet's number among the half's packets. */
  readonly packet: number;
  readonly row: number;
  readonly why: Why;
  /** It came by without a difference, nothing shows why, and not at the requester for certain: it may be a copy that the way has made. */
  readonly mayBeCopy: boolean;
}

/** A NAK that asks for packets which are missing, and refuses nothing. */
export const isSequenceNak = ({ kind, code }: Answer): boolean =>
  kind === AnswerKind.REFUSAL && code === NakCode.PSN_SEQUENCE_ERROR;

/** Answers of one kind: their rows and places. */
interface Sorted {
  readonly rows: number[];
  readonly places: number[];
}

/** What answers had been there when, for questions about many moments. */
class Before {
  readonly #came = new Map<number, number>();
  readonly #naks: Sorted = { rows: [], places: [] };
  readonly #waits: Sorted = { rows: [], places: [] };

  constructor(answers: Answers) {
    for (let i = 0; i < answers.length; i += 1) {
      const kind = answers.kind(i);
      if (kind === AnswerKind.ACK) continue;
      const row = answers.rows[i];
      const place = answers.places[i];
      if (kind === AnswerKind.DATA) {
        if (!this.#came.has(place)) this.#came.set(place, row);
        continue;
      }
      const list = kind === AnswerKind.NOT_READY ? this.#waits : isSequenceNak(answers.at(i)) ? this.#naks : undefined;
      list?.rows.push(row);
      list?.places.push(place);
    }
  }

  came(place: number, row: number): boolean {
    return (this.#came.get(place) ?? Infinity) < row;
  }

  nak(place: number, from: number, to: number): boolean {
    return Before.#any(this.#naks, place, from, to);
  }

  notReady(place: number, from: number, to: number): boolean {
    return Before.#any(this.#waits, place, from, to);
  }

  /** Whether one of a place or before it came between two rows. */
  static #any({ rows, places }: Sorted, place: number, from: number, to: number): boolean {
    for (let i = lowerBound(rows, from); i < rows.length && rows[i] < to; i += 1) if (places[i] <= place) return true;
    return false;
  }
}

/** What a copy that the way has made of a packet looks like as well. */
const LIKE_COPIES: ReadonlySet<Why> = new Set([Why.ANSWERED, Why.NOTHING]);

/** Every time that something was sent again, in the order in which that was. */
export function repeatsOf(study: Study): Repeat[] {
  const { requests, sightings, atRequester, reach } = study;
  const { packets } = requests;
  const { table } = sightings;
  let before: Before | undefined;
  const whyOf = (request: Request, packet: number, now: number, last: number): Why => {
    before ??= new Before(study.answers);
    const place = packets.places[packet];
    if (before.nak(place, last, now)) return Why.NAK;
    if (before.notReady(place, last, now)) return Why.NOT_READY;
    const reached = reach.before(now);
    if (wantsData(requests, request) ? before.came(place, now) : reached >= place) return Why.ANSWERED;
    if (reached > place) return Why.PASSED;
    if (requests.isAgain(packet)) return Why.REST;
    const asks = (row: number): boolean => (table.bits(row) & PacketBit.ACK_REQUEST) !== 0;
    return asks(now) && !asks(last) ? Why.QUESTION : Why.NOTHING;
  };
  const repeats: Repeat[] = [];
  for (let packet = 0; packet < packets.length; packet += 1) {
    const isAgain = requests.isAgain(packet);
    if (packets.sent.count(packet) < (isAgain ? 1 : 2)) continue;
    const request = requests.at(requests.indexOfPacket(packet));
    const sent = packets.sent.of(packet);
    for (let i = isAgain ? 0 : 1; i < sent.length; i += 1) {
      const row = sent[i];
      const last = i > 0 ? sent[i - 1] : (packets.sent.of(request.begin).findLast((one) => one < row) ?? row);
      const why = whyOf(request, packet, row, last);
      const onTheWay = !atRequester || sightings.isPlaced(row);
      const mayBeCopy =
        onTheWay && LIKE_COPIES.has(why) && sent.some((other) => other < row && table.icrc(other) === table.icrc(row));
      repeats.push({ packet, row, why, mayBeCopy });
    }
  }
  return repeats.sort((a, b) => a.row - b.row);
}
