import type { Kind } from './plan.js';

/** A part of the memory at both ends, for one request at a time, and what the model knows of it. */
export class Slot {
  isBusy = false;
  /** All that its bytes may be: more than one where a request has failed that may have come so far or not. */
  local: readonly Uint8Array[];
  remote: readonly Uint8Array[];

  constructor(
    readonly at: number,
    readonly lengthBytes: number,
    local: Uint8Array,
    remote: Uint8Array,
  ) {
    this.local = [local.slice(at, at + lengthBytes)];
    this.remote = [remote.slice(at, at + lengthBytes)];
  }
}

export interface Request {
  readonly wrId: bigint;
  readonly kind: Kind;
  readonly slot: Slot;
  /** Which bytes of the slot. */
  readonly offset: number;
  readonly lengthBytes: number;
  readonly localAfter: Uint8Array;
  readonly remoteAfter: Uint8Array;
}

/** A copy of bytes that is changed somewhere. */
export function changed(bytes: Uint8Array, offset: number, change: Uint8Array): Uint8Array {
  const result = bytes.slice();
  result.set(change, offset);
  return result;
}

/**
 * Where bytes are none of what they may be; undefined where there is no such place. Each byte may be another one's, since who
 * failed has come to any place.
 */
export function firstWrong(bytes: Uint8Array, at: number, candidates: readonly Uint8Array[]): number | undefined {
  const [{ length }] = candidates;
  for (let i = 0; i < length; i += 1)
    if (!candidates.some((candidate) => candidate[i] === bytes[at + i])) return at + i;
  return undefined;
}
