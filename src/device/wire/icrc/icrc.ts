/**
 * The invariant CRC of RoCEv2 (protocol/packets.md 1.7): CRC-32 over eight 0xFF bytes, the IP and UDP headers and the packet, with
 * the fields that routers may change taken as ones.
 *
 * A CRC is linear: the headers of a path are run through it once, and what differs from packet to packet (two lengths and
 * the IPv4 identification) is added from tables.
 */
import type { Gid } from '../../ibta/index.js';
import { putU16 } from '../bytes.js';
import { ICRC_BYTES } from '../packets/bth.js';
import { Opcode } from '../packets/opcode.js';
import { contributionTable, type Crc32, crc32 } from './crc32.js';

/** Bytes of 0xFF that stand where RoCEv1's local route header would be. */
const PREAMBLE_BYTES = 8;
const IPV4_BYTES = 20;
const IPV6_BYTES = 40;
const UDP_BYTES = 8;
/** The byte of the BTH that holds FECN and BECN, which switches set. */
const BTH_MASKED_BYTE = 4;

/** Bytes between the end of the IPv4 identification and the BTH. */
export const BYTES_FROM_IP_ID_TO_BTH = IPV4_BYTES - 6 + UDP_BYTES;

const V4_TOTAL_HI = contributionTable(IPV4_BYTES - 3 + UDP_BYTES);
const V4_TOTAL_LO = contributionTable(IPV4_BYTES - 4 + UDP_BYTES);
const V4_ID_HI = contributionTable(IPV4_BYTES - 5 + UDP_BYTES);
const V4_ID_LO = contributionTable(IPV4_BYTES - 6 + UDP_BYTES);
const UDP_LENGTH_HI = contributionTable(UDP_BYTES - 5);
const UDP_LENGTH_LO = contributionTable(UDP_BYTES - 6);
// IPv6's payload length and the UDP length are the same number, so one table serves both.
const V6_LENGTH_HI = contributionTable(IPV6_BYTES - 5 + UDP_BYTES).map((word, byte) => word ^ UDP_LENGTH_HI[byte]);
const V6_LENGTH_LO = contributionTable(IPV6_BYTES - 6 + UDP_BYTES).map((word, byte) => word ^ UDP_LENGTH_LO[byte]);

const pseudoHeader = new Uint8Array(PREAMBLE_BYTES + IPV6_BYTES + UDP_BYTES);

/** The running CRC after the masked headers of a path, with both lengths and the identification taken as zero. */
export function pathCrc(ipv6: boolean, sgid: Gid, dgid: Gid, sourcePort: number, destPort: number): number {
  const header = pseudoHeader.fill(0);
  header.fill(0xff, 0, PREAMBLE_BYTES);
  const ip = PREAMBLE_BYTES;
  let udp: number;
  if (ipv6) {
    header.fill(0xff, ip, ip + 4);
    header[ip] = 0x6f;
    header[ip + 6] = 17;
    header[ip + 7] = 0xff;
    header.set(sgid, ip + 8);
    header.set(dgid, ip + 24);
    udp = ip + IPV6_BYTES;
  } else {
    header[ip] = 0x45;
    header[ip + 1] = 0xff;
    header[ip + 6] = 0x40; // don't fragment: every RoCEv2 sender sets it (protocol/udp.md 8.3)
    header[ip + 8] = 0xff;
    header[ip + 9] = 17;
    header.fill(0xff, ip + 10, ip + 12);
    for (let i = 0; i < 4; i += 1) {
      header[ip + 12 + i] = sgid[12 + i];
      header[ip + 16 + i] = dgid[12 + i];
    }
    udp = ip + IPV4_BYTES;
  }
  putU16(header, udp, sourcePort);
  putU16(header, udp + 2, destPort);
  header.fill(0xff, udp + 6, udp + 8);
  return crc32(header, 0, udp + UDP_BYTES, 0);
}

