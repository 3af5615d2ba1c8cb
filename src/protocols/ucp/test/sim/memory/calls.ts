import type { UcpMemory } from '../../../rma/memory.js';
import type { UcpRkey } from '../../../rma/rkey.js';
import type { UcsStatus } from '../../../wire/index.js';
import { Family } from '../family.js';
import { memoryFor, type Question, STATUSES_OF_THE_LOST, type UcpWorld } from '../world.js';
import {
  type AccessStep,
  type AddStep,
  type MemoryPlan,
  type MemoryStep,
  type OrderStep,
  PART_BYTES,
  SHARED_WORDS,
  type WordStep,
} from './plan.js';
import { type Moment, PutBook } from './put-book.js';
import { type Fate, SumBook, WordBook } from './word-books.js';

const WORD = 8;

/** What one user knows of the memory of one owner. */
interface Part {
  readonly key: UcpRkey;
  readonly puts: PutBook;
  readonly word: WordBook;
}

/** What lies where in a worker's memory: words for all, a word for each user, a part for each user. */
const offsets = {
  shared: (word: number): number => word * WORD,
  word: (user: number): number => (SHARED_WORDS + user) * WORD,
  part: (user: number, users: number): number => (SHARED_WORDS + users) * WORD + user * PART_BYTES,
};

/** Programs that use each other's memory. */
export class MemoryCalls extends Family<MemoryStep> {
  readonly #memories: UcpMemory[] = [];
  readonly #parts: Part[][] = [];
  readonly #sums: SumBook[][] = [];
  /** Fences of each worker. */
  readonly #fences: number[];
  #now = 0;
  #puts = 0;
  #gets = 0;
  #atomics = 0;
  #flushes = 0;

  constructor(
    world: UcpWorld,
    private readonly plan: MemoryPlan,
  ) {
    super(world, plan.steps);
    this.#fences = world.workers.map(() => 0);
  }

