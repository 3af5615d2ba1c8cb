import { readFileSync } from 'node:fs';
import { allocateFile, MemoryFile, releaseFile, SharedMapping, SystemCallError } from '../../node/system/index.js';
import { Refusal } from '../refusal.js';

const PAGE_BYTES = 4096;
/** Of one opened device: programs that ask for the largest of everything are refused rather than served with all memory. */
const MAX_BYTES = 2 ** 32;

/** Mappings that are left to the rest of the launcher: V8 ends the process when it gets none for its heap. */
const RESERVED_MAPPINGS = 8192;
const DEFAULT_MAPPINGS = 65_530;

function mappingsOfProcess(): number {
  try {
    return Number(readFileSync('/proc/sys/vm/max_map_count', 'latin1'));
  } catch {
    return DEFAULT_MAPPINGS;
  }
}

function mostQueues(mappings: number): number {
  return mappings - Math.min(RESERVED_MAPPINGS, Math.ceil(mappings / 2));
}

/** Queues of all programs together: each is a mapping, of which the system gives a process so many (vm.max_map_count). */
export const MOST_QUEUES = mostQueues(mappingsOfProcess());
let queues = 0;

/** A stretch of the file of an opened device, which the program maps as well. */
export interface RingMemory {
  readonly offset: number;
  readonly bytes: number;
  readonly mapping: SharedMapping;
}

/**
 * The file of an opened device: what the program has as its descriptor. It begins with the log of doorbells; behind that lie the
 * queues, as the program maps them by their offsets.
 */
export class RingFile {
  readonly file: MemoryFile;
  #end: number;
  #length = 0;
  /** Stretches that were given back: by size, since most queues have few sizes. */
  readonly #free = new Map<number, number[]>();

  /** @throws SystemCallError when there is no descriptor left */
  constructor(name: string, logBytes: number) {
    this.file = new MemoryFile(name);
    this.#end = logBytes;
    try {
      this.#growTo(logBytes);
    } catch (error) {
      this.file.close();
      throw error;
    }
  }

  /** @throws Refusal ENOMEM when there is no memory for it */
  allocate(lengthBytes: number): RingMemory {
    if (queues >= MOST_QUEUES)
      throw new Refusal('ENOMEM', `there are ${queues} queues, as many as vm.max_map_count allows`);
    const bytes = Math.ceil(lengthBytes / PAGE_BYTES) * PAGE_BYTES;
    const offset = this.#free.get(bytes)?.pop() ?? this.#append(bytes);
    // Memory that is promised only when it is touched may then not be there, which would end us.
    if (!allocateFile(this.file.fd, offset, bytes)) {
      this.#giveBack(offset, bytes);
      throw new Refusal('ENOMEM', `the system has no ${bytes} bytes for the queue`);
    }
    try {
      const mapping = new SharedMapping(this.file.fd, offset, bytes);
      queues += 1;
      return { offset, bytes, mapping };
    } catch (error) {
      releaseFile(this.file.fd, offset, bytes);
      this.#giveBack(offset, bytes);
      if (!(error instanceof SystemCallError)) throw error;
      throw new Refusal('ENOMEM', `the system maps no queue: ${error.message}`);
    }
  }

  /** What the program still maps there reads as zeros. */
  release({ offset, bytes, mapping }: RingMemory): void {
    mapping.close();
    queues -= 1;
    releaseFile(this.file.fd, offset, bytes);
    this.#giveBack(offset, bytes);
  }

  close(): void {
    this.file.close();
  }

  #append(bytes: number): number {
    const offset = this.#end;
    if (offset + bytes > MAX_BYTES)
      throw new Refusal('ENOMEM', `the queues of a context take at most ${MAX_BYTES} bytes, and ${offset} are in use`);
    this.#growTo(offset + bytes);
    this.#end = offset + bytes;
    return offset;
  }

  #giveBack(offset: number, bytes: number): void {
    const free = this.#free.get(bytes);
    if (free === undefined) this.#free.set(bytes, [offset]);
    else free.push(offset);
  }

  #growTo(bytes: number): void {
    if (bytes <= this.#length) return;
    this.file.grow(bytes);
    this.#length = bytes;
  }
}
