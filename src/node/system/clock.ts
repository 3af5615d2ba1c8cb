import { performance } from 'node:perf_hooks';

/** Microseconds since the thread's start. Monotonic; threads do not share the zero. */
export function nowUs(): number {
  return performance.now() * 1000;
}

/** Nanoseconds since 1970, as capture files count them; follows the monotonic clock, with its resolution. */
export function wallClockNs(): bigint {
  return BigInt(Math.round((performance.timeOrigin + performance.now()) * 1000)) * 1000n;
}
