import { type Outcome } from '../../core/index.js';
import { VerbsError } from '../../../api/verbs/index.js';
import { KvManyError } from '../errors.js';

/** What several calls give: told of each, it has all of it once none is under way any more. One promise serves them all. */
export class Gathering<T> {
  readonly #results: T[] = [];
  #failures: Map<number, unknown> | undefined;
  #left: number;
  readonly #isDone: Promise<void>;
  #tellDone: () => void = () => undefined;

  /** @param count how many there are */
  constructor(
    private readonly call: string,
    private readonly count: number,
  ) {
    this.#left = count;
    this.#results.length = count;
    this.#isDone = new Promise((resolve) => (this.#tellDone = resolve));
    if (count === 0) this.#tellDone();
  }

  place(index: number): Outcome<T> {
    return new Place(this, index);
  }

  succeeded(index: number, value: T): void {
    this.#results[index] = value;
    this.#oneLess();
  }

  failed(index: number, error: unknown): void {
    this.#failures ??= new Map();
    this.#failures.set(index, error);
    this.#oneLess();
  }

  /**
   * What they have given, in their order, once none is under way any more.
   *
   * @throws (the promise rejects) KvManyError when some have failed; the signal's reason when that is why
   */
  async all(signal: AbortSignal | undefined): Promise<T[]> {
    await this.#isDone;
    if (this.#failures === undefined) return this.#results;
    throwIfGivenUp(signal, [...this.#failures.values()]);
    throw new KvManyError(this.call, this.count, inOrder(this.#failures));
  }

  #oneLess(): void {
    this.#left -= 1;
    if (this.#left === 0) this.#tellDone();
  }
}

class Place<T> implements Outcome<T> {
  constructor(
    private readonly gathering: Gathering<T>,
    private readonly index: number,
  ) {}

  resolve(value: T): void {
    this.gathering.succeeded(this.index, value);
  }

  reject(error: unknown): void {
    this.gathering.failed(this.index, error);
  }
}

function inOrder(failures: ReadonlyMap<number, unknown>): ReadonlyMap<number, unknown> {
  return new Map([...failures].sort(([a], [b]) => a - b));
}

/**
 * Where the program has given up, that is all it is told. What a limit of time has ended is told of each, since the others were done.
 *
 * @throws the signal's reason when calls have failed for that
 */
export function throwIfGivenUp(signal: AbortSignal | undefined, failures: readonly unknown[]): void {
  if (signal?.aborted !== true || !failures.includes(signal.reason)) return;
  const isLate = signal.reason instanceof VerbsError && signal.reason.errno === 'ETIMEDOUT';
  if (!isLate) throw signal.reason;
}
