import { nativeHost } from '../native.js';

/** Bytes of a set of processors: up to 1,024 of them, as in the C library. */
const SET_BYTES = 128;

const allowed = new Uint8Array(SET_BYTES);
const others = new Uint8Array(SET_BYTES);
/** The calling thread. */
const SELF = 0;

/**
 * Has the calling thread go on on another processor than that on which it runs. It may come back afterwards, as the set of those that it
 * may use is what it was. Takes some 20 µs.
 *
 * @returns false when there is no other one that it may use, or nobody can tell
 */
export function leaveProcessor(): boolean {
  const libc = nativeHost()?.libc;
  if (libc === undefined || libc.schedGetaffinity(SELF, SET_BYTES, allowed) < 0) return false;
  const processor = libc.schedGetcpu();
  if (processor < 0 || processor >= SET_BYTES * 8) return false;
  others.set(allowed);
  others[processor >> 3] &= ~(1 << (processor & 7));
  // Refused for a set of none.
  if (libc.schedSetaffinity(SELF, SET_BYTES, others) < 0) return false;
  libc.schedSetaffinity(SELF, SET_BYTES, allowed);
  return true;
}
