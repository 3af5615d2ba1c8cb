import { type ErrnoName, Errno } from '../../../device/ibta/index.js';
import type { Folder, FolderFile } from '../../../api/runtime/index.js';
import { VerbsError } from '../../../api/verbs/index.js';
import { type Partition, Span } from '../store/index.js';
import { FileKind, type FileHeader, type FileName, HEADER_BYTES, parseName, readHeader } from './files.js';
import { RecordKind } from './record.js';
import { RecordReader } from './record-reader.js';
import { type Survivor, Survivors } from './survivors.js';

const CALL = 'openPersistence';

export interface Recovered {
  readonly generation: number;
  readonly sequence: number;
  /** Logs since the last snapshot. */
  readonly logs: number;
  /** Bytes of all logs since the last snapshot. */
  readonly logBytes: number;
  /** Bytes of logs that were not taken: of records that were being written when the server ended, or beyond damage that was to be put up with. */
  readonly lostBytes: number;
  readonly keys: number;
  /** There was damage that was to be put up with. */
  readonly isRepaired: boolean;
}

interface OpenFile {
  readonly name: FileName;
  readonly file: FolderFile;
  readonly header: FileHeader;
  readonly reader: RecordReader;
}

/**
 * Puts what a folder keeps back into a store that is empty.
 *
 * @param repair leaves out what comes after damage
 * @throws VerbsError EIO for damage, ENOSPC when the store has no room; what the system says
 */
export function recover(folder: Folder, store: Partition, nowMs: number, repair: boolean): Recovered {
  return new Recovery(folder, repair).run(store, nowMs);
}

class Recovery {
  readonly #survivors = new Survivors();
  readonly #files: OpenFile[] = [];
  /** Names of logs of which at least the beginning was read. */
  readonly #read = new Set<string>();
  #sequence = 1;
  #logBytes = 0;
  #lostBytes = 0;
  #isRepaired = false;

  constructor(
    private readonly folder: Folder,
    private readonly repair: boolean,
  ) {}

  run(store: Partition, nowMs: number): Recovered {
    const names = this.#names();
    try {
      const base = names.findLast(({ kind }) => kind === FileKind.SNAPSHOT);
      if (base !== undefined) this.#readSnapshot(base);
      const logs = names.filter(
        ({ kind, generation }) => kind === FileKind.LOG && generation >= (base?.generation ?? 0),
      );
      if (base !== undefined && logs[0]?.generation !== base.generation)
        this.#damaged(base, 0, 'the log of its generation, which was there before it, is gone', true);
      // Behind one that cannot be opened nothing is read, and all that is before it.
      for (const log of logs) if (!this.#isRepaired) this.#open(log);
      // One without records may have begun while it was not known what of those before it is on the disk.
      this.#readLogs(
        this.#files.filter(({ name, reader }) => name.kind === FileKind.LOG && reader.byteLength > HEADER_BYTES),
      );
      if (this.#isRepaired) this.#countLost(logs);
      const keys = this.#fill(store, nowMs);
      return {
        generation: Math.max(0, ...names.map(({ generation }) => generation)),
        sequence: this.#sequence,
        logs: logs.length,
        logBytes: this.#logBytes,
        lostBytes: this.#lostBytes,
        keys,
        isRepaired: this.#isRepaired,
      };
    } finally {
      for (const { file } of this.#files) file.close();
    }
  }

  /** Of all files that are complete, in their order; others are removed. */
  #names(): readonly FileName[] {
    const ours = this.folder.names().flatMap((name) => parseName(name) ?? []);
    for (const { name, isUnfinished } of ours) if (isUnfinished) this.folder.remove(name);
    return ours.filter(({ isUnfinished }) => !isUnfinished).sort((a, b) => a.generation - b.generation);
  }

  #open(name: FileName): OpenFile | undefined {
    const file = this.folder.open(name.name);
    const header = readHeader(file, name);
    if (typeof header === 'string') {
      file.close();
      this.#damaged(name, 0, header, name.kind === FileKind.LOG);
      return undefined;
    }
    const open = { name, file, header, reader: new RecordReader(file, header.salt) };
    this.#files.push(open);
    return open;
  }

