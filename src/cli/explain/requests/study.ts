/** What was asked, how often each packet was sent, and what came back. */
import { OpcodeBit } from '../../../device/wire/index.js';
import type { Half } from '../captures/halves.js';
import { acknowledges, type Answer, AnswerKind, answerOf, greatest } from './answers.js';
import { type Asked, type Request, requestsOf } from './requests.js';
import type { Sightings } from '../captures/sightings.js';
import { has, psnOf, type Sighting } from '../captures/sighting.js';
import { psnDiff } from '../../../entry/index.js';

/** PSNs in the order in which they were used. */

/**
 * Counts packets from a first one on. PSNs begin again after 2^24 packets; what is asked about is therefore counted from
 * what the same file showed last.
 */
function places(first: Sighting): (sighting: Sighting) => number {
  const base = psnOf(first);
  const last = new Map<number, { psn: number; place: number }>();
  return (sighting) => {
    const psn = psnOf(sighting);
    const before = last.get(sighting.file) ?? { psn: base, place: 0 };
    const place = before.place + psnDiff(psn, before.psn);
    last.set(sighting.file, { psn, place });
    return place;
  };
}

/** A half of a connection, looked through. */
export interface Study {
  readonly half: Half;
  /** Whether there is a capture of each end, which shows what was sent and what arrived there. */
  readonly atRequester: boolean;
  readonly atResponder: boolean;
  readonly requests: readonly Request[];
  /** Answers that the requester got, or where it was not captured, that the responder sent. */
  readonly answers: readonly Answer[];
  /** Answers that the responder is known to have sent. */
  readonly given: readonly Answer[];
  /** The greatest place that an answer acknowledges; -1 when none does. */
  readonly acknowledged: number;
  /** Damaged packets of this half seen at either end as they arrived. */
  readonly damagedAtRequester: readonly Sighting[];
  readonly damagedAtResponder: readonly Sighting[];
}

function askedOf({ requests }: Half, atRequester: boolean): Asked[] {
  const byPlace = new Map<number, Asked>();
  const placeOf = places(requests[0]);
  for (const sighting of requests) {
    const { packet, direction } = sighting;
    const place = placeOf(sighting);
    let asked = byPlace.get(place);
    if (asked === undefined) {
      asked = { packet, place, sent: [], arrived: [] };
      byPlace.set(place, asked);
    }
    if (direction === 'in') asked.arrived.push(sighting);
    // Without a capture of the requester, packets seen elsewhere are all that is known of what was sent.
    if (atRequester && direction === 'in') continue;
    asked.sent.push(sighting);
  }
  return [...byPlace.values()].sort((a, b) => a.place - b.place);
}

export function study(half: Half, sightings: Sightings): Study {
  const atRequester = sightings.isVantage(half.requester);
  const atResponder = sightings.isVantage(half.responder);
  const at = (wanted: 'in' | 'out'): Answer[] => {
    const placeOf = places(half.requests[0]);
    return half.answers
      .filter(({ direction }) => direction === undefined || direction === wanted)
      .map((one) => answerOf(one, placeOf(one)));
  };
  const given = at('out');
  const answers = atRequester ? at('in') : given;
  const requests = requestsOf(askedOf(half, atRequester), answers);
  const end = requests.at(-1)?.last ?? 0;
  const reached = answers.map(acknowledges).filter((place) => place >= 0 && place <= end);
  const damagedAt = (address: string): Sighting[] =>
    half.damaged.filter(({ destination, direction }) => direction !== 'out' && destination === address);
  return {
    half,
    atRequester,
    atResponder,
    requests,
    answers,
    given,
    acknowledged: greatest([-1, ...reached]),
    damagedAtRequester: damagedAt(half.requester),
    damagedAtResponder: damagedAt(half.responder),
  };
}

/** When it was tried to have a request answered: each time that the packet that was sent most often was sent, or a rest. */
export function attemptsOf({ packets }: Request): readonly Sighting[] {
  if (packets.some(({ again }) => again)) return packets.flatMap(({ sent }) => sent).sort((a, b) => a.order - b.order);
  return packets.reduce((most, one) => (one.sent.length > most.sent.length ? one : most)).sent;
}

/** Whether a request is one that an acknowledgement does not answer: it waits for data. */
export const wantsData = ({ packets }: Request): boolean =>
  has(packets[0].packet, OpcodeBit.READ_REQUEST | OpcodeBit.ATOMIC | OpcodeBit.ATOMIC_WRITE | OpcodeBit.FLUSH);

/** When something was asked for the first time, for the last time. */
const newestFirst = (requests: readonly Request[]): number =>
  greatest(requests.map(({ packets }) => packets[0].sent[0]?.order ?? -1));

/** Whether the requester went on asking for new things though it had seen that something later was answered: then it lacked nothing. */
function contentWith({ last }: Request, triedLast: number, answers: readonly Answer[], newest: number): boolean {
  if (newest < triedLast) return false;
  return answers.some(
    ({ place, order, kind }) => kind === AnswerKind.DATA && place > last && order > triedLast && order < newest,
  );
}

/** The first request that has no answer. What acknowledges a READ without bringing its data does not answer it. */
export function firstPending({ requests, answers, acknowledged }: Study): Request | undefined {
  const ends = new Map<number, number>();
  const came = new Set<number>();
  const newest = newestFirst(requests);
  for (const { kind, ends: isEnd, place, order } of answers) {
    if (kind !== AnswerKind.DATA) continue;
    came.add(place);
    if (isEnd) ends.set(place, order);
  }
  return requests.find((request) => {
    const { first, last } = request;
    if (last > acknowledged) return true;
    if (!wantsData(request)) return false;
    // A capture may lack a packet that was there; who has its end, and asks no more, has it all.
    const triedLast = attemptsOf(request).at(-1)?.order ?? 0;
    if ((ends.get(last) ?? -1) > triedLast || contentWith(request, triedLast, answers, newest)) return false;
    for (let place = first; place <= last; place += 1) if (!came.has(place)) return true;
    return false;
  });
}
