import { someMemory } from '../support/memory.js';

/** Bytes that were changed in a row. */
export interface Change {
  readonly at: number;
  readonly before: Uint8Array;
  readonly after: Uint8Array;
}

interface Logged extends Change {
  readonly tick: number;
}

/** How far apart two changed bytes may be to be told of together. */
const GAP_BYTES = 8;

/**
 * The memory of one host, all of which is looked at after every step: what is registered, what is not, and what lies between.
 * It remembers each value that each byte was ever seen with.
 */
export class Arena {
  readonly bytes: Uint8Array;
  readonly #seen: Uint8Array;
  readonly #log: Logged[] = [];

  constructor(lengthBytes: number, random: () => number) {
    this.bytes = someMemory(lengthBytes, random);
    const words = new Uint32Array(this.bytes.buffer, this.bytes.byteOffset, lengthBytes >> 2);
    for (let i = 0; i < words.length; i += 1) words[i] = random();
    this.#seen = this.bytes.slice();
  }

  /** What is different from when it was looked at last; from now on it is as it should be. */
  look(tick: number): Change[] {
    const { bytes } = this;
    const seen = this.#seen;
    if (Buffer.compare(bytes, seen) === 0) return [];
    const changes: Change[] = [];
    let at = 0;
    while (at < bytes.length) {
      if (bytes[at] === seen[at]) {
        at += 1;
        continue;
      }
      let end = at + 1;
      for (let i = end; i < Math.min(bytes.length, end + GAP_BYTES); i += 1) if (bytes[i] !== seen[i]) end = i + 1;
      changes.push({ at, before: seen.slice(at, end), after: bytes.slice(at, end) });
      at = end;
    }
    for (const change of changes) {
      this.#log.push({ tick, ...change });
      seen.set(change.after, change.at);
    }
    return changes;
  }

  /** The program writes, as it may at any time. */
  write(at: number, values: Uint8Array, tick: number): void {
    this.look(tick);
    this.bytes.set(values, at);
    this.look(tick);
  }

  /** Whether the byte had that value at any time from `sinceTick` on. */
  had(at: number, value: number, sinceTick: number): boolean {
    if (this.#seen[at] === value) return true;
    for (let i = this.#log.length - 1; i >= 0 && this.#log[i].tick >= sinceTick; i -= 1) {
      const { at: begin, before } = this.#log[i];
      if (at >= begin && at < begin + before.length && before[at - begin] === value) return true;
    }
    return false;
  }

  /** Whether a byte had a value from `sinceTick` on that one of another arena had from `otherTick` on. */
  shares(at: number, sinceTick: number, other: Arena, otherAt: number, otherTick: number): boolean {
    if (other.had(otherAt, this.#seen[at], otherTick)) return true;
    for (let i = this.#log.length - 1; i >= 0 && this.#log[i].tick >= sinceTick; i -= 1) {
      const { at: begin, before } = this.#log[i];
      if (at >= begin && at < begin + before.length && other.had(otherAt, before[at - begin], otherTick)) return true;
    }
    return false;
  }

  /** The 64 bits at a multiple of 8 as they were before a tick. */
  quadwordBefore(at: number, tick: number): bigint {
    const bytes = this.#seen.slice(at, at + 8);
    for (let i = this.#log.length - 1; i >= 0 && this.#log[i].tick === tick; i -= 1) {
      const { at: begin, before } = this.#log[i];
      for (let k = 0; k < 8; k += 1) {
        const byte = at + k - begin;
        if (byte >= 0 && byte < before.length) bytes[k] = before[byte];
      }
    }
    return new DataView(bytes.buffer).getBigUint64(0, true);
  }

  /** The 64 bits at a multiple of 8, in host byte order. */
  quadword(at: number): bigint {
    return new DataView(this.#seen.buffer).getBigUint64(at, true);
  }
}
