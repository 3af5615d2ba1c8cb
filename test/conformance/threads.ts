/** Threads with a device each: a context belongs to the thread that opened it, as everything in JavaScript does. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before } from 'node:test';
import { Worker } from 'node:worker_threads';
import type { Provider } from './provider.js';
import type { Job } from './programs/jobs.js';
import type { Answer } from './programs/worker.js';

/** The next answer of a thread; an error of the thread itself rejects. */
async function answerOf(worker: Worker): Promise<string | undefined> {
  // `once` gives the arguments of the event, and the worker's messages are all answers.
  const [{ problem }] = (await once(worker, 'message')) as [Answer];
  return problem;
}

/** What tells `count` threads to do a job at the same time, and fails when one of them does. They end after the tests. */
export function useThreads(provider: Provider, count: number): (job: Job) => Promise<void> {
  const workers: Worker[] = [];

  const tellAll = async (message: Job | 'close'): Promise<void> => {
    const answers = workers.map(answerOf);
    for (const worker of workers) worker.postMessage(message);
    const problems = (await Promise.all(answers)).filter((problem) => problem !== undefined);
    assert.deepEqual(problems, []);
  };

  before(async () => {
    const started = Array.from({ length: count }, async () => {
      const worker = new Worker(new URL('./programs/worker.js', import.meta.url), { workerData: provider.name });
      workers.push(worker);
      await answerOf(worker);
    });
    await Promise.all(started);
  });

  after(async () => {
    const ended = workers.map((worker) => once(worker, 'exit'));
    await tellAll('close');
    await Promise.all(ended);
  });

  return tellAll;
}
