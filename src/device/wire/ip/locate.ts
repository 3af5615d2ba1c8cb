/** Finds the RoCE packet in a frame, without an object for any frame. */
import { getU16, getU32 } from '../bytes.js';
import { ROCE_PORT } from '../packets/bth.js';

/** Link types of capture files (https://www.tcpdump.org/linktypes.html). */
export const LinkType = {
  /** BSD loopback: four bytes of address family, then IP. */
  NULL: 0,
  ETHERNET: 1,
  /** IP with nothing before it. */
  RAW: 101,
  /** OpenBSD loopback. */
  LOOP: 108,
  /** Linux "any" interface. */
  LINUX_SLL: 113,
  IPV4: 228,
  IPV6: 229,
  /** Linux "any" interface, second edition. */
  LINUX_SLL2: 276,
} as const;
/** A value of the {@link LinkType} object. */
export type LinkType = (typeof LinkType)[keyof typeof LinkType];

/** Why a frame holds no RoCE packet that could be read. */
export const NotRoce = {
  NOT_IP: 'not IP',
  NOT_UDP: 'not UDP',
  OTHER_PORT: 'another UDP port',
  FRAGMENT: 'an IP fragment',
  CUT_SHORT: 'cut short before the BTH',
  UNKNOWN_LINK_TYPE: 'of an unknown link type',
} as const;
/** A value of the {@link NotRoce} object. */
export type NotRoce = (typeof NotRoce)[keyof typeof NotRoce];

/** Encapsulations of whole frames or IP packets. */
export const Tunnel = {
  NONE: '',
  GRE: 'GRE',
  ERSPAN: 'ERSPAN',
  VXLAN: 'VXLAN',
  GENEVE: 'GENEVE',
  IP_IN_IP: 'IP in IP',
  MPLS: 'MPLS',
} as const;
/** A value of the {@link Tunnel} object. */
export type Tunnel = (typeof Tunnel)[keyof typeof Tunnel];

const EtherType = {
  IPV4: 0x0800,
  IPV6: 0x86dd,
  ROCE_V1: 0x8915,
  MPLS: 0x8847,
  MPLS_MULTICAST: 0x8848,
  /** Transparent Ethernet bridging: a whole frame (RFC 1701). */
  ETHERNET: 0x6558,
  ERSPAN: 0x88be,
  ERSPAN_III: 0x22eb,
} as const;

const Protocol = { IPV4: 4, UDP: 17, ROCE_V1: 0x1b, IPV6: 41, FRAGMENT: 44, GRE: 47 } as const;
const Port = { VXLAN: 4789, LINUX_VXLAN: 8472, GENEVE: 6081 } as const;

const ETHERNET_BYTES = 14;
const VLAN_BYTES = 4;
const IPV4_BYTES = 20;
const IPV6_BYTES = 40;
const UDP_BYTES = 8;
const GRE_BYTES = 4;
const GRE_FLAG_BYTES = 4;
const GreFlag = { CHECKSUM: 0x8000, KEY: 0x2000, SEQUENCE: 0x1000, VERSION: 7 } as const;
const TUNNEL_HEADER_BYTES = 8;
const ERSPAN_III_BYTES = 12;
const ERSPAN_III_SUBHEADER_BYTES = 8;
const MPLS_BYTES = 4;
const MPLS_BOTTOM = 1;
/** Encapsulations in each other; a frame that claims more is not followed. */
const MAX_TUNNELS = 4;

const isVlan = (type: number): boolean => type === 0x8100 || type === 0x88a8 || type === 0x9100;

/** The place of a RoCE packet in a frame. One object is reused for all frames. */
export class RoceLocator {
  /** Where the IP header (or GRH) begins. */
  ipOffset = 0;
  /** Where the BTH begins. */
  offset = 0;
  /** From the BTH to the end of the ICRC, as the headers tell. */
  length = 0;
  /** How many of those bytes the capture holds. */
  capturedLength = 0;
  roceVersion: 1 | 2 = 2;
  ipv6 = false;
  /** UDP ports; 0 in RoCEv1. */
  sourcePort = 0;
  destPort = 0;
  /** The frame's Ethernet addresses, destination first; -1 where it has none. */
  etherOffset = -1;
  /** VLAN tag: PCP, DEI and VLAN ID in 16 bits; -1 where the frame has none. Of several the last. */
  vlan = -1;
  /** The outermost encapsulation. */
  tunnel: Tunnel = Tunnel.NONE;
  /** What says more of a frame that is skipped: its link type, Ethertype, IP protocol or destination port. */
  detail = 0;
  #end = 0;
  #tunnels = 0;

  /** @param unwraps whether packets within tunnels are found */
  constructor(private readonly unwraps: boolean) {}

