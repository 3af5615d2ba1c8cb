import { AccessFlags, assert } from '../../../device/ibta/index.js';
import { alloc } from '../../../api/provider/index.js';
import { invalid, type Mr, type Pd, VerbsError } from '../../../api/verbs/index.js';

const CALL = 'engine';

export interface SizeClass {
  /** Bytes of a buffer. */
  readonly bytes: number;
  /** How many are made, and registered, at a time. */
  readonly count: number;
}

/** Smallest first. A slab, which is what is registered at a time, grows more slowly than its buffers. */
export const SIZE_CLASSES: readonly SizeClass[] = [
  { bytes: 256, count: 256 },
  // A page, and what stands before it in a datagram.
  { bytes: 4160, count: 64 },
  // Two pages, and what stands before them in a message of Accelio's kind.
  { bytes: 9216, count: 64 },
  { bytes: 65_536, count: 16 },
  { bytes: 524_288, count: 4 },
];

/** A buffer of a pool, while it is lent. */
export interface Lease extends Disposable {
  /** All of the buffer: what others have left in it is still there. */
  readonly bytes: Uint8Array;
  readonly addr: number;
  readonly lkey: number;
  /** Bytes that it holds: at least as many as were asked for. */
  readonly capacity: number;
  /** Gives it back, which is to be done once. */
  release(): void;
}

/** Somebody for whom there was no buffer. */
interface Waiter {
  readonly fit: number;
  readonly owner: string;
  readonly give: (lease: Lease) => void;
}

export interface Holding {
  readonly owner: string;
  readonly count: number;
  readonly bytes: number;
}

/**
 * Registered buffers of a few sizes. They are made as they are needed, up to a limit, and kept for the next who asks. Each is one object for life, so
 * that lending allocates nothing.
 */
export class BufferPool {
  readonly #sizes: readonly Size[];
  readonly #regions: Mr[] = [];
  #bytes = 0;
  #leased = 0;
  #waiting: Waiter[] = [];
  #isServing = false;

  constructor(
    private readonly pd: Pd,
    /** Bytes that may be registered. */
    readonly limit: number,
    classes: readonly SizeClass[] = SIZE_CLASSES,
  ) {
    this.#sizes = classes.map((size) => new Size(size));
  }

  /** Bytes that are registered. */
  get bytes(): number {
    return this.#bytes;
  }

  get leased(): number {
    return this.#leased;
  }

  /** Bytes of the largest buffer that there is. */
  get largest(): number {
    return this.#sizes[this.#sizes.length - 1].bytes;
  }

  /**
   * Lends a buffer.
   *
   * @param bytes how much it must hold, up to {@link largest}
   * @param owner who is named when it is not given back
   * @throws VerbsError ENOMEM when all are lent and {@link limit} is reached, EINVAL for more than {@link largest}
   */
  lease(bytes: number, owner: string): Lease {
    const lease = this.tryLease(bytes, owner);
    if (lease !== undefined) return lease;
    if (bytes > this.largest) throw this.#tooLarge(bytes);
    const message = `no buffer of ${bytes} bytes is left: ${this.#bytes} of ${this.limit} bytes are registered, and ${namesOf(this.leases())} have them`;
    throw new VerbsError(CALL, {
      errno: 'ENOMEM',
      message,
      advice: 'Wait until some are given back, or allow more by poolBytes',
    });
  }