  #readSnapshot(name: FileName): void {
    const open = this.#open(name);
    if (open === undefined) return;
    const { reader, header } = open;
    let isComplete = false;
    while (!isComplete && reader.next()) {
      this.#survivors.add(reader.record, this.#files.length - 1, reader.at);
      isComplete = reader.record.kind === RecordKind.END;
    }
    if (!isComplete) this.#damaged(name, reader.nextAt, 'no record begins there, and it is not complete', false);
    this.#sequence = header.sequence;
  }

  #readLogs(logs: readonly OpenFile[]): void {
    for (const [i, log] of logs.entries()) {
      if (log.header.sequence !== this.#sequence) {
        const reason = `it begins with record ${log.header.sequence}, and the files before it end before ${this.#sequence}`;
        this.#damaged(log.name, 0, reason, true);
        return;
      }
      if (!this.#isRead(log, logs[i + 1])) return;
    }
  }

  /**
   * Reads up to where the next log begins: behind that is what could not be kept.
   *
   * @returns whether that could be: not where there is damage that is to be put up with
   */
  #isRead({ name, reader }: OpenFile, next: OpenFile | undefined): boolean {
    const file = this.#files.findIndex((open) => open.reader === reader);
    this.#read.add(name.name);
    const end = next?.header.sequence ?? Infinity;
    while (this.#sequence < end && reader.next()) {
      if (reader.record.sequence !== this.#sequence) {
        this.#damaged(name, reader.at, `it is record ${reader.record.sequence}, and not ${this.#sequence}`, true);
        return false;
      }
      this.#survivors.add(reader.record, file, reader.at);
      this.#sequence += 1;
    }
    // What a server that was killed had written may not be on the disk: the next log relies on it.
    this.#files[file].file.sync();
    this.#logBytes += reader.nextAt;
    this.#lostBytes += reader.byteLength - reader.nextAt;
    if (this.#sequence >= end) return true;
    // What was being written when the server ended is no damage. What was on the disk before something else was written is.
    if (reader.keptBehind(this.#sequence) < this.#sequence && next === undefined) return true;
    this.#damaged(name, reader.nextAt, `record ${this.#sequence} does not begin there, and was on the disk`, true);
    return false;
  }

  /** Of logs that were damaged at their beginning, and of those behind the damage, nothing was read. */
  #countLost(logs: readonly FileName[]): void {
    for (const { name } of logs) {
      if (this.#read.has(name)) continue;
      const file = this.folder.open(name);
      this.#lostBytes += Math.max(0, file.byteLength - HEADER_BYTES);
      file.close();
    }
  }

  #damaged({ name }: FileName, at: number, reason: string, mayRepair: boolean): void {
    if (mayRepair && this.repair) {
      this.#isRepaired = true;
      return;
    }
    const advice = mayRepair
      ? 'Restore the folder from a copy; or ask for repair, which keeps what comes before and loses all that comes after'
      : 'Restore the folder from a copy';
    throw new VerbsError(CALL, {
      errno: 'EIO',
      message: `${this.folder.path}/${name} is damaged at byte ${at}: ${reason}`,
      advice,
    });
  }

  #fill(store: Partition, nowMs: number): number {
    const all = this.#survivors.inOrder();
    let keys = 0;
    for (const survivor of all) {
      const { expiresAtMs } = survivor;
      if (expiresAtMs !== 0 && expiresAtMs <= nowMs) continue;
      this.#put(store, survivor, all.length);
      keys += 1;
    }
    const { lastVersion } = this.#survivors;
    // A version that was given before the end, and not kept, must not be given to another value.
    const beyond = lastVersion + (1n << 32n);
    if (lastVersion > 0n && beyond > store.lastVersion) store.continueAfter(beyond);
    return keys;
  }

  #put(store: Partition, { file, at, expiresAtMs }: Survivor, of: number): void {
    const { reader, name } = this.#files[file];
    if (!reader.readAt(at)) this.#damaged(name, at, 'what was read there a moment ago is there no more', false);
    const { key, value, version } = reader.record;
    if (value.length <= store.maxValueBytes && store.restore(new Span(key), new Span(value), version, expiresAtMs))
      return;
    throw new VerbsError(CALL, {
      errno: 'ENOSPC',
      message: `the store has no room for the ${of} keys that are in ${this.folder.path}`,
      advice: 'Give it as much memory as the one had that wrote them, and values as long',
    });
  }
}

/** What the system says to a program that wants a folder. */
export function systemError(path: string, error: unknown): VerbsError {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const message = error instanceof Error ? error.message : String(error);
  const errno = isErrno(code) ? code : 'EIO';
  const advice = errno === 'EBUSY' ? 'End it, or give each server a folder of its own' : '';
  return new VerbsError(CALL, { errno, message: `${path} cannot be used: ${message}`, advice }, { cause: error });
}

function isErrno(code: unknown): code is ErrnoName {
  return typeof code === 'string' && code in Errno;
}
