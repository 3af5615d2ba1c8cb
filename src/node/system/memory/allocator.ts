import { requireNativeHost } from '../native.js';

const M_TRIM_THRESHOLD = -1;
const NEVER = 2 ** 31 - 1;

/**
 * Has the C library's allocator give no memory back to the system from the ends of its arenas. At the first time glibc would open a file
 * of `/proc` for that, while it holds the arena's lock: a thread whose calls are answered by another of the same process must not do so.
 */
export function keepArenas(): void {
  requireNativeHost().libc.mallopt(M_TRIM_THRESHOLD, NEVER);
}
