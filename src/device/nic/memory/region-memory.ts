import type { ForeignMemory } from './copying/foreign-memory.js';

/** Whether a buffer may grow, shrink and vanish under the views of it. Of any realm. */
export function isResizable(buffer: ArrayBufferLike): boolean {
  try {
    // Asked of the language: a property of the buffer's own could say anything. Shared memory has no such property.
    return Reflect.get(ArrayBuffer.prototype, 'resizable', buffer) === true;
  } catch {
    return false;
  }
}

/** What lets somebody copy: the grant of a peer's key, as long as that is open. */
export interface Permission {
  readonly open: boolean;
}

/** Whether a copy that fell short has failed by its device: nothing else of what it was made for has changed since. */
export function isOfDevice(region: RegionMemory, epoch: number, permission: Permission | undefined): boolean {
  return region.epoch === epoch && permission?.open !== false && region.foreign?.isOfDevice === true;
}

/** A copy under way that finishes later. */
export interface CopyUnderWay {
  /** By which key a peer has it made, if a peer has. */
  readonly permission: Permission | undefined;
  /** What it was to touch may not be touched any more. */
  fail(): void;
}

/** Memory of a region, as the data path touches it once keys and ranges were checked. */
export interface RegionMemory {
  /** Where it lies when it is not plain bytes: {@link bytes} is empty then. */
  readonly foreign: ForeignMemory | undefined;
  readonly lkey: number;
  /** Address of the first byte. */
  readonly iovaHi: number;
  readonly iovaLo: number;
  /** Whether there is nothing to read but zeros, and writes vanish. */
  readonly isNull: boolean;
  /** Whether its bytes are there to be copied at once: the fast case. */
  readonly isPlain: boolean;
  /** Changes whenever the region does: what was found out before means nothing any more. */
  readonly epoch: number;
  /** Those from and to {@link foreign} memory. */
  readonly copies: Set<CopyUnderWay>;
  /** Whether the memory is still there. */
  readonly present: boolean;
  readonly bytes: Uint8Array;
  /** {@link bytes} by words; empty when they are not aligned. */
  readonly words: Int32Array;
  /** For operands of atomics, which lie in memory in host byte order (protocol/packets.md 1.3). */
  readonly view: DataView;
  /** All of the buffer that {@link bytes} is in, by words of 64 bits: the widest that is stored at once. */
  readonly quadwords: BigInt64Array;
  /** Part of {@link bytes}. */
  part(offset: number, lengthBytes: number): Uint8Array;
}
