import { assert } from '../../ibta/index.js';
import { CommandError } from '../command-error.js';

/** The protection domains of a NIC, and how many objects refer to each. */
export class ProtectionDomains {
  readonly #users = new Map<number, number>();
  #next = 1;

  constructor(private readonly limit: number) {}

  get size(): number {
    return this.#users.size;
  }

  /** Each with how many objects refer to it. */
  entries(): IterableIterator<[pd: number, users: number]> {
    return this.#users.entries();
  }

  alloc(): number {
    if (this.#users.size >= this.limit) throw new CommandError('ENOMEM', `no more than ${this.limit} PDs`);
    const pd = this.#next++;
    this.#users.set(pd, 0);
    return pd;
  }

  dealloc(pd: number): void {
    const users = this.#count(pd);
    if (users > 0) throw new CommandError('EBUSY', `${users} objects still use PD ${pd}`);
    this.#users.delete(pd);
  }

  /** Counts one more user; throws when there is no such domain. */
  hold(pd: number): void {
    this.#users.set(pd, this.#count(pd) + 1);
  }

  release(pd: number): void {
    const users = this.#count(pd);
    assert(users > 0, 'a protection domain is released that nobody uses');
    this.#users.set(pd, users - 1);
  }

  #count(pd: number): number {
    const users = this.#users.get(pd);
    if (users === undefined) throw new CommandError('EINVAL', `there is no PD ${pd}`);
    return users;
  }
}
