/** Time in a unit that suits it: `640 µs`, `12.3 ms`, `0.47 s`, `12 s`. */
export function formatMicroseconds(us: number): string {
  if (us < 1000) return `${Number(us.toPrecision(3))} µs`;
  if (us < 100_000) return `${Number((us / 1000).toPrecision(3))} ms`;
  return us < 10_000_000 ? `${Number((us / 1e6).toPrecision(2))} s` : `${Math.round(us / 1e6)} s`;
}
