import { AccessFlags, isOneOf, MwBindReason, MwType, type NamedMemory, RefusalReason } from '../../ibta/index.js';
import { CommandError } from '../command-error.js';
import type { NicLimits } from '../nic-config.js';
import { checkRegionAccess } from './access-rules.js';
import { bytesToEnd } from './address-range.js';
import { EndedKeys, KeyIndex } from './key-index.js';
import { LocalOperations } from './local-operations.js';
import { lengthOf, MemoryRegion, type RegionAttributes } from './memory-region.js';
import { type BindMw, MemoryWindow } from './memory-window.js';
import { ProtectionDomains } from './protection-domains.js';
import type { RemoteGrant } from './remote-grant.js';

/** What a registration asks for. With ZERO_BASED in `access` addresses begin at 0, whatever `iova` says. */
export type MrAttributes = RegionAttributes;

/** What a re-registration changes; what is absent stays. */
export interface ReregMr extends Partial<RegionAttributes> {
  readonly handle: number;
}

export interface MrKeys {
  readonly handle: number;
  readonly lkey: number;
  readonly rkey: number;
}

export interface AllocMw {
  readonly pd: number;
  readonly type: MwType;
}

export interface MwKeys {
  readonly handle: number;
  readonly rkey: number;
}

/** Why a key does not open what a peer wants. */
export interface MemoryRefusal {
  readonly reason: RefusalReason;
  readonly a: number;
  readonly b: number;
  readonly memory: NamedMemory;
}

/** The protection domains, memory regions and memory windows of a NIC, and what their keys open. */
export class MemoryTable {
  /** Where in its region the range of the last {@link openRemote} begins. */
  begin = 0;
  readonly local = new LocalOperations(this);

  readonly #domains: ProtectionDomains;
  readonly #keys: KeyIndex;
  readonly #ended = new EndedKeys();
  readonly #regions = new Map<number, MemoryRegion>();
  readonly #windows = new Map<number, MemoryWindow>();
  /** Windows of type 2 by the QP on which they are bound. */
  readonly #boundOn = new Map<number, Set<MemoryWindow>>();
  #nextHandle = 1;

  constructor(
    random: () => number,
    private readonly limits: NicLimits,
    /** Time of the NIC, µs. */
    private readonly nowUs: () => number = () => 0,
  ) {
    this.#domains = new ProtectionDomains(limits.maxPd);
    this.#keys = new KeyIndex(random);
  }

  /** How many of each it holds. */
  get holdings(): Readonly<Record<'pds' | 'regions' | 'windows' | 'keys' | 'qpsWithWindows', number>> {
    return {
      pds: this.#domains.size,
      regions: this.#regions.size,
      windows: this.#windows.size,
      keys: this.#keys.size,
      qpsWithWindows: this.#boundOn.size,
    };
  }

  /** The protection domains, each with how many objects refer to it. */
  domains(): IterableIterator<[pd: number, users: number]> {
    return this.#domains.entries();
  }

  regions(): IterableIterator<MemoryRegion> {
    return this.#regions.values();
  }

  allocPd(): number {
    return this.#domains.alloc();
  }

  deallocPd(pd: number): void {
    this.#domains.dealloc(pd);
  }

  holdPd(pd: number): void {
    this.#domains.hold(pd);
  }

  releasePd(pd: number): void {
    this.#domains.release(pd);
  }

  register(attributes: MrAttributes): MrKeys {
    const placed = this.#checkRegion(attributes);
    return this.#addRegion(placed, false);
  }

  /** A region where reading gives zeros and writing has no effect, whatever the address; for local use alone. */
  allocNullMr(pd: number): MrKeys {
    const { LOCAL_WRITE } = AccessFlags;
    return this.#addRegion({ pd, access: LOCAL_WRITE, bytes: new Uint8Array(0), iovaHi: 0, iovaLo: 0 }, true);
  }

