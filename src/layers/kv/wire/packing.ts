// Several requests, or several answers, in one message (docs/protocol.md 6.2): each begins at a multiple of 8, with zeros before it.

const ALIGNMENT = 8;

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
  readonly #bytes: Uint8Array;
  #length = 0;

  /** @param mostBytes of a message */
  constructor(mostBytes: number) {
    this.#bytes = new Uint8Array(mostBytes);
  }

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  /** Whether a part of so many bytes still fits a message of `mostBytes`. */
  fits(partBytes: number, mostBytes: number): boolean {
    return aligned(this.#length) + partBytes <= mostBytes;
  }

  /** Room for a part that fits: its bytes, to be written at once. */
  append(partBytes: number): Uint8Array {
    const at = aligned(this.#length);
    // What was there before is somebody else's.
    this.#bytes.fill(0, this.#length, at);
    this.#length = at + partBytes;
    return this.#bytes.subarray(at, this.#length);
  }

  /** The message, which is true until the next part is added. Another begins. */
  take(): Uint8Array {
    const message = this.#bytes.subarray(0, this.#length);
    this.#length = 0;
    return message;
  }
}
