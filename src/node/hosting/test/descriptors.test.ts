import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { threadRefused } from '../threads/thread-start.js';
import { nativeHostProblem } from '../../system/index.js';
import { Program, withDescriptors } from './programs.js';
import { loopback } from '../../../../test/support/loopback.js';

/** Descriptors of the program in all: Node has as many files open at once as it loads modules. */
const LIMIT = 512;
/** With so many left a device opens. */
const ENOUGH = 16;

describe('a process without file descriptors', { skip: process.platform !== 'linux' && 'sh and ulimit' }, () => {
  for (const [place, host, env] of [
    [1, 'thread', {}],
    [2, 'inline', {}],
    [3, 'thread', { VERBENA_NATIVE: 'off' }],
  ] as const)
    it(
      `is told so at once when it opens a device: ${host} ${JSON.stringify(env)}`,
      {
        skip: (host === 'inline' && nativeHostProblem()) ?? false,
      },
      async () => {
        const args = [loopback(place), host, String(ENOUGH)];
        await using program = new Program('few-descriptors', args, env, withDescriptors(LIMIT));
        const said = await program.message();
        assert.ok(Array.isArray(said));
        assert.equal(said.length, ENOUGH + 1);
        assert.deepEqual([...new Set(said)], ['EMFILE', 'open']);
        assert.equal(said.lastIndexOf('EMFILE') + 1, said.indexOf('open'));
      },
    );
});

describe('a thread that cannot be made', () => {
  const refused = (text: string): Error => Object.assign(new Error(text), { code: 'ERR_WORKER_INIT_FAILED' });

  for (const errno of ['EAGAIN', 'ENOMEM', 'EMFILE'] as const)
    it(`is refused with ${errno}, where Node says so`, () => {
      assert.equal(threadRefused(refused(`Worker initialization failure: ${errno}`)).errno, errno);
    });

  it('is refused with EIO, where Node gives no reason that verbs have', () => {
    assert.equal(threadRefused(refused('Worker initialization failure: ELOOP')).errno, 'EIO');
    assert.equal(threadRefused(new Error('no')).errno, 'EIO');
  });
});