/**
 * The running CRC after the masked headers of one packet.
 *
 * @param pathCrc of the packet's path
 * @param udpPayloadBytes from the BTH to the end of the ICRC
 * @param ipId IPv4 identification, 0 to 65535; IPv6 has none
 */
export function prefixCrc(ipv6: boolean, pathCrc: number, udpPayloadBytes: number, ipId: number): number {
  const udpLength = udpPayloadBytes + UDP_BYTES;
  const hi = (udpLength >> 8) & 0xff;
  const lo = udpLength & 0xff;
  if (ipv6) return pathCrc ^ V6_LENGTH_HI[hi] ^ V6_LENGTH_LO[lo];
  const total = udpLength + IPV4_BYTES;
  return (
    pathCrc ^
    UDP_LENGTH_HI[hi] ^
    UDP_LENGTH_LO[lo] ^
    V4_TOTAL_HI[(total >> 8) & 0xff] ^
    V4_TOTAL_LO[total & 0xff] ^
    V4_ID_HI[(ipId >> 8) & 0xff] ^
    V4_ID_LO[ipId & 0xff]
  );
}

/** The ICRC of the packet that begins with a BTH at `offset`; `length` includes the ICRC, `state` is its `prefixCrc`. */
export function packetCrc(crc32: Crc32, state: number, bytes: Uint8Array, offset: number, length: number): number {
  const masked = offset + BTH_MASKED_BYTE;
  const kept = bytes[masked];
  bytes[masked] = 0xff;
  const crc = crc32(bytes, offset, length - ICRC_BYTES, state);
  bytes[masked] = kept;
  return crc;
}

/**
 * The ICRC that Linux's rxe gives a FLUSH in place of `icrc`, that of IBTA (protocol/packets.md 1.7): the CRC goes over the packet's headers
 * once more, without the mask. A FLUSH has no payload and no pad.
 */
export function headersTwiceCrc(crc32: Crc32, icrc: number, bytes: Uint8Array, offset: number, length: number): number {
  return crc32(bytes, offset, length - ICRC_BYTES, icrc);
}

/** The ICRC as it lies in the packet's last four bytes, least significant byte first. */
export function storedIcrc(bytes: Uint8Array, offset: number, length: number): number {
  const at = offset + length - ICRC_BYTES;
  return bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24);
}

interface SealedPath {
  readonly ipv6: boolean;
  /** What {@link pathCrc} gives. */
  readonly crc: number;
}

/**
 * Computes a packet's ICRC and writes it into the last four bytes.
 *
 * @param length from the BTH to the end of the ICRC
 * @param ipId the IPv4 identification that the packet will leave with
 * @param twice whether it is a FLUSH for Linux's rxe ({@link headersTwiceCrc})
 */
export function sealIcrc(
  crc32: Crc32,
  path: SealedPath,
  bytes: Uint8Array,
  offset: number,
  length: number,
  ipId: number,
  twice = false,
): void {
  let crc = packetCrc(crc32, prefixCrc(path.ipv6, path.crc, length, ipId), bytes, offset, length);
  if (twice) crc = headersTwiceCrc(crc32, crc, bytes, offset, length);
  const at = offset + length - ICRC_BYTES;
  bytes[at] = crc;
  bytes[at + 1] = crc >>> 8;
  bytes[at + 2] = crc >>> 16;
  bytes[at + 3] = crc >>> 24;
}

/** Whether a packet that was sealed with identification 0 is a FLUSH for Linux's rxe ({@link headersTwiceCrc}). */
export function hasHeadersTwice(
  crc32: Crc32,
  path: SealedPath,
  bytes: Uint8Array,
  offset: number,
  length: number,
): boolean {
  if (bytes[offset] !== Opcode.RC_FLUSH) return false;
  const icrc = packetCrc(crc32, prefixCrc(path.ipv6, path.crc, length, 0), bytes, offset, length);
  return icrc !== storedIcrc(bytes, offset, length);
}
