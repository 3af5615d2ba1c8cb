import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { descriptorRanges } from '../launcher/descriptor-ranges.js';
import { SYSTEM_CALLS } from '../launcher/system-calls.js';
import { type Destinations, Dispatch } from '../notifications/dispatch.js';
import { Refusal } from '../refusal.js';
import { Errno } from '../../entry/index.js';

/** What comes of a call of `ioctl` in whose midst that is thrown. */
function answerTo(t: TestContext, thrown: unknown): { readonly answers: readonly string[]; readonly warnings: number } {
  const answers: string[] = [];
  const warn = t.mock.method(process, 'emitWarning', () => undefined);
  const calls = {
    number: SYSTEM_CALLS.ioctl.x64,
    tid: 1,
    receive: () => true,
    int: () => 7,
    refuse: (errno: number) => answers.push(`refuse ${errno}`) > 0,
    letThrough: () => answers.push('let through') > 0,
  };
  const files = {
    find: () => {
      throw thrown;
    },
  };
  const destinations = {
    calls,
    files,
    paths: {},
    ranges: descriptorRanges(1024),
    interrupted: { received: () => undefined },
  };
  // Nothing else is asked of them for such a call.
  new Dispatch('x64', destinations as unknown as Destinations).serve();
  return { answers, warnings: warn.mock.callCount() };
}

describe('a call that cannot be answered', () => {
  it('fails with EIO where a mistake of ours comes to light, which is told as one', (t) => {
    assert.deepEqual(answerTo(t, new TypeError('x is undefined')), { answers: [`refuse ${Errno.EIO}`], warnings: 1 });
  });

  it('fails with the errno of what was refused', (t) => {
    const refusal = new Refusal('ENOMEM');
    assert.deepEqual(answerTo(t, refusal), { answers: [`refuse ${Errno.ENOMEM}`], warnings: 0 });
  });
});
