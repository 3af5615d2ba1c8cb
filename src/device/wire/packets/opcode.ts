/** The operations of the RoCE transports and the shape of their packets (protocol/packets.md 1.2, IBTA 9.2.1). */
import { BTH_BYTES } from './bth.js';
import { HeaderBytes } from './headers.js';

/** The transport service, bits 7 to 5 of an opcode. */
export const OpcodeService = { RC: 0, UC: 1, RD: 2, UD: 3, CNP: 4, XRC: 5 } as const;
/** A value of the {@link OpcodeService} object. */
export type OpcodeService = (typeof OpcodeService)[keyof typeof OpcodeService];

export const Opcode = {
  RC_SEND_FIRST: 0x00,
  RC_SEND_MIDDLE: 0x01,
  RC_SEND_LAST: 0x02,
  RC_SEND_LAST_IMM: 0x03,
  RC_SEND_ONLY: 0x04,
  RC_SEND_ONLY_IMM: 0x05,
  RC_WRITE_FIRST: 0x06,
  RC_WRITE_MIDDLE: 0x07,
  RC_WRITE_LAST: 0x08,
  RC_WRITE_LAST_IMM: 0x09,
  RC_WRITE_ONLY: 0x0a,
  RC_WRITE_ONLY_IMM: 0x0b,
  RC_READ_REQUEST: 0x0c,
  RC_READ_RESP_FIRST: 0x0d,
  RC_READ_RESP_MIDDLE: 0x0e,
  RC_READ_RESP_LAST: 0x0f,
  RC_READ_RESP_ONLY: 0x10,
  RC_ACKNOWLEDGE: 0x11,
  RC_ATOMIC_ACKNOWLEDGE: 0x12,
  RC_COMPARE_SWAP: 0x13,
  RC_FETCH_ADD: 0x14,
  RC_SEND_LAST_INVALIDATE: 0x16,
  RC_SEND_ONLY_INVALIDATE: 0x17,
  RC_FLUSH: 0x1c,
  RC_ATOMIC_WRITE: 0x1d,
  UC_SEND_FIRST: 0x20,
  UC_SEND_MIDDLE: 0x21,
  UC_SEND_LAST: 0x22,
  UC_SEND_LAST_IMM: 0x23,
  UC_SEND_ONLY: 0x24,
  UC_SEND_ONLY_IMM: 0x25,
  UC_WRITE_FIRST: 0x26,
  UC_WRITE_MIDDLE: 0x27,
  UC_WRITE_LAST: 0x28,
  UC_WRITE_LAST_IMM: 0x29,
  UC_WRITE_ONLY: 0x2a,
  UC_WRITE_ONLY_IMM: 0x2b,
  UD_SEND_ONLY: 0x64,
  UD_SEND_ONLY_IMM: 0x65,
  CNP: 0x81,
  XRC_SEND_FIRST: 0xa0,
  XRC_SEND_MIDDLE: 0xa1,
  XRC_SEND_LAST: 0xa2,
  XRC_SEND_LAST_IMM: 0xa3,
  XRC_SEND_ONLY: 0xa4,
  XRC_SEND_ONLY_IMM: 0xa5,
  XRC_WRITE_FIRST: 0xa6,
  XRC_WRITE_MIDDLE: 0xa7,
  XRC_WRITE_LAST: 0xa8,
  XRC_WRITE_LAST_IMM: 0xa9,
  XRC_WRITE_ONLY: 0xaa,
  XRC_WRITE_ONLY_IMM: 0xab,
  XRC_READ_REQUEST: 0xac,
  XRC_READ_RESP_FIRST: 0xad,
  XRC_READ_RESP_MIDDLE: 0xae,
  XRC_READ_RESP_LAST: 0xaf,
  XRC_READ_RESP_ONLY: 0xb0,
  XRC_ACKNOWLEDGE: 0xb1,
  XRC_ATOMIC_ACKNOWLEDGE: 0xb2,
  XRC_COMPARE_SWAP: 0xb3,
  XRC_FETCH_ADD: 0xb4,
  XRC_SEND_LAST_INVALIDATE: 0xb6,
  XRC_SEND_ONLY_INVALIDATE: 0xb7,
} as const;
/** A value of the {@link Opcode} object. */
export type Opcode = (typeof Opcode)[keyof typeof Opcode];

/**
 * What an opcode says of its packet: direction, place in the message, operation, headers.
 * A message of one packet, which READ requests, atomics and acknowledgements always are, has ONLY and neither FIRST nor LAST.
 */
export const OpcodeBit = {
  KNOWN: 1 << 0,
  REQUEST: 1 << 1,
  RESPONSE: 1 << 2,
  FIRST: 1 << 3,
  MIDDLE: 1 << 4,
  LAST: 1 << 5,
  ONLY: 1 << 6,
  SEND: 1 << 7,
  WRITE: 1 << 8,
  READ_REQUEST: 1 << 9,
  READ_RESPONSE: 1 << 10,
  ATOMIC: 1 << 11,
  ACK: 1 << 12,
  ATOMIC_ACK: 1 << 13,
  FLUSH: 1 << 14,
  ATOMIC_WRITE: 1 << 15,
  IMM: 1 << 16,
  INVALIDATE: 1 << 17,
  RETH: 1 << 18,
  ATOMIC_ETH: 1 << 19,
  AETH: 1 << 20,
  ATOMIC_ACK_ETH: 1 << 21,
  DETH: 1 << 22,
  XRCETH: 1 << 23,
  FETH: 1 << 24,
  /** May carry payload; a packet without this bit ends with its headers. */
  PAYLOAD: 1 << 25,
} as const;

