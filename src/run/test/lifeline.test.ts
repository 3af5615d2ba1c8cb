import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { startRun, without } from './support.js';

const PATIENCE_MS = 30_000;

function isAlive(pid: string): boolean {
  try {
    return !/^State:\s*[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'latin1'));
  } catch {
    return false;
  }
}

/** A program that polls for ever, as one does whose completions do not come. */
async function polling(code: string): Promise<{ readonly pid: string; readonly kill: () => Promise<void> }> {
  const { child, played } = startRun([
    'python3',
    '-c',
    `import os\n${code}\nprint(os.getpid(), flush=True)\nwhile True: pass`,
  ]);
  assert.ok(child.stdout);
  const [line] = (await once(child.stdout, 'data')) as [string];
  return {
    pid: line.trim(),
    kill: async () => {
      child.kill('SIGKILL');
      await once(child, 'exit');
      void played;
    },
  };
}

describe('a launcher that is killed', { skip: without('python3', 'python3') }, () => {
  it('takes the programs along that have a device open', async () => {
    const { pid, kill } = await polling("fd = os.open('/dev/infiniband/uverbs0', os.O_RDWR)");
    await kill();
    const begunMs = performance.now();
    // The signal has been sent; the program dies as soon as it has a processor for that.
    while (isAlive(pid) && performance.now() - begunMs < PATIENCE_MS) await setImmediate();
    assert.equal(isAlive(pid), false);
  });

  it('leaves those alone that have closed theirs', async () => {
    const { pid, kill } = await polling("os.close(os.open('/dev/infiniband/uverbs0', os.O_RDWR))");
    await kill();
    assert.equal(isAlive(pid), true);
    process.kill(Number(pid), 'SIGKILL');
  });
});
