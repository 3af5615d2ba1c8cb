import type { FolderFile } from '../../../api/runtime/index.js';
import { HEADER_BYTES } from './files.js';
import { RECORD_ALIGNMENT, RECORD_HEAD_BYTES, RecordView } from './record.js';

const WINDOW_BYTES = 1 << 20;

/** Reads the records of a file, one after the other. */
export class RecordReader {
  /** The record that was read last. */
  readonly record = new RecordView();
  /** Where that begins. */
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
   * @returns the last record that was on the disk by what they say; 0 when there are none
   */
  keptBehind(after: number): number {
    let kept = 0;
    for (let at = this.#next + RECORD_ALIGNMENT; at < this.byteLength; at += RECORD_ALIGNMENT) {
      if (!this.#lookAt(at) || this.record.sequence <= after) continue;
      kept = Math.max(kept, this.record.kept);
      at += this.record.byteLength - RECORD_ALIGNMENT;
    }
    return kept;
  }

  #lookAt(at: number): boolean {
    if (!this.#load(at, RECORD_HEAD_BYTES)) return false;
    const length = this.record.lengthAt(this.#window, at - this.#windowAt);
    if (length === undefined || !this.#load(at, length)) return false;
    return this.record.look(this.#window, at - this.#windowAt, length, this.salt);
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
