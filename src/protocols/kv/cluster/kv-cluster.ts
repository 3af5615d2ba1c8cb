import { fieldsProblem, invalid, refuse, VerbsError } from '../../../api/verbs/index.js';
import { checkWait, waitUnlessLate, type WaitOptions } from '../../core/index.js';
import type { KvClient, KvClientStatistics } from '../client/kv-client.js';
import { throwIfGivenUp } from '../client/many.js';
import type { KvEntry, KvExplanation, KvPage } from '../client/response-decoders.js';
import {
  type Bytes,
  type DeleteOptions,
  keyOf,
  type KvSetting,
  listOf,
  type ScanOptions,
  SET_FIELDS,
  type SetOptions,
  SETTING_FIELDS,
  valueOf,
} from '../client/options.js';
import { KvError, KvManyError, tooLate } from '../errors.js';
import { type NamedMember } from './member.js';
import { Rendezvous } from './rendezvous.js';
import { NO_COUNTS, sumOf } from './counts.js';
import { mayRepeat, type Repetition, MemberConnection, type MemberConnectionParts } from './member-connection.js';

/** The calls that a client of one server and a client of several have in common. */
export type KvCalls = Pick<
  KvClient,
  | 'closed'
  | 'failure'
  | 'keepsOrder'
  | 'statistics'
  | 'get'
  | 'entry'
  | 'has'
  | 'set'
  | 'add'
  | 'cas'
  | 'delete'
  | 'incr'
  | 'touch'
  | 'ttl'
  | 'getMany'
  | 'setMany'
  | 'deleteMany'
  | 'scan'
  | 'scanPage'
  | 'explain'
  | 'serverStatistics'
  | 'close'
  | typeof Symbol.dispose
  | typeof Symbol.asyncDispose
>;

/** A server of several, as a client knows it. */
export interface KvClusterMember {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  /** Which life of the server that is, as far as was heard. */
  readonly epoch: number | undefined;
  /** Whether it can be asked: calls about the keys of one that cannot fail at once. */
  readonly isUp: boolean;
  /** Whether there is a connection to it now. */
  readonly isConnected: boolean;
}

/** Places of servers are above cursors of theirs, which have 64 bits. */
const CURSOR_BITS = 64n;

/**
 * A client of several servers, which has the calls of a client of one. Each key is at one server, its home, which its name and the names of the servers say; nobody else has to be
 * asked. Calls about the keys of one server never wait for another.
 *
 * A server that has ended is connected to again by the first call about one of its keys. A call that was not carried out, and one that changes nothing, is then made again by itself; one
 * of which nobody knows whether it was carried out fails with a `KvError`, as it does with one server.
 */
export class KvCluster implements KvCalls {
  /** Resolves when it was closed. Never rejects. */
  readonly closed: Promise<void>;
  readonly #terms: MemberConnectionParts;
  readonly #stop: AbortController;
  #seats: ReadonlyMap<string, MemberConnection> = new Map();
  #homes: Rendezvous<MemberConnection>;
  #failure: KvError | undefined;
  #tellClosed: () => void = () => undefined;

