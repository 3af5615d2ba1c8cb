/** What came back: acknowledgements, refusals, data. */
import { Aeth, OpcodeBit } from '../../../device/wire/index.js';
import { has, type Sighting } from '../captures/sighting.js';

export const AnswerKind = { ACK: 'ACK', NOT_READY: 'RNR NAK', REFUSAL: 'NAK', DATA: 'response' } as const;
export type AnswerKind = (typeof AnswerKind)[keyof typeof AnswerKind];

export interface Answer {
  readonly kind: AnswerKind;
  /** The RNR timer's code, or that of a NAK. */
  readonly code: number;
  readonly place: number;
  readonly psn: number;
  readonly payloadBytes: number;
  /** Of a response: whether a READ ends with it. */
  readonly ends: boolean;
  readonly timeUs: number;
  readonly order: number;
  /** What the capture of the responder says beside it: why, where that was one of ours and refused. */
  readonly comment: string | undefined;
}

export function answerOf({ packet, timeUs, order, comment }: Sighting, place: number): Answer {
  const { psn } = packet.bth;
  const ends = has(packet, OpcodeBit.LAST | OpcodeBit.ONLY);
  const at = { place, psn, payloadBytes: packet.payloadBytes, ends, timeUs, order, comment };
  const { syndrome = 0 } = packet.aeth ?? {};
  const code = syndrome & Aeth.VALUE_MASK;
  switch (syndrome & Aeth.KIND_MASK) {
    case Aeth.NAK:
      return { ...at, kind: AnswerKind.REFUSAL, code };
    case Aeth.RNR_NAK:
      return { ...at, kind: AnswerKind.NOT_READY, code };
    default:
      return { ...at, kind: has(packet, OpcodeBit.ACK) ? AnswerKind.ACK : AnswerKind.DATA, code: 0 };
  }
}

/** What an answer acknowledges: all that came before it, and itself if it is no refusal and the end of what was asked for. */
export function acknowledges({ kind, place }: Answer): number {
  return kind === AnswerKind.ACK || kind === AnswerKind.DATA ? place : place - 1;
}

/** Lists of numbers, which may be as long as a capture. */

/** Of nothing -Infinity, as Math.max has it, which cannot be asked about as many numbers as a capture has packets. */
export const greatest = (numbers: readonly number[]): number =>
  numbers.reduce((most, number) => (number > most ? number : most), -Infinity);

/** Where the first of some sorted numbers stands that is not less than one. */
export function lowerBound(sorted: readonly number[], least: number): number {
  let [from, to] = [0, sorted.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (sorted[middle] < least) from = middle + 1;
    else to = middle;
  }
  return from;
}
