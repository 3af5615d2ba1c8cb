import {
  type LocatedMemory,
  locateInThread,
  MEMORY_REMEDY,
  refuseResizable,
  SyntheticAddresses,
} from '../../providers/soft/index.js';
import type { BytesRef } from '../../device/adapter/index.js';
import type { DeviceMemoryPlace } from '../../device/ibta/index.js';
import { CommandError, type ForeignMemory } from '../../device/nic/index.js';
import { isGpuPlace, reachGpuMemory } from '../gpu/index.js';
import { addressOf, canNailDown, isShared, nailDown, nativeHost, viewOf } from '../system/index.js';

/** Takes sentences about what does not work as it should. */
type Warn = (text: string) => void;

const synthetic = new SyntheticAddresses();

function publicAddress(bytes: Uint8Array): bigint {
  return BigInt(nativeHost() === undefined ? synthetic.of(bytes) : addressOf(bytes));
}

/** Memory for an adapter in this thread. @throws CommandError EINVAL for memory that can shrink */
export function locateHere(bytes: Uint8Array): LocatedMemory {
  const address = publicAddress(bytes);
  // Shared memory never shrinks, and to ask the language whether it may is an exception there, which takes longer than all else of a registration.
  return isShared(bytes.buffer) ? { address, memory: { kind: 'view', bytes } } : locateInThread(bytes, address);
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
 * @param isKept whether the NIC ends before this thread does
 * @throws CommandError EINVAL for memory that can shrink; EOPNOTSUPP for what cannot be kept in place
 */
export function locateAcrossThreads(bytes: Uint8Array, isKept: boolean): LocatedMemory {
  const { buffer, byteOffset, length: lengthBytes } = bytes;
  if (isShared(buffer))
    return { address: publicAddress(bytes), memory: { kind: 'shared', buffer, byteOffset, lengthBytes } };
  refuseResizable(bytes);
  const problem = isKept
    ? problemAcrossThreads(buffer)
    : 'memory of this thread goes with it, at any moment, and the NIC lives on';
  if (problem !== undefined) throw new CommandError('EOPNOTSUPP', `${problem}: ${MEMORY_REMEDY}`);
  const address = publicAddress(bytes);
  return { address, memory: { kind: 'address', address, lengthBytes } };
}

/**
 * Reaches memory of a device for an adapter of this thread.
 *
 * @param warn told of what goes wrong there, for people
 * @throws CommandError EOPNOTSUPP when it cannot be reached; EIO when its driver fails
 */
export function reachMemory(place: DeviceMemoryPlace, warn: Warn): ForeignMemory {
  if (isGpuPlace(place)) return reachGpuMemory(place, warn);
  throw new CommandError('EOPNOTSUPP', `nobody here knows memory of the kind '${place.kind}'`);
}

/** Keeps shared memory alive for as long as what {@link unshared} made of it is, or any view of that. */
const owners = new WeakMap<ArrayBufferLike, SharedArrayBuffer>();
/** What it made of all of a shared buffer; undefined for one that was registered once. */
const wholes = new WeakMap<SharedArrayBuffer, ArrayBufferLike | undefined>();

/**
 * The same memory as an ordinary buffer, where it can be had: V8 copies to and from shared ones word by word, at a third
 * of the speed. From the second registration of a buffer on, one ordinary buffer serves all of them: to make it, and to collect it, takes longer than all else of
 * a registration. A NIC's thread gets a shared buffer as another object each time, and V8 collects garbage as often as buffers that are made there are large: it
 * gets what is registered alone.
 */
function unshared(bytes: Uint8Array): Uint8Array {
  const { buffer, byteOffset, length } = bytes;
  if (!isShared(buffer) || nativeHost() === undefined) return bytes;
  let whole = wholes.get(buffer);
  if (!wholes.has(buffer)) {
    wholes.set(buffer, undefined);
    return new Uint8Array(ordinary(buffer, addressOf(bytes), length));
  }
  // Shared memory may have grown since.
  if (whole === undefined || whole.byteLength < byteOffset + length) {
    whole = ordinary(buffer, addressOf(buffer), buffer.byteLength);
    wholes.set(buffer, whole);
  }
  return new Uint8Array(whole, byteOffset, length);
}

function ordinary(owner: SharedArrayBuffer, address: number, length: number): ArrayBufferLike {
  const { buffer } = viewOf(address, length);
  owners.set(buffer, owner);
  return buffer;
}

/** The adapter's side: the bytes that a reference stands for. */
export function resolveMemory(memory: BytesRef): Uint8Array {
  switch (memory.kind) {
    case 'view':
      return unshared(memory.bytes);
    case 'shared':
      return unshared(new Uint8Array(memory.buffer, memory.byteOffset, memory.lengthBytes));
    case 'address':
      return viewOf(Number(memory.address), memory.lengthBytes);
  }
}
