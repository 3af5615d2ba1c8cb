/** A packet as a plain object, for people, tools and tests. The NIC reads and writes bytes in place instead. */
import { getU32, putU32 } from '../bytes.js';
import {
  BTH_BYTES,
  bthAckRequest,
  bthBecn,
  bthDestQp,
  bthFecn,
  bthMigReq,
  bthOpcode,
  bthPadCount,
  bthPkey,
  bthPsn,
  bthSolicited,
  bthTver,
  ICRC_BYTES,
  writeBth,
} from './bth.js';
import {
  aethMsn,
  aethSyndrome,
  atomicAckHi,
  atomicAckLo,
  atomicEthCompareHi,
  atomicEthCompareLo,
  atomicEthRkey,
  atomicEthSwapHi,
  atomicEthSwapLo,
  atomicEthVaHi,
  atomicEthVaLo,
  dethQkey,
  dethSourceQp,
  fethPlacement,
  fethSelectivity,
  HeaderBytes,
  rethLength,
  rethRkey,
  rethVaHi,
  rethVaLo,
  writeAeth,
  writeAtomicAck,
  writeAtomicEth,
  writeDeth,
  writeFeth,
  writeReth,
  writeXrceth,
  xrcethSrqn,
} from './headers.js';
import {
  aethOffset,
  atomicAckOffset,
  atomicEthOffset,
  dethOffset,
  fethOffset,
  iethOffset,
  immOffset,
  opcodeBits,
  opcodeHeaderBytes,
  opcodeName,
  rethOffset,
  xrcethOffset,
} from './opcode.js';

/** The base transport header; reserved bits are kept, so that any packet can be written again as it was. */
export interface BthFields {
  readonly opcode: number;
  readonly solicited: boolean;
  readonly migReq: boolean;
  readonly padCount: number;
  readonly tver: number;
  readonly pkey: number;
  readonly fecn: boolean;
  readonly becn: boolean;
  readonly reserved6: number;
  readonly destQp: number;
  readonly ackRequest: boolean;
  readonly reserved7: number;
  readonly psn: number;
}

/** RETH. Here, and below, 32-bit values are unsigned. */
export interface RethFields {
  readonly va: bigint;
  readonly rkey: number;
  readonly length: number;
}

/** AtomicETH; `swap` is the addend of a FETCH_ADD. */
export interface AtomicEthFields {
  readonly va: bigint;
  readonly rkey: number;
  readonly swap: bigint;
  readonly compare: bigint;
}

/** AETH. */
export interface AethFields {
  readonly syndrome: number;
  readonly msn: number;
}

/** AtomicAckETH. */
export interface AtomicAckFields {
  readonly original: bigint;
}

/** DETH. */
export interface DethFields {
  readonly qkey: number;
  readonly reserved: number;
  readonly sourceQp: number;
}

/** XRCETH. */
export interface XrcethFields {
  readonly reserved: number;
  readonly srqn: number;
}

/** FETH. */
export interface FethFields {
  readonly placement: number;
  readonly selectivity: number;
  readonly reserved: number;
}

/** The headers of a packet: those that its opcode calls for. */
export interface PacketHeaders {
  /** The opcode's name. */
  readonly name: string;
  readonly bth: BthFields;
  readonly deth?: DethFields;
  readonly xrceth?: XrcethFields;
  readonly feth?: FethFields;
  readonly reth?: RethFields;
  readonly atomicEth?: AtomicEthFields;
  readonly aeth?: AethFields;
  readonly atomicAck?: AtomicAckFields;
  /** Immediate data, as a big-endian number. */
  readonly immData?: number;
  /** R_Key to invalidate. */
  readonly invalidateRkey?: number;
}

/** One packet from its BTH to its ICRC. The headers that its opcode calls for are there, the others are not. */
export interface Packet extends PacketHeaders {
  /** Without padding; a view of the bytes that were decoded. */
  readonly payload: Uint8Array;
  /** The 0 to 3 bytes after the payload. */
  readonly padding: Uint8Array;
  /** The ICRC as it is stored, as the unsigned number that CRC-32 gives. */
  readonly icrc: number;
}

/** Bytes that are no packet, and why. */
export interface Refusal {
  readonly refusal: string;
}

function u64(hi: number, lo: number): bigint {
  return (BigInt(hi >>> 0) << 32n) | BigInt(lo >>> 0);
}

const hiOf = (value: bigint): number => Number(BigInt.asIntN(32, value >> 32n));
const loOf = (value: bigint): number => Number(BigInt.asIntN(32, value));

