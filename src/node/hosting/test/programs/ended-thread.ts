/** `ended-thread ADDRESS`: has the thread of a NIC ended from outside, and reports what a program sees of it. */
import type { Worker } from 'node:worker_threads';
import { openDevice, VerbsError } from '../../../../entry/index.js';

const [address] = process.argv.slice(2);
const started = new Promise<Worker>((resolve) => process.once('worker', resolve));
const warnings: string[] = [];
const context = openDevice({ address, host: 'thread', warn: (text) => warnings.push(text) });
await (await started).terminate();

function refusal(call: () => unknown): string {
  try {
    call();
    return 'none';
  } catch (error) {
    return error instanceof VerbsError ? `${error.errno} ${error.message}` : String(error);
  }
}

const refusals = [() => context.allocPd(), () => context.getAsyncEvent(60_000)].map(refusal);
context.close();
process.send?.({ refusals, warnings });
