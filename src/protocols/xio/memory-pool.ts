import { alloc } from '../../api/provider/index.js';
import { countProblem, type FieldsOf, fieldsProblem, invalid, refuse } from '../../api/verbs/index.js';
import { XioError } from './transport/index.js';

/** Buffers of one size. */
export interface XioSlab {
  /** Of a buffer, 1 to 2^30. */
  readonly bytes: number;
  /** Buffers that are made at once. Default 0. */
  readonly min?: number | undefined;
  /** Buffers that there can be. Default 1024. */
  readonly max?: number | undefined;
  /** Buffers that are made at a time, in one piece of memory. Default: as many as 1 MiB has, at least 1. */
  readonly quantum?: number | undefined;
  /** What addresses of buffers are a multiple of: a power of two up to 2 MiB. Default 64. */
  readonly align?: number | undefined;
}

/** How a {@link XioMemoryPool} is made. */
export interface XioMemoryPoolOptions {
  /** Up to 6. Default: 1024 buffers of 4 KiB, 256 of 16 KiB, 128 of 64 KiB, 64 of 256 KiB, 16 of 1 MiB, 8 of 4 MiB. */
  readonly slabs?: readonly XioSlab[] | undefined;
  /** Lends no larger buffer where none of the fitting size is left. Default false. */
  readonly smallestOnly?: boolean | undefined;
}

/** A buffer of a pool, while it is lent. */
export interface XioPooledBuffer extends Disposable {
  /** As many bytes as were asked for. What others have left in it is still there. */
  readonly bytes: Uint8Array;
  /** Gives it back: nobody is to use it any more, requests and shares included. Idempotent. */
  release(): void;
}

/** How the buffers of one size stand. */
export interface XioSlabStatistics {
  readonly bytes: number;
  /** Buffers that there are. */
  readonly made: number;
  readonly lent: number;
}

const MOST_SLABS = 6;
const MOST_BYTES = 2 ** 30;
const MOST_BUFFERS = 2 ** 20;
const MOST_ALIGN = 1 << 21;
const QUANTUM_BYTES = 1 << 20;
const KIB = 1024;
const DEFAULT_SLABS: readonly XioSlab[] = [
  { bytes: 4 * KIB, max: 1024 },
  { bytes: 16 * KIB, max: 256 },
  { bytes: 64 * KIB, max: 128 },
  { bytes: 256 * KIB, max: 64 },
  { bytes: 1024 * KIB, max: 16 },
  { bytes: 4096 * KIB, max: 8 },
];
const POOL_FIELDS: FieldsOf<XioMemoryPoolOptions> = { slabs: true, smallestOnly: true };
const SLAB_FIELDS: FieldsOf<XioSlab> = { bytes: true, min: true, max: true, quantum: true, align: true };

/**
 * Buffers of a few sizes that NICs reach where they lie. Several are one piece of memory, which is registered as a whole, as often as requests use it at a time, and stays so for
 * those that come later. They are made as they are needed, and kept.
 */
export class XioMemoryPool implements Disposable {
  readonly #slabs: Slab[] = [];
  readonly #smallestOnly: boolean;
  #hasEnded = false;

  /** @throws VerbsError EINVAL for what is no such options; ENOMEM where there is no room for what is made at once */
  constructor(options: XioMemoryPoolOptions = {}) {
    refuse('XioMemoryPool', fieldsProblem('options', options, POOL_FIELDS));
    const { slabs = DEFAULT_SLABS, smallestOnly = false } = options;
    this.#smallestOnly = smallestOnly;
    for (const slab of slabs) this.addSlab(slab);
  }

  /** Buffers that are lent. */
  get lent(): number {
    return this.#slabs.reduce((sum, { lent }) => sum + lent, 0);
  }

  /** Smallest first. */
  get statistics(): readonly XioSlabStatistics[] {
    return this.#slabs.map(({ bytes, made, lent }) => ({ bytes, made, lent }));
  }

