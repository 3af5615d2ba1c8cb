import { SipHash } from '../store/index.js';

// The immediate data of a request that is written into a slot (protocol/kv.md 6.6).

const SLOT_BITS = 10;
const SLOT_MASK = (1 << SLOT_BITS) - 1;
const CHECK = new SipHash(0n);

/** Names the slot, and tells the request from what was there before it, and will be after it. */
export function immediateOf(slot: number, request: Uint8Array): number {
  CHECK.of(request, 0, request.length);
  return ((CHECK.low << SLOT_BITS) | slot) >>> 0;
}

export function slotIn(immediate: number): number {
  return immediate & SLOT_MASK;
}

export function isAnnounced(immediate: number, request: Uint8Array): boolean {
  return immediateOf(slotIn(immediate), request) === immediate;
}

// Several requests, or several answers, in one message (protocol/kv.md 6.2): each begins at a multiple of 8, with zeros before it.

const ALIGNMENT = 8;

/** A view of the memory of bytes: the last one, where that is of the same memory, since messages are written and read in the same again and again. */
export class MemoryView {
  #view: DataView = new DataView(new ArrayBuffer(0));

  of({ buffer }: Uint8Array): DataView {
    if (this.#view.buffer !== buffer) this.#view = new DataView(buffer);
    return this.#view;
  }
}

/** Fewer are copied sooner one by one than by the runtime. */
const MANY_BYTES = 64;

/** Copies bytes to a place in others. */
export function copyInto(bytes: Uint8Array, into: Uint8Array, at: number): void {
  if (bytes.length > MANY_BYTES) into.set(bytes, at);
  else for (let i = 0; i < bytes.length; i += 1) into[at + i] = bytes[i];
}

/** Where the next part may begin. */
function aligned(at: number): number {
  return (at + ALIGNMENT - 1) & -ALIGNMENT;
}

/** A number of 32 bits that lies anywhere. */
export function u32At(bytes: Uint8Array, at: number): number {
  return ((bytes[at] << 24) | (bytes[at + 1] << 16) | (bytes[at + 2] << 8) | bytes[at + 3]) >>> 0;
}

/**
 * Where a part of a message ends. What is behind the last one belongs to it, which is wrong then.
 *
 * @param length of the part, as it says itself; Infinity for one that is cut
 */
export function partEnd(at: number, length: number, messageBytes: number): number {
  const end = at + length;
  return end < messageBytes && aligned(end) < messageBytes ? end : messageBytes;
}

/** Where the part behind the one that ends there begins: not before the end of the message when there is none. */
export function nextPart(end: number): number {
  return aligned(end);
}

/** Puts parts into a message, one behind the other. */
export class Packer {
  /** The message so far, and room behind it. */
  readonly bytes: Uint8Array;
  #length = 0;

  /** @param mostBytes of a message */
  constructor(mostBytes: number) {
    this.bytes = new Uint8Array(mostBytes);
  }

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  /** Whether a part of so many bytes still fits a message of `mostBytes`. */
  fits(partBytes: number, mostBytes: number): boolean {
    return aligned(this.#length) + partBytes <= mostBytes;
  }

  /** Adds a part that fits, to be written at once. @returns where in {@link bytes} */
  add(partBytes: number): number {
    const { bytes } = this;
    const at = aligned(this.#length);
    // What was there before is somebody else's.
    for (let gap = this.#length; gap < at; gap += 1) bytes[gap] = 0;
    this.#length = at + partBytes;
    return at;
  }

  /** The message, which is true until the next part is added. Another begins. */
  take(): Uint8Array {
    const message = this.bytes.subarray(0, this.#length);
    this.#length = 0;
    return message;
  }
}