function decodeBth(bytes: Uint8Array, at: number): BthFields {
  return {
    opcode: bthOpcode(bytes, at),
    solicited: bthSolicited(bytes, at) === 1,
    migReq: bthMigReq(bytes, at) === 1,
    padCount: bthPadCount(bytes, at),
    tver: bthTver(bytes, at),
    pkey: bthPkey(bytes, at),
    fecn: bthFecn(bytes, at) === 1,
    becn: bthBecn(bytes, at) === 1,
    reserved6: bytes[at + 4] & 0x3f,
    destQp: bthDestQp(bytes, at),
    ackRequest: bthAckRequest(bytes, at) === 1,
    reserved7: bytes[at + 8] & 0x7f,
    psn: bthPsn(bytes, at),
  };
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** Adds the extension headers that end before `end`. */
function addExtensions(headers: Mutable<PacketHeaders>, bytes: Uint8Array, offset: number, end: number): void {
  const { opcode } = headers.bth;
  const at = (offsets: Uint8Array, length: number): number => {
    const from = offset + offsets[opcode];
    return offsets[opcode] === 0 || from + length > end ? -1 : from;
  };
  const deth = at(dethOffset, HeaderBytes.DETH);
  if (deth >= 0)
    headers.deth = {
      qkey: dethQkey(bytes, deth) >>> 0,
      reserved: bytes[deth + 4],
      sourceQp: dethSourceQp(bytes, deth),
    };
  const xrceth = at(xrcethOffset, HeaderBytes.XRCETH);
  if (xrceth >= 0) headers.xrceth = { reserved: bytes[xrceth], srqn: xrcethSrqn(bytes, xrceth) };
  const feth = at(fethOffset, HeaderBytes.FETH);
  if (feth >= 0)
    headers.feth = {
      placement: fethPlacement(bytes, feth),
      selectivity: fethSelectivity(bytes, feth),
      reserved: getU32(bytes, feth) >>> 6,
    };
  const reth = at(rethOffset, HeaderBytes.RETH);
  if (reth >= 0)
    headers.reth = {
      va: u64(rethVaHi(bytes, reth), rethVaLo(bytes, reth)),
      rkey: rethRkey(bytes, reth) >>> 0,
      length: rethLength(bytes, reth),
    };
  const atomicEth = at(atomicEthOffset, HeaderBytes.ATOMIC_ETH);
  if (atomicEth >= 0)
    headers.atomicEth = {
      va: u64(atomicEthVaHi(bytes, atomicEth), atomicEthVaLo(bytes, atomicEth)),
      rkey: atomicEthRkey(bytes, atomicEth) >>> 0,
      swap: u64(atomicEthSwapHi(bytes, atomicEth), atomicEthSwapLo(bytes, atomicEth)),
      compare: u64(atomicEthCompareHi(bytes, atomicEth), atomicEthCompareLo(bytes, atomicEth)),
    };
  const aeth = at(aethOffset, HeaderBytes.AETH);
  if (aeth >= 0) headers.aeth = { syndrome: aethSyndrome(bytes, aeth), msn: aethMsn(bytes, aeth) };
  const atomicAck = at(atomicAckOffset, HeaderBytes.ATOMIC_ACK_ETH);
  if (atomicAck >= 0)
    headers.atomicAck = { original: u64(atomicAckHi(bytes, atomicAck), atomicAckLo(bytes, atomicAck)) };
  const imm = at(immOffset, HeaderBytes.IMM);
  if (imm >= 0) headers.immData = getU32(bytes, imm) >>> 0;
  const ieth = at(iethOffset, HeaderBytes.IETH);
  if (ieth >= 0) headers.invalidateRkey = getU32(bytes, ieth) >>> 0;
}

/**
 * The headers of a packet whose BTH begins at `offset`, as far as they end before `end`; also of one that is malformed or
 * that a capture has cut. There must be a whole BTH.
 */
export function decodeHeaders(bytes: Uint8Array, offset: number, end: number): PacketHeaders {
  const bth = decodeBth(bytes, offset);
  const headers: Mutable<PacketHeaders> = { name: opcodeName(bth.opcode), bth };
  addExtensions(headers, bytes, offset, end);
  return headers;
}

/**
 * Reads the packet whose BTH begins at `offset` and whose ICRC ends `length` bytes later. Never throws: what is not a packet
 * comes back as a {@link Refusal}. Whether the ICRC is right is another question, see `IcrcVerifier`.
 */
export function decodePacket(bytes: Uint8Array, offset = 0, length = bytes.length - offset): Packet | Refusal {
  if (offset < 0 || length < 0 || offset + length > bytes.length) return { refusal: 'reaches beyond its bytes' };
  if (length < BTH_BYTES + ICRC_BYTES) return { refusal: `${length} bytes are too few for a BTH and an ICRC` };
  const bth = decodeBth(bytes, offset);
  const name = opcodeName(bth.opcode);
  if (opcodeBits[bth.opcode] === 0) return { refusal: `unknown opcode 0x${bth.opcode.toString(16).padStart(2, '0')}` };
  const payloadAt = offset + opcodeHeaderBytes[bth.opcode];
  const paddingAt = offset + length - ICRC_BYTES - bth.padCount;
  if (paddingAt < payloadAt) {
    return { refusal: `${length} bytes are too few for a ${name} with ${bth.padCount} bytes of padding` };
  }
  const packet: Mutable<Packet> = {
    name,
    bth,
    payload: bytes.subarray(payloadAt, paddingAt),
    padding: bytes.subarray(paddingAt, paddingAt + bth.padCount),
    icrc: getIcrc(bytes, paddingAt + bth.padCount),
  };
  addExtensions(packet, bytes, offset, offset + length);
  return packet;
}

function getIcrc(bytes: Uint8Array, at: number): number {
  return (bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24)) >>> 0;
}