  /**
   * @internal `connectCluster` makes them for programs.
   * @param stop is aborted when it is closed
   */
  constructor(members: readonly NamedMember[], terms: MemberConnectionParts, stop: AbortController) {
    this.#terms = terms;
    this.#stop = stop;
    this.closed = new Promise((resolve) => (this.#tellClosed = resolve));
    this.#homes = this.#seat(members);
  }

  /** The servers there are, as far as is known. */
  get members(): readonly KvClusterMember[] {
    return Array.from(this.#seats.values(), memberOf);
  }

  /** Why it has ended: it was closed; undefined while it was not. */
  get failure(): KvError | undefined {
    return this.#failure;
  }

  /** False: a call that is made again may come after one that was made later. */
  readonly keepsOrder: boolean = false;

  /** Of all servers together, those that have gone excepted. */
  get statistics(): KvClientStatistics {
    return Array.from(this.#seats.values(), ({ statistics }) => statistics).reduce(sumOf, NO_COUNTS);
  }

  /** The server that has a key, whether it is up or not. @throws VerbsError EINVAL for what is no key */
  homeOf(key: Bytes): KvClusterMember {
    return memberOf(this.#homes.homeOf(keyOf('homeOf', key)));
  }

  /** The value of a key; undefined when there is none. @throws as {@link entry} */
  async get(key: Bytes, options: WaitOptions = {}): Promise<Uint8Array | undefined> {
    return this.#ask('get', key, options, (client, own, wait) => client.get(own, wait));
  }

  /**
   * The value of a key with its version; undefined when there is none.
   *
   * @throws (the promise rejects) KvError when the key's server is gone, away or cannot be reached, and ETIMEDOUT; the signal's reason; VerbsError EINVAL
   */
  async entry(key: Bytes, options: WaitOptions = {}): Promise<KvEntry | undefined> {
    return this.#ask('entry', key, options, (client, own, wait) => client.entry(own, wait));
  }

  /** Whether there is a value. @throws as {@link entry} */
  async has(key: Bytes, options: WaitOptions = {}): Promise<boolean> {
    return this.#ask('has', key, options, (client, own, wait) => client.has(own, wait));
  }

  /** Sets a value. @returns its version. @throws as `KvClient.set`, and as {@link entry} */
  async set(key: Bytes, value: Bytes, options: SetOptions = {}): Promise<bigint> {
    const bytes = copied('set', value);
    return this.#change('set', key, options, (client, own, wait) => client.set(own, bytes, { ...options, ...wait }));
  }

  /** Sets a value if there is none. @returns its version; undefined when there was one. @throws as {@link set} */
  async add(key: Bytes, value: Bytes, options: SetOptions = {}): Promise<bigint | undefined> {
    const bytes = copied('add', value);
    return this.#change('add', key, options, (client, own, wait) => client.add(own, bytes, { ...options, ...wait }));
  }

  /** Sets a value if the present one has that version. @returns its version; undefined when it had another one, or there was none. @throws as {@link set} */
  async cas(key: Bytes, value: Bytes, version: bigint, options: SetOptions = {}): Promise<bigint | undefined> {
    const bytes = copied('cas', value);
    return this.#change('cas', key, options, (client, own, wait) =>
      client.cas(own, bytes, version, { ...options, ...wait }),
    );
  }

  /** Ends an entry. @returns whether there was one. @throws as {@link entry} */
  async delete(key: Bytes, options: DeleteOptions = {}): Promise<boolean> {
    return this.#change('delete', key, options, (client, own, wait) => client.delete(own, { ...options, ...wait }));
  }

  /** Adds to a value that is a whole number. @returns the sum. @throws as `KvClient.incr`, and as {@link entry} */
  async incr(key: Bytes, by: bigint | number = 1n, options: WaitOptions = {}): Promise<bigint> {
    return this.#change('incr', key, options, (client, own, wait) => client.incr(own, by, wait));
  }

  /** Gives an entry another time to live. @param ttlMs milliseconds from now on; 0 or Infinity for ever. @returns whether there was one. @throws as {@link entry} */
  async touch(key: Bytes, ttlMs: number, options: WaitOptions = {}): Promise<boolean> {
    return this.#change('touch', key, options, (client, own, wait) => client.touch(own, ttlMs, wait));
  }

  /** How long an entry has to live. @returns milliseconds; Infinity for ever; undefined when there is no entry. @throws as {@link entry} */
  async ttl(key: Bytes, options: WaitOptions = {}): Promise<number | undefined> {
    return this.#ask('ttl', key, options, (client, own, wait) => client.ttl(own, wait));
  }

  /** Whether a key is there, or why not, as far as its server remembers. @throws as {@link entry} */
  async explain(key: Bytes, options: WaitOptions = {}): Promise<KvExplanation> {
    return this.#ask('explain', key, options, (client, own, wait) => client.explain(own, wait));
  }

  /**
   * The values of several keys, in their order; undefined where there is none. All servers are asked at once.
   *
   * @throws (the promise rejects) KvManyError, once all are answered or have failed; the signal's reason; VerbsError EINVAL before anything is sent
   */
  async getMany(keys: Iterable<Bytes>, options: WaitOptions = {}): Promise<(Uint8Array | undefined)[]> {
    const call = 'getMany';
    const all = listOf(call, 'keys', keys).map((key) => keyOf(call, key));
    checkWait(call, options);
    return this.#each(call, all, keyItself, options, 'harmless', (client, some, wait) => client.getMany(some, wait));
  }

  /** Sets several values, each for itself, at all servers at once. @returns their versions, in their order. @throws as `KvClient.setMany`, and as {@link getMany} */
  async setMany(entries: Iterable<KvSetting>, options: SetOptions = {}): Promise<bigint[]> {
    const call = 'setMany';
    checkWait(call, options, SET_FIELDS);
    const all = listOf(call, 'entries', entries).map((entry) => {
      refuse(call, fieldsProblem('an entry', entry, SETTING_FIELDS));
      return { ...entry, key: keyOf(call, entry.key), value: copied(call, entry.value) };
    });
    return this.#each(call, all, keyInside, options, 'unwise', (client, some, wait) =>
      client.setMany(some, { ...options, ...wait }),
    );
  }

  /** Ends several entries, each for itself, at all servers at once. @returns of each whether there was one. @throws as {@link getMany} */
  async deleteMany(keys: Iterable<Bytes>, options: WaitOptions = {}): Promise<boolean[]> {
    const call = 'deleteMany';
    const all = listOf(call, 'keys', keys).map((key) => keyOf(call, key));
    checkWait(call, options);
    return this.#each(call, all, keyItself, options, 'unwise', (client, some, wait) => client.deleteMany(some, wait));
  }

  /**
   * All keys of all servers, or those with a prefix, in no order, server by server. What a server has of keys that are at another one by now is left out. `signal` and `timeoutMs` are
   * for each page.
   *
   * @throws as {@link entry}
   */
  async *scan(options: ScanOptions = {}): AsyncIterable<Uint8Array> {
    let cursor = 0n;
    do {
      const some = await this.scanPage(cursor, options);
      cursor = some.cursor;
      yield* some.keys;
    } while (cursor !== 0n);
  }

  /**
   * Some keys, as {@link scan} lists them; there may be none though others follow.
   *
   * @param cursor 0 to begin, then what the page before has: it is longer than 64 bits
   * @throws as {@link entry}
   */
  async scanPage(cursor: bigint, options: ScanOptions = {}): Promise<KvPage> {
    const call = 'scanPage';
    if (typeof cursor !== 'bigint' || cursor < 0n)
      throw new VerbsError(call, invalid('cursor is none', 'It is 0n, or what the page before has'));
    return this.#inTime(call, options, (rest) => this.#page(call, cursor, rest));
  }

  async #page(call: string, cursor: bigint, options: ScanOptions): Promise<KvPage> {
    const place = cursor >> CURSOR_BITS;
    const at = this.#homes.from(place);
    if (at === undefined) return { cursor: 0n, keys: [] };
    const { who: seat } = at;
    // Of a server that has gone meanwhile, the next one has another place, and is listed from its beginning.
    const from = at.place === place ? BigInt.asUintN(64, cursor) : 0n;
    let page: KvPage;
    try {
      page = await seat.run(call, (client) => client.scanPage(from, options), options.signal, 'harmless');
    } catch (error) {
      if (this.#seats.get(seat.name) === seat || !mayRepeat(error, 'harmless')) throw error;
      return this.#page(call, cursor, options);
    }
    const homes = this.#homes;
    const keys = page.keys.filter((key) => homes.homeOf(key).name === seat.name);
    if (page.cursor !== 0n) return { keys, cursor: (at.place << CURSOR_BITS) | page.cursor };
    const next = homes.from(at.place + 1n);
    return { keys, cursor: next === undefined ? 0n : next.place << CURSOR_BITS };
  }

  /**
   * What all servers have counted, added up: see `KvClient.serverStatistics`.
   *
   * @throws (the promise rejects) KvManyError when one of them cannot be asked; as {@link entry}
   */
  async serverStatistics(options: WaitOptions = {}): Promise<ReadonlyMap<string, bigint>> {
    const call = 'serverStatistics';
    const seats = [...this.#seats.values()];
    const each = await this.#together(call, seats, options, (seat) => this.#statisticsOf(seat, options));
    const all = new Map<string, bigint>();
    for (const numbers of each) for (const [name, value] of numbers) all.set(name, (all.get(name) ?? 0n) + value);
    return all;
  }

  /** What one of the servers has counted. @param name as in {@link members}. @throws VerbsError ENOENT when there is no such server; as {@link entry} */
  async serverStatisticsOf(name: string, options: WaitOptions = {}): Promise<ReadonlyMap<string, bigint>> {
    const seat = this.#seats.get(name);
    if (seat !== undefined) return this.#statisticsOf(seat, options);
    const advice = 'See members';
    throw new VerbsError('serverStatisticsOf', { errno: 'ENOENT', message: `there is no server ${name}`, advice });
  }

  /** Ends all its clients: calls that are under way reject with ECANCELED. Idempotent. */
  close(): void {
    if (this.#failure !== undefined) return;
    const failure = new KvError('close', 'ECANCELED', 'the client was closed', 'unknown');
    this.#failure = failure;
    this.#stop.abort(failure);
    for (const seat of this.#seats.values()) seat.end(failure);
    this.#tellClosed();
  }

  /** {@link close}. */
  [Symbol.dispose](): void {
    this.close();
  }

  /** {@link close}. */
  [Symbol.asyncDispose](): Promise<void> {
    this.close();
    return this.closed;
  }

  /** @internal The servers are these from now on: at least one. */
  update(members: readonly NamedMember[]): void {
    if (this.#failure !== undefined) return;
    this.#homes = this.#seat(members);
    void Promise.allSettled(this.connectAll());
  }

  /** @internal Connects to all that are up, so that calls need not wait. @returns what comes of it */
  connectAll(): readonly Promise<unknown>[] {
    const up = [...this.#seats.values()].filter(({ member }) => member.isUp);
    return up.map((seat) => seat.connected());
  }

  #seat(members: readonly NamedMember[]): Rendezvous<MemberConnection> {
    const before = this.#seats;
    const seats = members.map((member) => {
      const seat = before.get(member.name);
      seat?.update(member);
      return seat ?? new MemberConnection(member, this.#terms);
    });
    this.#seats = new Map(seats.map((seat) => [seat.name, seat]));
    for (const [name, seat] of before)
      if (!this.#seats.has(name)) seat.end(new KvError('kv', 'ECONNRESET', `the server ${name} has left`, 'unknown'));
    return new Rendezvous(seats);
  }

  #ask<T>(
    call: string,
    key: Bytes,
    options: WaitOptions,
    use: (client: KvClient, key: Uint8Array, wait: WaitOptions) => Promise<T>,
  ): Promise<T> {
    return this.#about(call, key, options, 'harmless', use);
  }

  #change<T>(
    call: string,
    key: Bytes,
    options: WaitOptions,
    use: (client: KvClient, key: Uint8Array, wait: WaitOptions) => Promise<T>,
  ): Promise<T> {
    return this.#about(call, key, options, 'unwise', use);
  }

  #about<T>(
    call: string,
    key: Bytes,
    options: WaitOptions,
    repetition: Repetition,
    use: (client: KvClient, key: Uint8Array, wait: WaitOptions) => Promise<T>,
  ): Promise<T> {
    const own = keyOf(call, key);
    return this.#inTime(call, options, async (rest) => {
      for (;;) {
        const home = this.#homes.homeOf(own);
        try {
          return await home.run(call, (client) => use(client, own, rest), rest.signal, repetition);
        } catch (error) {
          // It may have moved meanwhile.
          if (this.#homes.homeOf(own) === home || !mayRepeat(error, repetition)) throw error;
        }
      }
    });
  }

  /** Does something that may take several tries, with the same options for each, in the time that all may take together. */
  #inTime<T>(call: string, options: WaitOptions, action: (rest: WaitOptions) => Promise<T>): Promise<T> {
    const { signal, timeoutMs } = options;
    // What is no option is refused by the client, which knows those of each call.
    checkWait(call, { signal, timeoutMs });
    if (timeoutMs === undefined) return action(options);
    const together = (limit?: AbortSignal): Promise<T> => action({ ...options, signal: limit, timeoutMs: undefined });
    return waitUnlessLate(call, { signal, timeoutMs }, this.#terms, together, (name, limitMs) =>
      // Of several tries one may have been carried out.
      tooLate(name, limitMs, 'unknown'),
    );
  }

  #statisticsOf(seat: MemberConnection, options: WaitOptions): Promise<ReadonlyMap<string, bigint>> {
    const call = 'serverStatistics';
    return this.#inTime(call, options, (rest) =>
      seat.run(call, (client) => client.serverStatistics(rest), rest.signal, 'harmless'),
    );
  }

  /** What each server gives for those of several items that are its own, in the order of the items. */
  async #each<Item, T>(
    call: string,
    items: readonly Item[],
    keyIn: (item: Item) => Uint8Array,
    options: WaitOptions,
    repetition: Repetition,
    use: (client: KvClient, items: readonly Item[], wait: WaitOptions) => Promise<T[]>,
  ): Promise<T[]> {
    const shares = new Map<MemberConnection, number[]>();
    for (const [at, item] of items.entries()) {
      const home = this.#homes.homeOf(keyIn(item));
      const share = shares.get(home);
      if (share === undefined) shares.set(home, [at]);
      else share.push(at);
    }
    const results = new Map<number, T>();
    await this.#together(
      call,
      shares,
      options,
      async ([seat, places]) => {
        const some = places.map((at) => items[at]);
        const isElsewhere = (item: Item): boolean => this.#homes.homeOf(keyIn(item)) !== seat;
        const given = await this.#inTime(call, options, async (rest) => {
          try {
            return await seat.run(call, (client) => use(client, some, rest), rest.signal, repetition);
          } catch (error) {
            if (!some.some(isElsewhere) || !mayRepeat(error, repetition)) throw error;
            return this.#each(call, some, keyIn, rest, repetition, use);
          }
        });
        for (const [at, result] of given.entries()) results.set(places[at], result);
      },
      ([, places]) => places,
      items.length,
    );
    return [...results].sort(([a], [b]) => a - b).map(([, result]) => result);
  }

  /**
   * Does something with several at once.
   *
   * @param placesOf of what the program has named; default: each is one
   * @throws KvManyError when some have failed; the signal's reason when that is why
   */
  async #together<Part, T>(
    call: string,
    parts: Iterable<Part>,
    { signal, timeoutMs }: WaitOptions,
    action: (part: Part) => Promise<T>,
    placesOf: (part: Part, at: number) => readonly number[] = (_, at) => [at],
    total?: number,
  ): Promise<T[]> {
    checkWait(call, { signal, timeoutMs });
    signal?.throwIfAborted();
    const all = [...parts];
    const failures: (readonly [number, unknown])[] = [];
    const results: T[] = [];
    const settled = await Promise.allSettled(all.map(action));
    for (const [at, outcome] of settled.entries())
      if (outcome.status === 'fulfilled') results.push(outcome.value);
      else failures.push(...failuresOf(outcome.reason, placesOf(all[at], at)));
    if (failures.length === 0) return results;
    throwIfGivenUp(
      signal,
      failures.map(([, error]) => error),
    );
    // What the program has done wrong was refused before anything was sent.
    const wrong = failures.find(([, error]) => error instanceof VerbsError && !(error instanceof KvError));
    if (wrong !== undefined && failures.every(([, error]) => isInvalid(error))) throw wrong[1];
    throw new KvManyError(call, total ?? all.length, new Map(failures.sort(([a], [b]) => a - b)));
  }
}

const keyItself = (key: Uint8Array): Uint8Array => key;
const keyInside = ({ key }: { readonly key: Uint8Array }): Uint8Array => key;

function memberOf({ member, epoch, isConnected }: MemberConnection): KvClusterMember {
  const { name, host, port, isUp } = member;
  return { name, host, port, epoch, isUp, isConnected };
}

/** What is set is kept until it was sent, which may be some time. */
function copied(call: string, value: Bytes): Uint8Array {
  return valueOf(call, value, () => false);
}

function isInvalid(error: unknown): boolean {
  return error instanceof VerbsError && !(error instanceof KvError) && error.errno === 'EINVAL';
}

/** Why the parts at these places have failed. */
function failuresOf(error: unknown, places: readonly number[]): (readonly [number, unknown])[] {
  if (error instanceof KvManyError) return Array.from(error.failures, ([at, reason]) => [places[at], reason] as const);
  return places.map((at) => [at, error] as const);
}
