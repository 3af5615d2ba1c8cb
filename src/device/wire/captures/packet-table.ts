/** The packets of captures in columns: some 40 bytes a packet, and no object for any of them. */
import { getU16, getU24 } from '../bytes.js';
import { BYTES_FROM_IP_ID_TO_BTH } from '../icrc/icrc.js';
import { recoverIpId } from '../icrc/icrc-verifier.js';
import { Ecn } from '../ip/ip.js';
import { MAD_BYTES } from '../mad.js';
import { BTH_BYTES, BthFlag } from '../packets/bth.js';
import { aethOffset, dethOffset, opcodeHeaderBytes } from '../packets/opcode.js';
import type { Direction } from './capture-format.js';
import { FlowTable } from './flows.js';
import { IcrcVerdict, type PacketView, Shape } from './packet-view.js';

/** Rows of a chunk; a power of two. */
const CHUNK_BITS = 14;
const CHUNK_ROWS = 1 << CHUNK_BITS;
const ROW_MASK = CHUNK_ROWS - 1;
const GSI_QPN = 1;
const FIRST_HEADER_BYTES = 1 << 16;

/** Bits of a packet in the column `bits`. */
export const PacketBit = {
  ACK_REQUEST: 1 << 0,
  SOLICITED: 1 << 1,
  FECN: 1 << 2,
  BECN: 1 << 3,
  MIG_REQ: 1 << 4,
  /** The ICRC is not the one that the headers call for. */
  WRONG_ICRC: 1 << 5,
  /** The capture cut the packet, so that nobody can check its ICRC. */
  CUT: 1 << 6,
  /** The capture lacks some of the extension headers, which read as zeros. */
  HEADERS_CUT: 1 << 7,
  /** The packet is too short for its headers and its padding. */
  TOO_SHORT: 1 << 8,
  /** The row has the 256 bytes of a management datagram. */
  MAD: 1 << 9,
} as const;
const PAD_SHIFT = 10;
const ECN_SHIFT = 12;
const DIRECTION_SHIFT = 14;
const TWO_BITS = 3;

/** Columns of up to {@link CHUNK_ROWS} packets. */
class Chunk {
  readonly timeNs = new Float64Array(CHUNK_ROWS);
  readonly flow = new Uint32Array(CHUNK_ROWS);
  /** Opcode in the upper eight bits, PSN in the lower. */
  readonly head = new Uint32Array(CHUNK_ROWS);
  /** Where the extension headers begin in {@link headers}. */
  readonly headerAt = new Uint32Array(CHUNK_ROWS);
  readonly icrc = new Int32Array(CHUNK_ROWS);
  readonly frame = new Uint32Array(CHUNK_ROWS);
  readonly payloadBytes = new Uint16Array(CHUNK_ROWS);
  readonly pkey = new Uint16Array(CHUNK_ROWS);
  readonly ipId = new Uint16Array(CHUNK_ROWS);
  readonly bits = new Uint16Array(CHUNK_ROWS);
  /** The bytes between BTH and payload of each packet, and management datagrams. */
  headers = new Uint8Array(FIRST_HEADER_BYTES);
  headerEnd = 0;

  room(bytes: number): void {
    if (this.headerEnd + bytes <= this.headers.length) return;
    const more = new Uint8Array(2 * (this.headers.length + bytes));
    more.set(this.headers);
    this.headers = more;
  }

  /** Gives back memory that no further packet needs. */
  seal(): void {
    this.headers = this.headers.slice(0, this.headerEnd);
  }
}

const COLUMNS = ['timeNs', 'flow', 'head', 'icrc', 'frame', 'payloadBytes', 'pkey', 'ipId', 'bits'] as const;

const hasBit = (table: PacketTable, row: number, bit: number): boolean => (table.bits(row) & bit) !== 0;

/** The packets of capture files, each file in rows of its own. */
export class PacketTable {
  #chunks: Chunk[] = [];
  /** Rows of the last chunk. */
  #used = CHUNK_ROWS;
  #packets = 0;

  /** @param flows may be shared by tables of several files */
  constructor(readonly flows = new FlowTable()) {}

  /** How many packets there are. */
  get packets(): number {
    return this.#packets;
  }

