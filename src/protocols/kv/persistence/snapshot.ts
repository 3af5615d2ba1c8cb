import type { Folder, FolderFile } from '../../../api/runtime/index.js';
import type { Partition } from '../store/index.js';
import { abandonFile, beginFile, FileKind, type FileHeader, finishFile, HEADER_BYTES } from './files.js';
import { RecordBuffer } from './record.js';

/** Written in one piece: nobody is kept waiting for longer. */
const PIECE_BYTES = 1 << 18;
const PIECE_BUCKETS = 4096;

/** A snapshot that is being written, piece by piece. What changes meanwhile is in the log that has begun with it. */
export class Snapshot {
  readonly #records = new RecordBuffer();
  readonly #header: FileHeader;
  readonly #file: FolderFile;
  #at = HEADER_BYTES;
  #bucket = 0;
  #count = 0;

  /** @param sequence of the first record of the log that goes with it. Throws what the folder throws */
  constructor(
    private readonly folder: Folder,
    private readonly store: Partition,
    generation: number,
    salt: number,
    sequence: number,
  ) {
    this.#header = { kind: FileKind.SNAPSHOT, generation, salt, sequence };
    this.#file = beginFile(folder, this.#header);
  }

  /** Writes the next piece. @returns whether all has been written, though it may not be on the disk */
  write(nowMs: number): boolean {
    const records = this.#records;
    const { salt } = this.#header;
    const { store } = this;
    const end = Math.min(store.buckets, this.#bucket + PIECE_BUCKETS);
    for (; this.#bucket < end && records.byteLength < PIECE_BYTES; this.#bucket += 1)
      store.eachOf(this.#bucket, nowMs, (entry) => {
        this.#count += 1;
        records.addEntry(entry, salt, this.#count, 0);
      });
    const isComplete = this.#bucket === store.buckets;
    if (isComplete) records.addEnd(store.lastVersion, salt, this.#count + 1);
    this.#file.write(records.bytes, this.#at);
    this.#at += records.byteLength;
    records.clear();
    return isComplete;
  }

  /** Puts it on the disk, and in the place of what came before. */
  finish(): void {
    finishFile(this.folder, this.#file, this.#header);
    this.#file.close();
  }

  abandon(): void {
    abandonFile(this.folder, this.#file, this.#header);
  }
}
