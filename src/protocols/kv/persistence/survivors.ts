import { RecordKind, type RecordView } from './record.js';

export interface Survivor {
  readonly file: number;
  readonly at: number;
  readonly versionLow: number;
  readonly versionHigh: number;
  expiresAtMs: number;
}

/**
 * What is left of all keys once all records were read: memory that was just large enough for what there was at any one time would not have room for all that a
 * snapshot and the log beside it tell of.
 */
export class Survivors {
  readonly #byKey = new Map<string, Survivor>();
  lastVersion = 0n;

  get size(): number {
    return this.#byKey.size;
  }

  /** Takes a record into account. @param file which of the files it is in. @param at where */
  add(record: RecordView, file: number, at: number): void {
    const { kind, versionLow, versionHigh, expiresAtMs, version } = record;
    if (version > this.lastVersion) this.lastVersion = version;
    if (kind === RecordKind.END) return;
    const key = nameOf(record.key);
    if (kind === RecordKind.DELETE) this.#byKey.delete(key);
    else if (kind === RecordKind.SET) this.#byKey.set(key, { file, at, versionLow, versionHigh, expiresAtMs });
    else {
      const survivor = this.#byKey.get(key);
      if (survivor !== undefined) survivor.expiresAtMs = expiresAtMs;
    }
  }

  /** From the oldest version on, so that a cache that is smaller than the one before keeps the newest. */
  inOrder(): readonly Survivor[] {
    return [...this.#byKey.values()].sort(
      (a, b) => (a.versionHigh >>> 0) - (b.versionHigh >>> 0) || (a.versionLow >>> 0) - (b.versionLow >>> 0),
    );
  }
}

/** A character for each byte. */
function nameOf(key: Uint8Array): string {
  return String.fromCharCode(...key);
}
