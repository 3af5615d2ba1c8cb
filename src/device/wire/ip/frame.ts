/** From a captured frame to the RoCE packet in it, for the link types that captures of IP networks come with. */
import { getU16 } from '../bytes.js';
import { NotRoce, parseIpPacket, type RoceDatagram } from './ip.js';

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

const ETHERTYPE_IPV4 = 0x0800;
const ETHERTYPE_IPV6 = 0x86dd;
const ETHERTYPE_ROCE_V1 = 0x8915;
const VLAN_ETHERTYPES: readonly number[] = [0x8100, 0x88a8, 0x9100];

/** Follows the Ethertype at `typeAt`, past VLAN tags, to the header `headerAt` or later. */
function parseEthertype(frame: Uint8Array, typeAt: number, headerAt: number): RoceDatagram | NotRoce {
  let type = getU16(frame, typeAt);
  let at = headerAt;
  while (VLAN_ETHERTYPES.includes(type)) {
    if (frame.length < at + 4) return NotRoce.CUT_SHORT;
    type = getU16(frame, at + 2);
    at += 4;
  }
  if (type === ETHERTYPE_ROCE_V1 || type === ETHERTYPE_IPV4 || type === ETHERTYPE_IPV6) return parseIpPacket(frame, at);
  return NotRoce.NOT_IP;
}

/** Finds the RoCE packet in a frame; what holds none, or cannot be read, comes back as the reason. Never throws. */
export function parseFrame(linkType: number, frame: Uint8Array): RoceDatagram | NotRoce {
  switch (linkType) {
    case LinkType.RAW:
    case LinkType.IPV4:
    case LinkType.IPV6:
      return parseIpPacket(frame, 0);
    case LinkType.NULL:
    case LinkType.LOOP:
      return parseIpPacket(frame, 4);
    case LinkType.ETHERNET:
      return frame.length < 14 ? NotRoce.CUT_SHORT : parseEthertype(frame, 12, 14);
    case LinkType.LINUX_SLL:
      return frame.length < 16 ? NotRoce.CUT_SHORT : parseEthertype(frame, 14, 16);
    case LinkType.LINUX_SLL2:
      return frame.length < 20 ? NotRoce.CUT_SHORT : parseEthertype(frame, 0, 20);
    default:
      return NotRoce.UNKNOWN_LINK_TYPE;
  }
}

/** What Linux says of a frame in its cooked headers: it came to this machine (0 to 2), or left it (4). */
const SLL_OUTGOING = 4;
const SLL_LAST_INCOMING = 2;

/** Whether the machine that captured received or sent a frame, where the header of its link type tells. */
export function frameDirection(linkType: number, frame: Uint8Array): 'in' | 'out' | undefined {
  let kind: number | undefined;
  if (linkType === LinkType.LINUX_SLL && frame.length >= 16) kind = getU16(frame, 0);
  else if (linkType === LinkType.LINUX_SLL2 && frame.length >= 20) kind = frame[10];
  if (kind === undefined) return undefined;
  if (kind === SLL_OUTGOING) return 'out';
  return kind <= SLL_LAST_INCOMING ? 'in' : undefined;
}
