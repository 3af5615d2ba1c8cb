import { type EntryView, type Partition, Span } from '../store/index.js';
import { RecordBuffer, RecordKind, RecordView } from './record.js';

const NO_SALT = 0;

/** What keys were before they changed, so that it can be taken back. */
export class UndoList {
  readonly #buffer = new RecordBuffer();
  readonly #starts: number[] = [];

  get count(): number {
    return this.#starts.length;
  }

  /** A key changes. @param entry what it was; undefined: it was not there. It is copied */
  add(key: Span, entry: EntryView | undefined): void {
    this.#starts.push(this.#buffer.byteLength);
    if (entry !== undefined) this.#buffer.addEntry(entry, NO_SALT, 0, 0);
    else this.#buffer.addKey(RecordKind.DELETE, key.bytes.subarray(key.at, key.at + key.length), 0, NO_SALT, 0, 0);
  }

  /** The last was no change after all. */
  drop(): void {
    const start = this.#starts.pop();
    if (start !== undefined) this.#buffer.cut(start);
  }

  /** Puts all back, from the last change to the first. @returns whether there was room for everything */
  takeBack(store: Partition): boolean {
    const view = new RecordView();
    const { bytes } = this.#buffer;
    let isComplete = true;
    for (const start of this.#starts.reverse()) {
      view.look(bytes, start, view.lengthAt(bytes, start) ?? 0, NO_SALT);
      const key = new Span(view.key);
      if (view.kind === RecordKind.DELETE) store.forget(key);
      else isComplete = store.restore(key, new Span(view.value), view.version, view.expiresAtMs) && isComplete;
    }
    this.clear();
    return isComplete;
  }

  clear(): void {
    this.#starts.length = 0;
    this.#buffer.clear();
  }
}
