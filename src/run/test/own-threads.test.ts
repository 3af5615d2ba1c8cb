import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { cannotRun, startRun } from './support.js';

const PATIENCE_MS = 30_000;

/** How many filters for system calls each thread of a process has. */
function filters(pid: number): readonly number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) => {
    try {
      const status = readFileSync(`/proc/${pid}/task/${thread}/status`, 'latin1');
      return [Number(/^Seccomp_filters:\s*(\d+)/m.exec(status)?.[1])];
    } catch {
      // It has just ended.
      return [];
    }
  });
}

describe('a launcher whose program runs', { skip: cannotRun }, () => {
  it('has no thread of its own that waits for answers of its own', async () => {
    const { child, played } = startRun(['sh', '-c', 'echo ready; read line']);
    assert.ok(child.stdout);
    await once(child.stdout, 'data');
    const begunMs = performance.now();
    // The thread that has started the program is about to end.
    while (new Set(filters(child.pid ?? 0)).size > 1 && performance.now() - begunMs < PATIENCE_MS) await setImmediate();
    assert.equal(new Set(filters(child.pid ?? 0)).size, 1);
    child.stdin?.end('\n');
    assert.equal((await played).code, 0);
  });
});
