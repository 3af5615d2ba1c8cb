/** The words by which disturbance is asked for: those of `tc netem` (tc-netem(8)), as far as they mean something here. */
import { LinkError } from './link.js';
import { changedConditions, type LinkConditions, PERFECT_CONDITIONS } from './simulated/conditions.js';

export type NetemDirection = 'out' | 'in' | 'both';

/** What is to happen to the packets of a link; plain data. */
export interface NetemSettings {
  readonly conditions: LinkConditions;
  /** Packets that may be held back in one direction; more are dropped. */
  readonly limitPackets: number;
  readonly direction: NetemDirection;
  readonly seed: number;
  /** The words that give the same again, seed included. */
  readonly text: string;
}

export const NETEM_EXAMPLE = 'loss 1% dup 0.1% reorder 2% corrupt 0.1% delay 200us 50us rate 1gbit seed 7';

/** That of `tc netem`. */
const DEFAULT_LIMIT_PACKETS = 1000;
const MAX_SEED = 2 ** 32 - 1;

/** µs in a unit of time; a number without one is of µs, as for `tc`. */
const TIME_UNITS: ReadonlyMap<string, number> = new Map([
  ...['', 'us', 'usec', 'usecs'].map((unit) => [unit, 1] as const),
  ...['ms', 'msec', 'msecs'].map((unit) => [unit, 1000] as const),
  ...['s', 'sec', 'secs'].map((unit) => [unit, 1_000_000] as const),
]);

/** Bits per second in a unit of rate. */
const RATE_UNITS: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ['bit', 1],
  ['kbit', 1e3],
  ['mbit', 1e6],
  ['gbit', 1e9],
]);
const BITS_PER_SECOND_IN_BYTE_PER_US = 8_000_000;

type Unit = (text: string) => number | undefined;

function numberWith(units: ReadonlyMap<string, number>): Unit {
  return (text) => {
    const found = /^(\d+(?:\.\d+)?)([a-z]*)$/.exec(text.toLowerCase());
    const factor = found === null ? undefined : units.get(found[2]);
    return found === null || factor === undefined ? undefined : Number(found[1]) * factor;
  };
}

const time = numberWith(TIME_UNITS);
const bitRate = numberWith(RATE_UNITS);
const rate: Unit = (text) => (bitRate(text) === 0 ? undefined : bitRate(text));
const plain = numberWith(new Map([['', 1]]));

const percent: Unit = (text) => {
  const value = plain(text.replace(/%$/, ''));
  return value !== undefined && value <= 100 ? value / 100 : undefined;
};

const whole =
  (most: number): Unit =>
  (text) => {
    const value = plain(text);
    return value !== undefined && Number.isInteger(value) && value <= most ? value : undefined;
  };

function problem(why: string): LinkError {
  return new LinkError('EINVAL', `netem: ${why}`);
}

/** Reads the words one after the other. */
class Words {
  readonly #words: readonly string[];
  #at = 0;

  constructor(text: string) {
    this.#words = text.split(/\s+/).filter((word) => word !== '');
  }

  get count(): number {
    return this.#words.length;
  }

  next(): string | undefined {
    this.#at += 1;
    return this.#words.at(this.#at - 1);
  }

  /** @throws LinkError when there is none, or it is nothing of the kind */
  want(unit: Unit, what: string): number {
    const before = this.#words[this.#at - 1];
    const word = this.next();
    const value = word === undefined ? undefined : unit(word);
    if (value !== undefined) return value;
    throw problem(`${word === undefined ? 'nothing' : `'${word}'`} behind '${before}', where ${what} is expected`);
  }

  take(unit: Unit): number | undefined {
    const value = this.#at < this.#words.length ? unit(this.#words[this.#at]) : undefined;
    if (value !== undefined) this.#at += 1;
    return value;
  }

  skip(word: string): boolean {
    const found = this.#words[this.#at] === word;
    if (found) this.#at += 1;
    return found;
  }
}

const A_PERCENTAGE = 'a percentage from 0% to 100%';
const A_TIME = "a time such as '200us', '1.5ms' or '1s'";

