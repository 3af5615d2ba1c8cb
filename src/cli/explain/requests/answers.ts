/** What came back: acknowledgements, refusals, data. */
import { Aeth, OpcodeBit, opcodeBits } from '../../../device/wire/index.js';
import type { Sightings } from '../captures/sightings.js';

/** What an answer says. */
export const AnswerKind = { ACK: 'ACK', NOT_READY: 'RNR NAK', REFUSAL: 'NAK', DATA: 'response' } as const;
export type AnswerKind = (typeof AnswerKind)[keyof typeof AnswerKind];

/** An answer, made when somebody asks for it. */
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
  readonly row: number;
}

/** What an answer acknowledges: all that came before it, and itself if it is no refusal and the end of what was asked for. */
export function acknowledges({ kind, place }: Answer): number {
  return kind === AnswerKind.ACK || kind === AnswerKind.DATA ? place : place - 1;
}

/** Shift of a syndrome in the 32 bits of an AETH. */
const SYNDROME_UNIT = 0x1000000;

/** Answers in the order in which they were seen. */
export class Answers {
  constructor(
    private readonly sightings: Sightings,
    readonly rows: Uint32Array,
    /** Counted as those of requests. */
    readonly places: Int32Array,
  ) {}

  get length(): number {
    return this.rows.length;
  }

  at(i: number): Answer {
    const { table } = this.sightings;
    const row = this.rows[i];
    return {
      kind: this.kind(i),
      code: this.#syndrome(i) & Aeth.VALUE_MASK,
      place: this.places[i],
      psn: table.psn(row),
      payloadBytes: table.payloadBytes(row),
      ends: this.ends(i),
      timeUs: this.sightings.timeUs(row),
      row,
    };
  }

  kind(i: number): AnswerKind {
    switch (this.#syndrome(i) & Aeth.KIND_MASK) {
      case Aeth.NAK:
        return AnswerKind.REFUSAL;
      case Aeth.RNR_NAK:
        return AnswerKind.NOT_READY;
      default:
        return (this.#bits(i) & OpcodeBit.ACK) === 0 ? AnswerKind.DATA : AnswerKind.ACK;
    }
  }

  ends(i: number): boolean {
    return (this.#bits(i) & (OpcodeBit.LAST | OpcodeBit.ONLY)) !== 0;
  }

  /** What {@link acknowledges} says. */
  acknowledges(i: number): number {
    const kind = this.kind(i);
    return kind === AnswerKind.ACK || kind === AnswerKind.DATA ? this.places[i] : this.places[i] - 1;
  }

  *[Symbol.iterator](): Generator<Answer, void, undefined> {
    for (let i = 0; i < this.length; i += 1) yield this.at(i);
  }

  some(is: (answer: Answer) => boolean): boolean {
    return this.find(is) !== undefined;
  }

  find(is: (answer: Answer) => boolean): Answer | undefined {
    for (const answer of this) if (is(answer)) return answer;
    return undefined;
  }

  findLast(is: (answer: Answer) => boolean): Answer | undefined {
    for (let i = this.length - 1; i >= 0; i -= 1) {
      const answer = this.at(i);
      if (is(answer)) return answer;
    }
    return undefined;
  }

  count(is: (answer: Answer) => boolean): number {
    let n = 0;
    for (const answer of this) if (is(answer)) n += 1;
    return n;
  }

  #bits(i: number): number {
    return opcodeBits[this.sightings.table.opcode(this.rows[i])];
  }

  #syndrome(i: number): number {
    const aeth = this.sightings.table.aeth(this.rows[i]);
    return aeth < 0 ? 0 : Math.floor(aeth / SYNDROME_UNIT);
  }
}
