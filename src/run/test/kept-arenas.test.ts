import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { cannotRun } from './support.js';

const FREES = fileURLToPath(new URL('./programs/frees.js', import.meta.url));
const GLIBC = '/lib64/ld-linux-x86-64.so.2';
/** What glibc looks at before it gives memory back from the end of an arena, with the arena's lock in its hands. */
const LOOKED_AT = '/proc/sys/vm/overcommit_memory';
/**
 * It looks once in the life of a process: not while that gets ready, then, which gives less back than this. Where few processors make for
 * few arenas, the thread would share its own, and what another has at its end is not given back.
 */
const MALLOC = { MALLOC_TRIM_THRESHOLD_: String(2 ** 24), MALLOC_ARENA_MAX: '1000' };
const PATIENCE_MS = 60_000;

function opened(...args: readonly string[]): readonly string[] {
  const { stdout, status } = spawnSync(process.execPath, [FREES, ...args], {
    encoding: 'utf8',
    env: { ...process.env, ...MALLOC },
    timeout: PATIENCE_MS,
  });
  assert.equal(status, 0);
  return stdout.split('\n');
}

const skip = cannotRun !== false ? cannotRun : existsSync(GLIBC) ? false : 'this is not glibc on x86-64';

describe('a thread whose calls another of its process answers', { skip }, () => {
  it('opens a file when it gives memory back, with a lock in its hands that the other may need', () => {
    const files = opened();
    assert.ok(files.includes(LOOKED_AT), `it opened ${files.join(', ')}`);
  });

  it('opens none where the allocator keeps its arenas', () => {
    assert.ok(!opened('keep').includes(LOOKED_AT));
  });
});