function required<Header>(header: Header | undefined, packet: Packet, what: string): Header {
  if (header === undefined) throw new RangeError(`${packet.name} needs ${what}`);
  return header;
}

function encodeExtensions(packet: Packet, bytes: Uint8Array): void {
  const { opcode } = packet.bth;
  const need = <Header>(offsets: Uint8Array, header: Header | undefined, what: string): Header | undefined =>
    offsets[opcode] === 0 ? undefined : required(header, packet, what);

  const deth = need(dethOffset, packet.deth, 'deth');
  if (deth !== undefined) {
    writeDeth(bytes, dethOffset[opcode], deth.qkey, deth.sourceQp);
    bytes[dethOffset[opcode] + 4] = deth.reserved;
  }
  const xrceth = need(xrcethOffset, packet.xrceth, 'xrceth');
  if (xrceth !== undefined) {
    writeXrceth(bytes, xrcethOffset[opcode], xrceth.srqn);
    bytes[xrcethOffset[opcode]] = xrceth.reserved;
  }
  const feth = need(fethOffset, packet.feth, 'feth');
  if (feth !== undefined) {
    writeFeth(bytes, fethOffset[opcode], feth.placement, feth.selectivity);
    putU32(bytes, fethOffset[opcode], getU32(bytes, fethOffset[opcode]) | (feth.reserved << 6));
  }
  const reth = need(rethOffset, packet.reth, 'reth');
  if (reth !== undefined) {
    writeReth(bytes, rethOffset[opcode], hiOf(reth.va), loOf(reth.va), reth.rkey, reth.length);
  }
  const atomic = need(atomicEthOffset, packet.atomicEth, 'atomicEth');
  if (atomic !== undefined) {
    const { va, rkey, swap, compare } = atomic;
    const at = atomicEthOffset[opcode];
    writeAtomicEth(bytes, at, hiOf(va), loOf(va), rkey, hiOf(swap), loOf(swap), hiOf(compare), loOf(compare));
  }
  const aeth = need(aethOffset, packet.aeth, 'aeth');
  if (aeth !== undefined) writeAeth(bytes, aethOffset[opcode], aeth.syndrome, aeth.msn);
  const ack = need(atomicAckOffset, packet.atomicAck, 'atomicAck');
  if (ack !== undefined) writeAtomicAck(bytes, atomicAckOffset[opcode], hiOf(ack.original), loOf(ack.original));
  const imm = need(immOffset, packet.immData, 'immData');
  if (imm !== undefined) putU32(bytes, immOffset[opcode], imm);
  const rkey = need(iethOffset, packet.invalidateRkey, 'invalidateRkey');
  if (rkey !== undefined) putU32(bytes, iethOffset[opcode], rkey);
}

/**
 * Writes a packet, with the ICRC that it names; `sealIcrc` computes one.
 *
 * @throws RangeError when the opcode is unknown, a header that it calls for is missing, or the padding is not `padCount` bytes
 */
export function encodePacket(packet: Packet): Uint8Array {
  const { bth, payload, padding } = packet;
  const headerBytes = opcodeHeaderBytes[bth.opcode];
  if (opcodeBits[bth.opcode] === 0) throw new RangeError(`unknown opcode ${bth.opcode}`);
  if (padding.length !== bth.padCount) {
    throw new RangeError(`padCount is ${bth.padCount} but there are ${padding.length} bytes of padding`);
  }
  const bytes = new Uint8Array(headerBytes + payload.length + padding.length + ICRC_BYTES);
  writeBth(
    bytes,
    0,
    bth.opcode,
    bth.padCount,
    bth.solicited ? 1 : 0,
    bth.ackRequest ? 1 : 0,
    bth.pkey,
    bth.destQp,
    bth.psn,
    bth.migReq ? 1 : 0,
  );
  bytes[1] |= bth.tver;
  bytes[4] = (bth.fecn ? 0x80 : 0) | (bth.becn ? 0x40 : 0) | bth.reserved6;
  bytes[8] |= bth.reserved7;
  encodeExtensions(packet, bytes);
  bytes.set(payload, headerBytes);
  bytes.set(padding, headerBytes + payload.length);
  const icrcAt = bytes.length - ICRC_BYTES;
  for (let i = 0; i < ICRC_BYTES; i += 1) bytes[icrcAt + i] = packet.icrc >>> (8 * i);
  return bytes;
}
