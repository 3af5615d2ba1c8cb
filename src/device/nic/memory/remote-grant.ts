import { locateRange } from './address-range.js';
import type { RegionMemory } from './region-memory.js';

/** In place of a QP number: every QP of the protection domain. */
export const ANY_QP = 0;

/**
 * What one R_Key lets peers do, and where: all of a region, or what a window was bound to. Binding a window again makes
 * a new one, so that whoever holds this one in the midst of a message sees it closed (IBTA 10.6.7, protocol/services.md 3.7).
 */
export class RemoteGrant {
  /** Cleared when the key is invalidated, the window unbound, or the region changed or deregistered. */
  open = true;

  constructor(
    readonly region: RegionMemory,
    readonly rkey: number,
    readonly pd: number,
    /** The one QP whose peer may use it, or {@link ANY_QP}. */
    readonly qpn: number,
    readonly access: number,
    /** Address of the first byte as peers name it. */
    readonly addrHi: number,
    readonly addrLo: number,
    /** Where in the region the first byte lies. */
    readonly base: number,
    readonly lengthBytes: number,
  ) {}

  /** Whether it still opens memory: to be asked again at every packet of a message. */
  get usable(): boolean {
    return this.open && this.region.present;
  }

  /** Whether it is what a QP means by this key. All 32 bits of the key count. */
  isFor(rkey: number, pd: number, qpn: number): boolean {
    return this.rkey === rkey && this.pd === pd && (this.qpn === ANY_QP || this.qpn === qpn);
  }

  /** Whether the peer of this QP may use it so. */
  admits(rkey: number, pd: number, qpn: number, access: number): boolean {
    return this.isFor(rkey, pd, qpn) && (this.access & access) === access && this.usable;
  }

  /** Where in the region's bytes the range at the 64-bit address lies, or -1 when it is not inside the grant. */
  locate(addrHi: number, addrLo: number, lengthBytes: number): number {
    const offset = locateRange(addrHi, addrLo, lengthBytes, this.addrHi, this.addrLo, this.lengthBytes);
    return offset < 0 ? -1 : this.base + offset;
  }
}