const B = OpcodeBit;
const SEND = B.REQUEST | B.SEND | B.PAYLOAD;
const WRITE = B.REQUEST | B.WRITE | B.PAYLOAD;
const READ_RESPONSE = B.RESPONSE | B.READ_RESPONSE | B.PAYLOAD;

/** What the lower five bits of an opcode mean, the same in every service that knows the operation. */
const OPERATION_BITS: Readonly<Record<number, number>> = {
  0x00: SEND | B.FIRST,
  0x01: SEND | B.MIDDLE,
  0x02: SEND | B.LAST,
  0x03: SEND | B.LAST | B.IMM,
  0x04: SEND | B.ONLY,
  0x05: SEND | B.ONLY | B.IMM,
  0x06: WRITE | B.FIRST | B.RETH,
  0x07: WRITE | B.MIDDLE,
  0x08: WRITE | B.LAST,
  0x09: WRITE | B.LAST | B.IMM,
  0x0a: WRITE | B.ONLY | B.RETH,
  0x0b: WRITE | B.ONLY | B.RETH | B.IMM,
  0x0c: B.REQUEST | B.READ_REQUEST | B.ONLY | B.RETH,
  0x0d: READ_RESPONSE | B.FIRST | B.AETH,
  0x0e: READ_RESPONSE | B.MIDDLE,
  0x0f: READ_RESPONSE | B.LAST | B.AETH,
  0x10: READ_RESPONSE | B.ONLY | B.AETH,
  0x11: B.RESPONSE | B.ACK | B.ONLY | B.AETH,
  0x12: B.RESPONSE | B.ATOMIC_ACK | B.ONLY | B.AETH | B.ATOMIC_ACK_ETH,
  0x13: B.REQUEST | B.ATOMIC | B.ONLY | B.ATOMIC_ETH,
  0x14: B.REQUEST | B.ATOMIC | B.ONLY | B.ATOMIC_ETH,
  0x16: SEND | B.LAST | B.INVALIDATE,
  0x17: SEND | B.ONLY | B.INVALIDATE,
  0x1c: B.REQUEST | B.FLUSH | B.ONLY | B.FETH | B.RETH,
  0x1d: B.REQUEST | B.ATOMIC_WRITE | B.ONLY | B.RETH | B.PAYLOAD,
};

/** Bits of {@link OpcodeBit} for each opcode; 0 = an opcode that nobody defined. */
export const opcodeBits = new Uint32Array(256);
/** Bytes of BTH and extension headers for each opcode; 0 = unknown. */
export const opcodeHeaderBytes = new Uint8Array(256);

/** Where an extension header begins, counted from the BTH's first byte, for each opcode; 0 = it has none. */
export const dethOffset = new Uint8Array(256);
/** As {@link dethOffset}, for XRCETH. */
export const xrcethOffset = new Uint8Array(256);
/** As {@link dethOffset}, for FETH. */
export const fethOffset = new Uint8Array(256);
/** As {@link dethOffset}, for RETH. */
export const rethOffset = new Uint8Array(256);
/** As {@link dethOffset}, for AtomicETH. */
export const atomicEthOffset = new Uint8Array(256);
/** As {@link dethOffset}, for AETH. */
export const aethOffset = new Uint8Array(256);
/** As {@link dethOffset}, for AtomicAckETH. */
export const atomicAckOffset = new Uint8Array(256);
/** As {@link dethOffset}, for ImmDt. */
export const immOffset = new Uint8Array(256);
/** As {@link dethOffset}, for IETH. */
export const iethOffset = new Uint8Array(256);

/** The extension headers in the order in which they follow the BTH (protocol/packets.md 1). */
const EXTENSION_ORDER: readonly (readonly [bit: number, bytes: number, offsets: Uint8Array])[] = [
  [B.DETH, HeaderBytes.DETH, dethOffset],
  [B.XRCETH, HeaderBytes.XRCETH, xrcethOffset],
  [B.FETH, HeaderBytes.FETH, fethOffset],
  [B.RETH, HeaderBytes.RETH, rethOffset],
  [B.ATOMIC_ETH, HeaderBytes.ATOMIC_ETH, atomicEthOffset],
  [B.AETH, HeaderBytes.AETH, aethOffset],
  [B.ATOMIC_ACK_ETH, HeaderBytes.ATOMIC_ACK_ETH, atomicAckOffset],
  [B.IMM, HeaderBytes.IMM, immOffset],
  [B.INVALIDATE, HeaderBytes.IETH, iethOffset],
];

function bitsOf(opcode: number): number {
  // The 16 zero bytes of a congestion notification are its payload as far as the codec is concerned.
  if (opcode === Opcode.CNP) return B.KNOWN | B.ONLY | B.PAYLOAD;
  const operation = OPERATION_BITS[opcode & 0x1f] | B.KNOWN;
  switch (opcode >> 5) {
    case OpcodeService.UD:
      return operation | B.DETH;
    case OpcodeService.XRC:
      // Responses go to the initiating QP and name no receive queue.
      return (operation & B.REQUEST) === 0 ? operation : operation | B.XRCETH;
    default:
      return operation;
  }
}

const names: (string | undefined)[] = [];

for (const [name, opcode] of Object.entries(Opcode)) {
  const bits = bitsOf(opcode);
  let end = BTH_BYTES;
  for (const [bit, bytes, offsets] of EXTENSION_ORDER) {
    if ((bits & bit) === 0) continue;
    offsets[opcode] = end;
    end += bytes;
  }
  opcodeBits[opcode] = bits;
  opcodeHeaderBytes[opcode] = end;
  names[opcode] = name;
}

/** The opcode's name as in {@link Opcode}, or `UNKNOWN_0x..` for one that nobody defined. */
export function opcodeName(opcode: number): string {
  return names[opcode] ?? `UNKNOWN_0x${opcode.toString(16).padStart(2, '0')}`;
}
