import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { NicLoop } from '../../src/apps/run/launcher/nic-loop.js';
import { EventFd, nativeHostProblem } from '../../src/machine/system/index.js';

const SYSTEM = new URL('../../src/machine/system/index.js', import.meta.url).href;
/** Rings a descriptor when it is told to. */
const RINGER = `
  const { workerData: { system, word, fd } } = require('node:worker_threads');
  import(system).then(({ EventFd }) => {
    Atomics.wait(word, 0, 0);
    EventFd.ring(fd);
  });
`;

describe('NicLoop', { skip: nativeHostProblem() ?? false }, () => {
  it('has a program go on where it was unless its call has woken us', async () => {
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
    // One call waits before the loop begins.
    listener.ring();
    await new Promise<void>((resolve) => {
      const serve = (): void => {
        listener.drain();
        told.push('answer');
        if (told.filter((what) => what === 'answer').length < 2) return;
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
          return 1_000_000;
        },
        sweep: () => undefined,
      };
      const loop = new NicLoop(calls, { serve }, { pollFds: [], version: 0, look: () => undefined }, opened, wake);
    });
    await ringer.terminate();
    assert.deepEqual(told, ['here', 'there', 'answer', 'here', 'answer']);
    listener.close();
    wake.close();
  });
});
