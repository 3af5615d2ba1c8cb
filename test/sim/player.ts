/** A thread that plays: `players.ts` starts it. */
import { parentPort, workerData } from 'node:worker_threads';
import { type Play, playAll } from './play.js';

// Nothing else is given to it.
await playAll(workerData as Play, (played) => parentPort?.postMessage(played));
