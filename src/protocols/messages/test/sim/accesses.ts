import type { Sim } from '../../../../sim/index.js';
import type { SeededRandom } from '../../../../device/link/index.js';
import type { MessageConnection, RemoteBuffer } from '../../index.js';
import { check } from '../../../../../test/sim/failure.js';
import { type MemoryBook, WORD_BYTES } from './memory-book.js';
import { type AccessPlan, PART_BYTES } from './plan.js';
import { randomBytes } from './random-bytes.js';
import { isTakenBack, whenToTakeBack } from './taking-back.js';

/** What the program has put where a READ was to go that it took back: nothing may come there any more. */
const OWN = 0xdd;

/** Memory of a kind that goes straight to the adapter when there is much of it, or of one that never does. */
function memoryFor({ registers }: AccessPlan, length: number): Uint8Array {
  if (registers) return new Uint8Array(length);
  return new Uint8Array(Reflect.construct(ArrayBuffer, [length, { maxByteLength: length }]) as ArrayBuffer);
}

export interface AccessParts {
  readonly sim: Sim;
  readonly connection: MessageConnection;
  readonly remote: RemoteBuffer;
  readonly book: MemoryBook;
  readonly random: SeededRandom;
  readonly onFailure: (error: unknown) => void;
}

/** A program that uses its part of the server's memory, one access after the other. */
export class Accesses {
  /** Buffers that were the program's own again. */
  readonly #own: Uint8Array[] = [];
  done = 0;

  constructor(private readonly parts: AccessParts) {}

  async run(plans: readonly AccessPlan[]): Promise<void> {
    for (const plan of plans) {
      if (plan.afterUs > 0) await this.parts.sim.sleep(plan.afterUs);
      await this.#one(plan);
    }
  }

  /** @throws SimulationFailure when something came into memory that the program had back */
  verify(): void {
    for (const bytes of this.#own)
      check(
        bytes.every((byte) => byte === OWN),
        () => `a READ of ${bytes.length} bytes came into its buffer after the program had that back`,
      );
  }

  #one(plan: AccessPlan): Promise<void> {
    const length = Math.min(plan.bytes, PART_BYTES - WORD_BYTES);
    const room = PART_BYTES - WORD_BYTES - length;
    const offset = WORD_BYTES + Math.floor((plan.where / 2 ** 32) * (room + 1));
    switch (plan.kind) {
      case 'write':
        return this.#write(plan, offset, length);
      case 'read':
        return this.#read(plan, offset, length);
      case 'add':
        return this.#add(plan);
      case 'swap':
        return this.#swap(plan);
    }
  }

  async #write(plan: AccessPlan, offset: number, length: number): Promise<void> {
    const { sim, connection, remote, book, random } = this.parts;
    const bytes = memoryFor(plan, length);
    bytes.set(randomBytes(random, length));
    const written = Uint8Array.from(bytes);
    const isCertain = await this.#happens(plan, () =>
      connection.write(remote, bytes, { offset, ...whenToTakeBack(sim, plan) }),
    );
    bytes.fill(OWN);
    book.written(offset, written, isCertain !== undefined);
  }

  async #read(plan: AccessPlan, offset: number, length: number): Promise<void> {
    const { sim, connection, remote, book } = this.parts;
    const into = memoryFor(plan, length);
    const done = await this.#happens(plan, () =>
      connection.read(remote, into, { offset, ...whenToTakeBack(sim, plan) }),
    );
    if (done !== undefined) {
      book.read(offset, into);
      return;
    }
    into.fill(OWN);
    this.#own.push(into);
  }

  async #add(plan: AccessPlan): Promise<void> {
    const { sim, connection, remote, book, random } = this.parts;
    const value = BigInt(random.u32());
    const found = await this.#happens(plan, () => connection.fetchAdd(remote, value, whenToTakeBack(sim, plan)));
    book.added(value, found?.value);
  }

  async #swap(plan: AccessPlan): Promise<void> {
    const { sim, connection, remote, book, random } = this.parts;
    const [compare, swap] = [book.word, BigInt(random.u32())];
    const found = await this.#happens(plan, () =>
      connection.compareAndSwap(remote, compare, swap, whenToTakeBack(sim, plan)),
    );
    book.swapped(compare, swap, found?.value);
  }

  /** @returns undefined when it is not known whether it happened */
  async #happens<T>(plan: AccessPlan, access: () => Promise<T>): Promise<{ readonly value: T } | undefined> {
    try {
      const value = await access();
      this.done += 1;
      return { value };
    } catch (error) {
      if (!isTakenBack(error, plan)) this.parts.onFailure(error);
      return undefined;
    }
  }
}
