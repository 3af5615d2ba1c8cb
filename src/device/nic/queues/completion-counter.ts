import { CompCntrType } from '../../ibta/index.js';
import { requireBytes } from '../command-error.js';
import { CompCntr } from '../rings/layout.js';

const WORD = 2 ** 32;

/**
 * The NIC's end of a completion counter: two numbers of 64 bits in memory that the program reads with `Atomics`. A program that
 * reads a number there also sees what the counted operations have written.
 */
export class CompletionCounter {
  users = 0;
  readonly #words: Int32Array;
  readonly #numbers: BigUint64Array;

  constructor(
    readonly handle: number,
    readonly type: CompCntrType,
    memory: ArrayBufferLike,
  ) {
    requireBytes(memory, CompCntr.BYTES);
    this.#words = new Int32Array(memory);
    this.#numbers = new BigUint64Array(memory);
  }

  /** An operation on so many bytes has completed. */
  completed(lengthBytes: number): void {
    this.#add(CompCntr.COMP, this.type === CompCntrType.BYTES ? lengthBytes : 1);
  }

  /** An operation was refused or broken off: it counts as one for every type of counter. */
  failed(): void {
    this.#add(CompCntr.ERR, 1);
  }

  /** Word by word, since a bigint would be allocated for each; as one number when the low word is about to run over. */
  #add(at: number, amount: number): void {
    const words = this.#words;
    if ((words[at] >>> 0) + amount >= WORD) {
      Atomics.add(this.#numbers, at >> 1, BigInt(amount));
      return;
    }
    const before = Atomics.add(words, at, amount) >>> 0;
    // The program has added something in the meantime.
    if (before + amount >= WORD) Atomics.add(words, at + 1, 1);
  }
}
