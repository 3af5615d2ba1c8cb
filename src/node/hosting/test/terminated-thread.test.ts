import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { openDevice } from '../../../entry/index.js';
import { nativeHostProblem } from '../../system/index.js';
import { loopback } from '../../../../test/support/loopback.js';

const PACKAGE = new URL('../../../entry/index.js', import.meta.url).href;

/** A thread that opens a device, and then looks at nothing. */
function startThread(address: string, host: string): Worker {
  const source = `
    import('${PACKAGE}').then(({ openDevice }) => {
      globalThis.device = openDevice(${JSON.stringify({ address, host })});
      require('node:worker_threads').parentPort.postMessage('open');
      setInterval(() => undefined, 1000);
    });`;
  return new Worker(source, { eval: true });
}

for (const host of ['inline', 'thread'] as const)
  test(
    `a thread that is terminated gives back the address of its NIC, which is ${host}`,
    {
      skip: nativeHostProblem() ?? false,
    },
    async () => {
      const address = loopback(host === 'inline' ? 1 : 2);
      const thread = startThread(address, host);
      await new Promise((resolve, reject) => {
        thread.on('message', resolve);
        thread.on('error', reject);
      });
      await thread.terminate();
      openDevice({ address }).close();
    },
  );
