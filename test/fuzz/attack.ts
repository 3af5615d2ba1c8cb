import { type Gid, psnDiff, QpType } from '../../src/device/ibta/index.js';
import {
  aethOffset,
  atomicEthOffset,
  BTH_BYTES,
  bthPadCount,
  crc32,
  createPath,
  dethOffset,
  fethOffset,
  ICRC_BYTES,
  iethOffset,
  OpcodeBit,
  opcodeBits,
  opcodeHeaderBytes,
  OpcodeService,
  PacketMeta,
  type Path,
  putU32,
  rethOffset,
  sealIcrc,
  writeAeth,
  writeAtomicEth,
  writeBth,
  writeDeth,
  writeFeth,
  writeReth,
  writeXrceth,
  xrcethOffset,
} from '../../src/device/wire/index.js';
import { hi32, lo32 } from '../../src/device/nic/test/rings.js';
import type { FuzzMemory } from './memory.js';
import type { Choices } from './random.js';
import type { ListeningSink } from './sink.js';
import type { Victim } from './victim.js';

export const QKEY = 0x11111111;
const MULTICAST_QPN = 0xffffff;
const MAX_PAYLOAD = 260;
/** FECN, BECN and reserved bits of the BTH. */
const CONGESTION_BYTE = 4;
const KNOWN_OPCODES = Array.from({ length: 256 }, (_, opcode) => opcode).filter((opcode) => opcodeBits[opcode] !== 0);

export interface Battlefield {
  readonly victims: readonly Victim[];
  readonly memory: FuzzMemory;
  readonly sink: ListeningSink;
  readonly choices: Choices;
  /** Addresses of the NIC, of the peer that its QPs are connected to, of somebody else, and of a group. */
  readonly own: Gid;
  readonly peer: Gid;
  readonly stranger: Gid;
  readonly group: Gid;
  readonly srqns: readonly number[];
}

/** Hostile packets, one after the other in the same memory. */
export class Attack {
  readonly bytes = new Uint8Array(1024);
  readonly meta = new PacketMeta();
  length = 0;
  opcode = 0;
  destQp = 0;
  /** Whom the packet is aimed at; it may go somewhere else. */
  target: Victim;
  /** Whether the NIC may take it for a packet at all: whole, and with a right ICRC. */
  sound = false;
  fromPeer = false;
  pkey = 0;
  toGroup = false;
  qkey = 0;
  /** Whether it answers what was never sent. */
  premature = false;
  /** Whether the R_Key that it names opens nothing. */
  deadKey = false;

  readonly #paths: Readonly<Record<'peer' | 'stranger' | 'peerToGroup', Path>>;

