/** protocol/packets.md 1.4 (IBTA 9.7.5.2.8, table 45): RNR timer code to microseconds. */
const RNR_TIMER_US = [
  655360, 10, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480, 640, 960, 1280, 1920, 2560, 3840, 5120, 7680, 10240, 15360,
  20480, 30720, 40960, 61440, 81920, 122880, 163840, 245760, 327680, 491520,
] as const;

/** How long a requester waits after an RNR NAK with timer `code` (0 to 31; higher bits are ignored). */
export function rnrTimerUs(code: number): number {
  return RNR_TIMER_US[code & 31];
}

/** The ACK timeout of exponent 0 to 31: 4.096 µs · 2^exponent, and 0 waits for ever (IBTA 9.7.6.1.3). */
export function ackTimeoutUs(exponent: number): number {
  return exponent === 0 ? Infinity : 4.096 * 2 ** exponent;
}
