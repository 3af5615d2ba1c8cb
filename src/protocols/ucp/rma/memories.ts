import { alloc } from '../../../api/provider/index.js';
import { invalid, refuse, show } from '../../../api/verbs/index.js';
import type { MemoryDomain } from '../uct/index.js';
import type { EndpointParts } from '../worker/endpoint-parts.js';
import { UcpMemory } from './memory.js';
import { accessOf, type RkeyRights } from './rkey.js';
import { Fences } from './fences.js';
import { RmaEnd } from './rma-end.js';

/**
 * What peers may do with memory. Each can be left out.
 *
 * Atomics are by the adapter (`device`: only add and compare-and-swap, of 8 bytes) or by messages to this worker (all, of 4 and 8 bytes), for all peers and
 * all words of a memory: neither of the two would see that the other is in the midst of a word, so that a change could be lost. The key says which, and
 * gives no right to the other.
 */
export type MemMapOptions = Partial<RkeyRights>;

const ALL: RkeyRights = { read: true, write: true, atomics: 'messages' };

/** The family of remote memory at a worker. */
export class Memories {
  readonly #fences = new Fences();
  readonly #mapped = new Set<UcpMemory>();

  constructor(private readonly domain: MemoryDomain) {}

  /** The same family at an endpoint. */
  attach(parts: EndpointParts): RmaEnd {
    return parts.add(new RmaEnd(parts, this.#fences));
  }

  /** As `UcpWorker.memMap`. */
  map(memory: Uint8Array | number, options: MemMapOptions = {}): UcpMemory {
    const bytes = typeof memory === 'number' ? allocated(memory) : memory;
    if (!(bytes instanceof Uint8Array) || bytes.length === 0)
      refuse('memMap', invalid(`the memory is ${show(memory)}`, 'It is a Uint8Array of a byte or more, or a length'));
    const rights = { ...ALL, ...options };
    checkRights(rights);
    const registered = this.domain.register(bytes, accessOf(rights));
    const mapped = new UcpMemory(registered, (unmapped) => this.#mapped.delete(unmapped));
    this.#mapped.add(mapped);
    return mapped;
  }

  close(): void {
    for (const mapped of [...this.#mapped]) mapped.unmap();
  }

  /** As `UcpWorker.fence`. */
  fence(): void {
    this.#fences.fence();
  }
}

function allocated(length: number): Uint8Array {
  if (!Number.isSafeInteger(length) || length < 1)
    refuse('memMap', invalid(`the length is ${show(length)}`, 'It is 1 or more'));
  return alloc(length);
}

/** @throws VerbsError EINVAL */
function checkRights(rights: RkeyRights): void {
  const { read, write, atomics } = rights;
  const isGood = typeof read === 'boolean' && typeof write === 'boolean' && isAtomics(atomics);
  if (!isGood || !(read || write || atomics !== false))
    refuse('memMap', invalid(`the rights are ${show(rights)}`, "read, write, atomics: 'device', 'messages' or false"));
}

function isAtomics(atomics: unknown): boolean {
  return atomics === false || atomics === 'device' || atomics === 'messages';
}
