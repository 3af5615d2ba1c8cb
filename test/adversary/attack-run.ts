import { Choices } from '../fuzz/random.js';
import { type Attack, attacks, knowerWords } from './attacks/index.js';
import { type Goal, goalWords, Judge } from './judge.js';
import { Knowledge } from './knowledge.js';
import { Testbed } from './testbed.js';

/** There, on to whom it concerns, and back. */
const ROUND_TRIP_US = 17;
/** Attempts after which the friend must still get through, and the program looks at who wants to talk to it. */
const CALM_INTERVAL = 5000;
const TESTBED_SEED = 0x5ce7e;
/** Attempts of a stranger between two looks, and how many of a hundred rounds are a stranger's. */
const BURST = 32;
const OUTSIDE_PERCENT = 20;

export interface Tally {
  attempts: number;
  /** How many successes luck alone would have given: the sum of the chances that all guesses were right. */
  luck: number;
}

/** Somebody reached a goal. */
export class Breach extends Error {
  override readonly name = 'Breach';

  /** @param suspects what was tried since the last look */
  constructor(
    readonly suspects: readonly Attack[],
    readonly goals: readonly Goal[],
    attempt: number,
  ) {
    const [{ knower }] = suspects;
    const what = goals.map((goal) => goalWords[goal]).join(', ');
    const names = [...new Set(suspects.map(({ name }) => `'${name}'`))].join(' or ');
    super(`attempt ${attempt}: a ${knower} (who ${knowerWords[knower]}) could ${what}, by ${names}`);
  }
}

/** Attacks of which some are tried more often than others. */
class Choice {
  /** Where each ends on a line as long as all weights. */
  readonly #ends: readonly number[];
  readonly #length: number;

  constructor(private readonly all: readonly Attack[]) {
    let end = 0;
    this.#ends = all.map(({ weight = 1 }) => (end += weight));
    this.#length = end;
  }

  draw(choices: Choices): Attack {
    const place = (choices.below(2 ** 24) / 2 ** 24) * this.#length;
    return this.all[this.#ends.findIndex((end) => place < end)];
  }
}

const fromOutside = new Choice(attacks.filter(({ knower }) => knower === 'stranger'));
const fromWithin = new Choice(attacks.filter(({ knower }) => knower !== 'stranger'));

/** An adversary that tries everything, one after the other, and a judge that looks on. */
export class AttackRun {
  attempts = 0;
  readonly tallies = new Map<Attack, Tally>(attacks.map((attack) => [attack, { attempts: 0, luck: 0 }]));
  readonly #testbed: Testbed;
  readonly #judge: Judge;
  readonly #knowledge: Knowledge;
  #calmAt = CALM_INTERVAL;

  constructor(seed: number) {
    this.#knowledge = new Knowledge(new Choices(seed), false);
    this.#testbed = new Testbed(new Choices(seed ^ TESTBED_SEED));
    this.#judge = new Judge(this.#testbed, false);
  }

  get done(): number {
    return this.attempts;
  }

  /** @throws Breach when an attempt comes to anything @throws Error when the friend does not get through any more */
  run(attempts: number): void {
    const end = this.attempts + attempts;
    while (this.attempts < end) {
      const { choices } = this.#knowledge;
      const outside = choices.chance(OUTSIDE_PERCENT);
      // What a guest does may end its connection, so that each attempt is by itself; a stranger has nothing to lose.
      const count = outside ? Math.min(BURST, end - this.attempts) : 1;
      this.#try(Array.from({ length: count }, () => (outside ? fromOutside : fromWithin).draw(choices)));
      if (this.attempts >= this.#calmAt) this.#calm();
    }
    this.#calm();
  }

  #try(chosen: readonly Attack[]): void {
    const knowledge = this.#knowledge;
    for (const attack of chosen) {
      knowledge.odds = 1;
      fire(this.#testbed, this.#judge, attack, knowledge);
      this.attempts += 1;
      const tally = this.tallies.get(attack);
      if (tally === undefined) continue;
      tally.attempts += 1;
      if (knowledge.odds < 1) tally.luck += knowledge.odds;
    }
    const goals = outcome(this.#testbed, this.#judge);
    if (goals.length > 0) throw new Breach(chosen, goals, this.attempts);
  }

  #calm(): void {
    this.#calmAt = this.attempts + CALM_INTERVAL;
    this.#testbed.conversations.refuseStrangers();
    this.#testbed.settle(ROUND_TRIP_US);
    this.#testbed.friends.exchange(this.#testbed.cluster);
    this.#judge.settle();
  }
}

/** The same by an insider, before a judge who lets nothing pass. */
export class Insider {
  #testbed: Testbed | undefined;
  #judge: Judge | undefined;

  constructor(private readonly seed: number) {}

  /** @returns what an attack comes to */
  attempt(attack: Attack): Goal[] {
    const testbed = this.#testbed ?? new Testbed(new Choices(this.seed));
    const judge = this.#judge ?? new Judge(testbed, true);
    fire(testbed, judge, attack, new Knowledge(new Choices(this.seed), true));
    const goals = outcome(testbed, judge);
    // What is done to connections of the insider's own can be put right; what to others, cannot.
    const reusable = attack.knower === 'key holder' && !goals.includes('close');
    if (reusable) {
      // It may have left off in the midst of a message.
      testbed.renew(true);
      judge.settle();
      testbed.victimMemory.restore();
    }
    [this.#testbed, this.#judge] = reusable ? [testbed, judge] : [undefined, undefined];
    return goals;
  }
}

function fire(testbed: Testbed, judge: Judge, attack: Attack, knowledge: Knowledge): void {
  judge.replaying = attack.knower === 'witness';
  attack.fire(testbed, knowledge);
}

function outcome(testbed: Testbed, judge: Judge): Goal[] {
  testbed.settle(ROUND_TRIP_US);
  const goals = judge.reached();
  judge.settle();
  return goals;
}
