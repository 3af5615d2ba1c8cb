/**
 * Entry of the thread that the program is started from, and whose filter it so has. The thread ends at once then: nothing of ours is to
 * wait for answers of ours.
 */
import { parentPort } from 'node:worker_threads';
import {
  blockSignals,
  EventFd,
  installFilter,
  keepArenas,
  prepareToSpawn,
  spawnProgram,
  SystemCallError,
} from '../../node/system/index.js';
import type { FromWorker, ProgramOrder } from './program-thread.js';

type Tell = (message: FromWorker) => void;

/** Tells where the system refuses something. */
function attempt<T>(action: () => T, kind: 'refused' | 'failed', tell: Tell): T | undefined {
  try {
    return action();
  } catch (error) {
    if (!(error instanceof SystemCallError)) throw error;
    tell({ kind, errno: error.code });
    return undefined;
  }
}

function obey({ filter, wakeFd, file, args, go }: ProgramOrder): void {
  const tell: Tell = (message) => {
    parentPort?.postMessage(message);
    EventFd.ring(wakeFd);
  };
  // The filter holds the end of a signal handler, too. A handler on this thread (SIGCHLD when the program ends) would return only
  // once the launcher answers, and crash the process when the launcher has closed the listener. The program starts with no signal blocked.
  blockSignals();
  const listenerFd = attempt(() => installFilter(filter), 'refused', tell);
  if (listenerFd === undefined) return;
  tell({ kind: 'filtered', listenerFd });
  // From here on this thread waits for answers, too.
  Atomics.wait(go, 0, 0);
  // As long as somebody has the listener, calls wait for him: were it the program itself, which waits to be run, it would for ever.
  const pid = attempt(() => spawnProgram(file, [file, ...args], process.env, listenerFd), 'failed', tell);
  if (pid !== undefined) tell({ kind: 'started', pid });
}

// Whatever has to be loaded is loaded before a call of this thread can wait for an answer.
prepareToSpawn();
// The thread that answers takes the allocator's locks as well.
keepArenas();
parentPort?.once('message', obey);
