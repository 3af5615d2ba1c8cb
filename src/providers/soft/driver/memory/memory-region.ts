import { AccessFlags } from '../../../../device/ibta/index.js';
import {
  defaultIova,
  iovaProblem,
  type Mr,
  type MrChange,
  pieceOfRegionProblem,
  type Problem,
  refuse,
  type RegMrOptions,
  reregProblem,
  Resource,
  type Sge,
  VerbsError,
} from '../../../../api/verbs/index.js';
import type { LocatedMemory } from '../../adapter-host.js';
import { type KnownMr, type OpenDevice, domainOf, type OwnPd } from '../context-base.js';
import { SUPPORTED_ACCESS } from '../device-facts.js';
import { bytesOf } from './program-memory.js';

/** One object's use of another, where that can change during its life: a region can move to another domain. */
export class Hold extends Resource {
  /**
   * @param used what cannot be ended meanwhile
   * @param name how errors name the one who holds it
   */
  constructor(
    used: Resource,
    private readonly name: () => string,
  ) {
    super('', [used]);
  }

  letGo(): void {
    if (!this.destroyed) this.end();
  }

  protected get label(): string {
    return this.name();
  }

  protected release(): void {
    // No device knows of it.
  }
}

function gone(label: string): Problem {
  return {
    errno: 'EFAULT',
    message: `the memory of ${label} is gone: it was detached after it was registered`,
    advice: 'Register memory from alloc(), to which that cannot happen',
  };
}

/** An address for arithmetic that makes no bigint, where a number can be it. */
function plain(address: bigint): bigint | number {
  return address <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(address) : address;
}

/** Where a region is and how it is named: what re-registration replaces. */
interface Placement {
  readonly bytes: Uint8Array;
  /** Those that it had when it was placed: what is detached has none left. */
  readonly lengthBytes: number;
  readonly access: number;
  readonly located: LocatedMemory;
  readonly iova: bigint;
  /** The same, for arithmetic. */
  readonly base: bigint | number;
}

export class SoftMr extends Resource implements Mr, KnownMr {
  readonly context: OpenDevice;
  readonly lkey: number;
  readonly rkey: number;

  readonly #handle: number;
  #pd: OwnPd;
  #hold: Hold;
  #placement: Placement;
  /** Whether the adapter has let go of it though the program has not. */
  #closed = false;

  constructor(pd: OwnPd, bytes: Uint8Array, access: number, { iova: asked }: RegMrOptions = {}) {
    const { context } = pd;
    const located = context.attempt('ibv_reg_mr', () => context.adapter.locate(bytes));
    let placement: Placement;
    let keys;
    try {
      placement = place('ibv_reg_mr', bytes, access, located, asked);
      const { iova } = placement;
      keys = context.command('ibv_reg_mr', 'regMr', { pd: pd.handle, memory: located.memory, iova, access });
    } catch (error) {
      context.adapter.release(bytes);
      throw error;
    }
    super('ibv_dereg_mr', [context]);
    this.context = context;
    this.#pd = pd;
    this.#handle = keys.handle;
    this.#placement = placement;
    this.lkey = keys.lkey;
    this.rkey = keys.rkey;
    // It names itself by all of that.
    this.#hold = new Hold(pd, () => this.label);
    context.regions.set(this.lkey, this);
    this.abandoned = () => this.#letGo();
  }

  get pd(): OwnPd {
    return this.#pd;
  }

  get addr(): bigint {
    return this.#placement.located.address;
  }

  get iova(): bigint {
    return this.#placement.iova;
  }

  get length(): number {
    return this.#placement.lengthBytes;
  }

  get access(): number {
    return this.#placement.access;
  }

  get bytes(): Uint8Array {
    return this.#placement.bytes;
  }

  sge(offset = 0, length = this.length - offset): Sge {
    this.assertAlive('mr.sge');
    if (!this.audit()) throw new VerbsError('mr.sge', gone(this.label));
    refuse('mr.sge', pieceOfRegionProblem(offset, length, this.length));
    const { base } = this.#placement;
    return { addr: typeof base === 'number' ? base + offset : base + BigInt(offset), length, lkey: this.lkey };
  }

