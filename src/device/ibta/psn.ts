/** Packet sequence numbers: 24 bits, modular (protocol/reliable.md 2.1). */
export const PSN_MASK = 0xffffff;

/** The PSN `n` places after `a`; `n` may be negative. */
export function psnAdd(a: number, n: number): number {
  return (a + n) & PSN_MASK;
}

export function psnNext(a: number): number {
  return (a + 1) & PSN_MASK;
}

/** How far `a` is ahead of `b`: -2^23 to 2^23 - 1, negative when `a` is behind. */
export function psnDiff(a: number, b: number): number {
  return ((a - b) << 8) >> 8;
}
