import { check } from '../../../../../test/sim/failure.js';

export type SendFate = 'open' | 'sent' | 'taken back' | 'failed';

interface Entry {
  readonly bytes: Uint8Array;
  fate: SendFate;
}

const sameBytes = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;

/**
 * One direction of a connection: what was sent, in its order, and how far it has arrived. A message arrives once, whole and in its
 * turn. One that its sender took back, or that failed, may be missing; every other one may not.
 */
export class StreamBook {
  readonly #entries: Entry[] = [];
  /** How many may have had their turn: messages that are the same cannot be told apart. */
  #turns: readonly number[] = [0];
  delivered = 0;
  takenBack = 0;
  failed = 0;

  constructor(private readonly name: string) {}

  /** @param bytes which nobody changes. @returns tells the book what became of it */
  sends(bytes: Uint8Array): (fate: Exclude<SendFate, 'open'>) => void {
    const entry: Entry = { bytes, fate: 'open' };
    const number = this.#entries.push(entry);
    return (fate) => {
      check(entry.fate === 'open', () => `${this.name}: message ${number} has settled twice`);
      entry.fate = fate;
      if (fate === 'taken back') this.takenBack += 1;
      if (fate === 'failed') this.failed += 1;
    };
  }

  arrives(bytes: Uint8Array): void {
    const turns = new Set<number>();
    for (const turn of this.#turns)
      for (let i = turn; i < this.#entries.length; i += 1) {
        if (sameBytes(this.#entries[i].bytes, bytes)) turns.add(i + 1);
        if (!mayBeMissing(this.#entries[i])) break;
      }
    check(turns.size > 0, () => this.#wrong(bytes));
    this.#turns = [...turns];
    this.delivered += 1;
  }

  /** All has been taken that will ever be: what was sent for certain has arrived. */
  ends(): void {
    const isComplete = this.#turns.some((turn) => this.#entries.slice(turn).every(mayBeMissing));
    check(isComplete, () => `${this.name}: what was sent after message ${Math.max(...this.#turns)} never arrived`);
  }

  #wrong(bytes: Uint8Array): string {
    const turn = Math.max(...this.#turns);
    const due = this.#entries.at(turn);
    const number = this.#entries.findIndex((entry) => sameBytes(entry.bytes, bytes)) + 1;
    const came = `${bytes.length} bytes arrived, ${number === 0 ? 'which nobody sent so' : `message ${number}`}`;
    if (due === undefined) return `${this.name}: ${came}, after the last message`;
    return `${this.name}: ${came}, where message ${turn + 1} was due (${due.bytes.length} bytes, ${due.fate})`;
  }
}

function mayBeMissing({ fate }: Entry): boolean {
  return fate === 'taken back' || fate === 'failed';
}
