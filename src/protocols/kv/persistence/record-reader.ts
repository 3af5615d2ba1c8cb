import type { FolderFile } from '../../../api/runtime/index.js';
import { HEADER_BYTES } from './files.js';
import { RECORD_ALIGNMENT, RECORD_HEAD_BYTES, RecordView } from './record.js';

const WINDOW_BYTES = 1 << 20;
/** So many times the bytes that are searched are checked, for what looks like records there and is none. */
const SEARCH_FACTOR = 4;

/** Reads the records of a file, one after the other. */
export class RecordReader {
  readonly record = new RecordView();
  at = HEADER_BYTES;
  readonly byteLength: number;
  #next = HEADER_BYTES;
  #window = new Uint8Array(0);
  #windowAt = 0;

  constructor(
    private readonly file: FolderFile,
    private readonly salt: number,
  ) {
    this.byteLength = file.byteLength;
  }

  /** Where the record after the last begins, if there is one. */
  get nextAt(): number {
    return this.#next;
  }

  /** @returns false where no whole record follows */
  next(): boolean {
    if (!this.#lookAt(this.#next)) return false;
    this.at = this.#next;
    this.#next += this.record.byteLength;
    return true;
  }

  /** Reads the record that begins there, as {@link next} has found it. @returns whether it is still there */
  readAt(at: number): boolean {
    return this.#lookAt(at);
  }

  /**
   * Looks for records behind what is none.
   *
   * @param after numbers that they have are beyond that
   * @returns the last record that was on the disk by what they say; 0 when there are none; Infinity where so much looks like records that to check all of
   *   it would take for ever, as in a long value that somebody has made so
   */
  keptBehind(after: number): number {
    const bytes = this.byteLength - this.#next;
    const last = after + bytes / RECORD_HEAD_BYTES;
    let left = SEARCH_FACTOR * bytes + WINDOW_BYTES;
    let kept = 0;
    for (let at = this.#next + RECORD_ALIGNMENT; at < this.byteLength; at += RECORD_ALIGNMENT) {
      const length = this.#lengthAt(at);
      if (length === undefined) continue;
      const sequence = this.record.sequenceAt(this.#window, at - this.#windowAt);
      if (sequence <= after || sequence > last) continue;
      left -= length;
      if (left < 0) return Infinity;
      if (!this.#lookAt(at)) continue;
      kept = Math.max(kept, this.record.kept);
      at += this.record.byteLength - RECORD_ALIGNMENT;
    }
    return kept;
  }

  #lookAt(at: number): boolean {
    const length = this.#lengthAt(at);
    if (length === undefined || !this.#load(at, length)) return false;
    return this.record.look(this.#window, at - this.#windowAt, length, this.salt);
  }

  /** How long the record is whose head is there; undefined where there is no head, or the file ends before it does. */
  #lengthAt(at: number): number | undefined {
    if (!this.#load(at, RECORD_HEAD_BYTES)) return undefined;
    const length = this.record.lengthAt(this.#window, at - this.#windowAt);
    return length === undefined || at + length > this.byteLength ? undefined : length;
  }

  /** Has so many bytes of the file in memory. @returns false when it has not so many */
  #load(at: number, length: number): boolean {
    if (at + length > this.byteLength) return false;
    const window = this.#window;
    if (at >= this.#windowAt && at + length <= this.#windowAt + window.length) return true;
    const size = Math.min(this.byteLength - at, Math.max(length, WINDOW_BYTES));
    this.#window = new Uint8Array(size);
    this.#windowAt = at;
    // Of a file that was made shorter meanwhile the rest reads as zeros, which are no record.
    this.file.read(this.#window, at);
    return true;
  }
}
