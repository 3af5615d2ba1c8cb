import { assert } from '../../../device/ibta/index.js';
import { invalid, VerbsError } from '../../../api/verbs/index.js';
import { type NumberOwner, RequestTable } from './request-table.js';
import type { CompletionHandler, Requests, SendHandler } from './requests.js';

const CALL = 'engine';
const FIRST_NUMBERS = 64;

export interface CompletionRoom {
  readonly entries: number;
  /** Completions that lie there and were not taken. */
  readonly unread: number;
  /** The number of the request of one of them. @param index 0 for the oldest */
  unreadNumber(index: number): number;
  /** Takes so many of them, the oldest first, and drops them. @returns how many it took: none during a poll */
  discard(count: number): number;
  /** Has it hold so many. @throws VerbsError ENOMEM */
  grow(entries: number): void;
}

/** What was kept from others when somebody left, since completions of it may lie in the queue. */
interface Remains {
  readonly numbers: readonly number[];
  readonly room: number;
  readonly taken: number;
}

/**
 * Finds the account that each completion belongs to, and limits how much of the queue each account may fill. The queue cannot overrun: every
 * request has a number, a number is free again only after its completion was taken, and the queue has room for all numbers in use.
 */
export class CompletionDispatcher {
  readonly #table = new RequestTable<Account>(FIRST_NUMBERS);
  readonly #accounts = new Set<Account>();
  #remains: Remains[] = [];
  #reserved = 0;
  #taken = 0;
  #failure: VerbsError | undefined;

  constructor(private readonly room: CompletionRoom) {}

  /** Why nothing completes any more. */
  get failure(): VerbsError | undefined {
    return this.#failure;
  }

  get taken(): number {
    return this.#taken;
  }

  get accounts(): ReadonlySet<Requests> {
    return this.#accounts;
  }

  /** @throws VerbsError ENOMEM; EIO when the device was lost */
  open(handler: CompletionHandler, limit: number, owner: string): Requests {
    return this.#open(new Account(this, handler, owner, undefined), limit);
  }

  /** As {@link open}, for one send queue, some of whose requests are unsignaled. @throws VerbsError ENOMEM; EIO when the device was lost */
  openSends(handler: SendHandler, limit: number, owner: string): Requests {
    return this.#open(new Account(this, handler, owner, handler), limit);
  }

