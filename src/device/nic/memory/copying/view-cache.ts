/** Times in a row that other memory has to be asked for before views of that are kept. */
const PATIENCE = 8;
/** Of so many views that were not found one is kept, so that memory whose places never come again costs little. */
const KEPT_OF = 8;

const NO_BYTES = new Uint8Array(0);

/**
 * Views of parts of one piece of memory, kept for reuse: `TypedArray.set` wants a view, and making one takes as long as
 * copying 4 KiB (0.1 µs, Node 20). Packets lie at the same places of a link's memory, and most programs send from the
 * same places of theirs.
 */
export class ViewCache {
  readonly #views: Uint8Array[];
  readonly #offsets: Int32Array;
  readonly #shift: number;
  #bytes: Uint8Array = NO_BYTES;
  #others = 0;
  #missed = 0;

  /** @param slots views that are kept at most; a power of two */
  constructor(slots: number) {
    this.#views = new Array<Uint8Array>(slots).fill(NO_BYTES);
    this.#offsets = new Int32Array(slots);
    this.#shift = Math.clz32(slots) + 1;
  }

  /**
   * What lies from `offset` on in `bytes`.
   *
   * @throws TypeError when the memory was transferred away
   */
  of(bytes: Uint8Array, offset: number, lengthBytes: number): Uint8Array {
    if (bytes !== this.#bytes) return this.#ofOther(bytes, offset, lengthBytes);
    this.#others = 0;
    const slot = Math.imul(offset ^ (lengthBytes << 16), 0x9e3779b1) >>> this.#shift;
    const kept = this.#views[slot];
    // Views of memory that was transferred away have no bytes any more.
    if (this.#offsets[slot] === offset && kept.length === lengthBytes) return kept;
    const view = bytes.subarray(offset, offset + lengthBytes);
    this.#missed += 1;
    if (this.#missed === KEPT_OF) {
      this.#missed = 0;
      this.#views[slot] = view;
      this.#offsets[slot] = offset;
    }
    return view;
  }

  #ofOther(bytes: Uint8Array, offset: number, lengthBytes: number): Uint8Array {
    this.#others += 1;
    if (this.#others === PATIENCE) {
      this.#others = 0;
      this.#bytes = bytes;
      this.#views.fill(NO_BYTES);
    }
    return bytes.subarray(offset, offset + lengthBytes);
  }
}
