import type { IomapEntry } from '../wire/message.js';
import type { Span } from '../wire/connection-data.js';
import { spanProblem } from './outgoing.js';

const OFFSETS = 2n ** 64n;

/** An entry that is to be written to the peer's table. */
export interface Announcement {
  readonly index: number;
  readonly entry: IomapEntry;
}

/** Buffers of this end that the peer may write to: which entry of the peer's table each has, and what the peer does not know yet. */
export class Offers {
  readonly #taken = new Set<number>();
  readonly #pending: Announcement[] = [];

  /** @param size entries of the peer's table */
  constructor(private readonly size: number) {}

  /** What the peer is to be told next. */
  get next(): Announcement | undefined {
    return this.#pending[0];
  }

  /** @returns which entry it has; undefined when none is free */
  add(entry: IomapEntry): number | undefined {
    let index = 0;
    while (this.#taken.has(index)) index += 1;
    if (index >= this.size) return undefined;
    this.#taken.add(index);
    this.#pending.push({ index, entry });
    return index;
  }

  /** The peer may write there no longer, which C's rsockets do not say: an entry of no bytes is one that nothing fits. */
  remove(index: number): void {
    this.#taken.delete(index);
    this.#pending.push({ index, entry: { offset: 0n, span: { addr: 0n, key: 0, length: 0 } } });
  }

  /** The peer is told of {@link next}. */
  told(): void {
    this.#pending.shift();
  }
}

/** Buffers of the peer that this end may write to. What the peer has told of each is kept here: it can write its table whenever it likes. */
export class Mapped {
  readonly #entries = new Map<number, IomapEntry>();

  /** An entry was written. @returns why it cannot be */
  set(index: number, entry: IomapEntry): string | undefined {
    const { offset, span } = entry;
    if (span.length === 0) {
      this.#entries.delete(index);
      return undefined;
    }
    const problem = spanProblem(span);
    if (problem !== undefined) return `it maps ${problem}`;
    if (offset + BigInt(span.length) > OFFSETS) return 'it maps a buffer at offsets beyond 64 bits';
    this.#entries.set(index, entry);
    return undefined;
  }

  /** The memory from an offset to the end of the buffer that is mapped there; undefined when none is. */
  find(offset: bigint): Span | undefined {
    for (const { offset: begin, span } of this.#entries.values()) {
      const within = offset - begin;
      if (within < 0n || within >= BigInt(span.length)) continue;
      return { addr: span.addr + within, key: span.key, length: span.length - Number(within) };
    }
    return undefined;
  }
}
