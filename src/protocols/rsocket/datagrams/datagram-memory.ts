import { AccessFlags } from '../../../device/ibta/index.js';
import { alloc } from '../../../api/provider/index.js';
import type { Mr, Pd } from '../../../api/verbs/index.js';
import { MAX_DATAGRAM } from '../wire/datagram.js';

/** What the adapter puts before each datagram that it receives. */
export const GRH_BYTES = 40;
const RECEIVE_BYTES = GRH_BYTES + MAX_DATAGRAM;

/** The buffers of a socket: one for each request of its queues. */
export class DatagramMemory implements Disposable {
  readonly #mr: Mr;
  readonly #addr: number;
  readonly #sendsAt: number;

  /** @throws VerbsError ENOMEM */
  constructor(
    pd: Pd,
    readonly sends: number,
    readonly receives: number,
  ) {
    this.#sendsAt = receives * RECEIVE_BYTES;
    this.#mr = pd.regMr(alloc(this.#sendsAt + sends * MAX_DATAGRAM), AccessFlags.LOCAL_WRITE);
    this.#addr = Number(this.#mr.addr);
  }

  get lkey(): number {
    return this.#mr.lkey;
  }

  sendAddr(slot: number): number {
    return this.#addr + this.#sendsAt + slot * MAX_DATAGRAM;
  }

  /** Puts pieces into a buffer, one after the other. */
  fill(slot: number, header: Uint8Array, pieces: readonly Uint8Array[]): void {
    const { bytes } = this.#mr;
    let at = this.#sendsAt + slot * MAX_DATAGRAM;
    bytes.set(header, at);
    at += header.length;
    for (const piece of pieces) {
      bytes.set(piece, at);
      at += piece.length;
    }
  }

  receiveAddr(slot: number): number {
    return this.#addr + slot * RECEIVE_BYTES;
  }

  get receiveBytes(): number {
    return RECEIVE_BYTES;
  }

  /** What was received, the 40 bytes before it included. */
  received(slot: number, length: number): Uint8Array {
    const at = slot * RECEIVE_BYTES;
    return this.#mr.bytes.subarray(at, at + length);
  }

  [Symbol.dispose](): void {
    this.#mr[Symbol.dispose]();
  }
}
