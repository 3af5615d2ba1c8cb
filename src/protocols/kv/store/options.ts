import { type FieldsOf, fieldsProblem, invalid, type Problem, VerbsError } from '../../../api/verbs/index.js';
import { ALIGNMENT, entryBytes, MAX_KEY_BYTES } from './entry.js';
import type { KeyHash } from './key-hash.js';

/** What a partition does when it is full. `cache`: the oldest goes. `store`: what is new is refused with NO_SPACE, and nothing is lost. */
export type Mode = 'cache' | 'store';

export interface PartitionOptions {
  readonly mode: Mode;
  /**
   * Where the entries lie, at a multiple of 8 in its buffer, 4 KiB to 2 GiB: from `alloc()`, say, to register it for RDMA READ.
   * Nobody else may write to it.
   */
  readonly memory: Uint8Array;
  /** 64 bits that no stranger knows: whoever knows them can find keys that all fall into one bucket. */
  readonly seed: bigint;
  /** Buckets of 8 keys: a power of two up to 2^24; by default as many as fill when values have 64 bytes. */
  readonly buckets?: number | undefined;
  /** The longest value in bytes, by default 1 MiB. Where the memory is small it may be that no value of that length fits. */
  readonly maxValueBytes?: number | undefined;
  /** The versions begin after it, 64 bits; default 0. A store that begins anew gives what no version before has reached. */
  readonly lastVersion?: bigint | undefined;
  /** How many keys that have gone are remembered for `explain`: a power of two up to 2^24; default 4096. */
  readonly remembered?: number | undefined;
  /** Gives memory for the index, all zeros, at a multiple of 4 in its buffer: `alloc`, to register it for RDMA READ. Default: ordinary memory. */
  readonly allocate?: ((bytes: number) => Uint8Array) | undefined;
  /** In place of the one that `seed` makes: for tests. */
  readonly hash?: KeyHash | undefined;
}

const FIELDS: FieldsOf<PartitionOptions> = {
  mode: true,
  memory: true,
  seed: true,
  buckets: true,
  maxValueBytes: true,
  lastVersion: true,
  remembered: true,
  allocate: true,
  hash: true,
};

const MIN_MEMORY = 4096;
/** Positions are numbers of 31 bits. */
export const MAX_MEMORY: number = 2 ** 31;
export const MAX_COUNT: number = 2 ** 24;
const DEFAULT_VALUE_BYTES = 1 << 20;
const DEFAULT_REMEMBERED = 4096;
const TYPICAL_ENTRY_BYTES = entryBytes(16, 64);
/** With six of eight slots taken on average few buckets are full. */
const TYPICAL_SLOTS = 6;

export interface PartitionSettings {
  readonly buckets: number;
  readonly maxValueBytes: number;
  readonly lastVersion: bigint;
  readonly remembered: number;
}

/** @throws VerbsError EINVAL for options that make no sense */
export function settingsOf(options: PartitionOptions, call: string): PartitionSettings {
  const problem = fieldsProblem('options', options, FIELDS) ?? memoryProblem(options);
  if (problem !== undefined) throw new VerbsError(call, problem);
  const {
    memory,
    seed,
    buckets = defaultBuckets(memory.byteLength),
    maxValueBytes = DEFAULT_VALUE_BYTES,
    lastVersion = 0n,
    remembered = DEFAULT_REMEMBERED,
  } = options;
  const wrong =
    countProblem('buckets', buckets) ??
    countProblem('remembered', remembered) ??
    wordProblem('seed', seed) ??
    wordProblem('lastVersion', lastVersion) ??
    valueProblem(maxValueBytes);
  if (wrong !== undefined) throw new VerbsError(call, wrong);
  // In cache mode an entry that fills all memory would be the only one.
  const most = Math.floor(memory.byteLength / 2) - entryBytes(MAX_KEY_BYTES, 0);
  return { buckets, maxValueBytes: Math.min(maxValueBytes, most), lastVersion, remembered };
}

function memoryProblem({ memory, mode }: PartitionOptions): Problem | undefined {
  if (!['cache', 'store'].includes(mode)) return invalid(`mode is ${mode}`, "It is 'cache' or 'store'");
  if (memory.byteLength < MIN_MEMORY || memory.byteLength > MAX_MEMORY)
    return invalid(`memory has ${memory.byteLength} bytes`, `Give ${MIN_MEMORY} to ${MAX_MEMORY}`);
  if (memory.byteOffset % ALIGNMENT !== 0)
    return invalid(`memory begins at byte ${memory.byteOffset} of its buffer`, `Give a multiple of ${ALIGNMENT}`);
  return undefined;
}

function countProblem(name: string, count: number): Problem | undefined {
  if (Number.isInteger(count) && count >= 1 && count <= MAX_COUNT && (count & (count - 1)) === 0) return undefined;
  return invalid(`${name} is ${count}`, `Give a power of two up to ${MAX_COUNT}`);
}

function wordProblem(name: string, word: bigint): Problem | undefined {
  if (word >= 0n && word < 1n << 64n) return undefined;
  return invalid(`${name} is ${word}`, 'Give a bigint of 64 bits, not less than 0');
}

function valueProblem(maxValueBytes: number): Problem | undefined {
  if (Number.isInteger(maxValueBytes) && maxValueBytes >= 0 && maxValueBytes < 2 ** 32) return undefined;
  return invalid(`maxValueBytes is ${maxValueBytes}`, 'Give a number of bytes less than 2^32');
}

function defaultBuckets(memoryBytes: number): number {
  const wanted = memoryBytes / TYPICAL_ENTRY_BYTES / TYPICAL_SLOTS;
  return Math.min(MAX_COUNT, 2 ** Math.max(0, Math.ceil(Math.log2(wanted))));
}