  /**
   * Looks for a RoCE packet in the frame from `begin` to `end`. Never throws.
   *
   * @returns why there is none; undefined when the fields of this object describe one
   */
  locate(linkType: number, bytes: Uint8Array, begin: number, end: number): NotRoce | undefined {
    this.#end = end;
    this.#tunnels = 0;
    this.etherOffset = -1;
    this.vlan = -1;
    this.tunnel = Tunnel.NONE;
    switch (linkType) {
      case LinkType.RAW:
      case LinkType.IPV4:
      case LinkType.IPV6:
        return this.#ip(bytes, begin);
      case LinkType.NULL:
      case LinkType.LOOP:
        return this.#ip(bytes, begin + 4);
      case LinkType.ETHERNET:
        return this.#ethernet(bytes, begin);
      case LinkType.LINUX_SLL:
        return end < begin + 16 ? NotRoce.CUT_SHORT : this.#etherType(bytes, getU16(bytes, begin + 14), begin + 16);
      case LinkType.LINUX_SLL2:
        return end < begin + 20 ? NotRoce.CUT_SHORT : this.#etherType(bytes, getU16(bytes, begin), begin + 20);
      default:
        this.detail = linkType;
        return NotRoce.UNKNOWN_LINK_TYPE;
    }
  }

  /** Reads an IP packet that begins at `at` and goes to `end`. */
  locateIp(bytes: Uint8Array, at: number, end: number): NotRoce | undefined {
    this.#end = end;
    this.#tunnels = 0;
    return this.#ip(bytes, at);
  }

  #ethernet(bytes: Uint8Array, at: number): NotRoce | undefined {
    if (this.#end < at + ETHERNET_BYTES) return NotRoce.CUT_SHORT;
    this.etherOffset = at;
    this.vlan = -1;
    return this.#etherType(bytes, getU16(bytes, at + 12), at + ETHERNET_BYTES);
  }

  /** What an Ethertype says begins at `header`, past VLAN tags. */
  #etherType(bytes: Uint8Array, first: number, header: number): NotRoce | undefined {
    let type = first;
    let at = header;
    while (isVlan(type)) {
      if (this.#end < at + VLAN_BYTES) return NotRoce.CUT_SHORT;
      this.vlan = getU16(bytes, at);
      type = getU16(bytes, at + 2);
      at += VLAN_BYTES;
    }
    if (type === EtherType.ROCE_V1 || type === EtherType.IPV4 || type === EtherType.IPV6) return this.#ip(bytes, at);
    this.detail = type;
    const isMpls = type === EtherType.MPLS || type === EtherType.MPLS_MULTICAST;
    return isMpls && this.#enter(Tunnel.MPLS) ? this.#mpls(bytes, at) : NotRoce.NOT_IP;
  }

  #ip(bytes: Uint8Array, at: number): NotRoce | undefined {
    if (this.#end <= at) return NotRoce.CUT_SHORT;
    switch (bytes[at] >> 4) {
      case 4:
        return this.#ipv4(bytes, at);
      case 6:
        return this.#ipv6(bytes, at);
      default:
        return NotRoce.NOT_IP;
    }
  }

  #ipv4(bytes: Uint8Array, at: number): NotRoce | undefined {
    if (this.#end < at + IPV4_BYTES) return NotRoce.CUT_SHORT;
    const headerEnd = at + 4 * (bytes[at] & 0x0f);
    const protocol = bytes[at + 9];
    const isFragment = (getU16(bytes, at + 6) & 0x3fff) !== 0;
    if (protocol !== Protocol.UDP) return this.#otherProtocol(bytes, protocol, isFragment ? -1 : headerEnd);
    // More fragments to come, or not the first one.
    if (isFragment) return NotRoce.FRAGMENT;
    if (headerEnd < at + IPV4_BYTES) return NotRoce.NOT_IP;
    this.ipv6 = false;
    return this.#udp(bytes, at, headerEnd);
  }

  #ipv6(bytes: Uint8Array, at: number): NotRoce | undefined {
    if (this.#end < at + IPV6_BYTES) return NotRoce.CUT_SHORT;
    const protocol = bytes[at + 6];
    this.ipv6 = true;
    if (protocol === Protocol.UDP) return this.#udp(bytes, at, at + IPV6_BYTES);
    if (protocol === Protocol.FRAGMENT) return NotRoce.FRAGMENT;
    if (protocol !== Protocol.ROCE_V1) return this.#otherProtocol(bytes, protocol, at + IPV6_BYTES);
    this.#found(1, at, at + IPV6_BYTES, getU16(bytes, at + 4));
    this.sourcePort = 0;
    this.destPort = 0;
    return undefined;
  }

