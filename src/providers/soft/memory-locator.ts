import { CommandError, isResizable } from '../../device/nic/index.js';
import type { LocatedMemory } from './adapter-host.js';
import type { BytesRef } from '../../device/adapter/index.js';

/** Where made-up addresses begin: far from anything that a pointer of today's programs could be taken for. */
const FIRST_SYNTHETIC = 0x1000_0000_0000;
const PAGE = 4096;

/** Addresses for memory where the real ones are not known, or not wanted. A buffer keeps its address for life. */
export class SyntheticAddresses {
  readonly #bases = new WeakMap<ArrayBufferLike, number>();
  #next = FIRST_SYNTHETIC;

  of(bytes: Uint8Array): number {
    let base = this.#bases.get(bytes.buffer);
    if (base === undefined) {
      // The view that is seen first begins on a page, wherever in its buffer chance has put it; room on both sides, so
      // that running past one buffer never hits another.
      const room = Math.ceil(bytes.buffer.byteLength / PAGE) * PAGE;
      base = this.#next + room - bytes.byteOffset;
      this.#bases.set(bytes.buffer, base);
      this.#next += 2 * room + PAGE;
    }
    return base + bytes.byteOffset;
  }
}

/** What to register in place of memory that cannot be. */
export const MEMORY_REMEDY = 'take it from alloc(), or use a SharedArrayBuffer';

/** @throws CommandError EINVAL for memory that can shrink */
export function refuseResizable({ buffer }: Uint8Array): void {
  if (isResizable(buffer))
    throw new CommandError(
      'EINVAL',
      `memory of a resizable ArrayBuffer could vanish when that shrinks: ${MEMORY_REMEDY}`,
    );
}

/**
 * Memory for an adapter in this thread: it uses the very view, and V8 tells it when that has lost its memory.
 *
 * @throws CommandError EINVAL for memory that can shrink
 */
export function locateInThread(bytes: Uint8Array, address: bigint): LocatedMemory {
  refuseResizable(bytes);
  return { address, memory: { kind: 'view', bytes } };
}

/** The bytes of what {@link locateInThread} has located. */
export function resolveInThread(memory: BytesRef): Uint8Array {
  if (memory.kind === 'view') return memory.bytes;
  throw new Error(`memory of this thread is named by ${memory.kind}`);
}
