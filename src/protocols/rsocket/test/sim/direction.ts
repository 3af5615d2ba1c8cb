import { SeededRandom } from '../../../../device/link/index.js';
import { check, SimulationFailure } from '../../../../../test/sim/failure.js';

/** A prime: what is repeated, left out or moved by any power of two is something else. */
const PERIOD = 65_521;
const words = Uint32Array.from({ length: Math.ceil((2 * PERIOD) / 4) }, new SeededRandom(7).u32);
const once = new Uint8Array(words.buffer, 0, PERIOD);
/** Twice the same, so that any part as long as a period lies in one piece. */
const PATTERN = new Uint8Array(2 * PERIOD);
PATTERN.set(once);
PATTERN.set(once, PERIOD);

/** One direction of a stream: what was written, and how much of that was read. */
export class Direction {
  /** Bytes that `write` has taken. */
  taken = 0;
  /** Bytes that were read. */
  read = 0;
  readonly #start: number;

  constructor(
    private readonly name: string,
    number: number,
  ) {
    this.#start = (number * 7919) % PERIOD;
  }

  next(length: number): Uint8Array {
    if (length <= PERIOD) return this.#at(this.taken, length);
    const bytes = new Uint8Array(length);
    for (let done = 0; done < length; done += PERIOD)
      bytes.set(this.#at(this.taken, Math.min(PERIOD, length - done)), done);
    return bytes;
  }

  /** @throws SimulationFailure when these are not the next bytes */
  reads(bytes: Uint8Array): void {
    for (let done = 0; done < bytes.length;) {
      const part = bytes.subarray(done, done + PERIOD);
      const expected = this.#at(this.read, part.length);
      if (Buffer.compare(part, expected) !== 0) this.#wrong(part, expected);
      done += part.length;
      this.read += part.length;
    }
    check(
      this.read <= this.taken,
      () => `${this.name}: ${this.read} bytes were read of ${this.taken} that were written`,
    );
  }

  #at(position: number, length: number): Uint8Array {
    const start = (this.#start + position) % PERIOD;
    return PATTERN.subarray(start, start + length);
  }

  #wrong(part: Uint8Array, expected: Uint8Array): never {
    const at = part.findIndex((byte, i) => byte !== expected[i]);
    throw new SimulationFailure(`${this.name}: byte ${this.read + at} was read as ${part[at]}, and is ${expected[at]}`);
  }
}
