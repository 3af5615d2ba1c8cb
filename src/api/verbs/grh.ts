import { type AhAttr, type Gid, gidsEqual, GidType, WcFlags } from '../../device/ibta/index.js';
import { isU32 } from './address.js';
import { bytesProblem, isObject, objectProblem, u32Problem } from './checks/values.js';
import type { GidEntry } from './objects/context.js';
import { invalid, type Problem } from './errors.js';
import type { WorkCompletion } from './work-completion.js';

/** Bytes before the message in the buffer of a datagram's receive request. */
const GRH_BYTES = 40;
/** Where an IPv4 header stands in them. */
const IPV4_AT = 20;
const IPV4_BYTES = 20;
/** Version 4, header of five words: the only one that RoCEv2 has. */
const IPV4_START = 0x45;
const UDP = 17;
/** Next header of RoCEv1. */
const INFINIBAND = 0x1b;
const MULTICAST_FIRST_BYTE = 0xff;
const IPV4_MULTICAST = 0xe0;

/** What the 40 bytes before a datagram say about the way it came (protocol/packets.md 1.6). */
export interface GrhHeader {
  readonly version: 4 | 6;
  /** The sender; an IPv4 address is mapped. */
  readonly sourceGid: Gid;
  /** Whom it was sent to. */
  readonly destinationGid: Gid;
  /** 20 bits. Without meaning for IPv4: what stands before that header is unspecified. */
  readonly flowLabel: number;
  /** Traffic class or TOS. */
  readonly trafficClass: number;
  /** Hop limit or TTL, as received. */
  readonly hopLimit: number;
  /** Next header or protocol: 17 for RoCEv2, 27 for RoCEv1. */
  readonly nextHeader: number;
}

/** An address that leads back, or why there is none. */
export type ReverseAddress = { readonly attr: AhAttr } | { readonly problem: Problem };

/** Whether an IPv4 header's checksum is right: its ten words, checksum and all, add up to all ones (RFC 1071). */
function hasChecksum(bytes: Uint8Array): boolean {
  let sum = 0;
  for (let i = IPV4_AT; i < IPV4_AT + IPV4_BYTES; i += 2) sum += (bytes[i] << 8) | bytes[i + 1];
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return sum === 0xffff;
}

/** Bytes 0 to 19 before an IPv4 header are unspecified. Where they look like IPv6, the checksum of IPv4 decides. */
function versionOf(bytes: Uint8Array): 4 | 6 | undefined {
  const isIpv4 = bytes[IPV4_AT] >>> 4 === 4;
  if (bytes[0] >>> 4 !== 6) return isIpv4 ? 4 : undefined;
  return bytes[IPV4_AT] === IPV4_START && hasChecksum(bytes) ? 4 : 6;
}

function mapped(bytes: Uint8Array, offset: number): Gid {
  const gid = new Uint8Array(16);
  gid[10] = 0xff;
  gid[11] = 0xff;
  gid.set(bytes.subarray(offset, offset + 4), 12);
  return gid;
}

/**
 * Reads the IP header that UD receives begin with.
 *
 * @param bytes at least 40
 * @returns undefined when there are fewer, or they are no IP header
 */
export function parseGrh(bytes: Uint8Array): GrhHeader | undefined {
  if (bytes.length < GRH_BYTES) return undefined;
  const version = versionOf(bytes);
  // Of IPv4 too, from what stands where an IPv6 header would: zeros, but for adapters that leave something there.
  const flowLabel = ((bytes[1] & 0x0f) << 16) | (bytes[2] << 8) | bytes[3];
  switch (version) {
    case 4:
      return {
        version,
        sourceGid: mapped(bytes, IPV4_AT + 12),
        destinationGid: mapped(bytes, IPV4_AT + 16),
        flowLabel,
        trafficClass: bytes[IPV4_AT + 1],
        hopLimit: bytes[IPV4_AT + 8],
        nextHeader: bytes[IPV4_AT + 9],
      };
    case 6:
      return {
        version,
        sourceGid: bytes.slice(8, 24),
        destinationGid: bytes.slice(24, 40),
        flowLabel,
        trafficClass: ((bytes[0] & 0x0f) << 4) | (bytes[1] >>> 4),
        hopLimit: bytes[7],
        nextHeader: bytes[6],
      };
    default:
      return undefined;
  }
}

