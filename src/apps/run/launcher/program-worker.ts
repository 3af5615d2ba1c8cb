/**
 * Entry of the thread that the program is started from, and whose filter it so has. The thread ends at once then: nothing of ours is to
 * wait for answers of ours.
 */
import { parentPort, workerData } from 'node:worker_threads';
import {
  EventFd,
  installFilter,
  keepArenas,
  prepareToSpawn,
  spawnProgram,
  SystemCallError,
} from '../../../machine/system/index.js';
import type { FromWorker, ProgramOrder } from './program-messages.js';

// `Program` starts this file, with that and nothing else.
const { filter, wakeFd, file, args, go } = workerData as ProgramOrder;

function tell(message: FromWorker): void {
  parentPort?.postMessage(message);
  EventFd.ring(wakeFd);
}

/** Tells where the system refuses something. */
function attempt<T>(action: () => T, kind: 'refused' | 'failed'): T | undefined {
  try {
    return action();
  } catch (error) {
    if (!(error instanceof SystemCallError)) throw error;
    tell({ kind, errno: error.code });
    return undefined;
  }
}

// Whatever has to be loaded is loaded before a call of this thread can wait for an answer.
prepareToSpawn();
// The thread that answers takes the allocator's locks as well.
keepArenas();
const listenerFd = attempt(() => installFilter(filter), 'refused');
if (listenerFd !== undefined) {
  tell({ kind: 'filtered', listenerFd });
  // From here on this thread waits for answers, too.
  Atomics.wait(go, 0, 0);
  const pid = attempt(() => spawnProgram(file, [file, ...args], process.env), 'failed');
  if (pid !== undefined) tell({ kind: 'started', pid });
}
