import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { loopback } from '../../../../test/support/loopback.js';

const FACE = new URL('../../../entry/index.js', import.meta.url).href;

/** What becomes of a program that listens and does nothing else: timers that keep nothing alive see it ten times, or do not. */
function fate(program: string, hosting: string): string {
  const source = `import { listen } from '${FACE}';
    const look = (left) => {
      if (left > 0) return setTimeout(look, 10, left - 1).unref();
      console.log('alive');
      process.exit();
    };
    ${program};
    look(10);`;
  const env = { ...process.env, VERBENA_ADDR: loopback(1), VERBENA_HOST: hosting };
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', source], {
    env,
    encoding: 'utf8',
  });
  assert.equal(stderr, '');
  return stdout === 'alive\n' ? 'alive' : 'ended';
}

for (const hosting of ['thread', 'inline'])
  describe(`a process with a listener, its NIC hosted ${hosting},`, () => {
    for (const [program, what, expected] of [
      ['listen()', 'lives', 'alive'],
      ['listen().unref()', 'ends when nobody is to wait for clients', 'ended'],
      ['listen().unref().ref()', 'lives when somebody is to wait again', 'alive'],
      ['listen().close()', 'ends when the listener is closed', 'ended'],
      [
        'const listener = listen(); for (let i = 0; i < 2; i += 1) listener.close();',
        'ends when it is closed twice',
        'ended',
      ],
      ['listen().close(); listen().ref().close();', 'ends when the second one is closed, too', 'ended'],
      ['listen().unref().next()', 'ends though a request is awaited', 'ended'],
      ['const waiting = listen(); waiting.next(); waiting.unref()', 'ends though one was awaited before', 'ended'],
      ['listen().unref().ref().next()', 'lives while one is awaited by a listener that is to live', 'alive'],
      ['void listen().unref().serve(() => {})', 'ends though requests are answered', 'ended'],
    ] as const)
      it(what, () => assert.equal(fate(program, hosting), expected));
  });