function isMulticast({ version, destinationGid }: GrhHeader): boolean {
  return version === 4 ? (destinationGid[12] & 0xf0) === IPV4_MULTICAST : destinationGid[0] === MULTICAST_FIRST_BYTE;
}

function notSupported(message: string): ReverseAddress {
  const advice = 'Give the first 40 bytes of the buffer that the datagram came into';
  return { problem: { errno: 'EPROTONOSUPPORT', message, advice } };
}

/** What of a completion is looked at here, as it may come from a program that no compiler has checked. */
interface LooseSource {
  readonly wcFlags?: unknown;
  readonly slid?: unknown;
  readonly sl?: unknown;
  readonly dlidPathBits?: unknown;
}

/** Why nothing can be told from this, or undefined; a header is needed only where the completion says there is one. */
function sourceProblem(wc: unknown, grh: unknown): Problem | undefined {
  if (!isObject(wc)) return objectProblem('wc', wc);
  const source: LooseSource = wc;
  for (const field of ['wcFlags', 'slid', 'sl', 'dlidPathBits'] as const) {
    if (!isU32(source[field])) return u32Problem(`wc.${field}`, source[field]);
  }
  return isU32(source.wcFlags) && (source.wcFlags & WcFlags.GRH) !== 0 ? bytesProblem('grh', grh) : undefined;
}

/**
 * The address of a datagram's sender (protocol/packets.md 1.6, man ibv_init_ah_from_wc): the way back is the way it came.
 *
 * @param gids the GID table of the port
 */
export function ahAttrFromWc(
  portNum: number,
  wc: Pick<WorkCompletion, 'wcFlags' | 'slid' | 'sl' | 'dlidPathBits'>,
  grh: Uint8Array,
  gids: readonly GidEntry[],
): ReverseAddress {
  const problem = sourceProblem(wc, grh);
  if (problem !== undefined) return { problem };
  const base = { dlid: wc.slid, sl: wc.sl, srcPathBits: wc.dlidPathBits, staticRate: 0, portNum };
  if ((wc.wcFlags & WcFlags.GRH) === 0) return { attr: { ...base, isGlobal: false } };
  if (grh.length < GRH_BYTES) {
    return {
      problem: invalid(`the header has ${grh.length} bytes, not ${GRH_BYTES}`, 'A receive of UD begins with it'),
    };
  }
  const header = parseGrh(grh);
  if (header === undefined) return notSupported('the header is neither IPv4 nor IPv6');
  if (isMulticast(header)) {
    const advice = 'Choose an address of our own by sgidIndex, and take the sender from the header (parseGrh)';
    return { problem: invalid('the datagram went to a multicast group, which nobody can answer from', advice) };
  }
  const { sourceGid, destinationGid, flowLabel, trafficClass, hopLimit, nextHeader } = header;
  if (header.version === 6 && nextHeader !== UDP && nextHeader !== INFINIBAND) {
    return notSupported(`the header is followed by ${nextHeader}, not by UDP`);
  }
  const gidType = nextHeader === INFINIBAND && header.version === 6 ? GidType.ROCE_V1 : GidType.ROCE_V2;
  const ours = gids.find((entry) => entry.gidType === gidType && gidsEqual(entry.gid, destinationGid));
  if (ours === undefined) {
    return { problem: invalid('the datagram went to no GID of this port', 'queryGidTable tells what it has') };
  }
  const route = { dgid: sourceGid, flowLabel, sgidIndex: ours.gidIndex, hopLimit, trafficClass };
  return { attr: { ...base, isGlobal: true, grh: route } };
}
