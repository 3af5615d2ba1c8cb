import type { Folder } from '../../../api/runtime/index.js';
import type { Changes, EntryView, Partition, Span } from '../store/index.js';
import { parseName } from './files.js';
import { Log } from './log.js';
import type { PersistenceSettings } from './options.js';
import { RecordBuffer, RecordKind } from './record.js';
import { recover } from './recovery.js';
import { Snapshot } from './snapshot.js';
import { UndoList } from './undo-list.js';

/** Why nothing can be kept: the disk is full, and nothing has changed; or it fails, and nobody knows what is on it. */
export type Refusal = 'full' | 'failed';

/** Keeps what clients change where it outlives the server. None of it throws for what the disk does. */
export interface Journal {
  /** Whose changes it keeps. */
  readonly store: Partition;
  /** Whether something was changed that is not committed. */
  readonly hasChanges: boolean;
  /** Why nothing may be changed now; undefined while it may. */
  readonly refusal: Refusal | undefined;
  /**
   * Keeps what was changed since the last time, as far as the policy promises.
   *
   * @returns undefined once it is kept; otherwise it was taken back
   */
  commit(): Refusal | undefined;
  /** In how many ms {@link work} is to be called; undefined: not before something is changed. */
  readonly waitMs: number | undefined;
  /** Does a piece of what is done beside serving. */
  work(nowUs: number): void;
  /** Milliseconds of the clock by which entries expire, which goes on while there is no server. @param nowUs of a clock that does not go back */
  timeMs(nowUs: number): number;
}

/** After the disk was full, or has failed, it is tried again so often. */
const RETRY_MS = 1000;
/** Between two pieces of a snapshot, that others have their turn. */
const PAUSE_MS = 1;
/** Logs with more bytes than so many times those of the store are replaced by a snapshot. */
const LOG_FACTOR = 3;
/** As well as more logs than that, which servers that were killed have left. */
const MANY_LOGS = 16;
/** What a write fails with where only room is missing. */
const FULL: readonly unknown[] = ['ENOSPC', 'EDQUOT', 'EFBIG'];

/** What a log has counted since it was opened. */
export interface PersistenceStatistics {
  /** Keys that were there again when it was opened. */
  readonly recoveredKeys: number;
  /** Bytes that were being written when the server before ended, or that came after damage: they were left out. */
  readonly lostBytes: number;
  /** Changes that were written. */
  readonly records: number;
  /** Bytes of the logs since the last snapshot. */
  readonly logBytes: number;
  /** Times that the disk was waited for. */
  readonly syncs: number;
  readonly snapshots: number;
  /** Times that the disk was full, or has failed. */
  readonly failures: number;
}

/**
 * Keeps the changes of a store in a folder: in a log, to which the changes of each pass of the server are appended by one write, and in snapshots, each of which takes the place of all
 * that came before it.
 */
export class Persistence implements Journal, Changes, Disposable {
  readonly #undo = new UndoList();
  readonly #records = new RecordBuffer();
  #log: Log;
  #snapshot: Snapshot | undefined;
  #refusal: Refusal | undefined;
  /** Whether the log is as it was written. */
  #isSound = true;
  #isClosed = false;
  #generation: number;
  #written: number;
  #kept: number;
  /** Bytes of logs before this one, since the last snapshot. */
  #logBytesBefore: number;
  /** There can be no snapshot before the logs have so many. */
  #postponedBytes = 0;
  #nowMs = 0;
  #wallAheadMs: number | undefined;
  #syncDueMs = Infinity;
  #retryDueMs = Infinity;
  readonly #counters: Record<Exclude<keyof PersistenceStatistics, 'logBytes'>, number>;

  /**
   * Puts what the folder keeps into the store, which is empty, and begins a log.
   *
   * @throws VerbsError EIO for damage, ENOSPC where the store has no room; what the folder throws
   */
  constructor(
    private readonly folder: Folder,
    readonly store: Partition,
    private readonly settings: PersistenceSettings,
  ) {
    const found = recover(folder, store, settings.wallMs(), settings.repair);
    this.#generation = found.generation;
    this.#written = found.sequence - 1;
    this.#kept = this.#written;
    this.#logBytesBefore = found.logBytes;
    const { keys: recoveredKeys, lostBytes } = found;
    this.#counters = { recoveredKeys, lostBytes, records: 0, syncs: 0, snapshots: 0, failures: 0 };
    this.#log = this.#nextLog();
    store.changes = this;
    if (found.logs > MANY_LOGS) this.#beginSnapshot();
    // The damage is left behind with the files that have it.
    if (found.isRepaired) this.#snapshotAtOnce();
  }