  #udp(bytes: Uint8Array, ip: number, udp: number): NotRoce | undefined {
    const payload = udp + UDP_BYTES;
    if (this.#end < payload) return NotRoce.CUT_SHORT;
    const destPort = getU16(bytes, udp + 2);
    this.sourcePort = getU16(bytes, udp);
    this.destPort = destPort;
    if (destPort === ROCE_PORT) {
      this.#found(2, ip, payload, Math.max(0, getU16(bytes, udp + 4) - UDP_BYTES));
      return undefined;
    }
    this.detail = destPort;
    if ((destPort === Port.VXLAN || destPort === Port.LINUX_VXLAN) && this.#enter(Tunnel.VXLAN))
      return this.#ethernet(bytes, payload + TUNNEL_HEADER_BYTES);
    if (destPort === Port.GENEVE && this.#enter(Tunnel.GENEVE)) return this.#geneve(bytes, payload);
    return NotRoce.OTHER_PORT;
  }

  #found(version: 1 | 2, ip: number, offset: number, length: number): void {
    this.roceVersion = version;
    this.ipOffset = ip;
    this.offset = offset;
    this.length = length;
    this.capturedLength = Math.max(0, Math.min(length, this.#end - offset));
  }

  /** Whether what is in a tunnel should be looked at. */
  #enter(tunnel: Tunnel): boolean {
    if (!this.unwraps || this.#tunnels >= MAX_TUNNELS) return false;
    this.#tunnels += 1;
    if (this.#tunnels === 1) this.tunnel = tunnel;
    return true;
  }

  /** @param at where the protocol's header begins; negative in a fragment */
  #otherProtocol(bytes: Uint8Array, protocol: number, at: number): NotRoce | undefined {
    this.detail = protocol;
    if (at < 0) return NotRoce.NOT_UDP;
    if (protocol === Protocol.GRE && this.#enter(Tunnel.GRE)) return this.#gre(bytes, at);
    const isIp = protocol === Protocol.IPV4 || protocol === Protocol.IPV6;
    return isIp && this.#enter(Tunnel.IP_IN_IP) ? this.#ip(bytes, at) : NotRoce.NOT_UDP;
  }

  /** RFC 2784 and 2890, and ERSPAN in it (draft-foschiano-erspan). */
  #gre(bytes: Uint8Array, at: number): NotRoce | undefined {
    if (this.#end < at + GRE_BYTES) return NotRoce.CUT_SHORT;
    const flags = getU16(bytes, at);
    const type = getU16(bytes, at + 2);
    if ((flags & GreFlag.VERSION) !== 0) return NotRoce.NOT_UDP;
    let inner = at + GRE_BYTES;
    for (const flag of [GreFlag.CHECKSUM, GreFlag.KEY, GreFlag.SEQUENCE])
      if ((flags & flag) !== 0) inner += GRE_FLAG_BYTES;
    switch (type) {
      case EtherType.ETHERNET:
        return this.#ethernet(bytes, inner);
      case EtherType.ERSPAN:
        this.#name(Tunnel.ERSPAN);
        // The first version has no header, and no sequence number.
        return this.#ethernet(bytes, (flags & GreFlag.SEQUENCE) === 0 ? inner : inner + TUNNEL_HEADER_BYTES);
      case EtherType.ERSPAN_III: {
        this.#name(Tunnel.ERSPAN);
        if (this.#end < inner + ERSPAN_III_BYTES) return NotRoce.CUT_SHORT;
        const subheader = (bytes[inner + ERSPAN_III_BYTES - 1] & 1) === 0 ? 0 : ERSPAN_III_SUBHEADER_BYTES;
        return this.#ethernet(bytes, inner + ERSPAN_III_BYTES + subheader);
      }
      default:
        return this.#etherType(bytes, type, inner);
    }
  }

  #name(tunnel: Tunnel): void {
    if (this.#tunnels === 1) this.tunnel = tunnel;
  }

  /** RFC 8926. */
  #geneve(bytes: Uint8Array, at: number): NotRoce | undefined {
    if (this.#end < at + TUNNEL_HEADER_BYTES) return NotRoce.CUT_SHORT;
    const inner = at + TUNNEL_HEADER_BYTES + 4 * (bytes[at] & 0x3f);
    const type = getU16(bytes, at + 2);
    return type === EtherType.ETHERNET ? this.#ethernet(bytes, inner) : this.#etherType(bytes, type, inner);
  }

  #mpls(bytes: Uint8Array, first: number): NotRoce | undefined {
    let at = first;
    while (this.#end >= at + MPLS_BYTES) {
      at += MPLS_BYTES;
      if (((getU32(bytes, at - MPLS_BYTES) >>> 8) & MPLS_BOTTOM) !== 0) return this.#ip(bytes, at);
    }
    return NotRoce.CUT_SHORT;
  }
}
