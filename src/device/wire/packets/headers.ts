/**
 * The extension headers (protocol/packets.md 1.3). Where each of them lies in a packet of a given opcode is in the offset tables
 * of `opcode.ts`. 64-bit values travel as two 32-bit halves, since a bigint would be allocated for each packet.
 */
import { getU24, getU32, putU24, putU32 } from '../bytes.js';

export const HeaderBytes = {
  RETH: 16,
  ATOMIC_ETH: 28,
  AETH: 4,
  ATOMIC_ACK_ETH: 8,
  IMM: 4,
  IETH: 4,
  DETH: 8,
  XRCETH: 4,
  FETH: 4,
} as const;

/** What the upper three bits of an AETH syndrome say (protocol/packets.md 1.4). */
export const Aeth = {
  /** Acknowledged; the lower five bits hold a credit code. */
  ACK: 0x00,
  /** The receiver is not ready; the lower five bits hold the RNR timer code. */
  RNR_NAK: 0x20,
  /** Refused; the lower five bits hold a {@link NakCode}. */
  NAK: 0x60,
  KIND_MASK: 0xe0,
  /** Selects the credit, timer or NAK code. */
  VALUE_MASK: 0x1f,
  /** The credit code of a responder that has no end-to-end flow control. */
  CREDITS_NOT_IN_USE: 0x1f,
} as const;

/** Why a responder refused (protocol/packets.md 1.4). */
export const NakCode = {
  PSN_SEQUENCE_ERROR: 0,
  INVALID_REQUEST: 1,
  REMOTE_ACCESS_ERROR: 2,
  REMOTE_OPERATIONAL_ERROR: 3,
  INVALID_RD_REQUEST: 4,
} as const;
/** A value of the {@link NakCode} object. */
export type NakCode = (typeof NakCode)[keyof typeof NakCode];

/** RETH: the remote memory of an RDMA operation. `length` is that of the whole message, 0 to 2^32 - 1 bytes. */
export function writeReth(
  bytes: Uint8Array,
  offset: number,
  vaHi: number,
  vaLo: number,
  rkey: number,
  length: number,
): void {
  putU32(bytes, offset, vaHi);
  putU32(bytes, offset + 4, vaLo);
  putU32(bytes, offset + 8, rkey);
  putU32(bytes, offset + 12, length);
}

/** Upper half of the remote address, signed. */
export function rethVaHi(bytes: Uint8Array, offset: number): number {
  return getU32(bytes, offset);
}

/** Lower half of the remote address, signed. */
export function rethVaLo(bytes: Uint8Array, offset: number): number {
  return getU32(bytes, offset + 4);
}

export function rethRkey(bytes: Uint8Array, offset: number): number {
  return getU32(bytes, offset + 8);
}

/** Bytes of the whole message, 0 to 2^32 - 1. */
export function rethLength(bytes: Uint8Array, offset: number): number {
  return getU32(bytes, offset + 12) >>> 0;
}

/** AETH: how a responder answers. `msn` is its 24-bit count of completed messages. */
export function writeAeth(bytes: Uint8Array, offset: number, syndrome: number, msn: number): void {
  bytes[offset] = syndrome;
  putU24(bytes, offset + 1, msn);
}

/** The kind of answer and its code, see {@link Aeth}. */
export function aethSyndrome(bytes: Uint8Array, offset: number): number {
  return bytes[offset];
}

/** The responder's count of completed messages, 24 bits. */
export function aethMsn(bytes: Uint8Array, offset: number): number {
  return getU24(bytes, offset + 1);
}

/** AtomicETH. For FETCH_ADD `swap` is the addend and `compare` has no meaning. */
export function writeAtomicEth(
  bytes: Uint8Array,
  offset: number,
  vaHi: number,
  vaLo: number,
  rkey: number,
  swapHi: number,
  swapLo: number,
  compareHi: number,
  compareLo: number,
): void {
  putU32(bytes, offset, vaHi);
  putU32(bytes, offset + 4, vaLo);
  putU32(bytes, offset + 8, rkey);
  putU32(bytes, offset + 12, swapHi);
  putU32(bytes, offset + 16, swapLo);
  putU32(bytes, offset + 20, compareHi);
  putU32(bytes, offset + 24, compareLo);
}

/** Upper half of the address that the atomic works on, signed. */
export function atomicEthVaHi(bytes: Uint8Array, offset: number): number {
  return getU32(bytes, offset);
}

/** Lower half of that address, signed. */
export function atomicEthVaLo(bytes: Uint8Array, offset: number): number {
  return getU32(bytes, offset + 4);
}

export function atomicEthRkey(bytes: Uint8Array, offset: number): number {
  return getU32(bytes, offset + 8);
}

/** Upper half of the value to swap in or to add, signed. */
export function atomicEthSwapHi(bytes: Uint8Array, offset: number): number {
  return getU32(bytes, offset + 12);
}

/** Lower half of the value to swap in or to add, signed. */
export function atomicEthSwapLo(bytes: Uint8Array, offset: number): number {
  return getU32(bytes, offset + 16);
}

/** Upper half of the value to compare with, signed. */
export function atomicEthCompareHi(bytes: Uint8Array, offset: number): number {
  return getU32(bytes, offset + 20);
}

/** Lower half of the value to compare with, signed. */
export function atomicEthCompareLo(bytes: Uint8Array, offset: number): number {
  return getU32(bytes, offset + 24);
}

/** AtomicAckETH: the value that was in memory before the atomic. */
export function writeAtomicAck(bytes: Uint8Array, offset: number, hi: number, lo: number): void {
  putU32(bytes, offset, hi);
  putU32(bytes, offset + 4, lo);
}

/** Upper half of the original value, signed. */
export function atomicAckHi(bytes: Uint8Array, offset: number): number {
  return getU32(bytes, offset);
}

/** Lower half of the original value, signed. */
export function atomicAckLo(bytes: Uint8Array, offset: number): number {
  return getU32(bytes, offset + 4);
}

/** DETH: the datagram's Q_Key and the queue pair that it comes from. */
export function writeDeth(bytes: Uint8Array, offset: number, qkey: number, sourceQp: number): void {
  putU32(bytes, offset, qkey);
  putU32(bytes, offset + 4, sourceQp & 0xffffff);
}

export function dethQkey(bytes: Uint8Array, offset: number): number {
  return getU32(bytes, offset);
}

/** The number of the queue pair that sent the datagram, 24 bits. */
export function dethSourceQp(bytes: Uint8Array, offset: number): number {
  return getU24(bytes, offset + 5);
}

/** XRCETH: the shared receive queue of an XRC request, 24 bits. */
export function writeXrceth(bytes: Uint8Array, offset: number, srqn: number): void {
  putU32(bytes, offset, srqn & 0xffffff);
}

/** The number of the shared receive queue, 24 bits. */
export function xrcethSrqn(bytes: Uint8Array, offset: number): number {
  return getU24(bytes, offset + 1);
}

/** FETH: what a FLUSH is to reach (`placement`, 4 bits) and over what range (`selectivity`, 2 bits). */
export function writeFeth(bytes: Uint8Array, offset: number, placement: number, selectivity: number): void {
  putU32(bytes, offset, (placement & 0x0f) | ((selectivity & 3) << 4));
}

/** The placement type, 4 bits. */
export function fethPlacement(bytes: Uint8Array, offset: number): number {
  return bytes[offset + 3] & 0x0f;
}

/** The selectivity level, 2 bits. */
export function fethSelectivity(bytes: Uint8Array, offset: number): number {
  return (bytes[offset + 3] >> 4) & 3;
}
