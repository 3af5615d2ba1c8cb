import { gidFromIp } from '../../ibta/index.js';
import type { SimulatedPacket } from '../../link/simulated/index.js';
import {
  aethMsn,
  aethOffset,
  aethSyndrome,
  atomicAckHi,
  atomicAckLo,
  atomicAckOffset,
  BTH_BYTES,
  bthAckRequest,
  bthDestQp,
  BthFlag,
  bthOpcode,
  bthPadCount,
  bthPkey,
  bthPsn,
  bthSolicited,
  crc32,
  createPath,
  fethOffset,
  fethPlacement,
  fethSelectivity,
  getU32,
  ICRC_BYTES,
  iethOffset,
  immOffset,
  OpcodeBit,
  opcodeBits,
  opcodeHeaderBytes,
  opcodeName,
  putU32,
  rethLength,
  rethOffset,
  rethRkey,
  rethVaHi,
  rethVaLo,
  sealIcrc,
  writeAeth,
  writeAtomicAck,
  writeAtomicEth,
  writeBth,
  writeFeth,
  writeReth,
} from '../../wire/index.js';
import { hi32, join64, lo32 } from './rings.js';

/** Packets as tests look at them and as they make them by hand. */

export interface Reth {
  readonly va: bigint;
  readonly rkey: number;
  readonly length: number;
}

export interface Feth {
  readonly placement: number;
  readonly selectivity: number;
}

export class Captured {
  constructor(
    readonly from: string,
    readonly to: string,
    readonly atUs: number,
    readonly bytes: Uint8Array,
  ) {}

  static of(packet: SimulatedPacket): Captured {
    return new Captured(packet.from, packet.to, packet.sentAtUs, packet.bytes.slice());
  }

  get opcode(): number {
    return bthOpcode(this.bytes, 0);
  }

  get name(): string {
    return opcodeName(this.opcode);
  }

  get psn(): number {
    return bthPsn(this.bytes, 0);
  }

  get destQp(): number {
    return bthDestQp(this.bytes, 0);
  }

  get pkey(): number {
    return bthPkey(this.bytes, 0);
  }

  get ackRequest(): boolean {
    return Boolean(bthAckRequest(this.bytes, 0));
  }

  get solicited(): boolean {
    return Boolean(bthSolicited(this.bytes, 0));
  }

  get padCount(): number {
    return bthPadCount(this.bytes, 0);
  }

  get isRequest(): boolean {
    return (opcodeBits[this.opcode] & OpcodeBit.REQUEST) !== 0;
  }

  get isReadResponse(): boolean {
    return (opcodeBits[this.opcode] & OpcodeBit.READ_RESPONSE) !== 0;
  }

  get payload(): Uint8Array {
    return this.bytes.subarray(opcodeHeaderBytes[this.opcode], this.bytes.length - ICRC_BYTES - this.padCount);
  }

  get reth(): Reth | undefined {
    const at = rethOffset[this.opcode];
    if (at === 0) return undefined;
    return {
      va: join64(rethVaHi(this.bytes, at), rethVaLo(this.bytes, at)),
      rkey: rethRkey(this.bytes, at) >>> 0,
      length: rethLength(this.bytes, at),
    };
  }

  get feth(): Feth | undefined {
    const at = fethOffset[this.opcode];
    if (at === 0) return undefined;
    return { placement: fethPlacement(this.bytes, at), selectivity: fethSelectivity(this.bytes, at) };
  }

  get syndrome(): number | undefined {
    const at = aethOffset[this.opcode];
    return at === 0 ? undefined : aethSyndrome(this.bytes, at);
  }

  get msn(): number | undefined {
    const at = aethOffset[this.opcode];
    return at === 0 ? undefined : aethMsn(this.bytes, at);
  }

  get imm(): number | undefined {
    const at = immOffset[this.opcode];
    return at === 0 ? undefined : getU32(this.bytes, at) >>> 0;
  }

  get atomicAck(): bigint | undefined {
    const at = atomicAckOffset[this.opcode];
    return at === 0 ? undefined : join64(atomicAckHi(this.bytes, at), atomicAckLo(this.bytes, at));
  }

