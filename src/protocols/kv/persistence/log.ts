import type { Folder, FolderFile } from '../../../api/runtime/index.js';
import { beginFile, abandonFile, FileKind, type FileHeader, finishFile, HEADER_BYTES } from './files.js';

/** Extended by so much, and cut off again, a log shows that there is room. */
const PROBE_BYTES = 1 << 16;

export class Log {
  readonly salt: number;
  readonly generation: number;
  /** Bytes that hold. */
  byteLength = HEADER_BYTES;

  private constructor(
    private readonly file: FolderFile,
    header: FileHeader,
  ) {
    this.salt = header.salt;
    this.generation = header.generation;
  }

  /**
   * Makes one, which is on the disk when this returns.
   *
   * @param sequence of its first record
   */
  static begin(folder: Folder, generation: number, salt: number, sequence: number): Log {
    const header = { kind: FileKind.LOG, generation, salt, sequence };
    const file = beginFile(folder, header);
    try {
      finishFile(folder, file, header);
      return new Log(file, header);
    } catch (error) {
      abandonFile(folder, file, header);
      throw error;
    }
  }

  get isEmpty(): boolean {
    return this.byteLength === HEADER_BYTES;
  }

  append(records: Uint8Array): void {
    this.file.write(records, this.byteLength);
    this.byteLength += records.length;
  }

  sync(): void {
    this.file.sync();
  }

  /** Takes away what an append that has failed may have left, and what was appended after so many bytes. */
  cutBack(byteLength: number): void {
    this.file.truncate(byteLength);
    this.file.sync();
    this.byteLength = byteLength;
  }

  /** Throws unless there is room for more. */
  probe(): void {
    try {
      this.file.write(new Uint8Array(PROBE_BYTES), this.byteLength);
    } finally {
      this.file.truncate(this.byteLength);
    }
  }

  close(): void {
    this.file.close();
  }
}
