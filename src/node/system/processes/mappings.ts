/** What a process has mapped where: what Linux looks at when it pins memory (get_user_pages). */
import { closeSync, constants, openSync, readFileSync } from 'node:fs';
import { NativeBlock } from '../memory/memory.js';
import { requireNativeHost } from '../native.js';
import { readProcess } from './process-bytes.js';

const PAGE_BYTES = 4096;
/** `PROCMAP_QUERY` (Linux 6.11): the kernel looks up one mapping, where the text of all may be long. */
const PROCMAP_QUERY = 0xc0686611;
const QUERY_BYTES = 104;
const ENOENT = 2;
/** Fields of `struct procmap_query`. */
const Query = { SIZE: 0, ADDRESS: 16, END: 32, FLAGS: 40, INODE: 64 } as const;
const READABLE = 1;
const WRITABLE = 2;
const blocks = { query: undefined as NativeBlock | undefined, byte: undefined as NativeBlock | undefined };

/** The part of a process's address space up to `end`. */
export interface Mapping {
  readonly end: number;
  readonly isReadable: boolean;
  readonly isWritable: boolean;
  /** A file or a device may have fewer pages than the mapping. */
  readonly isOfFile: boolean;
}

export interface Mappings {
  at(address: number): Mapping | undefined;
}

/** Looks up mappings in the text of `/proc/PID/maps`. */
export class ListedMappings implements Mappings {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  at(address: number): Mapping | undefined {
    const text = this.#text;
    for (let from = 0; from < text.length;) {
      const dash = text.indexOf('-', from);
      const space = text.indexOf(' ', dash);
      const lineEnd = text.indexOf('\n', space);
      const next = lineEnd < 0 ? text.length : lineEnd + 1;
      if (space < 0) return undefined;
      const end = Number.parseInt(text.slice(dash + 1, space), 16);
      if (address < end) {
        if (address < Number.parseInt(text.slice(from, dash), 16)) return undefined;
        // `start-end perms offset dev inode path`
        const [permissions, , , inode] = text.slice(space + 1, next).split(' ', 4);
        return {
          end,
          isReadable: permissions.startsWith('r'),
          isWritable: permissions[1] === 'w',
          isOfFile: inode.trim() !== '0',
        };
      }
      from = next;
    }
    return undefined;
  }
}

/** Asks the kernel for each mapping. */
class QueriedMappings implements Mappings {
  readonly #query = (blocks.query ??= new NativeBlock(QUERY_BYTES));

  constructor(private readonly fd: number) {}

  /** Whether the kernel answers the question. */
  get isSupported(): boolean {
    return this.#ask(0) || requireNativeHost().errno() === ENOENT;
  }

  at(address: number): Mapping | undefined {
    if (!this.#ask(address)) return undefined;
    const flags = this.#query.getPointer(Query.FLAGS);
    return {
      end: this.#query.getPointer(Query.END),
      isReadable: (flags & READABLE) !== 0,
      isWritable: (flags & WRITABLE) !== 0,
      isOfFile: this.#query.getPointer(Query.INODE) !== 0,
    };
  }

  #ask(address: number): boolean {
    this.#query.bytes.fill(0);
    this.#query.putPointer(Query.SIZE, QUERY_BYTES);
    this.#query.putPointer(Query.ADDRESS, address);
    return requireNativeHost().libc.ioctl(this.fd, PROCMAP_QUERY, this.#query.address) === 0;
  }
}

/** Calls back with the mappings of a process. @returns undefined where they cannot be seen */
function withMappings<T>(pid: number, act: (mappings: Mappings) => T): T | undefined {
  let fd: number;
  try {
    fd = openSync(`/proc/${pid}/maps`, constants.O_RDONLY);
  } catch {
    return undefined;
  }
  try {
    const queried = new QueriedMappings(fd);
    return act(queried.isSupported ? queried : new ListedMappings(readFileSync(fd, 'latin1')));
  } catch {
    return undefined;
  } finally {
    closeSync(fd);
  }
}

/** @internal Whether Linux could pin the pages, by what is mapped. */
export function arePinnable(
  mappings: Mappings,
  start: number,
  end: number,
  isToBeWritten: boolean,
  isThere: (address: number) => boolean,
): boolean {
  for (let at = start; at < end;) {
    const mapping = mappings.at(at);
    if (mapping === undefined || mapping.end <= at) return false;
    if (isToBeWritten ? !mapping.isWritable : !mapping.isReadable) return false;
    // A file may end before its mapping does, and memory of a device or of the kernel cannot be pinned.
    const mayLack = mapping.isOfFile || !mapping.isWritable;
    if (mayLack && mapping.isReadable && !isThere(Math.min(mapping.end, end) - 1)) return false;
    at = mapping.end;
  }
  return true;
}

/**
 * Whether Linux could pin a range of a process's memory: all of it is mapped, and may be read, or written where that is asked for.
 *
 * @param lengthBytes without a byte, the page of `address` is meant
 */
export function canPin(pid: number, address: number, lengthBytes: number, isToBeWritten: boolean): boolean {
  const start = address - (address % PAGE_BYTES);
  const end = Math.ceil((address + lengthBytes) / PAGE_BYTES) * PAGE_BYTES;
  const byte = (blocks.byte ??= new NativeBlock(1));
  const isThere = (at: number): boolean => readProcess(pid, at, byte.address, 1) === 1;
  return withMappings(pid, (mappings) => arePinnable(mappings, start, end, isToBeWritten, isThere)) ?? false;
}
