import { psnAdd, psnDiff } from '../../src/device/ibta/index.js';
import type { PacketSink } from '../../src/device/wire/index.js';
import {
  aethOffset,
  aethSyndrome,
  bthDestQp,
  bthPsn,
  ICRC_BYTES,
  OpcodeBit,
  opcodeBits,
  opcodeHeaderBytes,
  type Path,
  rethLength,
  rethOffset,
} from '../../src/device/wire/index.js';

/** Peer QPNs are small, so that what is known of a peer stands in arrays. */
export const MAX_PEERS = 256;

/** What lies beside every region, and in those that no peer may read. */
export const CANARY = 0xa5;
export const SECRET = 0x5a;
/** So many of them one after the other are no accident. */
const SECRET_RUN = 8;

/** Where the NIC under test sends to: nowhere; but a fuzzer that listens gets further than one that does not. */
export class ListeningSink implements PacketSink {
  readonly bytes = new Uint8Array(16384);
  readonly ipId = 0;
  packets = 0;
  /** What peer n heard last: the next PSN that the NIC expects of it, and the last PSN that the NIC used itself. */
  readonly expectedPsn = new Int32Array(MAX_PEERS);
  readonly sentPsn = new Int32Array(MAX_PEERS);
  /** The highest PSN that an honest peer n can answer to. */
  readonly lastPsn = new Int32Array(MAX_PEERS);

  #length = 0;

  /** @param mtuBytes of all paths */
  constructor(private readonly mtuBytes: number) {}

  reserve(_path: Path, lengthBytes: number): number {
    this.#length = lengthBytes;
    return 0;
  }

  commit(): void {
    this.packets += 1;
    const { bytes } = this;
    const opcode = bytes[0];
    const peer = bthDestQp(bytes, 0);
    if (peer >= MAX_PEERS) return;
    const psn = bthPsn(bytes, 0);
    if ((opcodeBits[opcode] & OpcodeBit.REQUEST) !== 0) {
      this.sentPsn[peer] = psn;
      this.#noteLast(peer, psn);
    } else {
      if ((opcodeBits[opcode] & OpcodeBit.READ_RESPONSE) !== 0) this.#checkSecrets(opcodeHeaderBytes[opcode]);
      const aeth = aethOffset[opcode];
      const refused = aeth !== 0 && aethSyndrome(bytes, aeth) >= 0x20;
      this.expectedPsn[peer] = refused ? psn : (psn + 1) & 0xffffff;
    }
  }

  /** The NIC begins to send to peer `peer` at `psn`. */
  begin(peer: number, psn: number): void {
    this.sentPsn[peer] = psn;
    this.lastPsn[peer] = psnAdd(psn, -1);
  }

  /** A READ takes as many PSNs as its answer has packets (protocol/reliable.md 2.1). */
  #noteLast(peer: number, psn: number): void {
    const { bytes } = this;
    const isRead = (opcodeBits[bytes[0]] & OpcodeBit.READ_REQUEST) !== 0;
    const packets = isRead ? Math.max(1, Math.ceil(rethLength(bytes, rethOffset[bytes[0]]) / this.mtuBytes)) : 1;
    const last = psnAdd(psn, packets - 1);
    if (psnDiff(last, this.lastPsn[peer]) > 0) this.lastPsn[peer] = last;
  }

  /** @throws Error when a response shows bytes that no peer may read */
  #checkSecrets(header: number): void {
    const payload = this.bytes.subarray(header, this.#length - ICRC_BYTES);
    for (const secret of [CANARY, SECRET])
      if (payload.length >= SECRET_RUN && payload.subarray(0, SECRET_RUN).every((byte) => byte === secret))
        throw new Error(`a READ was answered with bytes 0x${secret.toString(16)}, which no peer may see`);
  }
}
