import { AccessFlags, assert, MwBindReason, MwType } from '../../ibta/index.js';
import { KNOWN_ACCESS } from './access-rules.js';
import type { MemoryRegion } from './memory-region.js';
import { ANY_QP, RemoteGrant } from './remote-grant.js';

/** What a BIND_MW request asks for. Keys are signed, as they stand in the rings. */
export interface BindMw {
  /** The window: its R_Key, of which only the index counts. */
  readonly rkey: number;
  /** The R_Key that it gets: the same index, any tag. */
  readonly newRkey: number;
  /** The region. Not looked at when `lengthBytes` is 0. */
  readonly lkey: number;
  readonly addrHi: number;
  readonly addrLo: number;
  /** 0 unbinds a window of type 1. */
  readonly lengthBytes: number;
  /** Bits of `AccessFlags`: what peers may do through it. */
  readonly access: number;
}

/** Access with which peers change the memory, which the region must therefore allow its owner (protocol/services.md 3.7). */
const REMOTE_CHANGE = AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_ATOMIC;

/** A memory window: an R_Key that opens a part of a region as long as it is bound to it (IBTA 10.6.7.2). */
export class MemoryWindow {
  /** What it is bound to; undefined = unbound, the free state of a window of type 2. */
  grant: RemoteGrant | undefined;
  #region: MemoryRegion | undefined;

  constructor(
    readonly handle: number,
    readonly pd: number,
    readonly type: MwType,
    /** Changes with every binding, in the lower eight bits. */
    public rkey: number,
  ) {}

  /**
   * Why it cannot be bound so by a QP of protection domain `pd`, or 0 (protocol/services.md 3.7). Access of a region that has no
   * meaning for windows is not looked at.
   *
   * @param region the one that the request names, or undefined when there is none
   */
  objection(request: BindMw, region: MemoryRegion | undefined, pd: number): MwBindReason | 0 {
    const { access, lengthBytes } = request;
    const second = this.type === MwType.TYPE_2;
    if (this.pd !== pd) return MwBindReason.WINDOW_PD;
    if (request.newRkey >>> 8 !== this.rkey >>> 8) return MwBindReason.WINDOW_KEY;
    if (second && this.grant !== undefined) return MwBindReason.WINDOW_BOUND;
    if ((access & ~KNOWN_ACCESS) !== 0 || (!second && (access & AccessFlags.ZERO_BASED) !== 0))
      return MwBindReason.WINDOW_ACCESS;
    if (lengthBytes === 0) return second ? MwBindReason.NOTHING_TO_BIND : 0;
    if (region === undefined) return MwBindReason.REGION_UNKNOWN;
    if (region.pd !== pd) return MwBindReason.REGION_PD;
    if (!region.allows(AccessFlags.MW_BIND)) return MwBindReason.REGION_NOT_BINDABLE;
    if (region.allows(AccessFlags.ZERO_BASED)) return MwBindReason.REGION_ZERO_BASED;
    if ((access & REMOTE_CHANGE) !== 0 && !region.allows(AccessFlags.LOCAL_WRITE))
      return MwBindReason.REGION_NOT_WRITABLE;
    return region.locate(request.addrHi, request.addrLo, lengthBytes) < 0 ? MwBindReason.RANGE : 0;
  }

  /** Binds it to a part of `region`, on QP `qpn`, where {@link objection} found nothing in the way. */
  open(request: BindMw, region: MemoryRegion, qpn: number): void {
    const { access, addrHi, addrLo, lengthBytes } = request;
    const base = region.locate(addrHi, addrLo, lengthBytes);
    const zeroBased = (access & AccessFlags.ZERO_BASED) !== 0;
    const user = this.type === MwType.TYPE_2 ? qpn : ANY_QP;
    const [startHi, startLo] = zeroBased ? [0, 0] : [addrHi, addrLo];
    this.grant = new RemoteGrant(region, this.rkey, this.pd, user, access, startHi, startLo, base, lengthBytes);
    this.#region = region;
    region.windows += 1;
  }

  close(): void {
    const region = this.#region;
    if (this.grant === undefined || region === undefined) return;
    region.closeGrant(this.grant);
    this.grant = undefined;
    assert(region.windows > 0, 'a window is unbound from a region that has none');
    region.windows -= 1;
    this.#region = undefined;
  }
}
