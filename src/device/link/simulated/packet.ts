import type { Gid } from '../../ibta/index.js';
import { Ecn, LinkType, parseFrame } from '../../wire/index.js';

interface Transit {
  /** Addresses of the two hosts, as IP text. Each receiver of a multicast packet gets a record of its own. */
  readonly from: string;
  readonly to: string;
  /** Counts what the network carries, from 0. */
  readonly index: number;
  readonly sentAtUs: number;
  readonly bytes: Uint8Array;
}

/** A packet on the simulated wire: BTH to ICRC; its own copy until it is delivered. */
export interface SimulatedPacket extends Transit {
  readonly header: PacketHeader;
}

/** An Ethernet frame on the simulated wire, without FCS. */
export interface SimulatedFrame extends Transit {
  readonly header: undefined;
}

/** What the IP and UDP headers would say. */
export interface PacketHeader {
  readonly ipv6: boolean;
  readonly source: Gid;
  readonly destination: Gid;
  readonly sourcePort: number;
  readonly trafficClass: number;
  readonly hopLimit: number;
  /** IPv6 only, else 0. */
  readonly flowLabel: number;
  /** As the receiver sees it: -1 where it is hidden, as UDP sockets hide it. */
  readonly ipId: number;
}

/**
 * What a script wants done with a packet. `pass` leaves it to chance and the link's conditions; `corrupt` turns over one to
 * three of its bits; a delay lets later packets overtake it; replacing changes the bytes and nothing else, so the ICRC is
 * the script's business.
 */
export type Verdict =
  | 'pass'
  | 'drop'
  | 'duplicate'
  | 'corrupt'
  | { readonly delayUs: number }
  | { readonly replace: Uint8Array };

/** What comes out of a queue that is too long: marked, where the sender answers to that. */
export function marked<T extends SimulatedPacket | SimulatedFrame>(transit: T): T {
  const { header } = transit;
  if (header === undefined || (header.trafficClass & Ecn.MASK) === Ecn.NOT_ECT) return transit;
  return { ...transit, header: { ...header, trafficClass: header.trafficClass | Ecn.CE } };
}

/** Bytes of the IP and UDP headers, which count on the wire and against an MTU. */
export function ipUdpBytes(ipv6: boolean): number {
  return ipv6 ? 48 : 28;
}

/** Bytes of an Ethernet header, which an MTU does not count. */
export const ETHERNET_HEADER_BYTES = 14;

/** Bytes that count against an MTU: those of the IP packet. */
export function wireBytes({ bytes, header }: SimulatedPacket | SimulatedFrame): number {
  return header === undefined ? bytes.length - ETHERNET_HEADER_BYTES : bytes.length + ipUdpBytes(header.ipv6);
}

/** The packet that a frame holds, when it is one of RoCEv2 and whole: hosts take it as any other. */
export function packetInFrame(frame: SimulatedFrame, hidesIpId: boolean): SimulatedPacket | undefined {
  const found = parseFrame(LinkType.ETHERNET, frame.bytes);
  if (typeof found === 'string' || found.roceVersion !== 2 || found.capturedLength < found.length) return undefined;
  const { ipv6, source, destination, sourcePort, trafficClass, hopLimit, flowLabel, offset, length } = found;
  const ipId = hidesIpId && !ipv6 ? -1 : found.ipId;
  const header = { ipv6, source, destination, sourcePort, trafficClass, hopLimit, flowLabel, ipId };
  return { ...frame, bytes: frame.bytes.slice(offset, offset + length), header };
}