  /** The row after the last one. Rows count up, but those of the next file begin at a multiple of 2^14. */
  get end(): number {
    return this.#chunks.length * CHUNK_ROWS - CHUNK_ROWS + this.#used;
  }

  /** Bytes of memory that the columns take. */
  get bytes(): number {
    return this.#chunks.reduce((sum, chunk) => sum + CHUNK_ROWS * ROW_BYTES + chunk.headers.length, 0);
  }

  /** Rows from here on are of another file. @returns the first of them */
  beginFile(): number {
    if (this.#chunks.length > 0) this.#used = CHUNK_ROWS;
    return this.#chunks.length * CHUNK_ROWS;
  }

  /** Puts tables that share their flows together. @returns the first row of each */
  take(table: PacketTable): number {
    const first = this.beginFile();
    this.#chunks.push(...table.#chunks);
    if (table.#chunks.length > 0) this.#used = table.#used;
    this.#packets += table.#packets;
    return first;
  }

  /**
   * Adds a packet.
   *
   * @returns its row; -1 for a packet without a BTH or with an unknown opcode, of which a row could say nothing
   */
  add(packet: PacketView, timeNs: number, frame: number, direction: Direction): number {
    const { place, bytes, shape } = packet;
    if (shape === Shape.NO_BTH || shape === Shape.UNKNOWN_OPCODE) return -1;
    const { offset, ipOffset, ipv6 } = place;
    const opcode = bytes[offset];
    const qpn = getU24(bytes, offset + 5);
    const chunk = this.#nextRow();
    const i = this.#used - 1;
    chunk.timeNs[i] = timeNs;
    chunk.flow[i] = this.flows.numberOf(bytes, ipOffset, ipv6, qpn, opcode >>> 5);
    chunk.head[i] = (opcode << 24) | getU24(bytes, offset + 9);
    chunk.icrc[i] = packet.storedIcrc;
    chunk.frame[i] = frame;
    chunk.payloadBytes[i] = packet.payloadBytes;
    chunk.pkey[i] = getU16(bytes, offset + 2);
    chunk.ipId[i] = ipv6 ? 0 : getU16(bytes, ipOffset + 4);
    const trafficClass = ipv6 ? (getU16(bytes, ipOffset) >> 4) & 0xff : bytes[ipOffset + 1];
    const hasMad = qpn === GSI_QPN && dethOffset[opcode] !== 0 && this.#hasMad(packet, opcode);
    chunk.bits[i] =
      (bytes[offset + 8] >> 7) |
      ((bytes[offset + 1] >> 7) << 1) |
      ((bytes[offset + 4] & BthFlag.FECN) !== 0 ? PacketBit.FECN : 0) |
      ((bytes[offset + 4] & BthFlag.BECN) !== 0 ? PacketBit.BECN : 0) |
      ((bytes[offset + 1] & 0x40) !== 0 ? PacketBit.MIG_REQ : 0) |
      (packet.icrc === IcrcVerdict.WRONG ? PacketBit.WRONG_ICRC : 0) |
      (packet.icrc === IcrcVerdict.CUT ? PacketBit.CUT : 0) |
      (shape === Shape.HEADERS_CUT ? PacketBit.HEADERS_CUT : 0) |
      (shape === Shape.TOO_SHORT ? PacketBit.TOO_SHORT : 0) |
      (hasMad ? PacketBit.MAD : 0) |
      (((bytes[offset + 1] >> 4) & TWO_BITS) << PAD_SHIFT) |
      ((trafficClass & Ecn.MASK) << ECN_SHIFT) |
      (direction << DIRECTION_SHIFT);
    this.#keepHeaders(chunk, i, packet, opcodeHeaderBytes[opcode] - BTH_BYTES, hasMad ? MAD_BYTES : 0);
    return this.end - 1;
  }

  /** Takes the last row out again, which `add` has just returned. */
  dropLast(): void {
    this.#chunks[this.#chunks.length - 1].headerEnd = this.#chunks[this.#chunks.length - 1].headerAt[this.#used - 1];
    this.#used -= 1;
    this.#packets -= 1;
  }

  #hasMad({ place: { capturedLength } }: PacketView, opcode: number): boolean {
    return capturedLength >= opcodeHeaderBytes[opcode] + MAD_BYTES;
  }

  /** What the capture lacks of the headers reads as zeros. */
  #keepHeaders(chunk: Chunk, i: number, { place, bytes }: PacketView, headerBytes: number, madBytes: number): void {
    const length = headerBytes + madBytes;
    chunk.room(length);
    const at = chunk.headerEnd;
    chunk.headerAt[i] = at;
    chunk.headerEnd = at + length;
    const from = place.offset + BTH_BYTES;
    const held = Math.min(length, place.capturedLength - BTH_BYTES);
    for (let n = 0; n < held; n += 1) chunk.headers[at + n] = bytes[from + n];
  }

