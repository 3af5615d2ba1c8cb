import { alloc, secretWord } from '../../api/provider/index.js';
import { type FieldsOf, fieldsProblem, invalid, refuse, show, VerbsError } from '../../api/verbs/index.js';
import { Partition, type PartitionOptions } from './store/index.js';

/** What a store does when it is full. `cache`: the oldest entries go. `store`: what is new is refused with ENOSPC, and nothing is lost. */
export type KvMode = 'cache' | 'store';

/** What a store has counted since it was made. */
export interface KvStoreStatistics {
  /** Times that a key was asked for and found. */
  readonly hits: number;
  readonly misses: number;
  /** Values that were set, by whichever call. */
  readonly sets: number;
  readonly deletes: number;
  /** Entries that had to go for others, in the mode `cache`. */
  readonly evictions: number;
  /** Entries whose time had come, counted when that is noticed. */
  readonly expirations: number;
  /** Calls that were refused because the store was full, in the mode `store`. */
  readonly refusals: number;
  /** Entries that there are now, also those that have expired and were not yet noticed. */
  readonly keys: number;
  /** What they take of the memory. */
  readonly bytes: number;
}

/** What `createStore` takes. */
export interface KvStoreOptions {
  /** `cache` unless you say otherwise. */
  readonly mode?: KvMode | undefined;
  /** Bytes for keys, values and what is known of them: 4096 to 2^31, default 64 MiB. The index takes some bytes for each entry beside that. */
  readonly memoryBytes?: number | undefined;
  /** The longest value in bytes; default 1 MiB, and never more than about half of the memory. */
  readonly maxValueBytes?: number | undefined;
}

/** Keys and values in memory. It is served by `serve`, and does nothing by itself. */
export interface KvStore {
  /** Counted from when it was made; what is read is as of now. */
  readonly statistics: KvStoreStatistics;
  /** The longest value in bytes. */
  readonly maxValueBytes: number;
}

const FIELDS: FieldsOf<KvStoreOptions> = { mode: true, memoryBytes: true, maxValueBytes: true };
const MEMORY_BYTES = 64 << 20;
const MIN_MEMORY_BYTES = 4096;
const MAX_MEMORY_BYTES = 2 ** 31;

/**
 * Makes a store.
 *
 * @example
 * ```ts
 * const server = serve({ port: 7175, store: createStore({ mode: 'store', memoryBytes: 1 << 30 }) });
 * ```
 * @throws VerbsError EINVAL for wrong arguments, ENOMEM when there is not so much memory
 */
export function createStore(options: KvStoreOptions = {}): KvStore {
  return newPartition('createStore', options, () => secretWord());
}

/** @throws VerbsError as {@link createStore} */
export function newPartition(call: string, options: KvStoreOptions, random: () => number): Partition {
  refuse(call, fieldsProblem('options', options, FIELDS));
  const { mode = 'cache', memoryBytes = MEMORY_BYTES, maxValueBytes } = options;
  requireMemory(call, memoryBytes);
  const partition: PartitionOptions = {
    mode,
    memory: alloc(memoryBytes),
    allocate: (bytes) => alloc(bytes),
    seed: (BigInt(random() >>> 0) << 32n) | BigInt(random() >>> 0),
    // Whoever holds a version of a store that is gone shall not hit one of its successor.
    lastVersion: BigInt(random() >>> 0) << 31n,
    ...(maxValueBytes === undefined ? {} : { maxValueBytes }),
  };
  return new Partition(partition, call);
}

function requireMemory(call: string, bytes: unknown): void {
  const isRight = typeof bytes === 'number' && Number.isInteger(bytes);
  if (isRight && bytes >= MIN_MEMORY_BYTES && bytes <= MAX_MEMORY_BYTES) return;
  const advice = `It is a whole number of bytes from ${MIN_MEMORY_BYTES} to ${MAX_MEMORY_BYTES}`;
  throw new VerbsError(call, invalid(`memoryBytes is ${show(bytes)}`, advice));
}
