/** Memory by its address. */
import { markAsUntransferable } from 'node:worker_threads';
import { requireNativeHost } from './native.js';

/** Anything whose bytes lie in one piece of memory. */
export type Memory = ArrayBuffer | SharedArrayBuffer | ArrayBufferView;

function bytesOf(memory: Memory): Uint8Array {
  if (!ArrayBuffer.isView(memory)) return new Uint8Array(memory);
  // V8 keeps small typed arrays inside its heap, where the collector moves them; the first look at `.buffer` moves their
  // bytes out for good. Only then does an address mean anything.
  return new Uint8Array(memory.buffer, memory.byteOffset, memory.byteLength);
}

/**
 * The address of the first byte. It holds as long as the ArrayBuffer is neither collected nor detached: the caller keeps a
 * reference to it, and {@link pin} guards against the rest.
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

/** Memory that must stay where it is, as long as {@link Pin.release} was not called. */
export interface Pin {
  /**
   * False when the memory was taken away after all. Some ways of that cannot be prevented from JavaScript: a byte stream
   * that is given the buffer (`controller.enqueue`, a BYOB `read`), `grow` of the WebAssembly memory that it belongs to, and
   * `ArrayBuffer.prototype.transfer` borrowed by `call`.
   */
  isIntact(): boolean;
  release(): void;
}

/** Nothing else could ever give an ArrayBuffer properties of these names of its own. */
const TRANSFERS = ['transfer', 'transferToFixedLength'] as const;

interface Pinned {
  count: number;
}

/** A buffer can be registered more than once. */
const pinned = new WeakMap<ArrayBuffer, Pinned>();

function isDetached(buffer: ArrayBuffer): boolean {
  if (buffer.byteLength > 0) return false;
  try {
    // Node 20 has no `detached`; a view over a detached buffer is refused everywhere.
    new Uint8Array(buffer);
    return false;
  } catch {
    return true;
  }
}

function refuseTransfer(name: string): () => never {
  return () => {
    throw new TypeError(`${name}() on memory that is registered for RDMA: deregister it first`);
  };
}

function guard(buffer: ArrayBuffer): void {
  const entry = pinned.get(buffer);
  if (entry !== undefined) {
    entry.count += 1;
    return;
  }
  pinned.set(buffer, { count: 1 });
  // Node 20 then copies instead of transferring, later versions throw a DataCloneError. There is no way back: the buffer
  // stays untransferable after it is released.
  markAsUntransferable(buffer);
  for (const name of TRANSFERS) {
    if (!(name in ArrayBuffer.prototype)) continue;
    Object.defineProperty(buffer, name, { value: refuseTransfer(name), configurable: true });
  }
}

function unguard(buffer: ArrayBuffer): void {
  const entry = pinned.get(buffer);
  if (entry === undefined) return;
  entry.count -= 1;
  if (entry.count > 0) return;
  pinned.delete(buffer);
  for (const name of TRANSFERS) Reflect.deleteProperty(buffer, name);
}

/**
 * Makes memory stay where it is while a NIC uses it by its address, as far as JavaScript allows: it can then not be
 * transferred away. Memory that can shrink is refused. The pin keeps the memory alive until it is released.
 *
 * Shared memory needs no guard: it can be neither detached nor shrunk.
 *
 * @throws TypeError when the buffer is detached or resizable
 */
export function pin(memory: Memory): Pin {
  let buffer: ArrayBufferLike | undefined = ArrayBuffer.isView(memory) ? memory.buffer : memory;
  if (!(buffer instanceof ArrayBuffer)) {
    return {
      isIntact: () => buffer !== undefined,
      release: () => {
        buffer = undefined;
      },
    };
  }
  // Also refuses views that track the length of their buffer, since only resizable buffers can have them.
  if ('resizable' in buffer && buffer.resizable === true) {
    throw new TypeError(
      'a resizable ArrayBuffer cannot be registered: its memory could vanish; copy it into one of fixed size',
    );
  }
  if (isDetached(buffer)) throw new TypeError('a detached ArrayBuffer cannot be registered: its memory is gone');
  guard(buffer);
  let held: ArrayBuffer | undefined = buffer;
  const lengthBytes = buffer.byteLength;
  return {
    isIntact: () => held?.byteLength === lengthBytes,
    release: () => {
      if (held !== undefined) unguard(held);
      held = undefined;
    },
  };
}
