import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Checks that callbacks have turns of their own: ticks and microtasks of one run before the next is called; and that each runs in the async
 * context of its owner.
 */
export class Turns {
  /** Names of the callbacks, in the order of the calls. */
  readonly seen: string[] = [];
  readonly #wrong: string[] = [];
  readonly #owners = new AsyncLocalStorage<string>();
  #within: string | undefined;

  /** Makes an object whose callbacks belong to `owner`. */
  as<T>(owner: string, make: () => T): T {
    return this.#owners.run(owner, make);
  }

  /** Is called first by a callback of an object of `owner`. */
  enter(name: string, owner: string): void {
    this.seen.push(name);
    const context = this.#owners.getStore();
    if (context !== owner) this.#wrong.push(`${name}: in the context of ${context ?? 'nobody'}, not of ${owner}`);
    if (this.#within !== undefined) this.#wrong.push(`${name}: within the turn of ${this.#within}`);
    this.#within = name;
    process.nextTick(() => queueMicrotask(() => process.nextTick(() => (this.#within = undefined))));
  }

  callback(name: string, owner: string): () => void {
    return () => this.enter(name, owner);
  }

  /** @param calls by name, how often each callback was called */
  check(calls: Readonly<Record<string, number>>): void {
    assert.deepEqual(this.#wrong, []);
    const counts: Record<string, number> = {};
    for (const name of this.seen) counts[name] = (counts[name] ?? 0) + 1;
    assert.deepEqual(counts, calls);
  }
}