/** What the words say: conditions that change, and the rest. */
type Draft = { -readonly [K in keyof Omit<NetemSettings, 'conditions' | 'text'>]?: NetemSettings[K] } & {
  changes: { -readonly [K in keyof LinkConditions]?: LinkConditions[K] };
};

function loss(words: Words, { changes }: Draft): void {
  if (words.skip('gemodel')) {
    const begin = words.want(percent, A_PERCENTAGE);
    const end = words.take(percent) ?? 1 - begin;
    if (end === 0) throw problem("a burst that never ends: the second percentage of 'loss gemodel' is to be above 0%");
    changes.loss = begin / (begin + end);
    changes.lossBurstPackets = 1 / end;
    return;
  }
  const burst = words.skip('burst');
  if (!burst) words.skip('random');
  changes.loss = words.want(percent, A_PERCENTAGE);
  if (!burst) return;
  const length = words.want(plain, 'the average length of a burst, in packets,');
  // Between two bursts one packet passes at least.
  const least = Math.max(1, changes.loss / (1 - changes.loss));
  if (length < least) throw problem(`bursts of ${length} packets cannot make that loss: ${least.toFixed(1)} at least`);
  changes.lossBurstPackets = length;
}

const duplicate = (words: Words, { changes }: Draft): void => {
  changes.duplication = words.want(percent, A_PERCENTAGE);
};

const towards =
  (direction: NetemDirection) =>
  (_words: Words, draft: Draft): void => {
    draft.direction = direction;
  };

const WORDS: ReadonlyMap<string, (words: Words, draft: Draft) => void> = new Map([
  ['loss', loss],
  ['duplicate', duplicate],
  ['dup', duplicate],
  [
    'reorder',
    (words, { changes }) => {
      changes.reordering = words.want(percent, A_PERCENTAGE);
      const heldUs = words.take(time);
      if (heldUs !== undefined) changes.reorderDelayUs = heldUs;
    },
  ],
  [
    'corrupt',
    (words, { changes }) => {
      changes.corruption = words.want(percent, A_PERCENTAGE);
    },
  ],
  [
    'delay',
    (words, { changes }) => {
      const delayUs = words.want(time, A_TIME);
      const jitterUs = words.take(time) ?? 0;
      // It goes both ways here, where conditions know what is added only.
      changes.delayUs = Math.max(0, delayUs - jitterUs);
      changes.jitterUs = delayUs + jitterUs - changes.delayUs;
    },
  ],
  [
    'rate',
    (words, { changes }) => {
      const bits = words.want(rate, "a rate such as '100mbit' or '2.5gbit'");
      changes.bandwidthBytesPerUs = bits / BITS_PER_SECOND_IN_BYTE_PER_US;
    },
  ],
  [
    'limit',
    (words, draft) => {
      draft.limitPackets = words.want(whole(MAX_SEED), 'a number of packets');
    },
  ],
  [
    'seed',
    (words, draft) => {
      draft.seed = words.want(whole(MAX_SEED), `a whole number up to ${MAX_SEED}`);
    },
  ],
  ['out', towards('out')],
  ['in', towards('in')],
  ['both', towards('both')],
]);

/**
 * Reads what is asked for.
 *
 * @param chooseSeed asked when the words name none
 * @returns undefined when there is no word
 * @throws LinkError `EINVAL` that names the word which was not understood
 */
export function parseNetem(text: string, chooseSeed: () => number): NetemSettings | undefined {
  const words = new Words(text);
  if (words.count === 0) return undefined;
  const draft: Draft = { changes: { delayUs: 0 } };
  for (let word = words.next(); word !== undefined; word = words.next()) {
    const read = WORDS.get(word);
    if (read === undefined) throw problem(`'${word}' is none of its words, which are ${[...WORDS.keys()].join(', ')}`);
    read(words, draft);
  }
  const { changes, limitPackets = DEFAULT_LIMIT_PACKETS, direction = 'out', seed = chooseSeed() } = draft;
  return {
    conditions: changedConditions(PERFECT_CONDITIONS, changes),
    limitPackets,
    direction,
    seed,
    text: draft.seed === undefined ? `${text.trim()} seed ${seed}` : text.trim(),
  };
}
