import type { WcOpcode, WcStatus } from '../../src/device/ibta/index.js';
import type { Stretch } from './space.js';

export interface Change {
  readonly offset: number;
  readonly bytes: Uint8Array;
}

/** A request that was posted, and what must come of it. */
export interface Operation {
  readonly wrId: bigint;
  readonly name: string;
  readonly signalled: boolean;
  readonly opcode: WcOpcode;
  readonly byteLen: number;
  /** The status it must end with, unless the connection ends first. */
  readonly status: WcStatus;
  /** What it does to the peer's target memory. */
  readonly change?: Change;
  readonly landing?: Stretch;
  /** What it must bring back; of a READ, as of the moment it was posted. */
  readonly content?: Uint8Array;
  /** Where in the target a READ reads; undefined when it reads memory that nobody changes. */
  readonly readsTarget?: number;
  /** Adds one to the counter that flows share. */
  readonly shared?: boolean;
  /** Waits for the READs and atomics before it. */
  readonly fenced: boolean;
  readonly postedUs: number;
  /** To be called once it has taken effect. */
  readonly done?: () => void;
}

/**
 * Whether a READ may have brought these bytes: each as at its posting, or as a later request made it, up to the first one that
 * is fenced (protocol/reliable.md 2.7).
 */
export function isPossibleRead(read: Operation, actual: Uint8Array, later: readonly Operation[]): boolean {
  const { content, readsTarget } = read;
  if (content === undefined) return true;
  if (Buffer.compare(actual, content) === 0) return true;
  if (readsTarget === undefined) return false;
  const fence = later.findIndex(({ fenced }) => fenced);
  const meanwhile = fence < 0 ? later : later.slice(0, fence);
  return actual.every(
    (byte, i) =>
      byte === content[i] ||
      meanwhile.some(({ change }) => change !== undefined && gives(change, readsTarget + i, byte)),
  );
}

/** Whether a change leaves `byte` at `offset`. */
export function gives({ offset, bytes }: Change, at: number, byte: number): boolean {
  const i = at - offset;
  return i >= 0 && i < bytes.length && bytes[i] === byte;
}
