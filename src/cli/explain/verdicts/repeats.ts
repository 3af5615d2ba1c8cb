/** What made the requester send something once more, as far as a capture shows. */
import { NakCode } from '../../../device/wire/index.js';
import type { Asked, Request } from '../requests/requests.js';
import type { Sighting } from '../captures/sighting.js';
import { type Study, wantsData } from '../requests/study.js';
import { acknowledges, type Answer, AnswerKind, lowerBound } from '../requests/answers.js';

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
  readonly asked: Asked;
  readonly sighting: Sighting;
  readonly why: Why;
  /** It came by without a difference, nothing shows why, and not at the requester for certain: it may be a copy that the way has made. */
  readonly mayBeCopy: boolean;
}

interface Sorted {
  readonly answers: readonly Answer[];
  readonly orders: readonly number[];
}

const sorted = (answers: readonly Answer[]): Sorted => ({ answers, orders: answers.map(({ order }) => order) });

/** A NAK that asks for packets which are missing, and refuses nothing. */
export const isSequenceNak = ({ kind, code }: Answer): boolean =>
  kind === AnswerKind.REFUSAL && code === NakCode.PSN_SEQUENCE_ERROR;

/** What answers had been there when, for questions about many moments. */
class Before {
  readonly #orders: number[];
  /** The greatest place that is acknowledged by then. */
  readonly #reached: number[] = [];
  readonly #came = new Map<number, number>();
  readonly #naks: Sorted;
  readonly #waits: Sorted;

  constructor(answers: readonly Answer[]) {
    this.#orders = answers.map(({ order }) => order);
    let reached = -Infinity;
    for (const answer of answers) {
      reached = Math.max(reached, acknowledges(answer));
      this.#reached.push(reached);
      if (answer.kind === AnswerKind.DATA && !this.#came.has(answer.place)) this.#came.set(answer.place, answer.order);
    }
    this.#naks = sorted(answers.filter(isSequenceNak));
    this.#waits = sorted(answers.filter(({ kind }) => kind === AnswerKind.NOT_READY));
  }

  reached(order: number): number {
    const n = lowerBound(this.#orders, order);
    return n === 0 ? -Infinity : this.#reached[n - 1];
  }

  came(place: number, order: number): boolean {
    return (this.#came.get(place) ?? Infinity) < order;
  }

  nak(place: number, from: number, to: number): boolean {
    return Before.#any(this.#naks, place, from, to);
  }

  notReady(place: number, from: number, to: number): boolean {
    return Before.#any(this.#waits, place, from, to);
  }

  /** Whether one of a place or before it came between two moments. */
  static #any({ answers, orders }: Sorted, place: number, from: number, to: number): boolean {
    for (let i = lowerBound(orders, from); i < orders.length && orders[i] < to; i += 1)
      if (answers[i].place <= place) return true;
    return false;
  }
}

function whyOf(request: Request, { place, again }: Asked, now: Sighting, last: Sighting, before: Before): Why {
  if (before.nak(place, last.order, now.order)) return Why.NAK;
  if (before.notReady(place, last.order, now.order)) return Why.NOT_READY;
  const reached = before.reached(now.order);
  const answered = wantsData(request) ? before.came(place, now.order) : reached >= place;
  if (answered) return Why.ANSWERED;
  if (reached > place) return Why.PASSED;
  if (again) return Why.REST;
  return now.packet.bth.ackRequest && !last.packet.bth.ackRequest ? Why.QUESTION : Why.NOTHING;
}

/** What a copy that the way has made of a packet looks like as well. */
const LIKE_COPIES: ReadonlySet<Why> = new Set([Why.ANSWERED, Why.NOTHING]);

/** Every time that something was sent again, in the order in which that was. */
export function repeatsOf({ requests, answers, atRequester }: Study): Repeat[] {
  const before = new Before(answers);
  const repeats: Repeat[] = [];
  for (const request of requests) {
    const [{ sent: firstSent }] = request.packets;
    for (const asked of request.packets) {
      const { sent, again } = asked;
      for (let i = again ? 0 : 1; i < sent.length; i += 1) {
        const sighting = sent[i];
        const last = i > 0 ? sent[i - 1] : (firstSent.findLast(({ order }) => order < sighting.order) ?? sighting);
        const why = whyOf(request, asked, sighting, last, before);
        const onTheWay = !atRequester || sighting.placed;
        const isAlike = sent.some(({ order, icrc }) => order < sighting.order && icrc === sighting.icrc);
        repeats.push({ asked, sighting, why, mayBeCopy: onTheWay && isAlike && LIKE_COPIES.has(why) });
      }
    }
  }
  return repeats.sort((a, b) => a.sighting.order - b.sighting.order);
}
