import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { Worker } from 'node:worker_threads';
import { NicLoop } from '../launcher/nic-loop.js';
import { EventFd, nativeHostProblem } from '../../node/system/index.js';

const SYSTEM = new URL('../../node/system/index.js', import.meta.url).href;
/** Long enough for any machine to start a thread in: whoever sleeps longer is not woken. */
const PATIENCE_US = 60_000_000;
/** Rings a descriptor when it is told to. */
const RINGER = `
  const { workerData: { system, word, fd } } = require('node:worker_threads');
  import(system).then(({ EventFd }) => {
    Atomics.wait(word, 0, 0);
    EventFd.ring(fd);
  });
`;

/** A descriptor of which `poll` says that there is an error, and nothing to read: as of a listener where a signal interrupts the look. */
function brokenFd(t: TestContext): number {
  const folder = mkdtempSync(join(tmpdir(), 'verbena-test-'));
  const path = join(folder, 'pipe');
  execFileSync('mkfifo', [path]);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(path, constants.O_WRONLY);
  closeSync(reader);
  t.after(() => {
    closeSync(writer);
    rmSync(folder, { recursive: true });
  });
  return writer;
}

describe('NicLoop', { skip: nativeHostProblem() ?? false }, () => {
  it('has a program go on where it was unless its call has woken us, and says so to the kernel when that changes', async () => {
    const listener = new EventFd();
    const wake = new EventFd();
    const word = new Int32Array(new SharedArrayBuffer(4));
    const ringer = new Worker(RINGER, { eval: true, workerData: { system: SYSTEM, word, fd: listener.fd } });
    const told: string[] = [];
    const calls = {
      fd: listener.fd,
      wakeInPlace: (inPlace: boolean) => {
        told.push(inPlace ? 'here' : 'there');
        return true;
      },
    };
    // One call waits before the loop begins, and another when that is answered.
    listener.ring();
    await new Promise<void>((resolve) => {
      const serve = (): void => {
        listener.drain();
        told.push('answer');
        const answers = told.filter((what) => what === 'answer').length;
        if (answers === 1) listener.ring();
        if (answers < 3) return;
        loop.stop();
        resolve();
      };
      const opened = {
        pull: () => false,
        push: () => false,
        patienceUs: () => {
          // It is about to sleep.
          Atomics.store(word, 0, 1);
          Atomics.notify(word, 0);
          return PATIENCE_US;
        },
        sweep: () => undefined,
      };
      const loop = new NicLoop(calls, { serve }, { pollFds: [], version: 0, look: () => undefined }, opened, wake);
    });
    await ringer.terminate();
    assert.deepEqual(told, ['there', 'answer', 'answer', 'here', 'answer']);
    listener.close();
    wake.close();
  });

  it('has the NICs take no turn after a call that has left them nothing to do', async () => {
    const listener = new EventFd();
    const wake = new EventFd();
    const told: string[] = [];
    listener.ring();
    await new Promise<void>((resolve) => {
      const serve = (): void => {
        told.push('answer');
        loop.settle();
        if (told.length < 4) return;
        listener.drain();
        loop.stop();
        resolve();
      };
      const pull = (): boolean => {
        told.push('turn');
        return false;
      };
      const opened = { pull, push: () => false, patienceUs: () => 1000, sweep: () => undefined };
      const calls = { fd: listener.fd, wakeInPlace: () => true };
      const loop = new NicLoop(calls, { serve }, { pollFds: [], version: 0, look: () => undefined }, opened, wake);
    });
    assert.deepEqual(told, ['answer', 'turn', 'answer', 'turn']);
    listener.close();
    wake.close();
  });

  it('sees that a process has ended, though calls come without end', async () => {
    const listener = new EventFd();
    const wake = new EventFd();
    const ended = new EventFd();
    listener.ring();
    await new Promise<void>((resolve) => {
      let served = 0;
      const serve = (): void => {
        served += 1;
        if (served === 10) ended.ring();
      };
      const look = (): void => {
        loop.stop();
        resolve();
      };
      const opened = { pull: () => false, push: () => false, patienceUs: () => 1000, sweep: () => undefined };
      const calls = { fd: listener.fd, wakeInPlace: () => true };
      const loop = new NicLoop(calls, { serve }, { pollFds: [ended.fd], version: 0, look }, opened, wake);
    });
    for (const fd of [listener, wake, ended]) fd.close();
  });

  it('does not wait for a call where the look at the listener failed', async (t) => {
    const wake = new EventFd();
    let served = 0;
    await new Promise<void>((resolve) => {
      const sweep = (): void => {
        loop.stop();
        resolve();
      };
      const opened = { pull: () => false, push: () => false, patienceUs: () => 1000, sweep };
      const calls = { fd: brokenFd(t), wakeInPlace: () => true };
      const processes = { pollFds: [], version: 0, look: () => undefined };
      const loop = new NicLoop(calls, { serve: () => (served += 1) }, processes, opened, wake);
    });
    assert.equal(served, 0);
    wake.close();
  });
});
