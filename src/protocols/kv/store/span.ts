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

  /** Points it elsewhere. */
  set(bytes: Uint8Array, at = 0, length: number = bytes.length - at): this {
    this.bytes = bytes;
    this.at = at;
    this.length = length;
    return this;
  }
}

const NOTHING = new Uint8Array();
