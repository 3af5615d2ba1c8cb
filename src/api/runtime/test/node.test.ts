import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { portable, runtime } from '../index.js';

test('a program is taken to run in a page of a browser until it imports what is of this machine', async () => {
  const before = runtime();
  await import('../../../node/hosting/index.js');
  process.env['VERBENA_TEST_SETTING'] = 'set';
  const settings = [portable, runtime()].map((each) => each.environment('VERBENA_TEST_SETTING'));
  assert.deepEqual([before === portable, settings], [true, [undefined, 'set']]);
});

test('in Node a program keeps an ambient value through all that it awaits', async () => {
  await import('../../../node/hosting/index.js');
  const ambient = runtime().ambient<string>();
  const seen = await ambient.run('value', async () => {
    await new Promise((resolve) => runtime().nextRound(() => resolve(undefined)));
    return ambient.get();
  });
  assert.deepEqual([seen, ambient.get()], ['value', undefined]);
});

test('in Node a program gives way once all have gone on who waited for a promise, and before the next round', async () => {
  await import('../../../node/hosting/index.js');
  const order: string[] = [];
  await new Promise<void>((resolve) => {
    setImmediate(() => {
      void (async () => {
        await Promise.resolve();
        runtime().nextRound(resolve);
        runtime().afterMicrotasks(() => order.push('gave way'));
        for (const step of ['one', 'two', 'three']) order.push(await Promise.resolve(step));
      })();
    });
  });
  assert.deepEqual(order, ['one', 'two', 'three', 'gave way']);
});

for (const where of ['stdout', 'stderr'] as const)
  test(`in Node a log outlives those who read ${where}`, async () => {
    const hosting = new URL('../../../node/hosting/node-log.js', import.meta.url).href;
    const program = `
      import { setImmediate } from 'node:timers/promises';
      import { openLog } from '${hosting}';
      const log = openLog('${where}');
      process.stdin.once('data', async () => {
        for (let i = 0; i < 10; i += 1) {
          log('a line');
          await setImmediate();
        }
        process.exit(7);
      });`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', program]);
    const ended = once(child, 'exit');
    child[where].destroy();
    child.stdin.end('go');
    assert.deepEqual(await ended, [7, null]);
  });
