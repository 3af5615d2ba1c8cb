/** Lists of numbers, which may be as long as a capture. */

/** Of nothing -Infinity, as Math.max has it, which cannot be asked about as many numbers as a capture has packets. */
export const greatest = (numbers: readonly number[]): number =>
  numbers.reduce((most, number) => (number > most ? number : most), -Infinity);

/** Where the first of some sorted numbers stands that is not less than one. */
export function lowerBound(sorted: readonly number[], least: number): number {
  let [from, to] = [0, sorted.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (sorted[middle] < least) from = middle + 1;
    else to = middle;
  }
  return from;
}