  rereg(change: MrChange): void {
    const call = 'ibv_rereg_mr';
    this.assertAlive(call);
    refuse(call, reregProblem(change, SUPPORTED_ACCESS));
    const { context } = this;
    const old = this.#placement;
    const pd = change.pd === undefined ? this.#pd : domainOf(call, context, change.pd);
    const access = change.access ?? old.access;
    const bytes = change.memory === undefined ? old.bytes : bytesOf(call, change.memory);
    // What has lost its keys in the device cannot get the same ones again.
    if (this.#closed || (change.memory === undefined && !this.audit())) throw new VerbsError(call, gone(this.label));
    const located =
      change.memory === undefined ? old.located : context.attempt(call, () => context.adapter.locate(bytes));
    try {
      const placement = place(call, bytes, access, located, change.iova ?? keptIova(old, change, access));
      context.command(call, 'reregMr', {
        handle: this.#handle,
        pd: pd.handle,
        access,
        iova: placement.iova,
        ...(change.memory === undefined ? {} : { memory: located.memory }),
      });
      this.#placement = placement;
    } catch (error) {
      if (bytes !== old.bytes) context.adapter.release(bytes);
      throw error;
    }
    if (bytes !== old.bytes) context.adapter.release(old.bytes);
    if (pd === this.#pd) return;
    this.#hold.letGo();
    this.#pd = pd;
    this.#hold = new Hold(pd, () => this.label);
  }

  /**
   * Closes the region when its memory was taken away from under it, so that the NIC does not touch what is no longer the
   * program's. @returns whether the memory is there
   */
  audit(): boolean {
    const { bytes, lengthBytes } = this.#placement;
    // Not `length`, which stays what it was in code that V8 11.3 (Node 20) has compiled.
    if (bytes.byteLength === lengthBytes) return true;
    if (!this.#closed) {
      this.#closed = true;
      this.#close();
    }
    return false;
  }

  named(addr: bigint | number, lengthBytes: number): Uint8Array | undefined {
    return this.#piece(addr, this.#placement.base, lengthBytes);
  }

  at(addr: bigint | number, lengthBytes: number): Uint8Array | undefined {
    return this.#piece(addr, Number(this.addr), lengthBytes);
  }

  dereg(): void {
    this.end();
  }

  protected get label(): string {
    return `MR 0x${this.lkey.toString(16)} of ${this.length} bytes`;
  }

  protected release(): void {
    if (!this.#closed) this.context.endCommand('ibv_dereg_mr', 'deregMr', this.#handle);
    this.#letGo();
  }

  #piece(addr: bigint | number, base: bigint | number, lengthBytes: number): Uint8Array | undefined {
    const offset = typeof base === 'number' ? Number(addr) - base : Number(BigInt(addr) - base);
    if (offset < 0 || offset + lengthBytes > this.length) return undefined;
    return this.bytes.subarray(offset, offset + lengthBytes);
  }

  #close(): void {
    const close = (): void => this.context.endCommand('ibv_dereg_mr', 'deregMr', this.#handle);
    try {
      close();
    } catch (error) {
      if (!(error instanceof VerbsError) || error.errno !== 'EBUSY') throw error;
      // Windows are bound to it; which, only the NIC knows. Better to lose others than to have peers write there.
      this.context.forfeitWindows(this.#pd.handle);
      close();
    }
  }

  #letGo(): void {
    this.context.regions.delete(this.lkey);
    this.#hold.letGo();
    this.context.adapter.release(this.#placement.bytes);
  }
}

/** What goes on to name the first byte of memory that stays, where it was neither its address nor 0 for ZERO_BASED. */
function keptIova({ iova, access, located }: Placement, change: MrChange, nextAccess: number): bigint | undefined {
  if (change.memory !== undefined || (nextAccess & AccessFlags.ZERO_BASED) !== 0) return undefined;
  return iova === defaultIova(located.address, access) ? undefined : iova;
}

/** Says how memory is named. @throws VerbsError EINVAL when it cannot be named as asked */
function place(
  call: string,
  bytes: Uint8Array,
  access: number,
  located: LocatedMemory,
  asked: bigint | number | undefined,
): Placement {
  const { address } = located;
  const named = asked ?? defaultIova(address, access);
  refuse(call, iovaProblem(named, address, bytes.length, access));
  const iova = BigInt(named);
  return { bytes, lengthBytes: bytes.length, access, located, iova, base: plain(iova) };
}
