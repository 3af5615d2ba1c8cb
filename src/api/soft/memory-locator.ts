import { CommandError } from '../../device/nic/index.js';
import {
  addressOf,
  canNailDown,
  isResizable,
  isShared,
  nailDown,
  nativeHost,
  viewOf,
} from '../../machine/system/index.js';
import type { LocatedMemory } from './adapter/adapter-host.js';
import type { MemoryRef } from './adapter/command.js';

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

const synthetic = new SyntheticAddresses();

function publicAddress(bytes: Uint8Array): bigint {
  return BigInt(nativeHost() === undefined ? synthetic.of(bytes) : addressOf(bytes));
}

const REMEDY = 'take it from alloc(), or use a SharedArrayBuffer';

function refuseResizable({ buffer }: Uint8Array): void {
  if (isResizable(buffer))
    throw new CommandError('EINVAL', `memory of a resizable ArrayBuffer could vanish when that shrinks: ${REMEDY}`);
}

/**
 * Memory for an adapter in this thread: it uses the very view, and V8 tells it when that has lost its memory.
 *
 * @throws CommandError EINVAL for memory that can shrink
 */
export function locateInThread(bytes: Uint8Array, addresses?: SyntheticAddresses): LocatedMemory {
  refuseResizable(bytes);
  const address = addresses === undefined ? publicAddress(bytes) : BigInt(addresses.of(bytes));
  return { address, memory: { kind: 'view', bytes } };
}

/** Why a NIC in another thread cannot use ordinary memory, or undefined when it can. */
function problemAcrossThreads(buffer: ArrayBuffer): string | undefined {
  if (nativeHost() === undefined) return 'without koffi the NIC, in its thread, reaches only shared memory';
  if (nailDown(buffer)) return undefined;
  return canNailDown()
    ? 'memory of WebAssembly that is not shared moves when it grows, under a NIC in its own thread'
    : `Node ${process.versions.node} cannot keep ordinary memory from being taken away under a NIC in its own thread ` +
        "(Node 24 can, and host 'inline' notices it)";
}

/**
 * Memory for an adapter in another thread: shared memory goes there as it is, any other by its address. Nothing there could
 * tell that it has gone, so only what nobody can take away goes.
 *
 * @throws CommandError EINVAL for memory that can shrink; EOPNOTSUPP for what cannot be kept in place
 */
export function locateAcrossThreads(bytes: Uint8Array): LocatedMemory {
  const { buffer, byteOffset, length: lengthBytes } = bytes;
  if (isShared(buffer))
    return { address: publicAddress(bytes), memory: { kind: 'shared', buffer, byteOffset, lengthBytes } };
  refuseResizable(bytes);
  const problem = problemAcrossThreads(buffer);
  if (problem !== undefined) throw new CommandError('EOPNOTSUPP', `${problem}: ${REMEDY}`);
  const address = publicAddress(bytes);
  return { address, memory: { kind: 'address', address, lengthBytes } };
}

/** Keeps shared memory alive for as long as what {@link unshared} made of it is, or any view of that. */
const owners = new WeakMap<ArrayBufferLike, SharedArrayBuffer>();

/**
 * The same memory as an ordinary buffer, where it can be had: V8 copies to and from shared ones word by word, at a third
 * of the speed.
 */
function unshared(bytes: Uint8Array): Uint8Array {
  const { buffer } = bytes;
  if (!isShared(buffer) || nativeHost() === undefined) return bytes;
  const view = viewOf(addressOf(bytes), bytes.length);
  owners.set(view.buffer, buffer);
  return view;
}

/** The adapter's side: the bytes that a reference stands for. */
export function resolveMemory(memory: MemoryRef): Uint8Array {
  switch (memory.kind) {
    case 'view':
      return unshared(memory.bytes);
    case 'shared':
      return unshared(new Uint8Array(memory.buffer, memory.byteOffset, memory.lengthBytes));
    case 'address':
      return viewOf(Number(memory.address), memory.lengthBytes);
  }
}
