import { check } from '../../../../../../test/sim/failure.js';
import type { AtomicName } from '../../../rma/rma-end.js';

const BITS = 64;
/** Values that are followed: of a word about which less is known nothing is said until it was seen. */
const MOST_VALUES = 4096;

/** What an atomic came to. */
export interface Fate {
  isCertain: boolean;
  /** What was there, where that was asked. */
  found: bigint | undefined;
}

interface Change extends Fate {
  readonly name: AtomicName;
  readonly value: bigint;
  readonly compare: bigint | undefined;
}

const CHANGES: Readonly<Record<AtomicName, (word: bigint, value: bigint, compare: bigint | undefined) => bigint>> = {
  add: (word, value) => BigInt.asUintN(BITS, word + value),
  and: (word, value) => word & value,
  or: (word, value) => word | value,
  xor: (word, value) => word ^ value,
  swap: (_, value) => value,
  compareSwap: (word, value, compare) => (word === compare ? value : word),
};

/** A word that is changed by one user, in the order in which that is asked for. */
export class WordBook {
  readonly #changes: Change[] = [];

  constructor(private readonly name: string) {}

  change(name: AtomicName, value: bigint, compare: bigint | undefined): Fate {
    const change = { name, value, compare, isCertain: false, found: undefined };
    this.#changes.push(change);
    return change;
  }

  /** @param last what is there in the end; undefined where that cannot be seen. @param isBroken what was handed over may not have come */
  verify(last: bigint | undefined, isBroken: boolean): void {
    let values: Set<bigint> | undefined = new Set([0n]);
    for (const { name, value, compare, isCertain, found } of this.#changes) {
      const changed = (word: bigint): bigint => CHANGES[name](word, value, compare);
      if (found !== undefined) {
        this.#check(values, found, `${name} has found`);
        values = new Set([changed(found)]);
      } else if (values !== undefined) {
        const after: readonly bigint[] = [...values].map(changed);
        values = new Set(isCertain && !isBroken ? after : [...values, ...after]);
        if (values.size > MOST_VALUES) values = undefined;
      }
    }
    if (last !== undefined) this.#check(values, last, 'there is in the end');
  }

  #check(values: ReadonlySet<bigint> | undefined, found: bigint, what: string): void {
    check(values === undefined || values.has(found), () => {
      return `${this.name}: ${what} ${found}, and it is one of ${[...(values ?? [])].join(', ')}`;
    });
  }
}

interface Addition extends Fate {
  readonly by: number;
  readonly amount: number;
}

/** A word that all add to: each addition happens once, and finds what another has left. */
export class SumBook {
  readonly #additions: Addition[] = [];

  constructor(private readonly name: string) {}

  add(by: number, amount: number): Fate {
    const addition = { by, amount, isCertain: false, found: undefined };
    this.#additions.push(addition);
    return addition;
  }

  /** @param isBroken whether what a user has handed over may not have come */
  verify(last: bigint | undefined, isBroken: (by: number) => boolean): void {
    this.#verifyFound();
    if (last === undefined) return;
    let sums = new Set([0]);
    for (const { by, amount, isCertain, found } of this.#additions) {
      const isSure = found !== undefined || (isCertain && !isBroken(by));
      const after = [...sums].map((sum) => sum + amount);
      sums = new Set(isSure ? after : [...sums, ...after]);
    }
    check(sums.has(Number(last)), () => `${this.name} is ${last}, which is no sum of what was added`);
  }

  /** What was found and what was left of one is not what another has found and left. */
  #verifyFound(): void {
    const found = this.#additions.flatMap((one) => (one.found === undefined ? [] : [{ ...one, found: one.found }]));
    found.sort((a, b) => Number(a.found - b.found));
    for (const [i, { found: at }] of found.entries()) {
      if (i === 0) continue;
      const before = found[i - 1];
      const end = before.found + BigInt(before.amount);
      check(end <= at, () => `${this.name}: ${before.amount} was added at ${before.found}, and something at ${at}`);
    }
  }
}