  get statistics(): PersistenceStatistics {
    return { ...this.#counters, logBytes: this.#logBytesBefore + this.#log.byteLength };
  }

  get directory(): string {
    return this.folder.path;
  }

  get hasChanges(): boolean {
    return this.#records.count > 0;
  }

  get refusal(): Refusal | undefined {
    return this.#isClosed ? 'failed' : this.#refusal;
  }

  get waitMs(): number | undefined {
    if (this.#isClosed) return undefined;
    if (this.#snapshot !== undefined || this.#wantsSnapshot()) return PAUSE_MS;
    const dueMs = Math.min(this.#syncDueMs, this.#retryDueMs);
    return dueMs === Infinity ? undefined : Math.max(PAUSE_MS, dueMs - this.#nowMs);
  }

  timeMs(nowUs: number): number {
    this.#nowMs = nowUs / 1000;
    this.#wallAheadMs ??= this.settings.wallMs() - this.#nowMs;
    return this.#nowMs + this.#wallAheadMs;
  }

  changing(key: Span, entry: EntryView | undefined): void {
    // The last change was none.
    if (this.#undo.count > this.#records.count) this.#undo.drop();
    this.#undo.add(key, entry);
  }

  set(entry: EntryView): void {
    this.#records.addEntry(entry, this.#log.salt, this.#nextSequence(), this.#kept);
  }

  touched(entry: EntryView): void {
    const { salt } = this.#log;
    this.#records.addKey(RecordKind.TOUCH, entry.key(), entry.expiresAtMs, salt, this.#nextSequence(), this.#kept);
  }

  deleted({ bytes, at, length }: Span): void {
    const key = bytes.subarray(at, at + length);
    this.#records.addKey(RecordKind.DELETE, key, 0, this.#log.salt, this.#nextSequence(), this.#kept);
  }

  commit(): Refusal | undefined {
    const { count } = this.#records;
    if (count === 0) return undefined;
    const before = this.#log.byteLength;
    const writtenBefore = this.#written;
    try {
      this.#log.append(this.#records.bytes);
      this.#written += count;
      this.#syncAsPromised();
    } catch (error) {
      this.#written = writtenBefore;
      return this.#takeBack(error, before);
    }
    this.#counters.records += count;
    this.#clear();
    return undefined;
  }

  work(nowUs: number): void {
    this.timeMs(nowUs);
    if (this.#isClosed || this.hasChanges) return;
    if (this.#nowMs >= this.#syncDueMs && !this.#trySync()) return;
    if (this.#nowMs >= this.#retryDueMs) this.#retry();
    else if (this.#snapshot !== undefined) this.#goOn(this.#snapshot);
    else if (this.#wantsSnapshot()) this.#beginSnapshot();
  }

  /** What was changed is on the disk then, if the disk is not failing, and others may open the folder. Idempotent. */
  close(): void {
    if (this.#isClosed) return;
    if (this.#isBehind()) this.#trySync();
    this.#isClosed = true;
    this.store.changes = undefined;
    this.#abandonSnapshot();
    this.#log.close();
    this.folder.close();
  }

  /** {@link close}. */
  [Symbol.dispose](): void {
    this.close();
  }

  #nextSequence(): number {
    return this.#written + this.#records.count + 1;
  }

  #clear(): void {
    this.#records.clear();
    this.#undo.clear();
  }

  #syncAsPromised(): void {
    const { sync } = this.settings;
    if (sync === 'never') return;
    if (sync === 'always') this.#sync();
    else if (this.#nowMs >= this.#syncDueMs) this.#sync();
    else if (this.#syncDueMs === Infinity) this.#syncDueMs = this.#nowMs + sync.everyMs;
  }

  #sync(): void {
    this.#counters.syncs += 1;
    this.#log.sync();
    this.#kept = this.#written;
    this.#syncDueMs = Infinity;
  }

  /** Whether the log has what the disk has not. Of what was in one that has failed nothing can be said. */
  #isBehind(): boolean {
    return this.#isSound && !this.#log.isEmpty && this.#kept < this.#written;
  }

  #trySync(): boolean {
    try {
      this.#sync();
      return true;
    } catch {
      this.#fail();
      return false;
    }
  }

  /** What could not be kept has not happened. @param before bytes that the log had */
  #takeBack(error: unknown, before: number): Refusal {
    const isAsBefore = this.#undo.takeBack(this.store);
    this.#clear();
    const isCutBack = this.#tryCutBack(before);
    if (!isFull(error) || !isCutBack || !isAsBefore) {
      this.#fail();
      return 'failed';
    }
    this.#counters.failures += 1;
    this.#refusal = 'full';
    this.#retryDueMs = this.#nowMs + RETRY_MS;
    return 'full';
  }

  #tryCutBack(byteLength: number): boolean {
    try {
      this.#log.cutBack(byteLength);
      return true;
    } catch {
      return false;
    }
  }

  /** Nobody knows any more what of the log is on the disk: nothing is changed until a snapshot is. */
  #fail(): void {
    this.#counters.failures += 1;
    this.#abandonSnapshot();
    this.#refusal = 'failed';
    this.#isSound = false;
    this.#syncDueMs = Infinity;
    this.#retryDueMs = this.#nowMs + RETRY_MS;
  }

  #retry(): void {
    this.#retryDueMs = Infinity;
    if (this.#refusal === 'failed') {
      this.#beginSnapshot();
      return;
    }
    try {
      this.#log.probe();
      this.#refusal = undefined;
    } catch (error) {
      if (isFull(error)) this.#retryDueMs = this.#nowMs + RETRY_MS;
      else this.#fail();
    }
  }

  #wantsSnapshot(): boolean {
    if (this.#refusal !== undefined) return false;
    const { logBytes } = this.statistics;
    const { leastLogBytes } = this.settings;
    return logBytes > Math.max(leastLogBytes, this.#postponedBytes, LOG_FACTOR * this.store.statistics.bytes);
  }

  /** From now on changes go to a log of their own, and what there was before them to a snapshot. */
  #beginSnapshot(): void {
    if (this.#isBehind() && !this.#trySync()) return;
    try {
      if (!this.#isSound || !this.#log.isEmpty) this.#log = this.#nextLog(this.#log);
      const { generation, salt } = this.#log;
      this.#snapshot = new Snapshot(this.folder, this.store, generation, salt, this.#written + 1);
    } catch {
      this.#postpone();
    }
  }

  #goOn(snapshot: Snapshot): void {
    try {
      if (!snapshot.write(this.#wallMs())) return;
      // It may have what the log has, and the disk has not: one that was there before the other would be no prefix of what was changed.
      if (this.#isBehind() && !this.#trySync()) return;
      snapshot.finish();
    } catch {
      this.#abandonSnapshot();
      this.#postpone();
      return;
    }
    this.#snapshot = undefined;
    this.#kept = this.#written;
    this.#counters.snapshots += 1;
    this.#logBytesBefore = 0;
    this.#postponedBytes = 0;
    if (this.#refusal === 'failed') this.#refusal = undefined;
    this.#removeBefore(this.#log.generation);
  }

  /** There can be no snapshot now. */
  #postpone(): void {
    this.#counters.failures += 1;
    this.#postponedBytes = 2 * this.statistics.logBytes;
    if (this.#refusal === 'failed') this.#retryDueMs = this.#nowMs + RETRY_MS;
  }

  #abandonSnapshot(): void {
    this.#snapshot?.abandon();
    this.#snapshot = undefined;
  }

  #snapshotAtOnce(): void {
    this.#beginSnapshot();
    while (this.#snapshot !== undefined) this.#goOn(this.#snapshot);
    if (this.#counters.snapshots === 0) throw new Error('there can be no snapshot of what was repaired');
  }

  /** @param before what it takes the place of */
  #nextLog(before?: Log): Log {
    this.#generation += 1;
    const log = Log.begin(this.folder, this.#generation, this.settings.random() | 0, this.#written + 1);
    if (before !== undefined) {
      this.#logBytesBefore += before.byteLength;
      before.close();
    }
    this.#isSound = true;
    return log;
  }

  /** What a snapshot has taken the place of. What cannot be removed now is when there is the next one. */
  #removeBefore(generation: number): void {
    try {
      for (const name of this.folder.names()) if (isOlder(name, generation)) this.folder.remove(name);
    } catch {
      this.#counters.failures += 1;
    }
  }

  #wallMs(): number {
    return this.#wallAheadMs === undefined ? this.settings.wallMs() : this.#nowMs + this.#wallAheadMs;
  }
}

function isFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && FULL.includes(error.code);
}

function isOlder(name: string, generation: number): boolean {
  const ours = parseName(name);
  return ours !== undefined && ours.generation < generation;
}