  /** Changes a region under its keys (protocol/services.md 3.6). Requests that are in flight are checked against what it is now. */
  reregister(change: ReregMr): MrKeys {
    const region = this.#region(change.handle);
    if (region.isNull) throw new CommandError('EINVAL', 'the null region cannot be changed');
    const placed = this.#checkRegion({
      pd: change.pd ?? region.pd,
      access: change.access ?? region.access,
      ...(change.bytes === undefined
        ? { bytes: region.bytes, foreign: region.foreign }
        : { bytes: change.bytes, foreign: change.foreign }),
      iovaHi: change.iovaHi ?? region.iovaHi,
      iovaLo: change.iovaLo ?? region.iovaLo,
    });
    this.#checkUnbound(region);
    this.holdPd(placed.pd);
    this.releasePd(region.pd);
    region.change(placed);
    return keysOf(region);
  }

  /** Ends a region at once, also for work that is in flight. */
  deregister(handle: number): void {
    const region = this.#region(handle);
    this.#checkUnbound(region);
    region.close();
    this.#regions.delete(handle);
    this.#keys.removeRegion(region);
    this.#ended.add(region.rkey, this.nowUs());
    this.releasePd(region.pd);
  }

  /** Lets go of foreign memory, from and to which no copy is under way: nobody drives this NIC any more. */
  closeForeign(): void {
    for (const region of this.#regions.values()) region.foreign?.close?.();
  }

  allocMw({ pd, type }: AllocMw): MwKeys {
    if (!isOneOf(MwType, type)) throw new CommandError('EINVAL', `there are no memory windows of type ${type}`);
    if (this.#windows.size >= this.limits.maxMw)
      throw new CommandError('ENOMEM', `no more than ${this.limits.maxMw} memory windows`);
    const rkey = this.#keys.fresh();
    this.holdPd(pd);
    const window = new MemoryWindow(this.#nextHandle++, pd, type, rkey);
    this.#windows.set(window.handle, window);
    this.#keys.add(window);
    return { handle: window.handle, rkey: window.rkey >>> 0 };
  }

  /** Ends a window at once, bound or not. */
  deallocMw(handle: number): void {
    const window = this.#windows.get(handle);
    if (window === undefined) throw new CommandError('EINVAL', `there is no memory window ${handle}`);
    this.#unbind(window);
    this.#windows.delete(handle);
    this.#keys.remove(window);
    this.#ended.add(window.rkey, this.nowUs());
    this.releasePd(window.pd);
  }

  /**
   * Carries out a BIND_MW request of QP `qpn` in protection domain `pd`.
   *
   * @returns 0, or why it was refused; nothing has changed then
   */
  bind(request: BindMw, pd: number, qpn: number): MwBindReason | 0 {
    const window = this.#keys.owner(request.rkey);
    // Of the old key only the index counts: a bind that was flushed leaves the program with a tag that we never saw.
    if (!(window instanceof MemoryWindow)) return MwBindReason.WINDOW_UNKNOWN;
    const region = this.byLkey(request.lkey);
    const objection = window.objection(request, region, pd);
    if (objection !== 0) return objection;
    this.#unbind(window);
    window.rkey = request.newRkey;
    if (region === undefined || request.lengthBytes === 0) return 0;
    window.open(request, region, qpn);
    if (window.type === MwType.TYPE_2) this.#windowsOn(qpn).add(window);
    return 0;
  }

  /**
   * Frees a window of type 2 that QP `qpn` has bound. Neither LOCAL_INV nor a peer's SEND may name anything else: a region
   * that a call has registered ends by a call, or one peer could take it from all others (protocol/services.md 3.7).
   *
   * @returns false when QP `qpn` of protection domain `pd` may not
   */
  invalidate(rkey: number, pd: number, qpn: number): boolean {
    const owner = this.#keys.owner(rkey);
    if (!(owner instanceof MemoryWindow) || owner.type !== MwType.TYPE_2) return false;
    if (owner.grant?.isFor(rkey, pd, qpn) !== true) return false;
    this.#unbind(owner);
    return true;
  }

  /** A QP is destroyed: windows of type 2 that were bound on it are free again. */
  unbindAll(qpn: number): void {
    for (const window of this.#boundOn.get(qpn) ?? []) this.#unbind(window);
  }

  /**
   * What a peer opens with an R_Key (protocol/reliable.md 2.3, row 6); {@link begin} says where in its region the range lies.
   *
   * @param rkey - as int32
   * @param pd - the protection domain of the peer's QP here
   * @param qpn - the number of that QP
   * @param access - all of it must be granted
   */
  openRemote(
    rkey: number,
    pd: number,
    qpn: number,
    access: number,
    addrHi: number,
    addrLo: number,
    lengthBytes: number,
  ): RemoteGrant | undefined {
    const grant = this.openWhole(rkey, pd, qpn, access);
    if (grant === undefined) return undefined;
    this.begin = grant.locate(addrHi, addrLo, lengthBytes);
    return this.begin < 0 ? undefined : grant;
  }

  /** As {@link openRemote}, for a request that names no range. */
  openWhole(rkey: number, pd: number, qpn: number, access: number): RemoteGrant | undefined {
    const grant = this.#keys.owner(rkey)?.grant;
    return grant?.admits(rkey, pd, qpn, access) === true ? grant : undefined;
  }

  /**
   * Why {@link openRemote} opens nothing, for people. To be asked at once, since keys come and go.
   *
   * @returns the reason with its numbers, and what the key opens where there is one
   */
  refusal(rkey: number, pd: number, qpn: number, access: number, addrHi: number, addrLo: number): MemoryRefusal {
    const owner = this.#keys.owner(rkey);
    const grant = owner?.grant;
    const memory = {
      rkey: rkey >>> 0,
      addrHi: addrHi >>> 0,
      addrLo: addrLo >>> 0,
      startHi: (grant?.addrHi ?? 0) >>> 0,
      startLo: (grant?.addrLo ?? 0) >>> 0,
      openBytes: grant?.lengthBytes ?? 0,
    };
    const because = (reason: RefusalReason, a = 0, b = 0): MemoryRefusal => ({ reason, a, b, memory });
    if (owner === undefined || owner.rkey !== rkey) {
      const ended = this.#ended.endOf(rkey);
      if (ended !== undefined) return because(RefusalReason.KEY_ENDED, this.nowUs() - ended);
      if (this.byLkey(rkey) !== undefined) return because(RefusalReason.KEY_LOCAL);
      const swapped = swapBytes(rkey);
      if (this.#keys.owner(swapped)?.rkey === swapped) return because(RefusalReason.KEY_SWAPPED);
      return because(owner === undefined ? RefusalReason.KEY_UNKNOWN : RefusalReason.KEY_OUTDATED);
    }
    if (grant === undefined) return because(RefusalReason.UNBOUND);
    if (grant.pd !== pd) return because(RefusalReason.DOMAIN);
    if (!grant.isFor(rkey, pd, qpn)) return because(RefusalReason.OTHER_QP, grant.qpn);
    if ((grant.access & access) !== access) return because(RefusalReason.ACCESS, access & ~grant.access, grant.access);
    return because(grant.usable ? RefusalReason.RANGE : RefusalReason.MEMORY_GONE);
  }

  /**
   * What the key of a grant opens now that it was closed in the midst of a message: a region that was changed may still
   * hold what the message names. {@link begin} is set as by {@link openRemote}.
   *
   * @param qpn - the QP whose peer opened the grant
   * @param offset - where in its region the range began
   */
  reopen(
    closed: RemoteGrant,
    qpn: number,
    access: number,
    offset: number,
    lengthBytes: number,
  ): RemoteGrant | undefined {
    const { rkey, pd, addrHi, addrLo, base } = closed;
    const lo = (addrLo >>> 0) + (offset - base);
    const hi = (addrHi + Math.floor(lo / 2 ** 32)) | 0;
    return this.openRemote(rkey, pd, qpn, access, hi, lo | 0, lengthBytes);
  }

  /** @param lkey - as int32 */
  byLkey(lkey: number): MemoryRegion | undefined {
    return this.#keys.region(lkey);
  }

  /** Checks attributes of a region; gives them back with the address at which it begins. */
  #checkRegion(attributes: RegionAttributes): RegionAttributes {
    const { access, iovaHi, iovaLo } = attributes;
    const { maxMrBytes } = this.limits;
    const lengthBytes = lengthOf(attributes);
    checkRegionAccess(access);
    // Linux registers no bytes of a page that it pins (`verbena run`); the driver refuses a program's own empty memory.
    if (lengthBytes === 0 && attributes.foreign === undefined)
      throw new CommandError('EINVAL', 'a memory region has at least one byte');
    if (lengthBytes > maxMrBytes) throw new CommandError('EINVAL', `a memory region has at most ${maxMrBytes} bytes`);
    if ((access & AccessFlags.ZERO_BASED) !== 0) return { ...attributes, iovaHi: 0, iovaLo: 0 };
    if (bytesToEnd(iovaHi, iovaLo) < lengthBytes)
      throw new CommandError('EINVAL', 'the region would reach past the end of the address space');
    return { ...attributes, iovaHi: iovaHi | 0, iovaLo: iovaLo | 0 };
  }

  #addRegion(attributes: RegionAttributes, isNull: boolean): MrKeys {
    if (this.#regions.size >= this.limits.maxMr)
      throw new CommandError('ENOMEM', `no more than ${this.limits.maxMr} memory regions`);
    const lkey = this.#keys.fresh();
    const rkey = this.#keys.fresh(lkey);
    this.holdPd(attributes.pd);
    const region = new MemoryRegion(this.#nextHandle++, lkey, rkey, attributes, isNull);
    this.#regions.set(region.handle, region);
    this.#keys.addRegion(region);
    return keysOf(region);
  }

  #region(handle: number): MemoryRegion {
    const region = this.#regions.get(handle);
    if (region === undefined) throw new CommandError('EINVAL', `there is no memory region ${handle}`);
    return region;
  }

  #checkUnbound(region: MemoryRegion): void {
    if (region.windows > 0) throw new CommandError('EBUSY', `${region.windows} memory windows are bound to the region`);
  }

  #windowsOn(qpn: number): Set<MemoryWindow> {
    const known = this.#boundOn.get(qpn);
    if (known !== undefined) return known;
    const windows = new Set<MemoryWindow>();
    this.#boundOn.set(qpn, windows);
    return windows;
  }

  #unbind(window: MemoryWindow): void {
    const qpn = window.grant?.qpn;
    window.close();
    if (qpn === undefined) return;
    const others = this.#boundOn.get(qpn);
    others?.delete(window);
    if (others?.size === 0) this.#boundOn.delete(qpn);
  }
}

function keysOf({ handle, lkey, rkey }: MemoryRegion): MrKeys {
  return { handle, lkey: lkey >>> 0, rkey: rkey >>> 0 };
}

function swapBytes(word: number): number {
  return (word << 24) | ((word & 0xff00) << 8) | ((word >>> 8) & 0xff00) | (word >>> 24);
}
