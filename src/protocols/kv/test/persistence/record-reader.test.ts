import { equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FolderFile } from '../../../../api/runtime/index.js';
import { RecordReader } from '../../persistence/record-reader.js';
import { RecordBuffer, RecordKind } from '../../persistence/record.js';

const HEADER_BYTES = 32;
const SALT = 99;

/** A file that says how much of it was read. */
class CountingFile implements FolderFile {
  bytesRead = 0;

  constructor(
    private readonly bytes: Uint8Array,
    private readonly most = Infinity,
  ) {}

  get byteLength(): number {
    return this.bytes.length;
  }

  read(into: Uint8Array, at: number): number {
    const some = this.bytes.subarray(at, at + into.length);
    into.set(some);
    this.bytesRead += some.length;
    ok(this.bytesRead <= this.most, `${this.bytesRead} bytes of ${this.bytes.length} were read`);
    return some.length;
  }

  write(): void {
    throw new Error('it is only read');
  }

  truncate(): void {
    throw new Error('it is only read');
  }

  sync(): void {
    throw new Error('it is only read');
  }

  close(): void {
    // There is nothing to give back.
  }
}

/** A log of records that delete keys, numbered from 1 on. */
function logOf(keys: readonly string[], kept = 0): Uint8Array {
  const records = new RecordBuffer();
  for (const [i, key] of keys.entries())
    records.addKey(RecordKind.DELETE, new TextEncoder().encode(key), 0, SALT, i + 1, kept);
  const log = new Uint8Array(HEADER_BYTES + records.byteLength);
  log.set(records.bytes, HEADER_BYTES);
  return log;
}

describe('what is behind the end of a log', () => {
  it('is found with what it says was on the disk', () => {
    const log = logOf(['a', 'b', 'c', 'd'], 3);
    log[HEADER_BYTES + 48 + 40] ^= 1;
    const reader = new RecordReader(new CountingFile(log), SALT);
    ok(reader.next());
    ok(!reader.next());
    equal(reader.keptBehind(2), 3);
  });

  it('is read in proportion to its length, whatever a value has that looks like records', () => {
    const log = new Uint8Array(3 << 20);
    log.set(logOf(['a']));
    const view = new DataView(log.buffer);
    for (let at = HEADER_BYTES + 48; at + 40 <= log.length; at += 40) {
      view.setUint32(at + 4, log.length >> 1, true);
      view.setUint32(at + 8, 3, true);
      view.setUint8(at + 38, RecordKind.SET);
      view.setUint8(at + 39, 1);
    }
    const reader = new RecordReader(new CountingFile(log, 16 * log.length), SALT);
    ok(reader.next());
    ok(!reader.next());
    equal(reader.keptBehind(2), Infinity);
  });

  it('is no record when it has no key, or one that no store takes', () => {
    for (const length of [0, 251]) {
      const log = logOf(['k'.repeat(length)]);
      ok(!new RecordReader(new CountingFile(log), SALT).next(), `a key of ${length} bytes`);
    }
  });
});
