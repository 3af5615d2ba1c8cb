/** Numbers in words, and lists of numbers, which may be as long as a capture. */

/** `1 packet`, `2 packets`. */
export const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;

/** Of nothing -Infinity, as Math.max has it, which cannot be asked about as many numbers as a capture has packets. */
export function greatest(numbers: Iterable<number>): number {
  let most = -Infinity;
  for (const number of numbers) if (number > most) most = number;
  return most;
}

/** Where the first of some sorted numbers stands that is not less than one. */
export function lowerBound(sorted: ArrayLike<number>, least: number): number {
  let [from, to] = [0, sorted.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (sorted[middle] < least) from = middle + 1;
    else to = middle;
  }
  return from;
}
