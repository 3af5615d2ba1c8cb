import { NativeBlock } from '../memory/memory.js';
import { nativeHost } from '../native.js';

/** Bytes of a set of processors: up to 1,024 of them, as in the C library. */
const SET_BYTES = 128;

const allowed = new Uint8Array(SET_BYTES);
const others = new Uint8Array(SET_BYTES);
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

/**
 * Offers the processor to whichever other thread waits for it; returns at once when none does (0.25 µs). For loops that
 * look again and again, so that they do not keep from its work what they look for. Does nothing without native calls.
 */
export function yieldProcessor(): void {
  nativeHost()?.libc.schedYield();
}

/** Numbers of the calls, by Node's name of the processor. */
const CALLS: Readonly<Record<string, { readonly set: number; readonly get: number } | undefined>> = {
  x64: { set: 314, get: 315 },
  arm64: { set: 274, get: 275 },
};

/** Offsets in `struct sched_attr`. */
const Attr = { SIZE: 0, POLICY: 4, RUNTIME: 24, BYTES: 48 } as const;
const NORMAL = 0;

/**
 * Has the kernel give the calling thread the processor for so long at a time (sched_setattr(2), `sched_runtime`). A thread with a
 * shorter slice than that which runs goes before it as soon as it is woken, and is not interrupted by those that it wakes; its
 * share of the processor stays what it was.
 *
 * @param us 100 to 100,000
 * @returns whether it does: kernels before 6.12, and other policies than the usual one, know no such wish
 */
export function setTimeSlice(us: number): boolean {
  const calls = CALLS[process.arch];
  const libc = nativeHost()?.libc;
  if (calls === undefined || libc === undefined) return false;
  const attr = new NativeBlock(Attr.BYTES);
  // What else is set stays as it is.
  if (libc.syscall(calls.get, 0, attr.address, Attr.BYTES, 0) < 0) return false;
  if (attr.words[Attr.POLICY >> 2] !== NORMAL) return false;
  attr.putPointer(Attr.RUNTIME, us * 1000);
  if (libc.syscall(calls.set, 0, attr.address, 0, 0) < 0) return false;
  return libc.syscall(calls.get, 0, attr.address, Attr.BYTES, 0) === 0 && attr.getPointer(Attr.RUNTIME) === us * 1000;
}
