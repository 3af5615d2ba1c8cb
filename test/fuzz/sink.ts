import type { PacketSink } from '../../src/nic/index.js';
import { aethOffset, aethSyndrome, bthDestQp, bthPsn, OpcodeBit, opcodeBits } from '../../src/wire/index.js';

/** Peer QPNs are small, so that what is known of a peer stands in arrays. */
export const MAX_PEERS = 256;

/** Where the NIC under test sends to: nowhere; but a fuzzer that listens gets further than one that does not. */
export class ListeningSink implements PacketSink {
  readonly bytes = new Uint8Array(16384);
  readonly ipId = 0;
  packets = 0;
  /** What peer n heard last: the next PSN that the NIC expects of it, and the last PSN that the NIC used itself. */
  readonly expectedPsn = new Int32Array(MAX_PEERS);
  readonly sentPsn = new Int32Array(MAX_PEERS);

  reserve(): number {
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
    } else {
      const aeth = aethOffset[opcode];
      const refused = aeth !== 0 && aethSyndrome(bytes, aeth) >= 0x20;
      this.expectedPsn[peer] = refused ? psn : (psn + 1) & 0xffffff;
    }
  }
}