  /** A completion was taken. @returns whose it is, or undefined when nobody expects it; {@link cookie} tells its cookie */
  settle(number: number): Account | undefined {
    this.#taken += 1;
    const account = this.#table.ownerOf(number);
    if (account === undefined) return undefined;
    if (account.sends !== undefined && !this.#settleEarlier(account, account.sends, number)) return undefined;
    this.cookie = this.#table.cookieOf(number);
    this.#table.give(number, account);
    account.outstanding -= 1;
    return account;
  }

  /** Of the request that was settled last. */
  cookie = 0;

  /** @param isEmpty whether the queue was seen empty: then nothing lies there that was there before */
  tidy(isEmpty: boolean): void {
    while (this.#remains.length > 0) {
      const [{ numbers, room, taken }] = this.#remains;
      if (!isEmpty && this.#taken - taken < this.room.entries) return;
      this.#free(numbers, room);
      this.#remains.shift();
    }
  }

  /** Nothing completes any more: tells everybody. */
  fail(failure: VerbsError): void {
    if (this.#failure !== undefined) return;
    this.#failure = failure;
    for (const account of [...this.#accounts]) this.close(account);
  }

  take(account: Account, cookie: number): number {
    return this.#table.take(account, cookie);
  }

  forget(account: Account, number: number): void {
    assert(this.#table.ownerOf(number) === account, `${account.owner} forgets a request that it does not have`);
    this.#table.give(number, account);
  }

  reserve(account: Account, limit: number): void {
    if (account.hasEnded || this.#failure !== undefined) this.refuse(account);
    if (this.#reserved + limit - account.limit > this.room.entries) this.#reclaim();
    const reserved = this.#reserved + limit - account.limit;
    if (reserved > this.room.entries) this.room.grow(reserved);
    this.#table.grow(this.room.entries);
    this.#reserved = reserved;
    account.limit = limit;
  }

  close(account: Account): void {
    account.hasEnded = true;
    this.#accounts.delete(account);
    const numbers: number[] = [];
    const cookies: number[] = [];
    for (let number = account.newest; number >= 0; number = account.newest) {
      cookies.push(this.#table.cookieOf(number));
      numbers.push(this.#table.withhold(account));
    }
    if (numbers.length === 0) this.#reserved -= account.limit;
    else if (this.room.unread === 0) this.#free(numbers, account.limit);
    else if (this.#failure === undefined) this.#remains.push({ numbers, room: account.limit, taken: this.#taken });
    account.limit = 0;
    account.outstanding = 0;
    // Oldest first, as they would have completed.
    for (let i = cookies.length - 1; i >= 0; i -= 1) account.handler.onLost(cookies[i]);
  }

  /** The numbers and the room of an account that has ended are others' from now on. */
  #free(numbers: readonly number[], room: number): void {
    for (const number of numbers) this.#table.release(number);
    this.#reserved -= room;
  }

  /**
   * Frees what is kept for ended accounts. Where no connection lives, nobody polls, so nothing else would free it. It calls no handler: drops the oldest completions as far
   * as nobody expects them, and keeps what belongs to those behind.
   */
  #reclaim(): void {
    const { room } = this;
    if (this.#remains.length === 0) return;
    let stale = 0;
    while (stale < room.unread && this.#table.ownerOf(room.unreadNumber(stale)) === undefined) stale += 1;
    if (stale > 0) this.#taken += room.discard(stale);
    const lying = new Set<number>();
    for (let i = 0; i < room.unread; i += 1) lying.add(room.unreadNumber(i));
    this.#remains = this.#remains.filter((remains) => {
      if (remains.numbers.some((number) => lying.has(number))) return true;
      this.#free(remains.numbers, remains.room);
      return false;
    });
  }

  #open(account: Account, limit: number): Requests {
    this.reserve(account, limit);
    this.#accounts.add(account);
    return account;
  }

  /** What was posted before a request that has completed is done as well. @returns false when the account was closed meanwhile */
  #settleEarlier(account: Account, handler: SendHandler, number: number): boolean {
    const table = this.#table;
    for (let earlier = table.oldestWith(number); earlier !== number;) {
      const next = table.nextAfter(earlier);
      const cookie = table.cookieOf(earlier);
      table.give(earlier, account);
      account.outstanding -= 1;
      handler.onDone(cookie);
      if (account.hasEnded) return false;
      earlier = next;
    }
    return true;
  }

  /** Why nothing can be expected. @throws VerbsError, or a fault of ours */
  refuse(account: Account): never {
    if (this.#failure !== undefined) throw this.#failure;
    if (account.hasEnded) throw new VerbsError(CALL, invalid(`the requests of ${account.owner} have ended`));
    throw new Error(
      `verbena: internal error: ${account.owner} has ${account.limit} requests under way, and no room for more`,
    );
  }
}

class Account implements Requests, NumberOwner {
  newest = -1;
  outstanding = 0;
  limit = 0;
  hasEnded = false;

  constructor(
    private readonly dispatcher: CompletionDispatcher,
    readonly handler: CompletionHandler,
    readonly owner: string,
    /** The same, where it is one send queue, with unsignaled requests. */
    readonly sends: SendHandler | undefined,
  ) {}

  expect(cookie: number): number {
    if (this.outstanding >= this.limit) this.dispatcher.refuse(this);
    this.outstanding += 1;
    return this.dispatcher.take(this, cookie);
  }

  forget(wrId: number): void {
    // What was lost meanwhile is told, and forgotten.
    if (this.hasEnded) return;
    this.dispatcher.forget(this, wrId);
    this.outstanding -= 1;
  }

  resize(limit: number): void {
    assert(limit >= this.outstanding, `${this.owner} wants room for less than it has under way`);
    this.dispatcher.reserve(this, limit);
  }

  end(): void {
    if (!this.hasEnded) this.dispatcher.close(this);
  }
}