  /** Nanoseconds since the first frame of the packet's file. */
  timeNs(row: number): number {
    return this.#chunks[row >>> CHUNK_BITS].timeNs[row & ROW_MASK];
  }

  /** Adds to the times of all rows from `begin` to `end`. */
  shift(begin: number, end: number, ns: number): void {
    for (let row = begin; row < end; row += 1) this.#chunks[row >>> CHUNK_BITS].timeNs[row & ROW_MASK] += ns;
  }

  /** The number of addresses, destination queue pair and service in {@link flows}. */
  flow(row: number): number {
    return this.#chunks[row >>> CHUNK_BITS].flow[row & ROW_MASK];
  }

  opcode(row: number): number {
    return this.#chunks[row >>> CHUNK_BITS].head[row & ROW_MASK] >>> 24;
  }

  psn(row: number): number {
    return this.#chunks[row >>> CHUNK_BITS].head[row & ROW_MASK] & 0xffffff;
  }

  /** As the packet has it, as CRC-32 gives it, signed; 0 if the capture cut it. */
  icrc(row: number): number {
    return this.#chunks[row >>> CHUNK_BITS].icrc[row & ROW_MASK];
  }

  /** The frame's number in its file, from 1 on. */
  frame(row: number): number {
    return this.#chunks[row >>> CHUNK_BITS].frame[row & ROW_MASK];
  }

  /** Without padding, as the packet's length says. */
  payloadBytes(row: number): number {
    return this.#chunks[row >>> CHUNK_BITS].payloadBytes[row & ROW_MASK];
  }

  pkey(row: number): number {
    return this.#chunks[row >>> CHUNK_BITS].pkey[row & ROW_MASK];
  }

  /** IPv4 identification; 0 in IPv6. */
  ipId(row: number): number {
    return this.#chunks[row >>> CHUNK_BITS].ipId[row & ROW_MASK];
  }

  /** Bits of {@link PacketBit}. */
  bits(row: number): number {
    return this.#chunks[row >>> CHUNK_BITS].bits[row & ROW_MASK];
  }

  padCount(row: number): number {
    return (this.bits(row) >> PAD_SHIFT) & TWO_BITS;
  }

  /** The two bits of explicit congestion notification, see `Ecn`. */
  ecn(row: number): number {
    return (this.bits(row) >> ECN_SHIFT) & TWO_BITS;
  }

  direction(row: number): Direction {
    // Two bits that `add` has taken from a Direction.
    return ((this.bits(row) >> DIRECTION_SHIFT) & TWO_BITS) as Direction;
  }

  /** Takes a wrong ICRC for one that was not filled in when the packet was captured. */
  forgiveIcrc(row: number): void {
    this.#chunks[row >>> CHUNK_BITS].bits[row & ROW_MASK] &= ~PacketBit.WRONG_ICRC;
  }

  setDirection(row: number, direction: Direction): void {
    const chunk = this.#chunks[row >>> CHUNK_BITS];
    const i = row & ROW_MASK;
    chunk.bits[i] = (chunk.bits[i] & ~(TWO_BITS << DIRECTION_SHIFT)) | (direction << DIRECTION_SHIFT);
  }

