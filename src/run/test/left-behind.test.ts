import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { cannotRun, run, startRun } from './support.js';

/** A child that outlives the shell that has started it. */
const alone = (then: string): string[] => [
  'sh',
  '-c',
  `(while kill -0 $$ 2>/dev/null; do sleep 0.05; done; ${then}) & exit 3`,
];

describe('what a program leaves behind', { skip: cannotRun }, () => {
  it('is served until it ends, and the program has the last word', async () => {
    const { code, out, errors } = await run(alone('ls /sys/class/infiniband'));
    assert.deepEqual([code, out, errors], [3, 'rxe0\n', '']);
  });

  it('ends when the user ends the launcher', async () => {
    const { child, played } = startRun(alone('echo alone; while :; do sleep 0.05; done'));
    assert.ok(child.stdout);
    await once(child.stdout, 'data');
    child.kill('SIGTERM');
    assert.equal((await played).code, 3);
  });

  it('ends at the second time, when it did not the first', async () => {
    const { child, played } = startRun(alone('trap "echo no" TERM; echo alone; while :; do sleep 0.05; done'));
    assert.ok(child.stdout);
    await once(child.stdout, 'data');
    child.kill('SIGTERM');
    await once(child.stdout, 'data');
    child.kill('SIGTERM');
    assert.equal((await played).code, 3);
  });
});
