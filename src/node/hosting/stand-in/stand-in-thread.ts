import { Worker } from 'node:worker_threads';
import type { KeptPackets } from '../../links/index.js';
import { inRootContext } from '../../system/index.js';
import { requireRoom } from '../spare-room.js';
import {
  StandInStage,
  StandInWord,
  type StandInMessage,
  type StandInThreadStart,
  type WatchedStart,
} from './stand-in-protocol.js';

interface RunningThread {
  readonly worker: Worker;
  readonly words: Int32Array;
  readonly watched: Map<number, KeptPackets>;
}

/** Longer than native code of the thread ever takes. */
const EXIT_MS = 2000;

/** Threads that have not ended. */
const living = new Set<RunningThread>();

/** The process exits: see {@link StandInStage}. */
function endAll(): void {
  const { STARTING, NATIVE, ENDED } = StandInStage;
  for (const { words } of living) {
    Atomics.store(words, StandInWord.STOP, 1);
    Atomics.notify(words, StandInWord.STOP);
  }
  for (const { words } of living)
    if (Atomics.compareExchange(words, StandInWord.STAGE, STARTING, ENDED) === NATIVE)
      Atomics.wait(words, StandInWord.STAGE, NATIVE, EXIT_MS);
}

/** The one of this thread, while a NIC needs it. */
let running: RunningThread | undefined;
let nextId = 1;

function start(warn: (text: string) => void): RunningThread {
  requireRoom();
  const words = new SharedArrayBuffer(4 * StandInWord.COUNT);
  const workerData: StandInThreadStart = { words };
  // Flags of the program, a loader or --input-type among them, are not meant for this thread.
  const worker = new Worker(new URL('./stand-in-worker.js', import.meta.url), {
    name: 'verbena-stand-in',
    workerData,
    execArgv: [],
  });
  worker.unref();
  const thread = { worker, words: new Int32Array(words), watched: new Map<number, KeptPackets>() };
  worker.on('error', (error) => warn(lost(error)));
  if (living.size === 0) process.on('exit', endAll);
  living.add(thread);
  worker.on('exit', () => {
    living.delete(thread);
    if (living.size === 0) process.off('exit', endAll);
    for (const kept of thread.watched.values()) kept.abandon();
    if (running === thread) running = undefined;
  });
  return thread;
}

function lost(error: unknown): string {
  const why = error instanceof Error ? error.message : String(error);
  return (
    `nothing answers peers while the program computes, since the thread for that cannot run: ${why}. ` +
    "Peers may take the program for dead after some seconds; host 'thread' (option host, or VERBENA_HOST) has no need of it."
  );
}

function send({ worker, words }: RunningThread, message: StandInMessage): void {
  worker.postMessage(message);
  Atomics.add(words, StandInWord.MESSAGES, 1);
}

/**
 * Has a thread stand in for an inline NIC of this thread while the program computes. The first NIC starts the thread, and the
 * last one ends it. It keeps no process alive.
 *
 * @param warn is given a sentence when nobody can stand in
 * @returns ends it; to be called before the NIC's link is closed
 */
export function standInFor(
  nic: Omit<WatchedStart, 'id' | 'kept'>,
  kept: KeptPackets,
  warn: (text: string) => void,
): () => void {
  try {
    running ??= inRootContext(start, warn);
  } catch (error) {
    warn(lost(error));
    return () => undefined;
  }
  const thread = running;
  const id = nextId++;
  thread.watched.set(id, kept);
  kept.onRoused = () => void Atomics.notify(thread.words, StandInWord.STOP);
  send(thread, { watch: { ...nic, id, kept: kept.memory } });
  return () => {
    if (!thread.watched.delete(id)) return;
    kept.close();
    send(thread, { forget: id });
    if (thread.watched.size > 0) return;
    if (running === thread) running = undefined;
    Atomics.store(thread.words, StandInWord.STOP, 1);
    Atomics.notify(thread.words, StandInWord.STOP);
  };
}
