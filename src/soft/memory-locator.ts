import { addressOf, nativeHost, type Pin, pin, viewOf } from '../host/index.js';
import { CommandError } from '../nic/index.js';
import type { LocatedMemory } from './adapter-host.js';
import type { MemoryRef } from './command.js';

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

function located(address: bigint, memory: MemoryRef, held: Pin): LocatedMemory {
  return { address, memory, isIntact: () => held.isIntact(), release: () => held.release() };
}

function pinned(bytes: Uint8Array): Pin {
  try {
    return pin(bytes);
  } catch (error) {
    throw new CommandError('EINVAL', error instanceof Error ? error.message : String(error));
  }
}

/** Memory for an adapter in this thread: it uses the very view. */
export function locateInThread(bytes: Uint8Array, addresses?: SyntheticAddresses): LocatedMemory {
  const held = pinned(bytes);
  const address = addresses === undefined ? publicAddress(bytes) : BigInt(addresses.of(bytes));
  return located(address, { kind: 'view', bytes }, held);
}

/** Memory for an adapter in another thread: shared memory goes there as it is, any other by its address. */
export function locateAcrossThreads(bytes: Uint8Array): LocatedMemory {
  const { buffer, byteOffset, length: lengthBytes } = bytes;
  if (buffer instanceof SharedArrayBuffer)
    return located(publicAddress(bytes), { kind: 'shared', buffer, byteOffset, lengthBytes }, pinned(bytes));
  if (nativeHost() === undefined)
    throw new CommandError(
      'EOPNOTSUPP',
      'without koffi the NIC, in its thread, reaches only shared memory: take it from alloc(), or use a SharedArrayBuffer',
    );
  const held = pinned(bytes);
  const address = publicAddress(bytes);
  return located(address, { kind: 'address', address, lengthBytes }, held);
}

/** Keeps shared memory alive for as long as a view made by {@link unshared} is. */
const owners = new WeakMap<Uint8Array, SharedArrayBuffer>();

/**
 * The same memory as an ordinary buffer, where it can be had: V8 copies to and from shared ones word by word, at a third
 * of the speed.
 */
function unshared(bytes: Uint8Array): Uint8Array {
  const { buffer } = bytes;
  if (!(buffer instanceof SharedArrayBuffer) || nativeHost() === undefined) return bytes;
  const view = viewOf(addressOf(bytes), bytes.length);
  owners.set(view, buffer);
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