  override begin(): void {
    if (this.plan.steps.length === 0) return;
    const { workers, endpoints } = this.world;
    const bytes = offsets.part(workers.length, workers.length);
    for (const [owner, worker] of workers.entries()) {
      this.#memories.push(worker.memMap(bytes, { atomics: this.plan.atomics }));
      const name = (word: number): string => `word ${word} of worker ${owner}`;
      this.#sums.push(Array.from({ length: SHARED_WORDS }, (_, word) => new SumBook(name(word))));
    }
    for (const user of workers.keys())
      this.#parts.push(
        this.#memories.map((memory, owner) => {
          const name = `worker ${user} in the memory of ${owner}`;
          const key = endpoints[user][owner].unpackRkey(memory.packRkey());
          return { key, puts: new PutBook(name), word: new WordBook(`${name}, its word`) };
        }),
      );
  }

  override async finish(): Promise<void> {
    if (this.plan.steps.length === 0) return;
    const { world } = this;
    for (const { one: user, other: owner } of world.pairs()) {
      if (world.down.has(owner)) continue;
      const { puts } = this.#parts[user][owner];
      const at = offsets.part(user, world.workers.length);
      const bytes = this.#memories[owner].bytes.slice(at, at + PART_BYTES);
      const moment = { at: Infinity, fences: Infinity, endedAt: Infinity };
      puts.got({ ...moment, what: 'the last look', offset: 0, bytes, isBroken: world.isBroken(user, owner) });
      const word = world.down.has(owner) ? undefined : this.#wordAt(owner, offsets.word(user));
      this.#parts[user][owner].word.verify(word, world.isBroken(user, owner));
    }
    for (const [owner, sums] of this.#sums.entries())
      for (const [word, sum] of sums.entries()) {
        const last = world.down.has(owner) ? undefined : this.#wordAt(owner, offsets.shared(word));
        sum.verify(last, (by) => world.isBroken(by, owner));
      }
    await super.finish();
  }

  verify(): void {
    for (const part of this.#parts.flat()) part.puts.verify();
  }

  counts(): Record<string, number> {
    const [puts, gets, atomics, flushes] = [this.#puts, this.#gets, this.#atomics, this.#flushes];
    return { puts, gets, atomics, flushes, fences: this.#fences.reduce((sum, count) => sum + count, 0) };
  }

  protected override async take(step: MemoryStep): Promise<void> {
    if (this.world.down.has(step.from)) return;
    switch (step.kind) {
      case 'put':
        return this.#put(step);
      case 'get':
        return this.#get(step);
      case 'add':
        return this.#add(step);
      case 'word':
        return this.#word(step);
      case 'flush':
        return this.#flush(step, [step.to]);
      case 'flush all':
        return this.#flush(step, [...this.world.workers.keys()]);
      case 'fence':
        this.#fence(step.from);
    }
  }

  async #put(step: AccessStep): Promise<void> {
    const { from, to, offset, bytes: length, registers } = step;
    const { key, puts } = this.#parts[from][to];
    const { bytes, done } = puts.put(this.#moment(from), offset, length);
    const data = memoryFor(registers, length);
    data.set(bytes);
    const address = key.address + BigInt(this.#partAt(from) + offset);
    const question = this.#question(step, `put of ${length} bytes at ${offset}`);
    const end = await this.world.ask(question, (signal) =>
      this.world.endpoints[from][to].put(data, address, key, { signal }),
    );
    this.#now += 1;
    if (end !== undefined) {
      this.#puts += 1;
      done();
    }
    this.world.own(data, question.what);
  }

  async #get(step: AccessStep): Promise<void> {
    const { from, to, offset, bytes: length, registers } = step;
    const { key, puts } = this.#parts[from][to];
    const moment = this.#moment(from);
    const buffer = memoryFor(registers, length);
    const address = key.address + BigInt(this.#partAt(from) + offset);
    const question = this.#question(step, `get of ${length} bytes at ${offset}`);
    const end = await this.world.ask(question, (signal) =>
      this.world.endpoints[from][to].get(buffer, address, key, { signal }),
    );
    const endedAt = (this.#now += 1);
    if (end !== undefined) {
      this.#gets += 1;
      puts.got({ ...moment, what: 'a get', offset, bytes: buffer.slice(), endedAt, isBroken: false });
    }
    this.world.own(buffer, question.what);
  }

  #add(step: AddStep): Promise<void> {
    const { from, to, word, amount, isFetching } = step;
    const { key } = this.#parts[from][to];
    const endpoint = this.world.endpoints[from][to];
    const address = key.address + BigInt(offsets.shared(word));
    return this.#atomic(step, this.#sums[to][word].add(from, amount), (signal) =>
      isFetching
        ? endpoint.atomicFetch('add', BigInt(amount), address, key, { signal })
        : endpoint.atomic('add', BigInt(amount), address, key, { signal }),
    );
  }

  #word(step: WordStep): Promise<void> {
    const { from, to, name, value, compare, isFetching } = step;
    const { key, word } = this.#parts[from][to];
    const endpoint = this.world.endpoints[from][to];
    const address = key.address + BigInt(offsets.word(from));
    // Otherwise they would be in no order.
    this.#fence(from);
    return this.#atomic(step, word.change(name, value, compare), (signal) =>
      isFetching
        ? endpoint.atomicFetch(name, value, address, key, { signal, compare })
        : endpoint.atomic(name, value, address, key, { signal, compare }),
    );
  }

  async #atomic(step: AddStep | WordStep, fate: Fate, call: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
    const end = await this.world.ask(this.#question(step, 'atomic'), call);
    this.#now += 1;
    if (end === undefined) return;
    this.#atomics += 1;
    fate.isCertain = true;
    if (typeof end.value === 'bigint') fate.found = end.value;
  }

  async #flush(step: OrderStep, owners: readonly number[]): Promise<void> {
    const { from, to, kind } = step;
    const { world } = this;
    const then = this.#moment(from);
    // Endpoints of calls by address come and go meanwhile.
    const explains = (status: UcsStatus): boolean =>
      kind === 'flush all' && world.isMeeting && STATUSES_OF_THE_LOST.includes(status);
    const question = { ...this.#question(step, kind), peers: owners, abortAfterUs: Infinity, explains };
    const end = await world.ask(question, () =>
      kind === 'flush' ? world.endpoints[from][to].flush() : world.workers[from].flush(),
    );
    this.#now += 1;
    if (end === undefined) return;
    this.#flushes += 1;
    for (const owner of owners)
      if (!world.isBroken(from, owner)) this.#parts[from][owner].puts.flushed(then, this.#now);
  }

  #fence(at: number): void {
    this.world.workers[at].fence();
    this.#fences[at] += 1;
  }

  #question({ from, to, abortAfterUs }: MemoryStep, what: string): Question {
    return { at: from, peers: [to], what: `${what} of worker ${from} in the memory of ${to}`, abortAfterUs };
  }

  #moment(user: number): Moment {
    return { at: (this.#now += 1), fences: this.#fences[user] };
  }

  #partAt(user: number): number {
    return offsets.part(user, this.world.workers.length);
  }

  #wordAt(owner: number, at: number): bigint {
    const { bytes } = this.#memories[owner];
    return new DataView(bytes.buffer, bytes.byteOffset + at, WORD).getBigUint64(0, true);
  }
}
