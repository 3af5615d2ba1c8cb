/** Entry of the thread that the program is started from, and whose filter it so has. */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import {
  EventFd,
  keepArenas,
  installFilter,
  requireNativeHost,
  SystemCallError,
} from '../../../machine/system/index.js';
import type { FromWorker, ProgramOrder } from './program-messages.js';

/** As a shell ends when it cannot start a program. */
const NOT_FOUND = 127;
const NOT_STARTED = 126;

// `Program` starts this file, with that and nothing else.
const { filter, wakeFd, file, args, go } = workerData as ProgramOrder;

function tell(message: FromWorker): void {
  parentPort?.postMessage(message);
  EventFd.ring(wakeFd);
}

function start(): void {
  const child = spawn(file, args, { stdio: 'inherit' });
  child.once('spawn', () => tell({ kind: 'started', pid: child.pid ?? 0 }));
  child.once('error', (error: NodeJS.ErrnoException) => {
    const missing = error.code === 'ENOENT';
    const message = missing ? `${file}: there is no such program` : `${file} cannot be started: ${error.message}`;
    tell({ kind: 'failed', message, code: missing ? NOT_FOUND : NOT_STARTED });
  });
  child.once('exit', (code, signal) => {
    tell({ kind: 'ended', code: code ?? 128 + constants.signals[signal ?? 'SIGKILL'], signal });
  });
}

// Whatever has to be loaded is loaded before a call of this thread can wait for an answer.
requireNativeHost();
// The thread that answers takes the allocator's locks as well.
keepArenas();
try {
  const listenerFd = installFilter(filter);
  tell({ kind: 'filtered', listenerFd });
  // From here on this thread waits for answers, too.
  Atomics.wait(go, 0, 0);
  start();
} catch (error) {
  if (!(error instanceof SystemCallError)) throw error;
  tell({ kind: 'refused', errno: error.code });
}
