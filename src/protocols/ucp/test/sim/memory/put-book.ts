import { SimulationFailure } from '../../../../../../test/sim/failure.js';
import { PART_BYTES } from './plan.js';

/** When something was asked for, as its worker counts. */
export interface Moment {
  /** Numbers of all that was asked for and has ended there, from 1 on. */
  readonly at: number;
  /** Fences that were before. */
  readonly fences: number;
}

interface Put extends Moment {
  readonly number: number;
  readonly from: number;
  readonly to: number;
  isCertain: boolean;
  /** When a flush has ended that was asked for later. */
  flushedAt: number;
}

interface Look extends Moment {
  readonly what: string;
  readonly offset: number;
  readonly bytes: Uint8Array;
  readonly endedAt: number;
  /** The last look at memory whose endpoint has failed: nothing is certain there. */
  readonly isBroken: boolean;
}

/** The bytes of a put: each place has another for each put. 0, of which there is one everywhere, is what was there in the beginning. */
export function bytesOfPut(number: number, offset: number, length: number): Uint8Array {
  return new Uint8Array(length).map((_, i) => byteOf(number, offset + i));
}

function byteOf(number: number, at: number): number {
  return number === 0 ? 0 : (number * 151 + at * 7 + (at >> 8) * 13) & 0xff;
}

/** What one user has put into its part of a memory, and what it has seen there: what was put last, as far as fences and flushes say what that is. */
export class PutBook {
  readonly #puts: Put[];
  readonly #looks: Look[] = [];

  constructor(private readonly name: string) {
    const [from, to] = [0, PART_BYTES];
    this.#puts = [{ number: 0, from, to, at: 0, fences: -1, isCertain: true, flushedAt: 0 }];
  }

  /** @returns what is told when it has ended well, and its bytes */
  put(moment: Moment, offset: number, length: number): { readonly bytes: Uint8Array; readonly done: () => void } {
    const number = this.#puts.length;
    const put = { ...moment, number, from: offset, to: offset + length, isCertain: false, flushedAt: Infinity };
    this.#puts.push(put);
    return { bytes: bytesOfPut(number, offset, length), done: () => void (put.isCertain = true) };
  }

  flushed(then: Moment, now: number): void {
    for (const put of this.#puts) if (put.at < then.at) put.flushedAt = Math.min(put.flushedAt, now);
  }

  got(look: Look): void {
    this.#looks.push(look);
  }

  verify(): void {
    for (const look of this.#looks) {
      const end = look.offset + look.bytes.length;
      const puts = this.#puts.filter(({ at, from, to }) => at < look.endedAt && from < end && to > look.offset);
      const borders = new Set([look.offset, end, ...puts.flatMap(({ from, to }) => [from, to])]);
      const within = [...borders].filter((border) => look.offset <= border && border <= end).sort((a, b) => a - b);
      for (const [i, from] of within.slice(0, -1).entries()) this.#verifyPiece(look, puts, from, within[i + 1]);
    }
  }

  /** Of which each byte is in the same puts. */
  #verifyPiece(look: Look, all: readonly Put[], from: number, to: number): void {
    const puts = all.filter((put) => put.from <= from && to <= put.to);
    const isOver = (put: Put): boolean =>
      !look.isBroken && puts.some((later) => later.isCertain && isBefore(put, later) && isBefore(later, look));
    const seen = puts.filter((put) => put.fences <= look.fences && !isOver(put)).map(({ number }) => number);
    for (let place = from; place < to; place += 1) {
      const byte = look.bytes[place - look.offset];
      if (!seen.some((number) => byteOf(number, place) === byte)) throw this.#wrong(look, place, byte, seen);
    }
  }

  #wrong({ what, bytes, offset }: Look, place: number, byte: number, seen: readonly number[]): SimulationFailure {
    const whose = `it is of the puts ${seen.join(', ')}`;
    return new SimulationFailure(
      `${this.name}: ${what} of ${bytes.length} bytes at ${offset} found ${byte} at ${place}, and ${whose}`,
    );
  }
}

/** Whether a put was done before something else began. */
function isBefore(put: Put, other: Moment): boolean {
  return put.fences < other.fences || put.flushedAt < other.at;
}
