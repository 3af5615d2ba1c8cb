import { viewOf } from '../../../device/wire/index.js';
import { type Gid, ipFromGid, isIpv4Gid } from '../../../device/ibta/index.js';

/** Bytes of a datagram at most, header and all: what a receiver has posted for each. */
export const MAX_DATAGRAM = 2048;

/** What is at the beginning of each datagram: who sends it. `struct ds_header`. */
export const DATAGRAM_HEADER_BYTES = { 4: 8, 6: 24 } as const;

/** What is at the beginning of each packet by UDP, by which ends find each other. `struct ds_udp_header`. */
export const INTRODUCTION_BYTES = { 4: 16, 6: 28 } as const;

const TAG = 0x5555_5555;
const QPN_MASK = 0xff_ffff;
/** 0 and 1 are management's, and the last one means a group. */
const FIRST_QPN = 2;
/** Where an IPv4 address begins in a GID. */
const IPV4_AT = 12;

export const IntroductionKind = {
  DATA: 0,
  CTRL: 7,
} as const;
export type IntroductionKind = (typeof IntroductionKind)[keyof typeof IntroductionKind];

/** A packet by UDP: which queue pair its sender has. */
export interface Introduction {
  readonly kind: IntroductionKind;
  readonly qpn: number;
  readonly payload: Uint8Array;
}

function ipVersion(gid: Gid): 4 | 6 {
  return isIpv4Gid(gid) ? 4 : 6;
}

export function encodeDatagramHeader(gid: Gid, port: number): Uint8Array {
  const version = ipVersion(gid);
  const bytes = new Uint8Array(DATAGRAM_HEADER_BYTES[version]);
  bytes[0] = version;
  bytes[1] = bytes.length;
  viewOf(bytes).setUint16(2, port);
  if (version === 4) bytes.set(gid.subarray(IPV4_AT), 4);
  else bytes.set(gid, 8);
  return bytes;
}

/** Whether bytes begin with the header of a datagram of that version of IP. */
export function hasDatagramHeader(bytes: Uint8Array, version: 4 | 6): boolean {
  const length = DATAGRAM_HEADER_BYTES[version];
  return bytes.length >= length && bytes[0] === version && bytes[1] === length;
}

/**
 * How long the header of a datagram is; 0 when it has none, is of the other version of IP, or names a sender that `grh` does not.
 *
 * @param bytes the datagram
 * @param grh the 40 bytes before it
 */
export function datagramHeaderBytes(bytes: Uint8Array, grh: Uint8Array, version: 4 | 6): number {
  if (!hasDatagramHeader(bytes, version)) return 0;
  // Where the sender's address is in what names it: in an IPv4 header, which is the last 20 bytes, or a GRH.
  const [said, seen, count] = version === 4 ? [4, 32, 4] : [8, 8, 16];
  for (let i = 0; i < count; i += 1) if (bytes[said + i] !== grh[seen + i]) return 0;
  return DATAGRAM_HEADER_BYTES[version];
}

/** The sender's port, of what {@link datagramHeaderBytes} has found good. */
export function portInHeader(bytes: Uint8Array): number {
  return (bytes[2] << 8) | bytes[3];
}

/** The sender's address, likewise. */
export function gidInHeader(bytes: Uint8Array): Gid {
  if (bytes[0] === 6) return bytes.slice(8, 24);
  const gid = new Uint8Array(16);
  gid.fill(0xff, 10, 12);
  gid.set(bytes.subarray(4, 8), IPV4_AT);
  return gid;
}

/** The same as text. */
export function hostInHeader(bytes: Uint8Array): string {
  return ipFromGid(gidInHeader(bytes));
}

/** @param gid the sender's own address */
export function encodeIntroduction(kind: IntroductionKind, gid: Gid, qpn: number, payload: Uint8Array): Uint8Array {
  const version = ipVersion(gid);
  const length = INTRODUCTION_BYTES[version];
  const bytes = new Uint8Array(length + payload.length);
  const view = viewOf(bytes);
  view.setUint32(0, TAG);
  bytes[4] = version;
  bytes[5] = kind;
  bytes[6] = length;
  view.setUint32(8, qpn & QPN_MASK);
  bytes.set(version === 4 ? gid.subarray(IPV4_AT) : gid, 12);
  bytes.set(payload, length);
  return bytes;
}

/** @returns undefined for what is none, or names a queue pair that is nobody's */
export function decodeIntroduction(bytes: Uint8Array, version: 4 | 6): Introduction | undefined {
  const length = INTRODUCTION_BYTES[version];
  if (bytes.length < length) return undefined;
  const view = viewOf(bytes);
  if (view.getUint32(0) !== TAG || bytes[4] !== version || bytes[6] !== length) return undefined;
  const kind = Object.values(IntroductionKind).find((known) => known === bytes[5]);
  const qpn = view.getUint32(8) & QPN_MASK;
  if (kind === undefined || qpn < FIRST_QPN || qpn === QPN_MASK) return undefined;
  return { kind, qpn, payload: bytes.subarray(length) };
}
