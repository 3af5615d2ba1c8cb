import { AccessFlags } from '../../spec/index.js';
import { CommandError } from '../command-error.js';
import { MemoryRegion } from './memory-region.js';
import type { NicLimits } from '../ports.js';

/** What a registration asks for. */
export interface MrAttributes {
  readonly pd: number;
  readonly bytes: Uint8Array;
  /** Address of the first byte as peers and work requests name it. */
  readonly iovaHi: number;
  readonly iovaLo: number;
  readonly access: number;
}

/** Keys of a new region. */
export interface MrKeys {
  readonly handle: number;
  readonly lkey: number;
  readonly rkey: number;
}

const SUPPORTED_ACCESS =
  AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ | AccessFlags.REMOTE_ATOMIC;
/** Bits 20 to 29 are hints that a device may ignore (PROTOCOL.md 3.6). */
const OPTIONAL_ACCESS = 0x3ff00000;

/** The protection domains and memory regions of a NIC, found by their keys. */
export class MemoryTable {
  readonly #byLkey = new Map<number, MemoryRegion>();
  readonly #byRkey = new Map<number, MemoryRegion>();
  readonly #byHandle = new Map<number, MemoryRegion>();
  /** Protection domains and how many objects refer to each. */
  readonly #pds = new Map<number, number>();
  #nextHandle = 1;

  constructor(
    private readonly random: () => number,
    private readonly limits: NicLimits,
  ) {}

  allocPd(): number {
    if (this.#pds.size >= this.limits.maxPd) throw new CommandError('ENOMEM', `no more than ${this.limits.maxPd} PDs`);
    const pd = this.#nextHandle++;
    this.#pds.set(pd, 0);
    return pd;
  }

  deallocPd(pd: number): void {
    const users = this.#pds.get(pd);
    if (users === undefined) throw new CommandError('EINVAL', `there is no PD ${pd}`);
    if (users > 0) throw new CommandError('EBUSY', `${users} objects still use PD ${pd}`);
    this.#pds.delete(pd);
  }

  /** Counts one more user of a PD. */
  holdPd(pd: number): void {
    const users = this.#pds.get(pd);
    if (users === undefined) throw new CommandError('EINVAL', `there is no PD ${pd}`);
    this.#pds.set(pd, users + 1);
  }

  releasePd(pd: number): void {
    this.#pds.set(pd, (this.#pds.get(pd) ?? 1) - 1);
  }

  register({ pd, bytes, iovaHi, iovaLo, access }: MrAttributes): MrKeys {
    this.#checkAccess(access);
    if (this.#byHandle.size >= this.limits.maxMr)
      throw new CommandError('ENOMEM', `no more than ${this.limits.maxMr} memory regions`);
    if (bytes.length === 0) throw new CommandError('EINVAL', 'a memory region has at least one byte');
    if (bytes.length > this.limits.maxMrBytes)
      throw new CommandError('EINVAL', `a memory region has at most ${this.limits.maxMrBytes} bytes`);
    // Counted down from 2^64 in two halves: exact wherever it can be less than a region's length.
    if ((2 ** 32 - (iovaHi >>> 0)) * 2 ** 32 - (iovaLo >>> 0) < bytes.length)
      throw new CommandError('EINVAL', 'the region would reach past the end of the address space');
    this.holdPd(pd);
    const region = new MemoryRegion(
      this.#nextHandle++,
      pd,
      this.#freshKey(this.#byLkey),
      this.#freshKey(this.#byRkey),
      access,
      iovaHi | 0,
      iovaLo | 0,
      bytes,
      bytes.length,
    );
    this.#byHandle.set(region.handle, region);
    this.#byLkey.set(region.lkey, region);
    this.#byRkey.set(region.rkey, region);
    return { handle: region.handle, lkey: region.lkey >>> 0, rkey: region.rkey >>> 0 };
  }

  deregister(handle: number): void {
    const region = this.#byHandle.get(handle);
    if (region === undefined) throw new CommandError('EINVAL', `there is no memory region ${handle}`);
    region.registered = false;
    this.#byHandle.delete(handle);
    this.#byLkey.delete(region.lkey);
    this.#byRkey.delete(region.rkey);
    this.releasePd(region.pd);
  }

  /** @param lkey - as int32 */
  byLkey(lkey: number): MemoryRegion | undefined {
    return this.#byLkey.get(lkey);
  }

  /** @param rkey - as int32 */
  byRkey(rkey: number): MemoryRegion | undefined {
    return this.#byRkey.get(rkey);
  }

  #checkAccess(access: number): void {
    const unknown = access & ~(SUPPORTED_ACCESS | OPTIONAL_ACCESS);
    if (unknown !== 0)
      throw new CommandError('EOPNOTSUPP', `access flags 0x${unknown.toString(16)} are not supported by this device`);
    const remoteChange = AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_ATOMIC;
    // man ibv_reg_mr; PROTOCOL.md 3.6: who lets peers write must be allowed to write itself.
    if ((access & remoteChange) !== 0 && (access & AccessFlags.LOCAL_WRITE) === 0)
      throw new CommandError('EINVAL', 'REMOTE_WRITE and REMOTE_ATOMIC need LOCAL_WRITE as well');
  }

  #freshKey(taken: ReadonlyMap<number, MemoryRegion>): number {
    for (;;) {
      const key = this.random() | 0;
      // Key 0 stands for "none" in many programs, so no region bears it.
      if (key !== 0 && !taken.has(key)) return key;
    }
  }
}
