import { AccessFlags } from '../../spec/index.js';

const TWO_32 = 2 ** 32;
/** Below this many bytes a loop is cheaper than the view object that TypedArray.set needs. */
const LOOP_COPY_BYTES = 96;

/** Memory that the NIC may touch on behalf of whoever shows one of its keys (IBTA 10.6). */
export class MemoryRegion {
  /** Cleared by deregistration: work that is in flight still holds the region and must find it closed. */
  registered = true;
  /** Cleared when a peer invalidated the R_Key (SEND with Invalidate): local use goes on. */
  remotelyValid = true;
  #view: DataView | undefined;

  constructor(
    readonly handle: number,
    readonly pd: number,
    readonly lkey: number,
    readonly rkey: number,
    readonly access: number,
    readonly iovaHi: number,
    readonly iovaLo: number,
    readonly bytes: Uint8Array,
    readonly lengthBytes: number,
  ) {}

  /** Whether the memory is still there: an ArrayBuffer that was transferred away has no bytes left. */
  get present(): boolean {
    return this.bytes.length === this.lengthBytes;
  }

  /**
   * Where in {@link bytes} the range of `lengthBytes` at the 64-bit address lies, or -1 when it is not inside.
   *
   * The difference of two 64-bit addresses as a double is exact up to 2^53, beyond which it is outside of any region
   * anyway, so no address and no length can wrap around the check.
   */
  locate(addrHi: number, addrLo: number, lengthBytes: number): number {
    const offset = ((addrHi >>> 0) - (this.iovaHi >>> 0)) * TWO_32 + ((addrLo >>> 0) - (this.iovaLo >>> 0));
    return offset >= 0 && lengthBytes <= this.lengthBytes - offset ? offset : -1;
  }

  allows(access: number): boolean {
    return (this.access & access) === access;
  }

  /** For operands of atomics, which lie in memory in host byte order (PROTOCOL.md 1.3). */
  get view(): DataView {
    this.#view ??= new DataView(this.bytes.buffer, this.bytes.byteOffset, this.bytes.byteLength);
    return this.#view;
  }
}

/** Access that lets a peer in, by any operation. */
export const REMOTE_ACCESS = AccessFlags.REMOTE_READ | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_ATOMIC;

/** Copies bytes between two buffers that do not overlap. */
export function copyBytes(
  target: Uint8Array,
  targetOffset: number,
  source: Uint8Array,
  sourceOffset: number,
  lengthBytes: number,
): void {
  if (lengthBytes <= LOOP_COPY_BYTES) {
    for (let i = 0; i < lengthBytes; i += 1) target[targetOffset + i] = source[sourceOffset + i];
  } else {
    target.set(source.subarray(sourceOffset, sourceOffset + lengthBytes), targetOffset);
  }
}