  toString(): string {
    const extra =
      this.syndrome === undefined ? '' : ` syndrome 0x${this.syndrome.toString(16)} msn ${String(this.msn)}`;
    const reth = this.reth === undefined ? '' : ` length ${String(this.reth.length)}`;
    const where = `${this.from} > ${this.to} QP 0x${this.destQp.toString(16)}`;
    return `${this.atUs.toFixed(3)} ${where} ${this.name} psn ${String(this.psn)}${extra}${reth} ${String(this.payload.length)} bytes`;
  }
}

/** A packet to be made by hand. Everything may be wrong on purpose. */
export interface Crafted {
  readonly opcode: number;
  readonly destQp: number;
  readonly psn: number;
  readonly pkey?: number;
  readonly tver?: number;
  readonly ackRequest?: boolean;
  readonly solicited?: boolean;
  readonly migReq?: boolean;
  readonly becn?: boolean;
  readonly reth?: Reth;
  readonly feth?: Feth;
  readonly atomic?: { readonly va: bigint; readonly rkey: number; readonly swapAdd: bigint; readonly compare?: bigint };
  readonly aeth?: { readonly syndrome: number; readonly msn: number };
  readonly atomicAck?: bigint;
  readonly imm?: number;
  readonly invalidateRkey?: number;
  readonly payload?: Uint8Array;
  /** By default what the payload needs. */
  readonly padCount?: number;
  /** Of a FLUSH: its ICRC is that of Linux's rxe. */
  readonly headersTwice?: boolean;
  readonly badIcrc?: boolean;
}

const TVER_BYTE = 1;
const FLAGS_BYTE = 4;

/** Builds a packet that travels from one address to another. */
export function craft(from: string, to: string, fields: Crafted): Uint8Array {
  const { opcode } = fields;
  const payload = fields.payload ?? new Uint8Array(0);
  const padCount = fields.padCount ?? -payload.length & 3;
  const headerBytes = opcodeBits[opcode] === 0 ? BTH_BYTES : opcodeHeaderBytes[opcode];
  const bytes = new Uint8Array(headerBytes + payload.length + padCount + ICRC_BYTES);
  writeBth(
    bytes,
    0,
    opcode,
    padCount,
    fields.solicited === true ? 1 : 0,
    fields.ackRequest === true ? 1 : 0,
    fields.pkey ?? 0xffff,
    fields.destQp,
    fields.psn,
    fields.migReq === true ? 1 : 0,
  );
  bytes[TVER_BYTE] |= fields.tver ?? 0;
  if (fields.becn === true) bytes[FLAGS_BYTE] |= BthFlag.BECN;
  writeExtensions(bytes, fields);
  bytes.set(payload, headerBytes);
  const path = createPath({ sgid: gidFromIp(from), dgid: gidFromIp(to) });
  sealIcrc(crc32, path, bytes, 0, bytes.length, 0, fields.headersTwice);
  if (fields.badIcrc === true) bytes[bytes.length - 1] ^= 0x10;
  return bytes;
}

function writeExtensions(bytes: Uint8Array, fields: Crafted): void {
  const { opcode, reth, feth, atomic, aeth, atomicAck, imm, invalidateRkey } = fields;
  const bits = opcodeBits[opcode];
  if (reth !== undefined) writeReth(bytes, rethOffset[opcode], hi32(reth.va), lo32(reth.va), reth.rkey, reth.length);
  if (feth !== undefined) writeFeth(bytes, fethOffset[opcode], feth.placement, feth.selectivity);
  if (atomic !== undefined) {
    const compare = atomic.compare ?? 0n;
    const { va, rkey, swapAdd } = atomic;
    writeAtomicEth(
      bytes,
      BTH_BYTES,
      hi32(va),
      lo32(va),
      rkey,
      hi32(swapAdd),
      lo32(swapAdd),
      hi32(compare),
      lo32(compare),
    );
  }
  if (aeth !== undefined) writeAeth(bytes, aethOffset[opcode], aeth.syndrome, aeth.msn);
  if (atomicAck !== undefined) writeAtomicAck(bytes, atomicAckOffset[opcode], hi32(atomicAck), lo32(atomicAck));
  if (imm !== undefined && (bits & OpcodeBit.IMM) !== 0) putU32(bytes, immOffset[opcode], imm);
  if (invalidateRkey !== undefined) putU32(bytes, iethOffset[opcode], invalidateRkey);
}