  /** As {@link lease}; undefined when there is none, or others wait for it. */
  tryLease(bytes: number, owner: string): Lease | undefined {
    const fit = this.#fitOf(bytes);
    if (fit < 0 || (this.#waiting.length > 0 && this.#isAwaited(fit))) return undefined;
    return this.#take(fit, owner);
  }

  /**
   * Lends a buffer once there is one, to those who wait in their order; never before it returns.
   *
   * @returns takes it back
   * @throws VerbsError EINVAL for more than {@link largest}
   */
  whenFree(bytes: number, owner: string, give: (lease: Lease) => void): () => void {
    const fit = this.#fitOf(bytes);
    if (fit < 0) throw this.#tooLarge(bytes);
    const waiter = { fit, owner, give };
    this.#waiting.push(waiter);
    this.#serveSoon();
    return () => {
      this.#waiting = this.#waiting.filter((other) => other !== waiter);
    };
  }

  /** Who has buffers now, those with most bytes first. */
  leases(): readonly Holding[] {
    const holdings = new Map<string, { owner: string; count: number; bytes: number }>();
    for (const { buffers } of this.#sizes)
      for (const { owner, capacity } of buffers) {
        if (owner === undefined) continue;
        const holding = holdings.get(owner) ?? { owner, count: 0, bytes: 0 };
        holdings.set(owner, { owner, count: holding.count + 1, bytes: holding.bytes + capacity });
      }
    return [...holdings.values()].sort((a, b) => b.bytes - a.bytes);
  }

  /** Ends all registrations. Nothing may be lent. */
  close(): void {
    assert(this.#leased === 0, 'a pool is closed whose buffers are lent');
    for (const region of this.#regions) region[Symbol.dispose]();
    this.#regions.length = 0;
  }

  returned(): void {
    this.#leased -= 1;
    if (this.#waiting.length > 0) this.#serveSoon();
  }

  /** The smallest size that holds so much, or -1. */
  #fitOf(bytes: number): number {
    const sizes = this.#sizes;
    for (let i = 0; i < sizes.length; i += 1) if (sizes[i].bytes >= bytes) return i;
    return -1;
  }

  #isAwaited(fit: number): boolean {
    return this.#waiting.some((waiter) => waiter.fit === fit);
  }

  #take(fit: number, owner: string): Buffer | undefined {
    const sizes = this.#sizes;
    let buffer = sizes[fit].take();
    if (buffer === undefined && this.#enlarge(sizes[fit])) buffer = sizes[fit].take();
    // Rather a larger one than none.
    for (let i = fit + 1; buffer === undefined && i < sizes.length; i += 1) buffer = sizes[i].take();
    if (buffer === undefined) return undefined;
    buffer.owner = owner;
    this.#leased += 1;
    return buffer;
  }

  /** Not at once: who gives a buffer back is in the midst of something. */
  #serveSoon(): void {
    if (this.#isServing) return;
    this.#isServing = true;
    queueMicrotask(() => {
      this.#isServing = false;
      this.#serve();
    });
  }

  #serve(): void {
    for (const waiter of this.#waiting) {
      // It may have given up on the way here.
      if (!this.#waiting.includes(waiter)) continue;
      const lease = this.#take(waiter.fit, waiter.owner);
      if (lease === undefined) continue;
      this.#waiting = this.#waiting.filter((other) => other !== waiter);
      waiter.give(lease);
    }
  }

  #tooLarge(bytes: number): VerbsError {
    const message = `a buffer of ${bytes} bytes is asked for, and the largest has ${this.largest}`;
    return new VerbsError(CALL, invalid(message, 'Ask for several'));
  }

  /** Makes more buffers of a size. @returns false when that would be too much */
  #enlarge(size: Size): boolean {
    // The last slab may be a smaller one.
    const count = Math.min(size.count, Math.floor((this.limit - this.#bytes) / size.bytes));
    if (count <= 0) return false;
    let region;
    try {
      region = this.pd.regMr(alloc(count * size.bytes), AccessFlags.LOCAL_WRITE);
    } catch (error) {
      if (error instanceof VerbsError && error.errno === 'ENOMEM') return false;
      throw error;
    }
    this.#bytes += count * size.bytes;
    this.#regions.push(region);
    for (let i = 0; i < count; i += 1) size.add(new Buffer(this, size, region, i * size.bytes));
    return true;
  }
}

export function namesOf(holdings: readonly Holding[]): string {
  return holdings.map(({ owner, count, bytes }) => `${owner} (${count}, ${bytes} bytes)`).join(', ') || 'nobody';
}

class Size {
  readonly bytes: number;
  readonly count: number;
  readonly buffers: Buffer[] = [];
  #free: Buffer | undefined;

  constructor({ bytes, count }: SizeClass) {
    this.bytes = bytes;
    this.count = count;
  }

  add(buffer: Buffer): void {
    this.buffers.push(buffer);
    this.give(buffer);
  }

  take(): Buffer | undefined {
    const buffer = this.#free;
    if (buffer !== undefined) this.#free = buffer.next;
    return buffer;
  }

  give(buffer: Buffer): void {
    buffer.next = this.#free;
    this.#free = buffer;
  }
}

class Buffer implements Lease {
  readonly bytes: Uint8Array;
  readonly addr: number;
  readonly lkey: number;
  readonly capacity: number;
  /** Who has it; undefined for nobody. */
  owner: string | undefined;
  next: Buffer | undefined;

  constructor(
    private readonly pool: BufferPool,
    private readonly size: Size,
    region: Mr,
    offset: number,
  ) {
    this.capacity = size.bytes;
    this.bytes = region.bytes.subarray(offset, offset + size.bytes);
    this.addr = Number(region.addr) + offset;
    this.lkey = region.lkey;
  }

  release(): void {
    assert(this.owner !== undefined, 'a buffer of the pool is given back twice');
    this.owner = undefined;
    this.pool.returned();
    this.size.give(this);
  }

  [Symbol.dispose](): void {
    if (this.owner !== undefined) this.release();
  }
}
