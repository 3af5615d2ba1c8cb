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
