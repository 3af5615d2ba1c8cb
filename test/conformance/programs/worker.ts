/** A thread of the threaded tests: opens a device, then does the jobs that it is sent. */
import { parentPort, workerData } from 'node:worker_threads';
import { providerNamed } from '../provider.js';
import { carryOut, type Job } from './jobs.js';

/** What a thread answers: nothing, or why a job failed. */
export interface Answer {
  readonly problem?: string;
}

const context = providerNamed(String(workerData)).open();

function attempt(work: () => void): Answer {
  try {
    work();
    return {};
  } catch (error) {
    return { problem: error instanceof Error ? String(error.stack) : String(error) };
  }
}

parentPort?.on('message', (job: Job | 'close') => {
  parentPort?.postMessage(attempt(() => (job === 'close' ? context.close() : carryOut(context, job))));
  if (job === 'close') parentPort?.close();
});
parentPort?.postMessage({} satisfies Answer);
