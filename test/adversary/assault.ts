import { Choices } from '../fuzz/random.js';
import { type Attack, attacks, knowerWords } from './attacks/index.js';
import { type Goal, goalWords, Judge } from './judge.js';
import { Mind } from './mind.js';
import { Scene } from './scene.js';

/** There, on to whom it concerns, and back. */
const ROUND_TRIP_US = 17;
/** Attempts after which the friend must still get through, and the program looks at who wants to talk to it. */
const CALM_INTERVAL = 5000;
const SEED_OF_SCENE = 0x5ce7e;
/** Attempts of a stranger between two looks, and how many of a hundred rounds are a stranger's. */
const VOLLEY = 32;
const OUTSIDE_PERCENT = 20;

/** What became of one kind of attack. */
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
export class Assault {
  attempts = 0;
  readonly tallies = new Map<Attack, Tally>(attacks.map((attack) => [attack, { attempts: 0, luck: 0 }]));
  readonly #scene: Scene;
  readonly #judge: Judge;
  readonly #mind: Mind;
  #calmAt = CALM_INTERVAL;

  constructor(seed: number) {
    this.#mind = new Mind(new Choices(seed), false);
    this.#scene = new Scene(new Choices(seed ^ SEED_OF_SCENE));
    this.#judge = new Judge(this.#scene, false);
  }

  /** @throws Breach when an attempt comes to anything @throws Error when the friend does not get through any more */
  run(attempts: number): void {
    const end = this.attempts + attempts;
    while (this.attempts < end) {
      const { choices } = this.#mind;
      const outside = choices.chance(OUTSIDE_PERCENT);
      // What a guest does may end its connection, so that each attempt is by itself; a stranger has nothing to lose.
      const count = outside ? Math.min(VOLLEY, end - this.attempts) : 1;
      this.#try(Array.from({ length: count }, () => (outside ? fromOutside : fromWithin).draw(choices)));
      if (this.attempts >= this.#calmAt) this.#calm();
    }
    this.#calm();
  }

  #try(chosen: readonly Attack[]): void {
    const mind = this.#mind;
    for (const attack of chosen) {
      mind.odds = 1;
      fire(this.#scene, this.#judge, attack, mind);
      this.attempts += 1;
      const tally = this.tallies.get(attack);
      if (tally === undefined) continue;
      tally.attempts += 1;
      if (mind.odds < 1) tally.luck += mind.odds;
    }
    const goals = outcome(this.#scene, this.#judge);
    if (goals.length > 0) throw new Breach(chosen, goals, this.attempts);
  }

  #calm(): void {
    this.#calmAt = this.attempts + CALM_INTERVAL;
    this.#scene.conversations.refuseStrangers();
    this.#scene.settle(ROUND_TRIP_US);
    this.#scene.friends.exchange(this.#scene.cluster);
    this.#judge.settle();
  }
}

/** The same by an insider, before a judge who lets nothing pass. */
export class Insider {
  #scene: Scene | undefined;
  #judge: Judge | undefined;

  constructor(private readonly seed: number) {}

  /** @returns what an attack comes to */
  attempt(attack: Attack): Goal[] {
    const scene = this.#scene ?? new Scene(new Choices(this.seed));
    const judge = this.#judge ?? new Judge(scene, true);
    fire(scene, judge, attack, new Mind(new Choices(this.seed), true));
    const goals = outcome(scene, judge);
    // What is done to connections of the insider's own can be put right; what to others, cannot.
    const reusable = attack.knower === 'key holder' && !goals.includes('close');
    if (reusable) {
      // It may have left off in the midst of a message.
      scene.renew(true);
      judge.settle();
      scene.estate.restore();
    }
    [this.#scene, this.#judge] = reusable ? [scene, judge] : [undefined, undefined];
    return goals;
  }
}

function fire(scene: Scene, judge: Judge, attack: Attack, mind: Mind): void {
  judge.replaying = attack.knower === 'witness';
  attack.fire(scene, mind);
}

function outcome(scene: Scene, judge: Judge): Goal[] {
  scene.settle(ROUND_TRIP_US);
  const goals = judge.reached();
  judge.settle();
  return goals;
}