  /** Has it have buffers of another size. @throws XioError XIO_E_NO_BUFS beyond 6; VerbsError EINVAL, also for a size that there is; ENOMEM */
  addSlab(slab: XioSlab): void {
    const call = 'addSlab';
    refuse(call, fieldsProblem('slab', slab, SLAB_FIELDS));
    const { bytes, min = 0, max = 1024, align = 64 } = slab;
    refuse(call, countProblem('bytes', bytes, 1, MOST_BYTES));
    refuse(call, countProblem('max', max, 1, MOST_BUFFERS));
    refuse(call, countProblem('min', min, 0, max));
    const { quantum = Math.min(max, Math.max(1, Math.floor(QUANTUM_BYTES / bytes))) } = slab;
    refuse(call, countProblem('quantum', quantum, 1, MOST_BUFFERS));
    if (!Number.isInteger(align) || align < 1 || align > MOST_ALIGN || (align & (align - 1)) !== 0)
      refuse(call, invalid(`align is ${String(align)}`, `It is a power of two up to ${MOST_ALIGN}`));
    if (this.#slabs.some((other) => other.bytes === bytes))
      refuse(call, invalid(`there are buffers of ${bytes} bytes already`));
    if (this.#slabs.length === MOST_SLABS)
      throw new XioError('XIO_E_NO_BUFS', `${call}: a pool has buffers of ${MOST_SLABS} sizes at most`);
    const made = new Slab(bytes, max, quantum, align);
    made.make(min);
    this.#slabs.push(made);
    this.#slabs.sort((a, b) => a.bytes - b.bytes);
  }

  /**
   * Lends a buffer: of the smallest size that holds so much, or of a larger one where none of that is left.
   *
   * @throws XioError XIO_E_NO_BUFS where all are lent, or none is so large; XIO_E_STATE where the pool was disposed of; VerbsError EINVAL; ENOMEM where memory is short
   */
  lease(bytes: number): XioPooledBuffer {
    const lease = this.tryLease(bytes);
    if (lease !== undefined) return lease;
    const stands = this.#slabs.map((slab) => `${slab.lent} of ${slab.bytes} bytes`).join(', ');
    throw new XioError('XIO_E_NO_BUFS', `no buffer of ${bytes} bytes is left: lent are ${stands}`);
  }

  /** As {@link lease}; undefined where there is none. */
  tryLease(bytes: number): XioPooledBuffer | undefined {
    if (this.#hasEnded) throw new XioError('XIO_E_STATE', 'the pool was disposed of');
    refuse('lease', countProblem('bytes', bytes, 0, MOST_BYTES));
    for (const slab of this.#slabs) {
      if (slab.bytes < bytes) continue;
      const memory = slab.take();
      if (memory !== undefined) return new Lease(memory, bytes, slab);
      if (this.#smallestOnly) return undefined;
    }
    return undefined;
  }

  /** Lends nothing any more. Nothing may be lent. Idempotent. @throws XioError XIO_E_STATE where something is */
  [Symbol.dispose](): void {
    if (this.lent > 0) throw new XioError('XIO_E_STATE', `${this.lent} buffers of the pool are lent`);
    this.#hasEnded = true;
    this.#slabs.length = 0;
  }
}

class Slab {
  readonly #free: Uint8Array[] = [];
  readonly #stride: number;
  made = 0;
  lent = 0;

  constructor(
    readonly bytes: number,
    private readonly max: number,
    private readonly quantum: number,
    private readonly align: number,
  ) {
    this.#stride = Math.ceil(bytes / align) * align;
  }

  /** Makes so many more, as far as there may be more. */
  make(wanted: number): void {
    const count = Math.min(wanted, this.max - this.made);
    if (count <= 0) return;
    const memory = alloc(count * this.#stride, { align: this.align });
    for (let i = count - 1; i >= 0; i -= 1) {
      const begin = i * this.#stride;
      this.#free.push(memory.subarray(begin, begin + this.bytes));
    }
    this.made += count;
  }

  take(): Uint8Array | undefined {
    if (this.#free.length === 0) this.make(this.quantum);
    const memory = this.#free.pop();
    if (memory !== undefined) this.lent += 1;
    return memory;
  }

  give(memory: Uint8Array): void {
    this.lent -= 1;
    this.#free.push(memory);
  }
}

class Lease implements XioPooledBuffer {
  readonly bytes: Uint8Array;
  #isLent = true;

  constructor(
    private readonly memory: Uint8Array,
    bytes: number,
    private readonly slab: Slab,
  ) {
    this.bytes = memory.subarray(0, bytes);
  }

  release(): void {
    if (!this.#isLent) return;
    this.#isLent = false;
    this.slab.give(this.memory);
  }

  [Symbol.dispose](): void {
    this.release();
  }
}
