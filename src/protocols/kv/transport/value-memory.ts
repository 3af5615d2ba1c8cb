import { alloc } from '../../../api/provider/index.js';
import { type Mr, type Pd, VerbsError } from '../../../api/verbs/index.js';
import type { ValueBuffer } from '../protocol/index.js';

/** The shortest buffer. */
const LEAST_BYTES = 4096;
/** Memory that nobody uses and that stays registered for the next value. */
const IDLE_BYTES = 16 << 20;

/** A buffer that a peer may be told of. */
export interface SharedBuffer extends ValueBuffer {
  /** Where it is, for the peer. */
  readonly iova: bigint;
  readonly rkey: number;
}

/** Registered memory for values that do not fit a message, in powers of two. */
export class ValueMemory {
  readonly #idle = new Map<number, Mr[]>();
  #idleBytes = 0;
  #lent = 0;
  #hasEnded = false;

  /** @param access bits of `AccessFlags`: what peers may do with it */
  constructor(
    private readonly pd: Pd,
    private readonly access: number,
  ) {}

  get lent(): number {
    return this.#lent;
  }

  /** @throws VerbsError ENOMEM when there is no room, EIO when the device was lost */
  lease(bytes: number): SharedBuffer {
    const size = 2 ** Math.ceil(Math.log2(Math.max(bytes, LEAST_BYTES)));
    const mr = this.#takeIdle(size) ?? this.#register(size);
    this.#lent += 1;
    const { lkey, rkey, iova } = mr;
    return { bytes: mr.bytes, addr: Number(mr.addr), lkey, rkey, iova, release: () => this.#release(mr, size) };
  }

  /** The same; undefined when there is no room. */
  tryLease(bytes: number): SharedBuffer | undefined {
    try {
      return this.lease(bytes);
    } catch (error) {
      if (error instanceof VerbsError) return undefined;
      throw error;
    }
  }

  /** Ends what is registered: what is lent when it is given back. Idempotent. */
  end(): void {
    this.#hasEnded = true;
    this.#clear();
  }

  #clear(): void {
    for (const regions of this.#idle.values()) for (const mr of regions) mr[Symbol.dispose]();
    this.#idle.clear();
    this.#idleBytes = 0;
  }

  #takeIdle(size: number): Mr | undefined {
    const mr = this.#idle.get(size)?.pop();
    if (mr !== undefined) this.#idleBytes -= size;
    return mr;
  }

  #register(size: number): Mr {
    try {
      return this.pd.regMr(alloc(size), this.access);
    } catch (error) {
      // Buffers of other lengths may be in the way.
      if (!(error instanceof VerbsError) || error.errno !== 'ENOMEM' || this.#idleBytes === 0) throw error;
      this.#clear();
      return this.pd.regMr(alloc(size), this.access);
    }
  }

  #release(mr: Mr, size: number): void {
    this.#lent -= 1;
    if (this.#hasEnded || this.#idleBytes + size > IDLE_BYTES) {
      mr[Symbol.dispose]();
      return;
    }
    this.#idleBytes += size;
    const others = this.#idle.get(size);
    if (others === undefined) this.#idle.set(size, [mr]);
    else others.push(mr);
  }
}
