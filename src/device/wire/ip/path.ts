/** The destination and source of a packet: what its IP and UDP headers say. */
import { type Gid, isIpv4Gid } from '../../ibta/index.js';
import { pathCrc } from '../icrc/icrc.js';
import { ROCE_PORT } from '../packets/bth.js';

/** A way from one NIC to another, fixed for the life of a connection, with its share of the ICRC already computed. */
export interface Path {
  readonly ipv6: boolean;
  readonly sgid: Gid;
  readonly dgid: Gid;
  /** UDP port that packets are sent from, 1 to 65535. */
  readonly sourcePort: number;
  /** IPv4 TOS or IPv6 traffic class, 0 to 255. */
  readonly trafficClass: number;
  /** IPv4 TTL or IPv6 hop limit, 0 to 255. */
  readonly hopLimit: number;
  /** IPv6 flow label, 20 bits. */
  readonly flowLabel: number;
  /** Running CRC over the masked headers, lengths and ID taken as zero: what `pathCrc` gives. */
  readonly crc: number;
}

/** What {@link createPath} needs to know. */
export interface PathOptions {
  readonly sgid: Gid;
  readonly dgid: Gid;
  readonly trafficClass?: number;
  readonly hopLimit?: number;
  readonly flowLabel?: number;
  readonly sourcePort?: number;
}

/** Makes a path. GIDs of two IP versions give a RangeError: no packet can go that way. */
export function createPath({
  sgid,
  dgid,
  trafficClass = 0,
  hopLimit = 64,
  flowLabel = 0,
  sourcePort = ROCE_PORT,
}: PathOptions): Path {
  const ipv6 = !isIpv4Gid(dgid);
  if (ipv6 === isIpv4Gid(sgid)) throw new RangeError('a path needs two GIDs of the same IP version');
  const crc = pathCrc(ipv6, sgid, dgid, sourcePort, ROCE_PORT);
  return { ipv6, sgid, dgid, sourcePort, trafficClass, hopLimit, flowLabel, crc };
}

/** The same for a packet that arrived. One object is reused for all packets, so nothing is allocated for any of them. */
export class PacketMeta {
  ipv6 = false;
  /** The sender's address as a GID. */
  readonly source = new Uint8Array(16);
  /** The same memory as {@link source} in four words, for quick comparisons. */
  readonly sourceWords = new Int32Array(this.source.buffer);
  /** The address that the packet was sent to, as a GID: the own one, or a group's. */
  readonly destination = new Uint8Array(16);
  /** The same memory as {@link destination} in four words. */
  readonly destinationWords = new Int32Array(this.destination.buffer);
  sourcePort = ROCE_PORT;
  /** IPv4 TOS or IPv6 traffic class. */
  trafficClass = 0;
  /** IPv4 TTL or IPv6 hop limit; 0 when the receiver could not see it. */
  hopLimit = 0;
  /** IPv6 flow label, 20 bits; 0 when there is none, as in IPv4, or the receiver could not see it. */
  flowLabel = 0;
  /** IPv4 identification, or -1 when the receiver could not see it, as behind a UDP socket. */
  ipId = -1;
  /** Whether its last four bytes mean nothing: it came by memory, where nothing is lost or changed on the way. */
  unsealed = false;
  /** By which neighbour's memory it came: a number that no other neighbour gets, those after it at the same address included; else 0. */
  way = 0;
  /** Payload of all but the last packet of its message, where that is not the path MTU; else 0. */
  segmentBytes = 0;
  /** Where the payload is when it is not behind the headers: its byte `n` is then at `n + payloadShift` of this. */
  payload: Uint8Array | undefined;
  payloadShift = 0;
}
