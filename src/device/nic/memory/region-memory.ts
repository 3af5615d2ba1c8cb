/** Memory of a region, as the data path touches it once keys and ranges were checked. */
export interface RegionMemory {
  /** Whether the memory is still there. */
  readonly present: boolean;
  readonly bytes: Uint8Array;
  /** {@link bytes} by words; empty when they are not aligned. */
  readonly words: Int32Array;
  /** For operands of atomics, which lie in memory in host byte order (protocol.md 1.3). */
  readonly view: DataView;
  /** All of the buffer that {@link bytes} is in, by words of 64 bits: the widest that is stored at once. */
  readonly quadwords: BigInt64Array;
  /** Part of {@link bytes}. */
  part(offset: number, lengthBytes: number): Uint8Array;
}
