import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { run } from '../tool.js';
import { Serving } from './serving.js';

/** A million bytes that a shell makes, and what of them `cksum` says. */
const LONG = 'yes verbena | head -c 1000000';

describe('long values', () => {
  for (const transport of ['rc', 'uc', 'ud'])
    it(`go to the server and back through pipes, over ${transport}`, async () => {
      await using serving = await Serving.start(1);
      const where = [...serving.reach, '--transport', transport];
      const fed = ['sh', '-c', `${LONG} | "$@"`, 'sh'];
      const set = await run(['kv', 'set', 'long', ...where], {}, fed);
      assert.deepEqual({ code: set.code, stderr: set.stderr }, { code: 0, stderr: '' });
      const compared = ['sh', '-c', `${LONG} | cksum; "$@" | cksum`, 'sh'];
      const { stdout } = await run(['kv', 'get', 'long', ...where], {}, compared);
      const [expected, there] = stdout.split('\n');
      assert.equal(there, expected);
    });

  it('are refused where the store takes none of that length', async () => {
    await using serving = await Serving.start(1, '--max-value', '64K');
    const fed = ['sh', '-c', `${LONG} | "$@"`, 'sh'];
    const { code, stderr } = await run(['kv', 'set', 'long', ...serving.reach], {}, fed);
    assert.deepEqual(
      { code, stderr },
      {
        code: 2,
        stderr:
          'set: the value is longer than the store takes (EMSGSIZE). ' +
          'Divide it among several keys, or serve a store with a greater maxValueBytes (--max-value)\n',
      },
    );
  });
});