  /** Whether two packets have the same extension headers, as far as the capture has both. */
  hasSameHeaders(a: number, b: number): boolean {
    const bytes = opcodeHeaderBytes[this.opcode(a)] - BTH_BYTES;
    if (opcodeHeaderBytes[this.opcode(b)] - BTH_BYTES !== bytes) return false;
    if (((this.bits(a) | this.bits(b)) & PacketBit.HEADERS_CUT) !== 0) return true;
    const [one, other] = [this.headers(a), this.headers(b)];
    const [at, from] = [this.headerAt(a) + BTH_BYTES, this.headerAt(b) + BTH_BYTES];
    for (let i = 0; i < bytes; i += 1) if (one[at + i] !== other[from + i]) return false;
    return true;
  }

  /**
   * Whether two packets with right ICRCs, the same BTH and the same headers have different payloads: by their ICRCs, which
   * cover the IP identification as well.
   */
  hasOtherPayload(a: number, b: number): boolean {
    const bad = PacketBit.WRONG_ICRC | PacketBit.CUT;
    if (((this.bits(a) | this.bits(b)) & bad) !== 0) return false;
    const difference = this.icrc(a) ^ this.icrc(b);
    if (difference === 0) return this.ipId(a) !== this.ipId(b);
    const covered = opcodeHeaderBytes[this.opcode(a)] + this.payloadBytes(a) + this.padCount(a);
    return recoverIpId(difference, BYTES_FROM_IP_ID_TO_BTH + covered) !== (this.ipId(a) ^ this.ipId(b));
  }

  /** The same packets, of one file, in the order of their times; and for each new row the old one. */
  inOrderOfTime(): { readonly table: PacketTable; readonly rows: Uint32Array } {
    const rows = Uint32Array.from({ length: this.end }, (_, row) => row);
    rows.sort((a, b) => this.timeNs(a) - this.timeNs(b) || a - b);
    const sorted = new PacketTable(this.flows);
    for (const row of rows) sorted.#copy(this, row);
    return { table: sorted, rows };
  }

  #copy(from: PacketTable, row: number): void {
    const chunk = this.#nextRow();
    const i = this.#used - 1;
    const source = from.#chunks[row >>> CHUNK_BITS];
    const n = row & ROW_MASK;
    for (const column of COLUMNS) chunk[column][i] = source[column][n];
    const length = opcodeHeaderBytes[from.opcode(row)] - BTH_BYTES + (hasBit(from, row, PacketBit.MAD) ? MAD_BYTES : 0);
    chunk.room(length);
    chunk.headers.set(source.headers.subarray(source.headerAt[n], source.headerAt[n] + length), chunk.headerEnd);
    chunk.headerAt[i] = chunk.headerEnd;
    chunk.headerEnd += length;
  }

  /** Makes room for a row, the last one then. */
  #nextRow(): Chunk {
    if (this.#used === CHUNK_ROWS) {
      this.#chunks.at(-1)?.seal();
      this.#chunks.push(new Chunk());
      this.#used = 0;
    }
    this.#used += 1;
    this.#packets += 1;
    return this.#chunks[this.#chunks.length - 1];
  }

  /** The bytes that hold the packet's extension headers, at {@link headerAt}. */
  headers(row: number): Uint8Array {
    return this.#chunks[row >>> CHUNK_BITS].headers;
  }

  /**
   * Where an extension header would begin if the BTH did at 0, subtracted: add an offset of `opcode.ts`, as `rethOffset`.
   */
  headerAt(row: number): number {
    return this.#chunks[row >>> CHUNK_BITS].headerAt[row & ROW_MASK] - BTH_BYTES;
  }

  /** The syndrome and MSN of an acknowledgement in 32 bits; -1 where the packet has no AETH. */
  aeth(row: number): number {
    const at = aethOffset[this.opcode(row)];
    if (at === 0) return -1;
    const headers = this.headers(row);
    const from = this.headerAt(row) + at;
    return headers[from] * 0x1000000 + getU24(headers, from + 1);
  }

  /** The management datagram of a row with {@link PacketBit.MAD}. */
  mad(row: number): Uint8Array {
    const at = this.headerAt(row) + opcodeHeaderBytes[this.opcode(row)];
    return this.headers(row).subarray(at, at + MAD_BYTES);
  }
}

/** Bytes of a row without its headers. */
const ROW_BYTES = 8 + 5 * 4 + 4 * 2;
