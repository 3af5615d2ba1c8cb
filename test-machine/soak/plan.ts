/** What is done to whom when, all from one seed. */
import { Choices } from '../../test/fuzz/random.js';
import type { Moment } from './protocol.js';

export type FaultKind = 'kill' | 'die' | 'stop' | 'slow' | 'squeeze' | 'address' | 'crowd' | 'terminate' | 'clock';

/** Something that can be done to a member of a lane. */
export interface Card {
  readonly lane: string;
  readonly member: string;
  readonly kind: FaultKind;
  /** Of a death by its own hand: in the midst of what. */
  readonly moment?: Moment;
}

export interface Fault extends Card {
  /** After the one before it. */
  readonly afterMs: number;
  /** How long it lasts, or how long the dead one stays away. */
  readonly lastsMs: number;
}

/** Between two faults on the average. */
const PAUSE_MS = 1500;

/** How long each lasts, at least and at most. */
const LASTS_MS: Readonly<Record<FaultKind, readonly [number, number]>> = {
  kill: [0, 1500],
  die: [0, 1500],
  // The retry time is about a second.
  stop: [4000, 6000],
  slow: [500, 3000],
  squeeze: [2000, 5000],
  address: [1500, 5000],
  crowd: [0, 0],
  terminate: [0, 1000],
  // Whoever looks at the clock only now and then must come to see it.
  clock: [3000, 8000],
};

/** Deals all cards in an order of chance, then all of them again. */
export class Planner {
  readonly #choices: Choices;
  #deck: Card[] = [];

  constructor(
    seed: number,
    private readonly cards: readonly Card[],
  ) {
    if (cards.length === 0) throw new Error('there is nothing to be done to anybody');
    this.#choices = new Choices(seed);
  }

  next(): Fault {
    if (this.#deck.length === 0) this.#deck = this.#shuffled();
    const card = this.#deck.pop() ?? this.cards[0];
    const [least, most] = LASTS_MS[card.kind];
    const afterMs = PAUSE_MS / 4 + this.#choices.below((PAUSE_MS * 3) / 2);
    return { ...card, afterMs, lastsMs: least + this.#choices.below(most - least + 1) };
  }

  #shuffled(): Card[] {
    const deck = [...this.cards];
    for (let i = deck.length - 1; i > 0; i -= 1) {
      const j = this.#choices.below(i + 1);
      [deck[i], deck[j]] = [deck[j], deck[i]];
    }
    return deck;
  }
}
