import type { Memory } from '../uct/index.js';
import { MAX_RMA_OFFSET, rmaAddress } from '../wire/index.js';

/** Some bytes of a peer's, of which the caller has checked that the key is for them. */
export class RemoteBytes {
  /**
   * @param address as transports call it
   * @param offset the same, from the beginning of the key's memory
   */
  constructor(
    readonly address: bigint,
    readonly rkey: number,
    readonly offset: number,
  ) {}

  /** Whether messages can name all of so many bytes. */
  canBeNamed(length: number): boolean {
    return this.offset + length - 1 <= MAX_RMA_OFFSET;
  }

  /** What messages call the byte that many further on. */
  messageAddress(further: number): bigint {
    return rmaAddress({ rkey: this.rkey, offset: this.offset + further });
  }
}

/** Memory of this end that peers may use: `ucp_mem_h`. */
export class UcpMemory implements Disposable {
  readonly #memory: Memory;
  #isMapped = true;

  /** @internal {@link UcpWorker.memMap} makes them. */
  constructor(
    memory: Memory,
    private readonly onUnmapped: (memory: UcpMemory) => void,
  ) {
    this.#memory = memory;
  }

  /** What was mapped: the program's to read and write, as peers do. */
  get bytes(): Uint8Array {
    return this.#memory.bytes;
  }

  /** Where peers say that it begins. */
  get address(): bigint {
    return this.#memory.address;
  }

  /** The key, to be sent to whoever may use it: each who has it may. */
  packRkey(): Uint8Array {
    return this.#memory.pack();
  }

  /** Peers may use it no more: the key is void from now on, and who uses it nevertheless loses its endpoint. Idempotent. */
  unmap(): void {
    if (!this.#isMapped) return;
    this.#isMapped = false;
    this.#memory.deregister();
    this.onUnmapped(this);
  }

  /** {@link unmap}. */
  [Symbol.dispose](): void {
    this.unmap();
  }
}
