/**
 * Congestion notification packets (protocol/packets.md 1.2): a receiver whose packets came marked tells their sender, queue pair by
 * queue pair.
 */
import { bthBecn, BthFlag, ICRC_BYTES, Opcode, opcodeHeaderBytes } from '../../wire/index.js';
import type { PacketBuilder, PacketOrigin } from './packet-builder.js';

/** A queue pair sends no more than one in that time: what DCQCN takes, and enough for a sender that answers once a round trip. */
export const CNP_INTERVAL_US = 50;

const RESERVED_BYTES = 16;
const CNP_BYTES = opcodeHeaderBytes[Opcode.CNP] + RESERVED_BYTES + ICRC_BYTES;

/** Whether a packet of that opcode is what it has to be. Its reserved bytes may hold anything. */
export function isCongestionNotification(bytes: Uint8Array, offset: number, lengthBytes: number): boolean {
  return lengthBytes === CNP_BYTES && bthBecn(bytes, offset) === 1;
}

/** Notifies the peer of a queue pair. @returns false when the sink has no room before its next flush */
export function sendCongestionNotification(builder: PacketBuilder, origin: PacketOrigin): boolean {
  if (!builder.open(origin, Opcode.CNP, 0, RESERVED_BYTES, false, false)) return false;
  const { bytes, offset, payload } = builder;
  bytes[offset + 4] |= BthFlag.BECN;
  for (let i = 0; i < RESERVED_BYTES; i += 1) bytes[payload + i] = 0;
  builder.close();
  return true;
}
