/** The IP and UDP headers around a RoCE packet: finding them in a captured frame, and building them for a capture. */
import { type Gid, ipFromGid } from '../../ibta/index.js';
import { getU16, getU32, putU16, putU32 } from '../bytes.js';
import type { Crc32 } from '../icrc/crc32.js';
import { packetCrc } from '../icrc/icrc.js';
import { ROCE_PORT } from '../packets/bth.js';
import { type NotRoce, RoceLocator } from './locate.js';
import type { PacketMeta, Path } from './path.js';

/** Explicit congestion notification (RFC 3168): the low two bits of IPv4's TOS and IPv6's traffic class, which no ICRC covers. */

/** What the two bits say. */
export const Ecn = {
  /** The sender does not respond to marks, so a full queue drops its packets. */
  NOT_ECT: 0,
  ECT1: 1,
  ECT0: 2,
  /** Somebody on the way had a long queue. */
  CE: 3,
  MASK: 3,
} as const;
/** A value of the {@link Ecn} object. */
export type Ecn = (typeof Ecn)[keyof typeof Ecn];

const NAMES: Readonly<Record<number, string>> = { 0: 'Not-ECT', 1: 'ECT(1)', 2: 'ECT(0)', 3: 'CE' };

/** What RFC 3168 calls the two bits of a TOS or traffic class. */
export function ecnName(trafficClass: number): string {
  return NAMES[trafficClass & Ecn.MASK] ?? '';
}

const IPV4_BYTES = 20;
const IPV6_BYTES = 40;
const UDP_BYTES = 8;
const PROTOCOL_UDP = 17;
const DEFAULT_HOP_LIMIT = 64;

/** A RoCE packet found in a captured frame, with what its IP and UDP headers say. */
export interface RoceDatagram {
  /** 2, or 1 for a packet with a GRH right after the Ethernet header. */
  readonly roceVersion: 1 | 2;
  readonly ipv6: boolean;
  readonly source: Gid;
  readonly destination: Gid;
  /** UDP ports; 0 in RoCEv1. */
  readonly sourcePort: number;
  readonly destPort: number;
  readonly trafficClass: number;
  readonly hopLimit: number;
  /** IPv6 only, else 0. */
  readonly flowLabel: number;
  /** IPv4 only, else 0. */
  readonly ipId: number;
  /** Where the IP header (or GRH) begins in the frame. */
  readonly ipOffset: number;
  readonly offset: number;
  /** From the BTH to the end of the ICRC, as the headers tell. */
  readonly length: number;
  /** How many of those bytes the capture holds; fewer than `length` when it was cut to a snap length. */
  readonly capturedLength: number;
}

/** The datagram's two addresses as people write them. */
export function datagramAddresses({ source, destination }: RoceDatagram): { source: string; destination: string } {
  return { source: ipFromGid(source), destination: ipFromGid(destination) };
}

function ipv4Gid(frame: Uint8Array, at: number): Gid {
  const gid = new Uint8Array(16);
  gid.fill(0xff, 10, 12);
  gid.set(frame.subarray(at, at + 4), 12);
  return gid;
}

/** The packet that a locator has found, as an object. */
export function datagramAt(frame: Uint8Array, found: RoceLocator): RoceDatagram {
  const { roceVersion, ipv6, sourcePort, destPort, ipOffset, offset, length, capturedLength } = found;
  const place = { sourcePort, destPort, ipOffset, offset, length, capturedLength };
  if (!ipv6)
    return {
      roceVersion,
      ipv6,
      source: ipv4Gid(frame, ipOffset + 12),
      destination: ipv4Gid(frame, ipOffset + 16),
      trafficClass: frame[ipOffset + 1],
      hopLimit: frame[ipOffset + 8],
      flowLabel: 0,
      ipId: getU16(frame, ipOffset + 4),
      ...place,
    };
  const word = getU32(frame, ipOffset);
  return {
    roceVersion,
    ipv6,
    source: new Uint8Array(frame.subarray(ipOffset + 8, ipOffset + 24)),
    destination: new Uint8Array(frame.subarray(ipOffset + 24, ipOffset + 40)),
    trafficClass: (word >>> 20) & 0xff,
    hopLimit: frame[ipOffset + 7],
    flowLabel: word & 0xfffff,
    ipId: 0,
    ...place,
  };
}

