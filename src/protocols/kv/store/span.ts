/** Who gives entries their place in a partition's memory. Positions and lengths are multiples of 8. */
export interface EntryAllocator {
  /** @returns the position of so many bytes; -1 when there is no room */
  reserve(byteLength: number): number;
  release(position: number): void;
  /** Whether what has `before` bytes there can be replaced in its place by what has `after`. */
  fits(position: number, before: number, after: number): boolean;
}

/**
 * Bytes that somebody else holds: a key or a value where it arrived. Make one for each role, and set it anew for each request: that
 * allocates nothing.
 */
export class Span {
  constructor(
    public bytes: Uint8Array = NOTHING,
    public at = 0,
    public length: number = bytes.length - at,
  ) {}

  set(bytes: Uint8Array, at = 0, length: number = bytes.length - at): this {
    this.bytes = bytes;
    this.at = at;
    this.length = length;
    return this;
  }
}

const NOTHING = new Uint8Array();
