/** Memory by its address. */
import { requireNativeHost } from '../native.js';

const M_TRIM_THRESHOLD = -1;
const NEVER = 2 ** 31 - 1;

/**
 * Has the C library's allocator give no memory back to the system from the ends of its arenas. At the first time glibc would open a file
 * of `/proc` for that, while it holds the arena's lock: a thread whose calls are answered by another of the same process must not do so.
 */
export function keepArenas(): void {
  requireNativeHost().libc.mallopt(M_TRIM_THRESHOLD, NEVER);
}

/** Anything whose bytes lie in one piece of memory. */
export type Memory = ArrayBuffer | SharedArrayBuffer | ArrayBufferView;

function bytesOf(memory: Memory): Uint8Array {
  if (!ArrayBuffer.isView(memory)) return new Uint8Array(memory);
  // V8 keeps small typed arrays inside its heap, where the collector moves them; the first look at `.buffer` moves their
  // bytes out for good. Only then does an address mean anything.
  return new Uint8Array(memory.buffer, memory.byteOffset, memory.byteLength);
}

/**
 * The address of the first byte. It holds as long as the buffer is neither collected nor detached: the caller keeps a
 * reference to it, and {@link nailDown} guards against the rest.
 *
 * @throws Error when there are no native calls; TypeError when the buffer is detached
 */
export function addressOf(memory: Memory): number {
  return requireNativeHost().addressOf(bytesOf(memory));
}

/**
 * The bytes at an address, as a view. It owns nothing: whoever the memory belongs to must keep it as long as anybody uses
 * the view, across threads too. Made for the other end of {@link addressOf}, and for nothing else.
 */
export function viewOf(address: number, lengthBytes: number): Uint8Array {
  return new Uint8Array(requireNativeHost().viewOf(address, lengthBytes));
}

/** A piece of memory with an address, for structures that system calls read and write. Lives as long as its owner. */
export class NativeBlock {
  readonly bytes: Uint8Array;
  readonly words: Int32Array;
  readonly address: number;

  constructor(lengthBytes: number) {
    const memory = new ArrayBuffer((lengthBytes + 7) & ~7);
    this.bytes = new Uint8Array(memory);
    this.words = new Int32Array(memory);
    this.address = addressOf(memory);
  }

  /** Writes a pointer, or any other number below 2^53, into eight bytes. */
  putPointer(offset: number, value: number): void {
    this.words[offset >> 2] = value | 0;
    this.words[(offset >> 2) + 1] = (value / 0x1_0000_0000) | 0;
  }

  /** Reads a pointer that a program has, which is below 2^53. */
  getPointer(offset: number): number {
    return (this.words[offset >> 2] >>> 0) + this.words[(offset >> 2) + 1] * 0x1_0000_0000;
  }
}
