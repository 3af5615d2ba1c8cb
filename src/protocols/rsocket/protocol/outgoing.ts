import type { ConnectionData, Span } from '../wire/connection-data.js';
import { SEQUENCE_MASK } from './limits.js';

/** Up to there an address is a number, and so is whatever lies in a buffer behind it. */
const MAX_NUMBER = 2n ** 52n;
const ADDRESS_SPACE = 2n ** 64n;

/** A buffer of the peer's, as far as it is not full. */
class Target {
  addr: number | bigint = 0;
  key = 0;
  length = 0;

  set({ addr, key, length }: Span): void {
    this.addr = addr < MAX_NUMBER ? Number(addr) : addr;
    this.key = key;
    this.length = length;
  }

  advance(byteLength: number): void {
    this.addr = typeof this.addr === 'number' ? this.addr + byteLength : this.addr + BigInt(byteLength);
    this.length -= byteLength;
  }
}

/** Why memory cannot be a buffer. */
export function spanProblem({ addr, length }: Span): string | undefined {
  if (length === 0) return 'a buffer of no bytes';
  return addr + BigInt(length) > ADDRESS_SPACE ? 'a buffer that ends beyond the address space' : undefined;
}

/** What may be sent, and where to: the peer allows messages, and names buffers for what is in them. */
export class Outgoing {
  /** Messages that the peer has room for at the most. */
  readonly #window: number;
  /** Number of the next message that is counted. */
  #sequence = 0;
  /** Number of the first that the peer has no room for. */
  #limit: number;
  readonly #targets: readonly [Target, Target] = [new Target(), new Target()];
  #current: 0 | 1 = 0;
  /** Which of them the peer names next. */
  #awaited: 0 | 1 = 1;

  constructor({ credits, data }: Pick<ConnectionData, 'credits' | 'data'>) {
    this.#window = credits;
    this.#limit = credits;
    this.#targets[0].set(data);
  }

  /** Messages that the peer has room for now. */
  get credits(): number {
    return (this.#limit - this.#sequence) & SEQUENCE_MASK;
  }

  /** Bytes that can go to {@link addr}: none where the peer has named no buffer. */
  get room(): number {
    return this.#targets[this.#current].length;
  }

  get addr(): number | bigint {
    return this.#targets[this.#current].addr;
  }

  get key(): number {
    return this.#targets[this.#current].key;
  }

  /** Which entry a buffer is in that the peer names. */
  get awaited(): 0 | 1 {
    return this.#awaited;
  }

  count(): void {
    this.#sequence = (this.#sequence + 1) & SEQUENCE_MASK;
  }

  sent(byteLength: number): void {
    this.count();
    const target = this.#targets[this.#current];
    target.advance(byteLength);
    if (target.length === 0) this.#current = this.#current === 0 ? 1 : 0;
  }

  /**
   * The peer says up to which message it has room, and may name a buffer.
   *
   * @returns why that cannot be
   */
  grant(limit: number, buffer: Span | undefined): string | undefined {
    const { credits } = this;
    const more = (limit - this.#limit) & SEQUENCE_MASK;
    if (more + credits > this.#window)
      return `it allows ${more} more messages, with ${credits} of ${this.#window} left`;
    this.#limit = limit & SEQUENCE_MASK;
    if (buffer === undefined) return undefined;
    const target = this.#targets[this.#awaited];
    if (target.length > 0) return 'it names a third buffer, and two are not full';
    const problem = spanProblem(buffer);
    if (problem !== undefined) return `it names ${problem}`;
    target.set(buffer);
    this.#awaited = this.#awaited === 0 ? 1 : 0;
    return undefined;
  }
}
