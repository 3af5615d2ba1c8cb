import { nativeHost } from '../native.js';

/**
 * Offers the processor to whichever other thread waits for it; returns at once when none does (0.25 µs). For loops that
 * look again and again, so that they do not keep from its work what they look for. Does nothing without native calls.
 */
export function yieldProcessor(): void {
  nativeHost()?.libc.schedYield();
}