  constructor(private readonly field: Battlefield) {
    this.target = field.victims[0];
    const { own, peer, stranger, group } = field;
    this.#paths = {
      peer: createPath({ sgid: peer, dgid: own }),
      stranger: createPath({ sgid: stranger, dgid: own }),
      peerToGroup: createPath({ sgid: peer, dgid: group }),
    };
  }

  next(): void {
    const { choices, victims } = this.field;
    const { bytes } = this;
    this.target = choices.of(victims);
    this.opcode = this.#chooseOpcode();
    this.toGroup = choices.chance(2);
    this.destQp = this.toGroup ? MULTICAST_QPN : choices.chance(95) ? this.target.qpn : choices.u32() & 0xffffff;
    this.fromPeer = choices.chance(93);
    this.qkey = choices.chance(90) ? QKEY : choices.u32();
    this.pkey = choices.chance(95) ? choices.of([0xffff, 0x7fff]) : choices.below(0x10000);
    const payload = this.#choosePayload();
    const pad = choices.chance(95) ? -payload & 3 : choices.below(4);
    const known = opcodeBits[this.opcode] !== 0;
    const header = known ? opcodeHeaderBytes[this.opcode] : BTH_BYTES;
    this.length = header + payload + pad + ICRC_BYTES;
    const psn = this.#choosePsn();
    const { peer } = this.target;
    const response = known && (opcodeBits[this.opcode] & OpcodeBit.RESPONSE) !== 0;
    this.premature = response && psnDiff(psn, this.field.sink.lastPsn[peer]) > 0;
    writeBth(bytes, 0, this.opcode, pad, choices.below(2), choices.below(2), this.pkey, this.destQp, psn);
    if (known) this.#writeExtensions();
    const wellFormed = (this.length & 3) === 0;
    this.sound = known && wellFormed;
    if (choices.chance(4)) this.#damage();
    const path = this.toGroup ? this.#paths.peerToGroup : this.fromPeer ? this.#paths.peer : this.#paths.stranger;
    if (this.toGroup) this.fromPeer = true;
    this.#address(path);
    sealIcrc(crc32, path, bytes, 0, this.length, 0);
    if (choices.chance(3)) {
      const at = choices.below(this.length);
      bytes[at] ^= 1 << choices.below(8);
      // The ICRC does not cover it (protocol/packets.md 1.7).
      if (at !== CONGESTION_BYTE) this.sound = false;
    }
  }

  #chooseOpcode(): number {
    const { choices } = this.field;
    if (choices.chance(3)) return choices.below(256);
    if (choices.chance(20)) return choices.of(KNOWN_OPCODES);
    return choices.of(opcodesOf[serviceOf(this.target) + 1]);
  }

  #choosePayload(): number {
    const { choices } = this.field;
    const bits = opcodeBits[this.opcode];
    if ((bits & OpcodeBit.PAYLOAD) === 0 && choices.chance(95)) return 0;
    if ((bits & (OpcodeBit.FIRST | OpcodeBit.MIDDLE)) !== 0 && choices.chance(90)) return 256;
    return choices.chance(60) ? choices.of([0, 1, 8, 64, 255, 256, 257]) : choices.below(MAX_PAYLOAD);
  }

  #choosePsn(): number {
    const { choices, sink } = this.field;
    const { peer } = this.target;
    const response = (opcodeBits[this.opcode] & OpcodeBit.RESPONSE) !== 0;
    const right = response ? sink.sentPsn[peer] : sink.expectedPsn[peer];
    if (choices.chance(70)) return right;
    return (choices.chance(80) ? right + choices.below(16) - 8 : choices.u32()) & 0xffffff;
  }

  #writeExtensions(): void {
    const { choices, memory, srqns } = this.field;
    const { bytes, opcode } = this;
    const header = opcodeHeaderBytes[opcode];
    // What is not written below is left as noise: immediate data, keys to invalidate, FETH.
    for (let at = BTH_BYTES; at < header; at += 4) putU32(bytes, at, choices.u32());
    if (choices.chance(30)) for (let i = 0; i < 8; i += 1) bytes[header + i] = choices.u32() & 0xff;
    const target = memory.target(choices);
    const rkey = choices.chance(75)
      ? target.rkey
      : choices.chance(50)
        ? target.rkey ^ choices.below(256)
        : choices.u32();
    this.deadKey = !memory.isAlive(rkey);
    const room = target.lengthBytes;
    const offset = choices.chance(80) ? choices.below(room) & ~7 : choices.of([-1, room - 1, room, room + 1, 2 ** 32]);
    const va = target.iova + BigInt(offset);
    const length = this.#chooseLength(room - offset);
    if (iethOffset[opcode] !== 0 && choices.chance(70)) putU32(bytes, iethOffset[opcode], rkey);
    if (fethOffset[opcode] !== 0 && choices.chance(70))
      writeFeth(bytes, fethOffset[opcode], choices.below(4), choices.below(3));
    if (rethOffset[opcode] !== 0) writeReth(bytes, rethOffset[opcode], hi32(va), lo32(va), rkey, length);
    if (atomicEthOffset[opcode] !== 0)
      writeAtomicEth(bytes, atomicEthOffset[opcode], hi32(va), lo32(va), rkey, choices.u32(), choices.u32(), 0, 0);
    if (dethOffset[opcode] !== 0) writeDeth(bytes, dethOffset[opcode], this.qkey, choices.below(0x1000000));
    if (xrcethOffset[opcode] !== 0 && choices.chance(95)) writeXrceth(bytes, xrcethOffset[opcode], choices.of(srqns));
    if (aethOffset[opcode] !== 0) {
      const syndrome = choices.chance(60) ? 0x1f : choices.of([0x21, 0x3f, 0x60, 0x61, 0x62, 0x63, 0x64, 0x80, 0x40]);
      writeAeth(bytes, aethOffset[opcode], syndrome, choices.below(0x1000000));
    }
  }

  #chooseLength(room: number): number {
    const { choices } = this.field;
    const payload = Math.max(0, this.length - opcodeHeaderBytes[this.opcode] - ICRC_BYTES);
    if (choices.chance(50)) return payload;
    if (choices.chance(60)) return Math.max(0, choices.of([0, 8, 256, 257, 512, room]));
    return choices.of([room + 1, 2 ** 31, 2 ** 31 + 1, 2 ** 32 - 1]);
  }

  /** Cuts the packet short, or says that it is of another version. */
  #damage(): void {
    const { choices } = this.field;
    if (choices.chance(50)) {
      this.length = ICRC_BYTES + choices.below(this.length - ICRC_BYTES);
      // What is cut from the payload leaves a packet behind, of another length.
      const least = opcodeHeaderBytes[this.opcode] + bthPadCount(this.bytes, 0) + ICRC_BYTES;
      this.sound = opcodeBits[this.opcode] !== 0 && (this.length & 3) === 0 && this.length >= least;
    } else {
      this.bytes[1] ^= 1 + choices.below(15);
      this.sound = false;
    }
  }

  #address(path: Path): void {
    const { meta } = this;
    meta.source.set(path.sgid);
    meta.destination.set(path.dgid);
    meta.ipv6 = path.ipv6;
    meta.ipId = 0;
    meta.hopLimit = path.hopLimit;
  }
}

/** The transport service that QPs of each type speak (protocol/packets.md 1.2). */
const services: Readonly<Partial<Record<QpType, number>>> = {
  [QpType.RC]: OpcodeService.RC,
  [QpType.UC]: OpcodeService.UC,
  [QpType.UD]: OpcodeService.UD,
  [QpType.XRC_SEND]: OpcodeService.XRC,
  [QpType.XRC_RECV]: OpcodeService.XRC,
};

/** The transport service that a victim speaks, or -1. */
export function serviceOf(victim: Victim): number {
  return services[victim.type] ?? -1;
}

/** Opcodes of each service, one place further; first those for a victim that speaks none. */
const opcodesOf = [-1, ...Object.values(OpcodeService)].map((service) => {
  const own = KNOWN_OPCODES.filter((opcode) => opcode >>> 5 === service);
  return own.length === 0 ? KNOWN_OPCODES : own;
});
