import type { SharedMapping } from '../../node/system/index.js';
import type { RingFile, RingMemory } from './ring-file.js';

/** Words of the header of a queue (`struct rxe_queue_buf`). The counters lie on cache lines of their own. */
const Header = { LOG2_ELEMENT_BYTES: 0, INDEX_MASK: 1, PRODUCER: 32, CONSUMER: 64, WORDS: 96 } as const;

function powerOfTwoAtLeast(n: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(1, n)));
}

/**
 * A queue that a program and we have in memory, as rxe's provider lays it out. Indices run modulo the number of its slots, one of
 * which always stays empty. What the program writes there is believed of nothing: its index is masked, and our own is kept elsewhere.
 */
export class ProgramQueue {
  readonly capacity: number;
  readonly mask: number;
  readonly elementWords: number;
  readonly #memory: RingMemory;

  /**
   * @param wanted entries that it must hold
   * @param elementBytes of one entry, at least
   * @throws Refusal ENOMEM
   */
  constructor(
    private readonly file: RingFile,
    wanted: number,
    elementBytes: number,
  ) {
    const slots = powerOfTwoAtLeast(wanted + 1);
    const bytes = powerOfTwoAtLeast(elementBytes);
    this.capacity = slots - 1;
    this.mask = slots - 1;
    this.elementWords = bytes / 4;
    this.#memory = file.allocate(4 * Header.WORDS + slots * bytes);
    const { words } = this;
    words[Header.LOG2_ELEMENT_BYTES] = Math.log2(bytes);
    words[Header.INDEX_MASK] = this.mask;
  }

  /** What an element has room for, in bytes. */
  static elementBytes(atLeast: number): number {
    return powerOfTwoAtLeast(atLeast);
  }

  get words(): Int32Array {
    const mapping: SharedMapping = this.#memory.mapping;
    return mapping.words;
  }

  get place(): { readonly offset: bigint; readonly size: number } {
    return { offset: BigInt(this.#memory.offset), size: this.#memory.bytes };
  }

  get producer(): number {
    return Atomics.load(this.words, Header.PRODUCER) & this.mask;
  }

  set producer(index: number) {
    Atomics.store(this.words, Header.PRODUCER, index & this.mask);
  }

  get consumer(): number {
    return Atomics.load(this.words, Header.CONSUMER) & this.mask;
  }

  set consumer(index: number) {
    Atomics.store(this.words, Header.CONSUMER, index & this.mask);
  }

  entry(index: number): number {
    return Header.WORDS + (index & this.mask) * this.elementWords;
  }

  release(): void {
    this.file.release(this.#memory);
  }
}
