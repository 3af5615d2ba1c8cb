import { AccessFlags } from '../../../device/ibta/index.js';
import type { Mr, Pd, Sge } from '../../../api/verbs/index.js';
import type { SpareMemory } from '../../core/index.js';
import { type Sizes, TARGETS, type Told } from '../protocol/index.js';
import { type ByteOrder, readSpan, type Span, SPAN_BYTES } from '../wire/connection-data.js';
import { decodeIomapEntry, IOMAP_ENTRY_BYTES, type IomapEntry } from '../wire/message.js';

/** Numbers that the peer writes here are in this order, whatever this host's is: they are read byte by byte. */
export const OWN_ORDER: ByteOrder = 'little';

interface Piece {
  addr: number;
  length: number;
  readonly lkey: number;
}

/** The memory of one end: its two buffers, and the table in which the peer names buffers of its own. */
export class StreamMemory implements Told, Disposable {
  readonly #send: Mr;
  readonly #receive: Mr;
  readonly #table: Mr;
  readonly #view: DataView;
  readonly #pieces: readonly [Piece, Piece];
  /** Whether the receive buffer may be another stream's later: nobody outside has a view of it. */
  #isReceivePrivate = true;
  #isDisposed = false;
  readonly sendAddr: number;
  readonly receiveAddr: number;

  /** @throws VerbsError ENOMEM when the device has no key left, or the machine no memory */
  constructor(
    pd: Pd,
    private readonly spare: SpareMemory,
    private readonly sizes: Sizes,
  ) {
    const { sendBufferBytes, receiveBufferBytes, iomapSize } = sizes;
    const peers = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE;
    const made: Mr[] = [];
    const register = (bytes: number, access: number): Mr => {
      const mr = pd.regMr(spare.take(bytes), access);
      made.push(mr);
      return mr;
    };
    try {
      this.#send = register(sendBufferBytes, AccessFlags.LOCAL_WRITE);
      this.#receive = register(receiveBufferBytes, peers);
      this.#table = register(TARGETS * SPAN_BYTES + iomapSize * IOMAP_ENTRY_BYTES, peers);
    } catch (error) {
      for (const mr of made) mr[Symbol.dispose]();
      throw error;
    }
    const { buffer, byteOffset, byteLength } = this.#table.bytes;
    this.#view = new DataView(buffer, byteOffset, byteLength);
    this.sendAddr = Number(this.#send.addr);
    this.receiveAddr = Number(this.#receive.addr);
    const { lkey } = this.#send;
    this.#pieces = [
      { addr: this.sendAddr, length: 0, lkey },
      { addr: this.sendAddr, length: 0, lkey },
    ];
  }

  get sendBytes(): Uint8Array {
    return this.#send.bytes;
  }

  get sendLkey(): number {
    return this.#send.lkey;
  }

  /** Puts bytes into the send buffer from there to its end, and the rest to its beginning. */
  wrapped(bytes: Uint8Array, at: number): readonly Sge[] {
    const [first, second] = this.#pieces;
    first.addr = this.sendAddr + at;
    first.length = this.sizes.sendBufferBytes - at;
    second.length = bytes.length - first.length;
    this.sendBytes.set(bytes.subarray(0, first.length), at);
    this.sendBytes.set(bytes.subarray(first.length));
    return this.#pieces;
  }

  get receiveBytes(): Uint8Array {
    return this.#receive.bytes;
  }

  /** What the program is given to look at. From now on the receive buffer stays this stream's, since views may be kept. */
  show(begin: number, end: number): Uint8Array {
    this.#isReceivePrivate = false;
    return this.#receive.bytes.subarray(begin, end);
  }

  get receiveRkey(): number {
    return this.#receive.rkey;
  }

  /** Where the peer is to name its buffers. */
  get targets(): Span {
    return { addr: this.#table.addr, key: this.#table.rkey, length: TARGETS };
  }

  half(offset: number): Span {
    const length = this.sizes.receiveBufferBytes / 2;
    return { addr: BigInt(this.receiveAddr + offset), key: this.receiveRkey, length };
  }

  target(entry: 0 | 1): Span {
    return readSpan(this.#view, entry * SPAN_BYTES, OWN_ORDER);
  }

  mapping(index: number): IomapEntry {
    const at = TARGETS * SPAN_BYTES + index * IOMAP_ENTRY_BYTES;
    return decodeIomapEntry(this.#table.bytes.subarray(at, at + IOMAP_ENTRY_BYTES), OWN_ORDER);
  }

  /** The queue pair was destroyed. Idempotent. */
  [Symbol.dispose](): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    for (const mr of [this.#send, this.#receive, this.#table]) mr[Symbol.dispose]();
    this.spare.give(this.#send.bytes);
    this.spare.give(this.#table.bytes);
  }

  /** Nothing is read any more from the receive buffer, which {@link [Symbol.dispose]} has taken from the peer. Idempotent. */
  releaseReceive(): void {
    if (!this.#isDisposed || !this.#isReceivePrivate) return;
    this.#isReceivePrivate = false;
    this.spare.give(this.#receive.bytes);
  }
}
