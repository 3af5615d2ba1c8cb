import type { SeededRandom } from '../../src/device/link/index.js';
import type { TestMr } from '../../src/device/nic/test/host.js';
import type { Sge } from '../../src/device/nic/test/rings.js';

/** A stretch of a region, and the pieces of it that a request names. */
export interface Stretch {
  readonly offset: number;
  readonly length: number;
  /** Where the data lies within the region, in order. */
  readonly pieces: readonly Piece[];
}

export interface Piece {
  readonly offset: number;
  readonly length: number;
}

/** Memory that is handed out and given back first in, first out, beside a copy of what it should hold. */
export class Space {
  readonly model: Uint8Array;
  #head = 0;
  #used = 0;

  constructor(readonly mr: TestMr) {
    this.model = mr.bytes.slice();
  }

  /** Room for `length` bytes in up to `maxPieces` pieces with gaps between; undefined when there is none now. */
  take(random: SeededRandom, length: number, maxPieces: number): Stretch | undefined {
    const lengths = split(random, length, maxPieces);
    const gaps = lengths.map(() => (random.chance(0.5) ? 0 : random.below(6)));
    const total = length + gaps.reduce((sum, gap) => sum + gap, 0);
    const size = this.mr.length;
    const begin = this.#head + total > size ? size : this.#head;
    const skipped = begin - this.#head;
    if (this.#used + skipped + total > size) return undefined;
    const offset = begin % size;
    let at = offset;
    const pieces = lengths.map((pieceLength, i) => {
      const piece = { offset: at, length: pieceLength };
      at += pieceLength + gaps[i];
      return piece;
    });
    this.#head = (offset + total) % size;
    this.#used += skipped + total;
    return { offset, length: skipped + total, pieces };
  }

  release(stretch: Stretch): void {
    this.#used -= stretch.length;
    if (this.#used === 0) this.#head = 0;
  }

  sges({ pieces }: Stretch): Sge[] {
    return pieces.map(({ offset, length }) => this.mr.sge(offset, length));
  }

  /** Notes that the pieces now hold `content`, as far as it goes. */
  expect({ pieces }: Stretch, content: Uint8Array): void {
    let done = 0;
    for (const { offset, length } of pieces) {
      const part = content.subarray(done, done + length);
      this.model.set(part, offset);
      done += part.length;
    }
  }

  gather({ pieces }: Stretch, length: number): Uint8Array {
    const result = new Uint8Array(length);
    let done = 0;
    for (const piece of pieces) {
      const part = this.mr.bytes.subarray(piece.offset, piece.offset + Math.min(piece.length, length - done));
      result.set(part, done);
      done += part.length;
    }
    return result;
  }

  /** Offset of the first byte that is not as it should be, or -1. */
  firstDifference(): number {
    return Buffer.compare(this.mr.bytes, this.model) === 0
      ? -1
      : this.mr.bytes.findIndex((byte, i) => byte !== this.model[i]);
  }
}

/** Cuts a length into 1 to `maxPieces` parts, some of which may be empty. */
export function split(random: SeededRandom, length: number, maxPieces: number): number[] {
  const count = random.between(1, maxPieces);
  const cuts = Array.from({ length: count - 1 }, () => random.between(0, length)).sort((x, y) => x - y);
  return [...cuts, length].map((cut, i) => cut - (i === 0 ? 0 : cuts[i - 1]));
}
