import { gidFromIp } from '../../src/device/ibta/index.js';
import type { SimulatedNetwork } from '../../src/device/link/simulated/index.js';
import {
  aethOffset,
  atomicAckOffset,
  atomicEthOffset,
  BthFlag,
  type CmMessage,
  crc32,
  createPath,
  dethOffset,
  encodeCmMessage,
  fethOffset,
  ICRC_BYTES,
  iethOffset,
  immOffset,
  Opcode,
  opcodeHeaderBytes,
  type Path,
  putU32,
  rethOffset,
  sealIcrc,
  writeAeth,
  writeAtomicAck,
  writeAtomicEth,
  writeBth,
  writeDeth,
  writeFeth,
  writeReth,
  writeXrceth,
  xrcethOffset,
} from '../../src/device/wire/index.js';
import { hi32, lo32 } from '../../src/device/nic/test/rings.js';

/** What an adversary writes wherever it may write. */
export const FORGED = 0x22;
const FORGED_WORD = 0x22222222;

const GSI_QPN = 1;
const GSI_QKEY = 0x80010000;
const LARGEST_PACKET = 65507;

/** What a forged packet says beyond its opcode and QPN. Headers that the opcode does not have are left out. */
export interface Fields {
  readonly psn?: number;
  /** Bytes of payload. */
  readonly payload?: number;
  readonly va?: bigint;
  readonly rkey?: number;
  /** DMA length; default: that of the payload. */
  readonly length?: number;
  readonly compare?: bigint;
  readonly invalidate?: number;
  readonly qkey?: number;
  readonly srqn?: number;
  readonly syndrome?: number;
  readonly becn?: boolean;
}

/** Makes packets by hand, each with a right ICRC, and sends them to one host from any address. */
export class Forge {
  readonly #bytes = new Uint8Array(LARGEST_PACKET);
  readonly #paths = new Map<string, Path>();

  constructor(
    private readonly network: SimulatedNetwork,
    readonly target: string,
  ) {}

  send(from: string, opcode: Opcode, destQp: number, fields: Fields): void {
    const { psn = 0, payload = 0 } = fields;
    const bytes = this.#bytes;
    const header = opcodeHeaderBytes[opcode];
    const pad = -payload & 3;
    const length = header + payload + pad + ICRC_BYTES;
    bytes.fill(0, 0, header);
    writeBth(bytes, 0, opcode, pad, 0, 1, 0xffff, destQp, psn);
    if (fields.becn === true) bytes[4] |= BthFlag.BECN;
    this.#writeExtensions(opcode, fields);
    bytes.fill(opcode === Opcode.CNP ? 0 : FORGED, header, header + payload);
    bytes.fill(0, header + payload, header + payload + pad);
    sealIcrc(crc32, this.#path(from), bytes, 0, length, 0);
    this.network.inject(from, this.target, bytes.subarray(0, length));
  }

  say(from: string, message: CmMessage): void {
    const mad = encodeCmMessage(message);
    const opcode = Opcode.UD_SEND_ONLY;
    const header = opcodeHeaderBytes[opcode];
    const bytes = this.#bytes;
    const length = header + mad.length + ICRC_BYTES;
    writeBth(bytes, 0, opcode, 0, 0, 0, 0xffff, GSI_QPN, 0);
    writeDeth(bytes, dethOffset[opcode], GSI_QKEY, GSI_QPN);
    bytes.set(mad, header);
    sealIcrc(crc32, this.#path(from), bytes, 0, length, 0);
    this.network.inject(from, this.target, bytes.subarray(0, length));
  }

  #path(from: string): Path {
    const known = this.#paths.get(from);
    if (known !== undefined) return known;
    const made = createPath({ sgid: gidFromIp(from), dgid: gidFromIp(this.target) });
    this.#paths.set(from, made);
    return made;
  }

  #writeExtensions(opcode: Opcode, fields: Fields): void {
    const { va = 0n, rkey = 0, payload = 0, length = payload, compare = 0n } = fields;
    const bytes = this.#bytes;
    if (rethOffset[opcode] !== 0) writeReth(bytes, rethOffset[opcode], hi32(va), lo32(va), rkey, length);
    if (atomicEthOffset[opcode] !== 0) {
      const at = atomicEthOffset[opcode];
      writeAtomicEth(bytes, at, hi32(va), lo32(va), rkey, FORGED_WORD, FORGED_WORD, hi32(compare), lo32(compare));
    }
    if (fethOffset[opcode] !== 0) writeFeth(bytes, fethOffset[opcode], 1, 0);
    if (dethOffset[opcode] !== 0) writeDeth(bytes, dethOffset[opcode], fields.qkey ?? 0, 0x42);
    if (xrcethOffset[opcode] !== 0) writeXrceth(bytes, xrcethOffset[opcode], fields.srqn ?? 0);
    if (aethOffset[opcode] !== 0) writeAeth(bytes, aethOffset[opcode], fields.syndrome ?? 0x1f, 1);
    if (atomicAckOffset[opcode] !== 0) writeAtomicAck(bytes, atomicAckOffset[opcode], FORGED_WORD, FORGED_WORD);
    if (immOffset[opcode] !== 0) putU32(bytes, immOffset[opcode], FORGED_WORD);
    if (iethOffset[opcode] !== 0) putU32(bytes, iethOffset[opcode], fields.invalidate ?? 0);
  }
}
