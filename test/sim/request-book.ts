import { psnAdd, psnDiff } from '../../src/device/ibta/index.js';
import { bthAckRequest, bthPsn, OpcodeBit, opcodeBits, rethLength, rethOffset } from '../../src/device/wire/index.js';

const ANSWERED = OpcodeBit.READ_REQUEST | OpcodeBit.ATOMIC | OpcodeBit.FLUSH | OpcodeBit.ATOMIC_WRITE;

/** The request packets of one reliable requester, as the network saw them. */
export class RequestBook {
  /** Packets sent that were not sent before, and those that were. */
  fresh = 0;
  repeats = 0;
  /** Packets that came whole to the responder and call for an acknowledgement, where all come in order and find it ready. */
  acknowledgeable = 0;
  /** The PSN after the last that was sent, and after the last that came. */
  #sentEnd: number;
  #takenEnd: number;

  constructor(
    firstPsn: number,
    private readonly mtuBytes: number,
  ) {
    this.#sentEnd = firstPsn;
    this.#takenEnd = firstPsn;
  }

  sent(bytes: Uint8Array): void {
    const psn = bthPsn(bytes, 0);
    if (psnDiff(psn, this.#sentEnd) < 0) {
      this.repeats += 1;
    } else {
      this.fresh += 1;
      this.#sentEnd = this.#after(psn, bytes);
    }
  }

  taken(bytes: Uint8Array): void {
    const psn = bthPsn(bytes, 0);
    const repeated = psnDiff(psn, this.#takenEnd) < 0;
    if (!repeated) this.#takenEnd = this.#after(psn, bytes);
    if ((opcodeBits[bytes[0]] & ANSWERED) !== 0) return;
    if (repeated || bthAckRequest(bytes, 0) !== 0) this.acknowledgeable += 1;
  }

  /** A READ has as many PSNs as its answer has packets. */
  #after(psn: number, bytes: Uint8Array): number {
    if ((opcodeBits[bytes[0]] & OpcodeBit.READ_REQUEST) === 0) return psnAdd(psn, 1);
    const lengthBytes = rethLength(bytes, rethOffset[bytes[0]]);
    return psnAdd(psn, Math.max(1, Math.ceil(lengthBytes / this.mtuBytes)));
  }
}
