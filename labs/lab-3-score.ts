// Lab 3: what the receiver gives points for, and the table that it prints.

/** One thing that a sender has to get right. */
interface Item {
  readonly points: number;
  readonly what: string;
  /** Where to look when it went wrong: a step of lab-3-sender.ts. */
  readonly step: string;
}

const RUBRIC = {
  connect: { points: 10, what: 'connects by rdma_cm', step: 'steps 1 to 3' },
  file: { points: 15, what: 'MSG_FILE says what comes', step: 'step 4' },
  bounds: { points: 10, what: 'touches no other memory than MSG_REGION names', step: 'step 6' },
  done: { points: 15, what: 'MSG_DONE says that all is written', step: 'step 7' },
  write: { points: 20, what: 'RDMA WRITE fills the region', step: 'step 6' },
  hash: { points: 10, what: 'writes what it announced', step: 'steps 4 and 6' },
  id: { points: 10, what: 'MSG_ID says who it was', step: 'steps 8 and 9' },
  goodbye: { points: 10, what: 'takes the key, then disconnects first', step: 'steps 10 and 11' },
} as const satisfies Readonly<Record<string, Item>>;

export type ItemName = keyof typeof RUBRIC;

/** What came out of one item: undefined until something has. */
type Outcome = { readonly right: boolean; readonly note: string } | undefined;

const NUMBER_WIDTH = 3;

/** Points and reasons, as they come up. */
export class ScoreSheet {
  readonly #outcomes = new Map<ItemName, Outcome>();

  /** @param note what was seen, for the table */
  award(item: ItemName, note: string): void {
    this.#outcomes.set(item, { right: true, note });
  }

  /** Takes the points, also those that were given before. @param sentence why, without its full stop */
  deny(item: ItemName, sentence: string): void {
    this.#outcomes.set(item, { right: false, note: `${sentence} (${RUBRIC[item].step})` });
  }

  get total(): number {
    return this.#items().reduce((sum, [name, { points }]) => sum + (this.#right(name) ? points : 0), 0);
  }

  get most(): number {
    return this.#items().reduce((sum, [, { points }]) => sum + points, 0);
  }

  /** A line an item, and the grade. */
  toString(): string {
    const lines = this.#items().map(([name, { points, what }]) => {
      const got = String(this.#right(name) ? points : 0).padStart(NUMBER_WIDTH);
      return `${got} / ${points}  ${what}: ${this.#outcomes.get(name)?.note ?? 'not reached'}`;
    });
    return [...lines, `grade: ${this.total} of ${this.most}`].join('\n');
  }

  #right(item: ItemName): boolean {
    return this.#outcomes.get(item)?.right === true;
  }

  #items(): [ItemName, Item][] {
    // Object.entries forgets the names of the properties.
    return Object.entries(RUBRIC) as [ItemName, Item][];
  }
}