const locator = new RoceLocator(false);

/** Reads the IP packet that begins at `offset` of a frame and goes to its end. */
export function parseIpPacket(frame: Uint8Array, offset = 0): RoceDatagram | NotRoce {
  return locator.locateIp(frame, offset, frame.length) ?? datagramAt(frame, locator);
}

/**
 * Finds the RoCE packet in a frame; what holds none, or cannot be read, comes back as the reason. Never throws. Packets
 * within tunnels are not looked for.
 */
export function parseFrame(linkType: number, frame: Uint8Array): RoceDatagram | NotRoce {
  return locator.locate(linkType, frame, 0, frame.length) ?? datagramAt(frame, locator);
}

const scratch = new Uint8Array(8 + 60 + UDP_BYTES);

/**
 * The ICRC that the datagram should carry, computed from its headers as they are in the frame (protocol/packets.md 1.7), for
 * RoCEv1 as well. The frame must hold all of it. One byte of it is changed and put back meanwhile.
 */
export function datagramIcrc(crc32: Crc32, frame: Uint8Array, datagram: RoceDatagram): number {
  const { ipOffset, offset, length, ipv6, roceVersion } = datagram;
  const headerBytes = offset - ipOffset;
  const masked = scratch.fill(0xff, 0, 8);
  masked.set(frame.subarray(ipOffset, offset), 8);
  if (ipv6) {
    masked[8] |= 0x0f;
    masked.fill(0xff, 9, 12);
    masked[8 + 7] = 0xff;
  } else {
    masked[8 + 1] = 0xff;
    masked[8 + 8] = 0xff;
    masked.fill(0xff, 8 + 10, 8 + 12);
  }
  if (roceVersion === 2) masked.fill(0xff, 8 + headerBytes - 2, 8 + headerBytes);
  return packetCrc(crc32, crc32(masked, 0, 8 + headerBytes, 0), frame, offset, length);
}

interface IpHeader {
  readonly ipv6: boolean;
  readonly source: Gid;
  readonly destination: Gid;
  readonly trafficClass: number;
  /** 0 is taken to mean that it is not known. */
  readonly hopLimit: number;
  readonly flowLabel?: number;
  /** IPv4 identification; negative, when nobody knows it, is written as 0. */
  readonly ipId: number;
}

/** What {@link buildIpUdpHeader} needs to know; a `PacketMeta` fits. */
export interface IpUdpHeader extends IpHeader {
  readonly sourcePort: number;
}

/** The headers of a packet that leaves along `path`. */
export function pathHeader(path: Path, ipId: number): IpUdpHeader {
  const { ipv6, sgid, dgid, sourcePort, trafficClass, hopLimit, flowLabel } = path;
  return { ipv6, source: sgid, destination: dgid, sourcePort, trafficClass, hopLimit, flowLabel, ipId };
}

/** Bytes that {@link buildIpUdpHeader} writes. */
export function ipUdpHeaderBytes(ipv6: boolean): number {
  return (ipv6 ? IPV6_BYTES : IPV4_BYTES) + UDP_BYTES;
}

/** The one's complement sum of 16-bit words, folded, on top of `sum`. */
function onesSum(bytes: Uint8Array, offset: number, length: number, sum: number): number {
  let total = sum;
  const end = offset + length;
  for (let at = offset; at + 1 < end; at += 2) total += getU16(bytes, at);
  if ((length & 1) !== 0) total += bytes[end - 1] << 8;
  while (total > 0xffff) total = (total & 0xffff) + Math.floor(total / 0x10000);
  return total;
}

