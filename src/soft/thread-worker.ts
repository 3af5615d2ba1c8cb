/** Entry of a NIC's thread. */
import { workerData } from 'node:worker_threads';
import { runNicThread } from './nic-thread.js';
import type { ThreadStart } from './thread-protocol.js';

// `ThreadHost` starts this file, with that and nothing else.
runNicThread(workerData as ThreadStart);
