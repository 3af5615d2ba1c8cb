import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import {
  chmodSync,
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { VerbsError } from '../../../../entry/index.js';
import { createStore, type KvPersistence, openPersistence } from '../../index.js';
import { runtime } from '../../../../api/runtime/index.js';
import { Persistence } from '../../persistence/index.js';
import { Partition } from '../../store/index.js';
import { bytesOf, newStore } from './life.js';

let directory = '';
const open: KvPersistence[] = [];

interface Beginning {
  readonly repair?: boolean;
  readonly memoryBytes?: number;
  readonly store?: Partition;
}

async function begin(options: Beginning = {}): Promise<Partition> {
  const { repair, memoryBytes = 1 << 20 } = options;
  const { store = createStore({ mode: 'store', memoryBytes }) } = options;
  const persistence = await openPersistence({ directory, store, repair });
  open.push(persistence);
  ok(store instanceof Partition);
  return store;
}

function end(): void {
  for (const persistence of open.splice(0)) persistence.close();
}

function set(store: Partition, key: string, value: string): void {
  equal(store.set(bytesOf(key), bytesOf(value), 1), 0);
  commit();
}

function commit(): void {
  // What a server does after a pass.
  const [persistence] = open;
  ok(persistence instanceof Persistence);
  equal(persistence.commit(), undefined);
}

function keysOf(store: Partition): readonly string[] {
  const keys: string[] = [];
  store.scan(0, Infinity, 1, (entry) => keys.push(Buffer.from(entry.key()).toString()));
  return keys.sort();
}

const isError =
  (errno: string, text: RegExp) =>
  (error: unknown): boolean => {
    ok(error instanceof VerbsError);
    equal(error.errno, errno);
    match(error.message, text);
    return true;
  };

/** In a folder of its own, and whatever is open there is closed afterwards. */
const inFolder = (body: () => Promise<void>) => async (): Promise<void> => {
  directory = join(mkdtempSync(join(tmpdir(), 'verbena-kv-')), 'data');
  try {
    await body();
  } finally {
    end();
    rmSync(join(directory, '..'), { recursive: true });
  }
};

describe('a folder that keeps a store', () => {
  it(
    'gives back what was there, with its version, and goes on with later ones',
    inFolder(async () => {
      const store = await begin();
      set(store, 'greeting', 'hello');
      const { version } = store.entry;
      end();
      // One that begins with the least version: another may be beyond by chance.
      const again = await begin({ store: newStore() });
      equal(again.get(bytesOf('greeting'), 1), 0);
      equal(Buffer.from(again.entry.value()).toString(), 'hello');
      equal(again.entry.version, version);
      set(again, 'greeting', 'hello');
      ok(again.entry.version > version + 0xffff_ffffn);
    }),
  );

  it(
    'belongs to one at a time',
    inFolder(async () => {
      await begin();
      await rejects(begin(), isError('EBUSY', /another program has .* open/));
      end();
      await begin();
    }),
  );

  it(
    'has files that no other user can read',
    inFolder(async () => {
      await begin();
      const files = readdirSync(directory);
      deepEqual(files.sort(), ['lock', 'log-00000001']);
      for (const file of files) equal(statSync(join(directory, file)).mode & 0o777, 0o600);
      equal(statSync(directory).mode & 0o777, 0o700);
    }),
  );

  it(
    'that ends in the midst of a record has all those before it',
    inFolder(async () => {
      const store = await begin();
      set(store, 'a', '1');
      set(store, 'b', '2');
      end();
      const log = join(directory, 'log-00000001');
      writeFileSync(log, readFileSync(log).subarray(0, -3));
      deepEqual(keysOf(await begin()), ['a']);
      equal(open[0].statistics.lostBytes, 45);
    }),
  );

  it(
    'that is damaged in the middle says where and what to do, and reads up to there if it is told to',
    inFolder(async () => {
      const store = await begin();
      for (const key of ['a', 'b', 'c']) set(store, key, '1');
      end();
      damage('log-00000001', 32 + 48 + 41);
      await rejects(
        begin(),
        isError('EIO', /log-00000001 is damaged at byte 80: record 2 .* Restore the folder.* repair/),
      );
      deepEqual(keysOf(await begin({ repair: true })), ['a']);
      end();
      deepEqual(keysOf(await begin()), ['a']);
    }),
  );

  it(
    'whose log begins otherwise is refused',
    inFolder(async () => {
      set(await begin(), 'a', '1');
      end();
      damage('log-00000001', 9);
      await rejects(begin(), isError('EIO', /log-00000001 is damaged at byte 0: its first 32 bytes/));
    }),
  );

  for (const [what, harm] of [
    ['whose last log has a damaged beginning', () => damage('log-00000003', 9)],
    ['whose last log has nothing in it', () => writeFileSync(join(directory, 'log-00000003'), '')],
    [
      'with another file in the place of a log',
      () => copyFileSync(join(directory, 'log-00000001'), join(directory, 'log-00000003')),
    ],
  ] as const)
    it(
      `${what} has what is before that if it is told to repair it, and says how much it has lost`,
      inFolder(async () => {
        for (const key of ['a', 'b', 'c']) {
          set(await begin(), key, '1');
          end();
        }
        harm();
        const left = statSync(join(directory, 'log-00000003')).size;
        deepEqual(keysOf(await begin({ repair: true })), ['a', 'b']);
        equal(open[0].statistics.lostBytes, Math.max(0, left - 32));
      }),
    );

  it(
    'whose first log of several has a damaged beginning has nothing if it is told to repair it, and says so',
    inFolder(async () => {
      for (const key of ['a', 'b', 'c']) {
        set(await begin(), key, '1');
        end();
      }
      damage('log-00000001', 9);
      deepEqual(keysOf(await begin({ repair: true })), []);
      equal(open[0].statistics.lostBytes, 3 * 48);
    }),
  );

  it(
    'that lacks a log is refused',
    inFolder(async () => {
      set(await begin(), 'a', '1');
      end();
      set(await begin(), 'b', '1');
      end();
      rmSync(join(directory, 'log-00000001'));
      await rejects(begin(), isError('EIO', /log-00000002 is damaged at byte 0: it begins with record 2/));
    }),
  );

  it(
    'that has a snapshot, and lacks the log that goes with it, is refused',
    inFolder(async () => {
      for (const key of ['a', 'b', 'c']) {
        set(await begin(), key, '1');
        end();
      }
      damage('log-00000002', 32);
      await begin({ repair: true });
      end();
      deepEqual(readdirSync(directory).sort(), ['lock', 'log-00000004', 'snapshot-00000004']);
      rmSync(join(directory, 'log-00000004'));
      await rejects(begin(), isError('EIO', /snapshot-00000004 is damaged at byte 0: the log of its generation/));
      deepEqual(keysOf(await begin({ repair: true })), ['a']);
    }),
  );

  it(
    'goes on with later versions though all of it was deleted',
    inFolder(async () => {
      const store = await begin();
      set(store, 'a', '1');
      const { version } = store.entry;
      equal(store.delete(bytesOf('a'), 1), 0);
      commit();
      end();
      const again = await begin({ store: newStore() });
      set(again, 'a', '1');
      ok(again.entry.version > version);
    }),
  );

  it(
    'whose files have the last number is refused, rather than continued in files that nobody would find',
    inFolder(async () => {
      await begin();
      end();
      const log = readFileSync(join(directory, 'log-00000001'));
      log.writeUInt32LE(99_999_999, 8);
      log.writeInt32LE(runtime().crc32(log, 0, 28, 0), 28);
      writeFileSync(join(directory, 'log-99999999'), log);
      await rejects(begin(), isError('EOVERFLOW', /last number .* 99999999.* new folder/));
    }),
  );

  it(
    'is refused for a store that has no room for it',
    inFolder(async () => {
      const store = await begin();
      for (const key of ['a', 'b', 'c', 'd']) set(store, key, 'long'.repeat(400));
      end();
      await rejects(begin({ memoryBytes: 4096 }), isError('ENOSPC', /no room for the 4 keys/));
    }),
  );

  it(
    'is refused with what the system says where it cannot be used',
    inFolder(async () => {
      const { getuid } = process;
      if (getuid?.() === 0) {
        writeFileSync(directory, 'a file');
        await rejects(begin(), isError('EEXIST', /cannot be used/));
        return;
      }
      chmodSync(join(directory, '..'), 0o500);
      await rejects(begin(), isError('EACCES', /cannot be used/));
      chmodSync(join(directory, '..'), 0o700);
    }),
  );

  it(
    'takes wrong options for what they are',
    inFolder(async () => {
      await rejects(openPersistence({ directory: '' }), isError('EINVAL', /directory/));
      await rejects(openPersistence({ directory, sync: { everyMs: 0 } }), isError('EINVAL', /everyMs is 0/));
      const store = await begin();
      await rejects(openPersistence({ directory: `${directory}2`, store }), isError('EINVAL', /in use/));
    }),
  );
});

function damage(name: string, at: number): void {
  const path = join(directory, name);
  const bytes = readFileSync(path);
  bytes[at] ^= 0xff;
  writeFileSync(path, bytes);
}
