import { amount, type CapturedAccess, type CaptureWay, type FollowedExchange, remember } from '../../core/index.js';

/** Memory that one end has named to the other. */
export interface Named {
  readonly what: string;
  readonly address: bigint;
  readonly length: number;
  /** What may be done there. */
  readonly operations: readonly CapturedAccess['operation'][];
  readonly exchange: FollowedExchange | undefined;
  readonly isLasting: boolean;
}

interface Memory extends Named {
  readonly owner: string;
  readonly user: string;
  /** PSNs of what was done there, and how many bytes of it those were about. */
  readonly seen: Set<number>;
  doneBytes: number;
}

/** PSNs that are kept for one of them: of what is repeated later, more bytes are counted than there were. */
const MAX_SEEN = 4096;

/** Follows what ends do with the memory of each other. */
export class MemoryFollower {
  readonly #named = new Map<string, Memory>();
  #count = 0;

  name({ from, to }: CaptureWay, named: Named): void {
    this.#count += 1;
    remember(this.#named, `${this.#count}`, { ...named, owner: from, user: to, seen: new Set(), doneBytes: 0 });
  }

  /** What a READ or a WRITE is for; undefined where nobody has named what it is about. Of several in the same memory it is for the oldest that lacks it. */
  access(access: CapturedAccess): string | undefined {
    const { operation, length, way } = access;
    const open = [...this.#named.values()].filter((memory) => isFor(access, memory));
    const memory =
      open.find(({ seen }) => seen.has(way.psn)) ??
      open.find((one) => one.isLasting || one.doneBytes < one.length) ??
      open.at(-1);
    if (memory === undefined) return undefined;
    const { seen, exchange, what, isLasting, address } = memory;
    if (!seen.has(way.psn) && seen.size < MAX_SEEN) {
      seen.add(way.psn);
      memory.doneBytes += length;
    }
    exchange?.step(operation);
    const where = isLasting ? ` at ${access.address - address}` : '';
    return `${operation} ${amount(length)}${where} of ${what}`;
  }
}

function isFor({ operation, address, length, way }: CapturedAccess, memory: Memory): boolean {
  if (!memory.operations.includes(operation) || memory.user !== way.from || memory.owner !== way.to) return false;
  return address >= memory.address && address + BigInt(length) <= memory.address + BigInt(memory.length);
}
