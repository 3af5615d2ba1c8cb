/** Chooses keys by their numbers, from 0 up to how many there are. */
export type Chooser = () => number;

/** Each as often as any other. */
export function uniform(keys: number, random: () => number): Chooser {
  return () => Math.floor(random() * keys);
}

/**
 * The key of number i - 1 in proportion to 1 / i^theta: few keys are asked for often, and most seldom. By the method of Gray, Sundaresan, Englert, Baclawski and
 * Weinberger, "Quickly generating billion-record synthetic databases", SIGMOD 1994, figure 8, which YCSB has as well.
 *
 * @param theta 0 to 1, without 1; YCSB and HERD have 0.99
 */
export function zipf(keys: number, theta: number, random: () => number): Chooser {
  const zetaOfKeys = zeta(keys, theta);
  const alpha = 1 / (1 - theta);
  const eta = (1 - (2 / keys) ** (1 - theta)) / (1 - zeta(Math.min(2, keys), theta) / zetaOfKeys);
  const second = 1 + 0.5 ** theta;
  return () => {
    const u = random();
    const share = u * zetaOfKeys;
    if (share < 1 || keys === 1) return 0;
    if (share < second || keys === 2) return 1;
    return Math.min(keys - 1, Math.floor(keys * (eta * u - eta + 1) ** alpha));
  };
}

/** The sum of 1 / i^theta for i from 1 to n. */
export function zeta(n: number, theta: number): number {
  let sum = 0;
  for (let i = 1; i <= n; i += 1) sum += 1 / i ** theta;
  return sum;
}
