import { textOf } from './commands/arguments.js';

/**
 * The commands of one connection whose keys others of it have as well, one after the other; all others go side by side. For stores that carry out
 * requests in another order than that in which they were asked.
 */
export class KeyOrder {
  /** The last command of each key. */
  readonly #last = new Map<string, Promise<unknown>>();

  /** Begins with an action when all others of these keys have ended. It never rejects unless the action does. */
  run<T>(keys: readonly Uint8Array[], action: () => Promise<T>): Promise<T> {
    const names = keys.map(textOf);
    const before = names.flatMap((name) => this.#last.get(name) ?? []);
    const done = before.length === 0 ? action() : Promise.allSettled(before).then(action);
    for (const name of names) this.#last.set(name, done);
    const leave = (): void => {
      for (const name of names) if (this.#last.get(name) === done) this.#last.delete(name);
    };
    done.then(leave, leave);
    return done;
  }
}
