import type { Gid } from '../../spec/index.js';

/** A packet on the simulated wire. */
export interface SimulatedPacket {
  /** Addresses of the two hosts, as IP text. */
  readonly from: string;
  readonly to: string;
  /** Counts the packets of the network, from 0. */
  readonly index: number;
  readonly sentAtUs: number;
  /** BTH to ICRC; the packet's own copy until it is delivered. */
  readonly bytes: Uint8Array;
  readonly header: PacketHeader;
}

/** What the IP and UDP headers would say. */
export interface PacketHeader {
  readonly ipv6: boolean;
  readonly source: Gid;
  readonly destination: Gid;
  readonly sourcePort: number;
  readonly trafficClass: number;
  readonly hopLimit: number;
  /** As the receiver sees it: -1 where it is hidden, as UDP sockets hide it. */
  readonly ipId: number;
}

/**
 * What a script wants done with a packet. `pass` leaves it to chance and the link's conditions; a delay lets later
 * packets overtake it; replacing changes the bytes and nothing else, so the ICRC is the script's business.
 */
export type Verdict = 'pass' | 'drop' | 'duplicate' | { readonly delayUs: number } | { readonly replace: Uint8Array };

/** Bytes of the IP and UDP headers, which count on the wire and against an MTU. */
export function ipUdpBytes(ipv6: boolean): number {
  return ipv6 ? 48 : 28;
}
