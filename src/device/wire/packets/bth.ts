/** The base transport header, which every RoCE packet begins with (protocol/packets.md 1.1). */
import { getU16, getU24, putU16, putU24 } from '../bytes.js';

/** Size of the base transport header. */
export const BTH_BYTES = 12;
/** Size of the invariant CRC that ends every packet. */
export const ICRC_BYTES = 4;
/** The UDP port that RoCEv2 packets are sent to. */
export const ROCE_PORT = 4791;

/** Bits of the header's fifth byte. */
export const BthFlag = { FECN: 0x80, BECN: 0x40 } as const;

/**
 * Writes a base transport header of version 0 with FECN and BECN clear.
 *
 * @param opcode a value of `Opcode`
 * @param padCount bytes of padding after the payload, 0 to 3
 * @param solicited 1 to ask for a solicited event at the receiver, else 0
 * @param ackRequest 1 to ask for an acknowledgement, else 0
 * @param pkey 16 bits; 0xffff is the default partition
 * @param destQp 24 bits
 * @param psn 24 bits
 * @param migReq 1 when the path is in the migrated state. Receivers without path migration ignore it.
 */
export function writeBth(
  bytes: Uint8Array,
  offset: number,
  opcode: number,
  padCount: number,
  solicited: number,
  ackRequest: number,
  pkey: number,
  destQp: number,
  psn: number,
  migReq = 0,
): void {
  bytes[offset] = opcode;
  bytes[offset + 1] = (solicited << 7) | (migReq << 6) | (padCount << 4);
  putU16(bytes, offset + 2, pkey);
  bytes[offset + 4] = 0;
  putU24(bytes, offset + 5, destQp);
  bytes[offset + 8] = ackRequest << 7;
  putU24(bytes, offset + 9, psn);
}

/** The operation, a value of `Opcode` when it is a known one. */
export function bthOpcode(bytes: Uint8Array, offset: number): number {
  return bytes[offset];
}

/** 1 when the receiver is asked to raise a solicited event, else 0. */
export function bthSolicited(bytes: Uint8Array, offset: number): number {
  return bytes[offset + 1] >> 7;
}

/** 1 when the sender's path is in the migrated state, else 0. */
export function bthMigReq(bytes: Uint8Array, offset: number): number {
  return (bytes[offset + 1] >> 6) & 1;
}

/** Bytes of padding between the payload and the ICRC, 0 to 3. */
export function bthPadCount(bytes: Uint8Array, offset: number): number {
  return (bytes[offset + 1] >> 4) & 3;
}

/** The header version; anything but 0 is to be dropped. */
export function bthTver(bytes: Uint8Array, offset: number): number {
  return bytes[offset + 1] & 0x0f;
}

/** The partition key, 16 bits. */
export function bthPkey(bytes: Uint8Array, offset: number): number {
  return getU16(bytes, offset + 2);
}

/** 1 when a switch marked the packet as having met congestion, else 0. */
export function bthFecn(bytes: Uint8Array, offset: number): number {
  return bytes[offset + 4] >> 7;
}

/** 1 when the sender tells that packets in the other direction met congestion, else 0. */
export function bthBecn(bytes: Uint8Array, offset: number): number {
  return (bytes[offset + 4] >> 6) & 1;
}

/** The number of the queue pair that the packet is for, 24 bits. */
export function bthDestQp(bytes: Uint8Array, offset: number): number {
  return getU24(bytes, offset + 5);
}

/** 1 when the responder is asked to acknowledge at once, else 0. */
export function bthAckRequest(bytes: Uint8Array, offset: number): number {
  return bytes[offset + 8] >> 7;
}

/** The packet sequence number, 24 bits. */
export function bthPsn(bytes: Uint8Array, offset: number): number {
  return getU24(bytes, offset + 9);
}
