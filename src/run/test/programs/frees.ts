/**
 * Prints which files a thread opens that gives memory back from the end of its arena, after it was told never to if the first argument is
 * `keep`. It is under a filter that has it wait for an answer of the main thread whenever it opens one.
 */
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import koffi from 'koffi';
import { assembleFilter } from '../../launcher/filter.js';
import { thisMachine } from '../../launcher/system-calls.js';
import { readText } from '../../processes/program-memory.js';
import {
  auditArch,
  installFilter,
  keepArenas,
  NotifiedCalls,
  PollSet,
  requireNativeHost,
} from '../../../node/system/index.js';

const MIB = 1024 * 1024;
/**
 * More than what makes glibc give memory back, and less than what it takes from the system for itself. V8 takes memory of the same arena
 * whenever it likes; what it keeps behind a piece has that stay, and each longer piece has its place behind it.
 */
const PIECES_MIB = [17, 19, 21, 23, 25, 27, 29, 31];
/** `M_MMAP_THRESHOLD` of malloc.h, and the most that glibc allows. */
const M_MMAP_THRESHOLD = -3;
const MAPPED_FROM_MIB = 32;
const PATH_BYTES = 4096;

function giveBack(go: Int32Array): void {
  const lib = koffi.load('libc.so.6');
  const malloc = lib.func('int64_t malloc(size_t size)') as (size: number) => number;
  const free = lib.func('void free(int64_t address)') as (address: number) => void;
  requireNativeHost().libc.mallopt(M_MMAP_THRESHOLD, MAPPED_FROM_MIB * MIB);
  if (process.argv[2] === 'keep') keepArenas();
  const filter = assembleFilter([{ call: 'openat' }], thisMachine() ?? 'x64', auditArch() ?? 0);
  parentPort?.postMessage(installFilter(filter));
  Atomics.wait(go, 0, 0);
  for (const length of PIECES_MIB) free(malloc(length * MIB));
}

async function look(): Promise<void> {
  const go = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(fileURLToPath(import.meta.url), { workerData: go, argv: process.argv.slice(2) });
  const state = { over: false };
  worker.once('exit', () => (state.over = true));
  const listenerFd = await new Promise<number>((resolve) => worker.once('message', resolve));
  const calls = new NotifiedCalls(listenerFd);
  const listener = new PollSet([listenerFd]);
  Atomics.store(go, 0, 1);
  Atomics.notify(go, 0);
  while (!state.over) {
    if (listener.wait(0) > 0 && listener.isReadable(0) && calls.receive()) {
      process.stdout.write(`${readText(calls.tid, calls.address(1), PATH_BYTES) ?? ''}\n`);
      calls.letThrough();
    }
    await setImmediate();
  }
}

if (isMainThread) await look();
// What the main thread gives it.
else giveBack(workerData as Int32Array);
