/** A server's memory for one connection: what the peer may touch, between stretches that nobody may. */
import { AccessFlags, type Mr, type Pd } from '../../src/entry/index.js';
import { nextMemory } from '../../test/support/memory.js';
import { FILLER, fill, fillerProblem, lengthOf, patternProblem, tornProblem, wordsOf } from './pattern.js';
import type { Hello, Welcome } from './protocol.js';
import { LIBRARY_ROUND } from './sizes.js';

const GUARD_BYTES = 4096;
const COUNTER_BYTES = 4096;

/** Memory of so many bytes with filler on both sides. */
class Guarded {
  readonly bytes: Uint8Array;
  readonly words: Int32Array;
  readonly #guards: readonly Int32Array[];

  constructor(host: string, lengthBytes: number) {
    const all = nextMemory(host, lengthBytes + 2 * GUARD_BYTES);
    const words = wordsOf(all);
    words.fill(FILLER);
    this.bytes = all.subarray(GUARD_BYTES, GUARD_BYTES + lengthBytes);
    this.words = wordsOf(this.bytes);
    const guard = GUARD_BYTES >> 2;
    this.#guards = [words.subarray(0, guard), words.subarray(words.length - guard)];
  }

  problem(): string | undefined {
    return this.#guards.map(fillerProblem).find((problem) => problem !== undefined);
  }
}

export class ServerMemory {
  readonly #slots: Guarded;
  readonly #library: Guarded;
  readonly #counter: Guarded;
  /** What the slots held when they were last looked at. */
  readonly #before: Int32Array;
  readonly #slotWords: number;
  #regions: readonly Mr[] = [];
  #key = 0;
  #libraryKey = 0;
  #next = 0;

  constructor(
    host: string,
    readonly slots: number,
    readonly slotBytes: number,
  ) {
    this.#slots = new Guarded(host, slots * slotBytes);
    this.#library = new Guarded(host, slotBytes);
    this.#counter = new Guarded(host, COUNTER_BYTES);
    this.#before = new Int32Array(this.#slots.words.length);
    this.#slotWords = slotBytes >> 2;
  }

  /** Opens it to a peer. */
  open(pd: Pd, { key }: Hello, libraryKey: number): Welcome {
    this.#key = key;
    this.#libraryKey = libraryKey;
    this.#next = 0;
    this.#slots.words.fill(FILLER);
    this.#before.fill(FILLER);
    this.#counter.words.fill(0);
    fill(this.#library.words, libraryKey, LIBRARY_ROUND);
    const { LOCAL_WRITE, REMOTE_WRITE, REMOTE_READ, REMOTE_ATOMIC } = AccessFlags;
    const slots = pd.regMr(this.#slots.bytes, LOCAL_WRITE | REMOTE_WRITE);
    const library = pd.regMr(this.#library.bytes, REMOTE_READ);
    const counter = pd.regMr(this.#counter.bytes, LOCAL_WRITE | REMOTE_ATOMIC);
    this.#regions = [slots, library, counter];
    const place = ({ addr, rkey }: Mr): { addr: bigint; rkey: number } => ({ addr, rkey });
    return { key: libraryKey, slots: place(slots), library: place(library), counter: place(counter) };
  }

  /** A round has been announced. @returns why it is not what it should be, or undefined */
  arrived(round: number): string | undefined {
    if (round !== this.#next) return `round ${round} was announced where round ${this.#next} was due`;
    this.#next += 1;
    const lengthWords = lengthOf(this.#key, round, this.slotBytes) >> 2;
    const at = (round % this.slots) * this.#slotWords;
    const words = this.#slots.words.subarray(at, at + lengthWords);
    this.#before.set(words, at);
    return patternProblem(words, this.#key, round);
  }

  /** The connection has ended, and its queue pair is gone. @returns why memory holds what it should not, or undefined */
  close(): string | undefined {
    const problem = this.#problem();
    for (const region of this.#regions) region.dereg();
    this.#regions = [];
    this.#before.set(this.#slots.words);
    return problem;
  }

  /** Some time after it was closed. */
  untouched(): string | undefined {
    const { words } = this.#slots;
    for (let i = 0; i < words.length; i += 1)
      if (words[i] !== this.#before[i]) return `word ${i} was changed after its region was deregistered`;
    return this.#around();
  }

  #around(): string | undefined {
    return (
      this.#slots.problem() ??
      this.#library.problem() ??
      this.#counter.problem() ??
      patternProblem(this.#library.words, this.#libraryKey, LIBRARY_ROUND)
    );
  }

  #problem(): string | undefined {
    for (let slot = 0; slot < this.slots; slot += 1) {
      // The round that may be on its way there.
      const round = this.#next + ((slot - (this.#next % this.slots) + this.slots) % this.slots);
      const length = lengthOf(this.#key, round, this.slotBytes) >> 2;
      const from = slot * this.#slotWords;
      const words = this.#slots.words.subarray(from, from + this.#slotWords);
      const problem = tornProblem(words, this.#before.subarray(from, from + this.#slotWords), this.#key, round, length);
      if (problem !== undefined) return `slot ${slot}: ${problem}`;
    }
    const [count] = this.#counter.words;
    if (count < this.#next - this.slots || count > this.#next + this.slots)
      return `${count} atomics were carried out, and ${this.#next} rounds announced`;
    for (let i = 1; i < this.#counter.words.length; i += 1)
      if (this.#counter.words[i] !== 0) return `word ${i} beside the counter is ${this.#counter.words[i]}`;
    return this.#around();
  }
}

/** How long a late packet could be under way: memory is put aside for so long. */
const ASIDE_MS = 2000;

/** Memory to be had and given back, so that no connection takes memory of its own. */
export class ServerMemories {
  readonly #free = new Map<string, ServerMemory[]>();
  readonly #aside = new Set<NodeJS.Timeout>();

  /** @param host of the NIC with which they are registered */
  constructor(
    private readonly host: string,
    private readonly violation: (text: string) => void,
  ) {}

  take({ slots, slotBytes }: Hello): ServerMemory {
    return this.#list(slots, slotBytes).pop() ?? new ServerMemory(this.host, slots, slotBytes);
  }

  giveBack(memory: ServerMemory, what: string): void {
    const timer = setTimeout(() => {
      this.#aside.delete(timer);
      const problem = memory.untouched();
      if (problem !== undefined) this.violation(`${what}: ${problem}`);
      this.#list(memory.slots, memory.slotBytes).push(memory);
    }, ASIDE_MS);
    this.#aside.add(timer);
  }

  #list(slots: number, slotBytes: number): ServerMemory[] {
    const name = `${slots} of ${slotBytes}`;
    const list = this.#free.get(name) ?? [];
    this.#free.set(name, list);
    return list;
  }
}
