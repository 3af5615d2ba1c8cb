/** Whether a copy that a packet needs has ended. */
export const CopyStatus = {
  READY: 0,
  /** The copy finishes later. The packet waits, and the queue pair takes it up again once the copy has ended. */
  LATER: 1,
  /** The memory cannot be copied; `DataMover.syndrome` has the reason. */
  FAILED: 2,
} as const;
export type CopyStatus = (typeof CopyStatus)[keyof typeof CopyStatus];

/** What a copier gives in place of a number of bytes: the copy goes on by itself, and {@link Copy.finish} tells of its end. */
export const LATER = -1;

/**
 * Memory that the NIC reaches by copies only: that of another process, or of another device. A copy may fail at any byte, and
 * may finish later.
 *
 * Each copier goes in ascending order, the last byte last, and says how many bytes it has copied: fewer than it was asked for
 * means that the next one is not there (a fault). One that has given {@link LATER} calls `copy.finish` with that number once,
 * from outside of the NIC, and from then on leaves the buffer alone. Eight bytes at a multiple of eight are stored at once
 * wherever the memory can do that. No copier throws.
 */
export interface ForeignMemory {
  readonly lengthBytes: number;

  /** Whether a copy that falls short is the failure of a device, and not a byte that is not there. */
  readonly isOfDevice?: boolean;

  /** What the driver of that device has said last of what went wrong: its number of it. */
  readonly failure?: number;

  /** Who is given time for copies that finish later; absent where they need none. */
  readonly progress?: CopyProgress | undefined;

  /** Copies `lengthBytes` at `offset` into `target`, from `targetOffset` on. */
  read(offset: number, target: Uint8Array, targetOffset: number, lengthBytes: number, copy: Copy): number;

  /** Copies `lengthBytes` of `source`, from `sourceOffset` on, to `offset`. */
  write(offset: number, source: Uint8Array, sourceOffset: number, lengthBytes: number, copy: Copy): number;

  /**
   * Changes the 64-bit word at `offset` as {@link atomicResult} says, so that no other copy of this NIC comes between, and
   * puts the value found into `found`, as it lay in memory (little-endian).
   *
   * @returns 8, fewer (nothing has changed then), or {@link LATER}
   */
  atomic(offset: number, operation: AtomicOperation, found: Uint8Array, copy: Copy): number;

  /** Gives up a copy that is to finish later: neither the memory nor the buffer is touched after this returns, nor `copy` told. */
  cancel(copy: Copy): void;

  /** It is the memory of this region no more, and no copy is under way: nothing is asked of it after that. */
  close?(): void;
}

/** Whoever carries out copies of one or several memories, as long as one is under way. */
export interface CopyProgress {
  /** Whether nobody tells when a copy has ended but {@link poll}, which is called in each turn then. */
  readonly needsPolling: boolean;

  /** Calls `finish` for the copies that have ended. */
  poll(): void;

  /** Has what was asked for in this turn begin, if it did not at once. */
  submit(): void;
}

/** A copy, as whoever carries it out knows it. */
export interface Copy {
  /** It has ended after so many bytes. The NIC takes note, and acts on it in its next turn. */
  finish(copiedBytes: number): void;
}

/** What an atomic does to a word. */
export interface AtomicOperation {
  /** COMPARE_SWAP: what the word must be to be replaced. Undefined for FETCH_ADD. */
  readonly compare: bigint | undefined;
  /** What is added, or put in its place. Unsigned. */
  readonly operand: bigint;
}

/** What the word becomes that an atomic finds as `found`; all of them are unsigned. */
export function atomicResult({ compare, operand }: AtomicOperation, found: bigint): bigint {
  if (compare === undefined) return BigInt.asUintN(64, found + operand);
  return compare === found ? operand : found;
}
