import type { Mr, Sge } from '../../verbs/index.js';
import { pieceOfRegionProblem, type Problem, refuse, Resource, VerbsError } from '../../verbs/index.js';
import type { LocatedMemory } from '../adapter-host.js';
import type { SoftContext } from './context.js';
import type { SoftPd } from './protection-domain.js';

function gone(label: string): Problem {
  return {
    errno: 'EFAULT',
    message: `the memory of ${label} is gone: it was detached after it was registered`,
    advice: 'Register memory from alloc(), to which that cannot happen',
  };
}

/** Registered memory. */
export class SoftMr extends Resource implements Mr {
  readonly context: SoftContext;
  readonly addr: bigint;
  readonly length: number;
  readonly lkey: number;
  readonly rkey: number;
  protected readonly label: string;

  readonly #handle: number;
  readonly #located: LocatedMemory;
  /** The address again, for arithmetic that makes no bigint; every address of ours is below 2^53. */
  readonly #base: number;
  /** Whether the adapter has let go of it though the program has not. */
  #closed = false;

  constructor(
    readonly pd: SoftPd,
    readonly bytes: Uint8Array,
    readonly access: number,
  ) {
    const { context } = pd;
    const located = context.attempt('ibv_reg_mr', () => context.adapter.locate(bytes));
    const { address: iova, memory } = located;
    let keys;
    try {
      keys = context.command('ibv_reg_mr', 'regMr', { pd: pd.handle, memory, iova, access });
    } catch (error) {
      located.release();
      throw error;
    }
    super('ibv_dereg_mr', [pd]);
    this.context = context;
    this.#handle = keys.handle;
    this.#located = located;
    this.#base = Number(iova);
    this.addr = iova;
    this.length = bytes.length;
    this.lkey = keys.lkey;
    this.rkey = keys.rkey;
    this.label = `MR 0x${keys.lkey.toString(16)} of ${bytes.length} bytes`;
    context.regions.add(this);
  }

  sge(offset = 0, length = this.length - offset): Sge {
    this.assertAlive('ibv_reg_mr');
    if (!this.audit()) throw new VerbsError('ibv_reg_mr', gone(this.label));
    refuse('ibv_reg_mr', pieceOfRegionProblem(offset, length, this.length));
    return { addr: this.#base + offset, length, lkey: this.lkey };
  }

  /**
   * Closes the region when its memory was taken away from under it, so that the NIC does not touch what is no longer the
   * program's. @returns whether the memory is there
   */
  audit(): boolean {
    if (this.#located.isIntact()) return true;
    if (!this.#closed) {
      this.#closed = true;
      this.context.endCommand('ibv_dereg_mr', 'deregMr', this.#handle);
    }
    return false;
  }

  /** The registered bytes at an address, or undefined when they are not all of this region. */
  at(addr: number, lengthBytes: number): Uint8Array | undefined {
    const offset = addr - this.#base;
    if (offset < 0 || offset + lengthBytes > this.length) return undefined;
    return this.bytes.subarray(offset, offset + lengthBytes);
  }

  dereg(): void {
    this.end();
  }

  protected release(): void {
    if (!this.#closed) this.context.endCommand('ibv_dereg_mr', 'deregMr', this.#handle);
    this.#letGo();
  }

  protected override abandoned(): void {
    this.#letGo();
  }

  #letGo(): void {
    this.context.regions.delete(this);
    this.#located.release();
  }
}