/** Writes an IP header with nothing after it but `payloadBytes`, don't fragment set. @returns the bytes written */
function writeIpHeader(bytes: Uint8Array, offset: number, header: IpHeader, payloadBytes: number): number {
  const { source, destination, trafficClass } = header;
  const hopLimit = header.hopLimit === 0 ? DEFAULT_HOP_LIMIT : header.hopLimit;
  if (header.ipv6) {
    putU32(bytes, offset, (6 << 28) | (trafficClass << 20) | ((header.flowLabel ?? 0) & 0xfffff));
    putU16(bytes, offset + 4, payloadBytes);
    bytes[offset + 6] = PROTOCOL_UDP;
    bytes[offset + 7] = hopLimit;
    bytes.set(source, offset + 8);
    bytes.set(destination, offset + 24);
    return IPV6_BYTES;
  }
  bytes[offset] = 0x45;
  bytes[offset + 1] = trafficClass;
  putU16(bytes, offset + 2, IPV4_BYTES + payloadBytes);
  putU16(bytes, offset + 4, Math.max(0, header.ipId));
  putU16(bytes, offset + 6, 0x4000);
  bytes[offset + 8] = hopLimit;
  bytes[offset + 9] = PROTOCOL_UDP;
  putU16(bytes, offset + 10, 0);
  for (let i = 0; i < 4; i += 1) {
    bytes[offset + 12 + i] = source[12 + i];
    bytes[offset + 16 + i] = destination[12 + i];
  }
  putU16(bytes, offset + 10, ~onesSum(bytes, offset, IPV4_BYTES, 0));
  return IPV4_BYTES;
}

/**
 * Writes the IP and UDP headers of a RoCEv2 packet as its sender sends them: don't fragment set, destination port 4791.
 * The UDP checksum is left 0, as Soft-RoCE does; {@link fillUdpChecksum} computes it.
 *
 * @param packetBytes from the BTH to the end of the ICRC
 * @returns the bytes written; the packet goes there
 */
export function buildIpUdpHeader(bytes: Uint8Array, offset: number, header: IpUdpHeader, packetBytes: number): number {
  const udpLength = UDP_BYTES + packetBytes;
  const udp = offset + writeIpHeader(bytes, offset, header, udpLength);
  putU16(bytes, udp, header.sourcePort);
  putU16(bytes, udp + 2, ROCE_PORT);
  putU16(bytes, udp + 4, udpLength);
  putU16(bytes, udp + 6, 0);
  return udp + UDP_BYTES - offset;
}

/** Bytes before the payload in the receive buffer of a datagram. */
export const GRH_BYTES = 40;

/**
 * Writes the {@link GRH_BYTES} that precede the payload in a datagram's receive buffer (protocol/packets.md 1.6): the IPv6 header,
 * or 20 bytes of zero and the IPv4 header, with a right checksum, by which readers tell the two apart. An identification
 * or a hop limit that the link could not see is written as 0 and as 64.
 *
 * @param udpPayloadBytes from the BTH to the end of the ICRC
 */
export function writeGrhArea(bytes: Uint8Array, offset: number, meta: PacketMeta, udpPayloadBytes: number): void {
  const prefixBytes = meta.ipv6 ? 0 : GRH_BYTES - IPV4_BYTES;
  bytes.fill(0, offset, offset + prefixBytes);
  writeIpHeader(bytes, offset + prefixBytes, meta, UDP_BYTES + udpPayloadBytes);
}

/** Computes the UDP checksum of a packet built by {@link buildIpUdpHeader} at `offset`, once its payload is there. */
export function fillUdpChecksum(bytes: Uint8Array, offset: number, ipv6: boolean): void {
  const udp = offset + (ipv6 ? IPV6_BYTES : IPV4_BYTES);
  const addresses = ipv6 ? 32 : 8;
  const udpLength = getU16(bytes, udp + 4);
  putU16(bytes, udp + 6, 0);
  const pseudo = onesSum(bytes, udp - addresses, addresses, PROTOCOL_UDP + udpLength);
  const checksum = ~onesSum(bytes, udp, udpLength, pseudo) & 0xffff;
  // A checksum that comes out as zero is sent as ones, since zero says that there is none (RFC 768).
  putU16(bytes, udp + 6, checksum === 0 ? 0xffff : checksum);
}
