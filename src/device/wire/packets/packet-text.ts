/** Packets in words. */
import { getU24, getU32 } from '../bytes.js';
import { BthFlag } from './bth.js';
import { Aeth, fethPlacement, fethSelectivity, HeaderBytes, NakCode } from './headers.js';
import {
  aethOffset,
  atomicAckOffset,
  atomicEthOffset,
  dethOffset,
  fethOffset,
  iethOffset,
  immOffset,
  opcodeName,
  rethOffset,
  xrcethOffset,
} from './opcode.js';

/** A number in hexadecimal with at least `digits` digits. */
export function hex(value: number | bigint, digits = 1): string {
  const text = value.toString(16);
  return text.length >= digits ? `0x${text}` : `0x${'0'.repeat(digits - text.length)}${text}`;
}

const NAK_NAMES = new Map<number, string>(Object.entries(NakCode).map(([name, code]) => [code, name]));

/** What an AETH syndrome says (protocol/packets.md 1.4). */
export function formatSyndrome(syndrome: number): string {
  const value = syndrome & Aeth.VALUE_MASK;
  switch (syndrome & Aeth.KIND_MASK) {
    case Aeth.ACK:
      return value === Aeth.CREDITS_NOT_IN_USE ? 'ACK' : `ACK credits=${value}`;
    case Aeth.RNR_NAK:
      return `RNR_NAK timer=${value}`;
    case Aeth.NAK:
      return `NAK ${NAK_NAMES.get(value) ?? String(value)}`;
    default:
      return `reserved ${hex(syndrome, 2)}`;
  }
}

/** A byte in two hexadecimal digits, and without a leading zero. */
const HEX2 = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
const HEX1 = Array.from({ length: 256 }, (_, byte) => byte.toString(16));

/** Hexadecimal digits of the `length` bytes at `at`. */
function digits(bytes: Uint8Array, at: number, length: number): string {
  let text = '';
  for (let i = at; i < at + length; i += 1) text += HEX2[bytes[i]];
  return text;
}

/** The number in the `length` bytes at `at`, in hexadecimal without leading zeros. */
function hexNumber(bytes: Uint8Array, at: number, length: number): string {
  const end = at + length;
  let from = at;
  while (from < end - 1 && bytes[from] === 0) from += 1;
  return `0x${HEX1[bytes[from]]}${digits(bytes, from + 1, end - from - 1)}`;
}

const hexDigits = (bytes: Uint8Array, at: number, length: number): string => `0x${digits(bytes, at, length)}`;

/** Each extension header in words, from its first byte on, in the order in which lines have them. */
const EXTENSIONS: readonly (readonly [
  offsets: Uint8Array,
  length: number,
  words: (bytes: Uint8Array, at: number) => string,
])[] = [
  [dethOffset, HeaderBytes.DETH, (b, at) => ` deth{qkey=${hexDigits(b, at, 4)} src_qp=${hexDigits(b, at + 5, 3)}}`],
  [xrcethOffset, HeaderBytes.XRCETH, (b, at) => ` xrceth{srqn=${hexDigits(b, at + 1, 3)}}`],
  [
    fethOffset,
    HeaderBytes.FETH,
    (b, at) => ` feth{placement=${fethPlacement(b, at)} selectivity=${fethSelectivity(b, at)}}`,
  ],
  [
    rethOffset,
    HeaderBytes.RETH,
    (b, at) => ` reth{va=${hexNumber(b, at, 8)} rkey=${hexDigits(b, at + 8, 4)} len=${getU32(b, at + 12) >>> 0}}`,
  ],
  [
    atomicEthOffset,
    HeaderBytes.ATOMIC_ETH,
    (b, at) =>
      ` atomic{va=${hexNumber(b, at, 8)} rkey=${hexDigits(b, at + 8, 4)}` +
      ` swap=${hexNumber(b, at + 12, 8)} compare=${hexNumber(b, at + 20, 8)}}`,
  ],
  [aethOffset, HeaderBytes.AETH, (b, at) => ` aeth{${formatSyndrome(b[at])} msn=${getU24(b, at + 1)}}`],
  [atomicAckOffset, HeaderBytes.ATOMIC_ACK_ETH, (b, at) => ` atomicack{original=${hexNumber(b, at, 8)}}`],
  [immOffset, HeaderBytes.IMM, (b, at) => ` imm{${hexDigits(b, at, 4)}}`],
  [iethOffset, HeaderBytes.IETH, (b, at) => ` ieth{rkey=${hexDigits(b, at, 4)}}`],
];

const extensionsOf = Array.from({ length: 256 }, (_, opcode) =>
  EXTENSIONS.filter(([offsets]) => offsets[opcode] !== 0),
);

/**
 * A packet on one line: opcode, QPN, PSN, the bits that are set, the headers that it has, payload length.
 *
 * @param end the headers that end later are left out, as a capture has cut them
 */
export function formatPacket(bytes: Uint8Array, offset: number, payloadBytes: number, end = bytes.length): string {
  const opcode = bytes[offset];
  let text = `${opcodeName(opcode)} qpn=${hexDigits(bytes, offset + 5, 3)} psn=${hexDigits(bytes, offset + 9, 3)}`;
  if ((bytes[offset + 8] & 0x80) !== 0) text += ' ack_req';
  if ((bytes[offset + 1] & 0x80) !== 0) text += ' solicited';
  if ((bytes[offset + 4] & BthFlag.FECN) !== 0) text += ' fecn';
  if ((bytes[offset + 4] & BthFlag.BECN) !== 0) text += ' becn';
  for (const [offsets, length, words] of extensionsOf[opcode]) {
    const at = offset + offsets[opcode];
    if (at + length <= end) text += words(bytes, at);
  }
  return `${text} payload=${payloadBytes}`;
}
