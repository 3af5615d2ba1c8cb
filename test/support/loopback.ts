/**
 * Loopback addresses and IPv4 groups that no other process uses, so that test files, and whole runs of the tests, go on
 * side by side on one machine. A process that a test starts is told its addresses: it has none of these by itself.
 */
import { threadId } from 'node:worker_threads';

/**
 * 127.128.0.0/9 is for these: 2^15 networks of 256 addresses, as many as Linux gives process numbers by default (proc(5),
 * pid_max). Devices that are given no address choose 127.0.0.x, the conformance suite has 127.64.0.0/10, and benchmarks
 * have 127.91 and 127.92.
 */
const FIRST_NET = 128;
const NETS = 1 << 15;
/** Threads of a process have their networks far apart, and away from those of the processes started next. */
const NETS_PER_THREAD = 4099;

const place = (process.pid + threadId * NETS_PER_THREAD) % NETS;
const HIGH = FIRST_NET + (place >> 8);
const LOW = place & 0xff;

/** The network of this process: the first three numbers of its addresses. */
export const NET = `127.${HIGH}.${LOW}`;

/** Address `n` of this process, 1 to 254. */
export function loopback(n: number): string {
  return `${NET}.${n}`;
}

/** IPv4 group `n` of this process, 0 to 255. */
export function loopbackGroup(n: number): string {
  return `239.${HIGH}.${LOW}.${n}`;
}

/** Long enough for any machine; a test that needs so long for its address has found a bug. */
const PATIENCE_MS = 30_000;

/** Opens what may be open at somebody else's for a moment: of IPv6 loopback addresses there is one only. */
export function openWhenFree<T>(open: () => T): T {
  const begun = performance.now();
  for (;;) {
    try {
      return open();
    } catch (error) {
      const taken = error instanceof Error && 'errno' in error && error.errno === 'EADDRINUSE';
      if (!taken || performance.now() - begun > PATIENCE_MS) throw error;
    }
  }
}
