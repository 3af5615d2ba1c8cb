/** Entry of a NIC's thread. */
import { workerData } from 'node:worker_threads';
import { runDgramThread } from './dgram-thread.js';
import { runNativeThread } from './native-thread.js';
import { NicThread } from './nic-thread.js';
import type { ThreadStart } from './thread-protocol.js';

// `ThreadHost` starts this file, with that and nothing else.
const start = workerData as ThreadStart;
const run = start.native ? runNativeThread : runDgramThread;
run(start, new NicThread(start));
