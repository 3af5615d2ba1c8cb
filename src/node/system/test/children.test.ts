import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type EndedChild, nativeHostProblem, spawnProgram, SystemCallError, waitForChild } from '../index.js';

function shell(line: string): EndedChild {
  const pid = spawnProgram('sh', ['sh', '-c', line], { PATH: process.env['PATH'], WORD: 'großer Wert' });
  for (;;) {
    const ended = waitForChild();
    assert.notEqual(ended, 'none left');
    if (typeof ended === 'string') continue;
    assert.equal(ended.pid, pid);
    return ended;
  }
}

describe('a program that was spawned', { skip: nativeHostProblem() ?? false }, () => {
  it('ends with its exit code', () => {
    const { code, signal } = shell('exit 7');
    assert.deepEqual([code, signal], [7, null]);
  });

  it('ends by a signal', () => {
    const { code, signal } = shell('kill -TERM $$');
    assert.deepEqual([code, signal], [143, 'SIGTERM']);
  });

  it('has the environment that it was given', () => {
    assert.equal(shell('[ "$WORD" = "großer Wert" ] && [ -z "$HOME" ]').code, 0);
  });

  it('ignores no signal and blocks none, though Node ignores SIGPIPE', () => {
    const { code } = shell(
      "grep -Eq '^SigIgn:[[:space:]]*0+$' /proc/self/status && grep -Eq '^SigBlk:[[:space:]]*0+$' /proc/self/status",
    );
    assert.equal(code, 0);
  });

  it('is told from one that is still there, and from none', () => {
    assert.equal(waitForChild(), 'none left');
    const pid = spawnProgram('sleep', ['sleep', '60'], process.env);
    assert.equal(waitForChild(), 'none ended');
    process.kill(pid);
    for (let ended = waitForChild(); ended !== 'none left'; ended = waitForChild()) {
      if (ended !== 'none ended') assert.equal(ended.pid, pid);
    }
  });

  it('may not be there, or not be a program', () => {
    const refusal = (code: string) => (error: unknown) => error instanceof SystemCallError && error.code === code;
    assert.throws(() => spawnProgram('no-such-program', ['x'], process.env), refusal('ENOENT'));
    assert.throws(() => spawnProgram('/etc/passwd', ['x'], process.env), refusal('EACCES'));
  });
});
