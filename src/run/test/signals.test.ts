import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { spawnSync } from 'node:child_process';
import { loopback } from '../../../test/support/loopback.js';
import { CProgram, compilerProblem } from './c-program.js';
import { exportedFunctions, NOT_CALLED } from './exported-functions.js';
import { cannotRun, run } from './support.js';

const skip = cannotRun !== false ? cannotRun : (compilerProblem() ?? false);
const without = (program: string): string | false =>
  spawnSync(program, ['--version']).status === 0 ? false : `there is no ${program} here (Debian: ${program})`;
/** Those handlers return by another call, whose saved registers say less (`src/run/launcher/system-calls.ts`). */
const noRestart =
  process.arch === 'x64' ? false : `calls without SA_RESTART are restarted on x64 only, not on ${process.arch}`;

describe('a program that signals interrupt', { skip }, () => {
  let signals: CProgram | undefined;
  let interrupted: CProgram | undefined;
  const path = (program: CProgram | undefined): string => program?.path ?? '';

  before(() => {
    signals = new CProgram('signals');
    interrupted = new CProgram('interrupted');
  });
  after(() => {
    signals?.remove();
    interrupted?.remove();
  });

  /** All calls of a loop, with a signal each millisecond. */
  async function played(...how: readonly string[]): Promise<string> {
    const { code, out, errors } = await run([path(signals), '1000', ...how]);
    assert.equal(errors, '');
    assert.match(out, /^\d+ calls, [1-9]\d* signals, /);
    assert.equal(code, 0);
    return out;
  }
  const loops = async (...how: readonly string[]): Promise<void> => void (await played(...how));

  const exported = exportedFunctions();
  const noNames = exported === undefined ? 'there is no nm, or no library that it could read, here' : false;
  it('calls every function of libibverbs and librdmacm', { skip: noNames }, async () => {
    const out = await played('restart', '0');
    const called = new Set(/^called: (.*)$/m.exec(out)?.[1].split(' '));
    assert.deepEqual(
      exported?.filter((name) => !called.has(name) && !(name in NOT_CALLED)),
      [],
    );
  });

  it('finds each call done once, without SA_RESTART', { skip: noRestart }, () => loops('interrupt', '2'));
  it('finds each call done once, when signals interrupt handlers', { skip: noRestart }, () =>
    loops('interrupt', '2', 'nested'),
  );
  it('finds each call done once, with SA_RESTART', () => loops('restart', '2'));
  it('finds each call done once, while a profiler’s timer runs', () => loops('restart', '2', 'prof'));

  /** One check of `interrupted.c`, perhaps under a debugger. */
  async function check(name: string, ...debugger_: readonly string[]): Promise<void> {
    const { out, errors } = await run([...debugger_, path(interrupted), name, loopback(1)]);
    assert.match(out, new RegExp(`^${name}$`, 'm'), errors);
  }

  it('gets EINTR from a call that waits for an event, and the event later', () => check('eintr'));
  it('waits on through signals with SA_RESTART', () => check('restart'));
  it('may leave a handler by siglongjmp, and nothing is written where it was', () => check('jump'));
  it('may be stopped, and waits on when it continues', () => check('stop'));
  it('may have several threads wait at one channel, of which one is interrupted', () => check('threads'));
  it('may be killed while it waits', () => check('kills'));
  it('may fork and vfork while a thread waits', () => check('forks'));
  it('may close a channel that a thread waits at', () => check('closes'));
  it('may cancel a thread that waits', () => check('cancels'));
  it('gets EINTR from a call that the kernel itself has interrupted', { skip: noRestart }, () => check('fifo'));

  const gdb = ['gdb', '-batch', '-ex', 'handle SIGALRM nostop noprint pass', '-ex', 'run', '--args'];
  for (const name of ['eintr', 'restart'])
    it(`is the same under gdb: ${name}`, { skip: without('gdb') }, () => check(name, ...gdb));
});
