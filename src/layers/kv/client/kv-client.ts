import { fieldsProblem, refuse } from '../../../api/verbs/index.js';
import { checkWait, type WaitOptions } from '../../engine/index.js';
import { KvError } from '../errors.js';
import { type Asked, Operation, REQUEST_HEAD_BYTES } from '../wire/index.js';
import { Call, type Meaning } from './call.js';
import { allOf } from './many.js';
import {
  entryFound,
  explanation,
  isDone,
  type KvEntry,
  type KvExplanation,
  type KvPage,
  numbers,
  pageFrom,
  sumOf,
  timeLeft,
  versionSet,
  versionSetOrNone,
} from './meanings.js';
import {
  amountOf,
  type Bytes,
  countOf,
  cursorOf,
  keyOf,
  type KvSetting,
  listOf,
  prefixOf,
  SCAN_FIELDS,
  type ScanOptions,
  SET_FIELDS,
  type SetOptions,
  SETTING_FIELDS,
  ttlOf,
  valueOf,
  versionOf,
} from './options.js';
import type { KvOneSidedStatistics, OneSidedReader } from './one-sided/one-sided-reader.js';
import type { Requester, RequesterStatistics } from './requester.js';

const NO_BYTES = new Uint8Array(0);

/** What a client has counted. */
export interface KvClientStatistics extends RequesterStatistics {
  /** Of a client that was connected with `oneSided`; undefined for others. */
  readonly oneSided: KvOneSidedStatistics | undefined;
}

/** Ends a client for a reason, and not because the program has closed it. */
export const endFor: unique symbol = Symbol('endFor');

/**
 * A client of a key-value store. Keys and values are bytes, or texts that stand for their UTF-8; what is handed over is copied.
 *
 * Each call is carried out once, or not at all, whatever the network does. One that fails with a `KvError` says by its `outcome` whether the server may have
 * carried it out. One that was given up, by a signal or a time limit, may have been carried out, or may yet be.
 */
export class KvClient implements AsyncDisposable, Disposable {
  readonly #requester: Requester;
  /** Serves GETs; undefined where the requester does. */
  readonly #reader: OneSidedReader | undefined;

  /** @internal `connect` makes clients for programs. */
  constructor(requester: Requester, reader?: OneSidedReader) {
    this.#requester = requester;
    this.#reader = reader;
  }

  /** Which life of the server that is. */
  get epoch(): number {
    return this.#requester.welcome.epoch;
  }

  /** Resolves when the client has ended, for whatever reason. Never rejects. */
  get closed(): Promise<void> {
    return this.#requester.ended;
  }

  /** Why it has ended; undefined while it has not. */
  get failure(): KvError | undefined {
    return this.#requester.failure;
  }

  /**
   * Whether calls about a key are carried out in the order in which they were made, though none was awaited: by `rc` they are, but for values that do not fit a
   * message, which take a step more, and with `oneSided`.
   */
  get keepsOrder(): boolean {
    return this.#requester.keepsOrder && this.#reader === undefined;
  }

  get statistics(): KvClientStatistics {
    return { ...this.#requester.statistics, oneSided: this.#reader?.statistics };
  }

  /** The value of a key; undefined when there is none. @throws as {@link entry} */
  async get(key: Bytes, options: WaitOptions = {}): Promise<Uint8Array | undefined> {
    const entry = await this.#call('get', entryFound, { operation: Operation.GET, key: keyOf('get', key) }, options);
    return entry?.value;
  }

  /**
   * The value of a key with its version; undefined when there is none.
   *
   * @throws (the promise rejects) KvError when the server is gone, and ETIMEDOUT; the signal's reason; VerbsError EINVAL
   */
  async entry(key: Bytes, options: WaitOptions = {}): Promise<KvEntry | undefined> {
    return this.#call('entry', entryFound, { operation: Operation.GET, key: keyOf('entry', key) }, options);
  }

  /** Whether there is a value. @throws as {@link entry} */
  async has(key: Bytes, options: WaitOptions = {}): Promise<boolean> {
    return this.#call('has', isDone, { operation: Operation.HAS, key: keyOf('has', key) }, options);
  }

  /**
   * Sets a value, whether there was one or not.
   *
   * @returns its version
   * @throws (the promise rejects) as {@link entry}; KvError ENOSPC when the store is full, EMSGSIZE for a value that is too long,
   *   ENOMEM when this program has no memory left for one that does not fit a message
   */
  async set(key: Bytes, value: Bytes, options: SetOptions = {}): Promise<bigint> {
    return this.#put('set', Operation.SET, versionSet, key, value, 0n, options);
  }

  /** Sets a value if there is none. @returns its version; undefined when there was one. @throws as {@link set} */
  async add(key: Bytes, value: Bytes, options: SetOptions = {}): Promise<bigint | undefined> {
    return this.#put('add', Operation.ADD, versionSetOrNone, key, value, 0n, options);
  }

  /**
   * Sets a value if the present one has that version.
   *
   * @returns its version; undefined when it had another one, or there was none
   * @throws as {@link set}
   */
  async cas(key: Bytes, value: Bytes, version: bigint, options: SetOptions = {}): Promise<bigint | undefined> {
    return this.#put('cas', Operation.CAS, versionSetOrNone, key, value, versionOf('cas', version), options);
  }

  /** Ends an entry. @returns whether there was one. @throws as {@link entry} */
  async delete(key: Bytes, options: WaitOptions = {}): Promise<boolean> {
    return this.#call('delete', isDone, { operation: Operation.DEL, key: keyOf('delete', key) }, options);
  }

  /**
   * Adds to a value that is a whole number of 64 bits as decimal text; where there is none it begins with 0.
   *
   * @returns the sum
   * @throws (the promise rejects) as {@link set}; KvError EINVAL when the value is no such number, EOVERFLOW when the sum would be none
   */
  async incr(key: Bytes, by: bigint | number = 1n, options: WaitOptions = {}): Promise<bigint> {
    const asked = { operation: Operation.INCR, key: keyOf('incr', key), operand: amountOf('incr', by) };
    return this.#call('incr', sumOf, asked, options);
  }

  /**
   * Gives an entry another time to live, and leaves its version as it is.
   *
   * @param ttlMs milliseconds from now on; 0 or Infinity for ever
   * @returns whether there was one
   * @throws as {@link entry}
   */
  async touch(key: Bytes, ttlMs: number, options: WaitOptions = {}): Promise<boolean> {
    const asked = { operation: Operation.TOUCH, key: keyOf('touch', key), ttlMs: ttlOf('touch', ttlMs) };
    return this.#call('touch', isDone, asked, options);
  }

  /**
   * How long an entry has to live.
   *
   * @returns milliseconds; Infinity for ever; undefined when there is no entry
   * @throws as {@link entry}
   */
  async ttl(key: Bytes, options: WaitOptions = {}): Promise<number | undefined> {
    return this.#call('ttl', timeLeft, { operation: Operation.TTL, key: keyOf('ttl', key) }, options);
  }

  /**
   * The values of several keys, in their order; undefined where there is none. They are asked for all at once, as far as the window goes, each for itself: others may
   * change them in between.
   *
   * @throws (the promise rejects) KvManyError, once all are answered or have failed; the signal's reason; VerbsError EINVAL before anything is sent
   */
  async getMany(keys: Iterable<Bytes>, options: WaitOptions = {}): Promise<(Uint8Array | undefined)[]> {
    const call = 'getMany';
    const all = listOf(call, 'keys', keys).map((key) => ({ operation: Operation.GET, key: keyOf(call, key) }));
    const entries = await this.#callAll(call, entryFound, all, options);
    return entries.map((entry) => entry?.value);
  }

  /**
   * Sets several values, each for itself, all at once as far as the window goes. Of a key that is there twice the one or the other may last.
   *
   * @returns their versions, in their order
   * @throws as {@link getMany}: those that the error does not name were set; VerbsError EMSGSIZE for a value that is too long, before anything is sent
   */
  async setMany(entries: Iterable<KvSetting>, options: SetOptions = {}): Promise<bigint[]> {
    const call = 'setMany';
    checkWait(call, options, SET_FIELDS);
    const { ttlMs: forAll, ...wait } = options;
    const all = listOf(call, 'entries', entries).map((entry) => {
      refuse(call, fieldsProblem('an entry', entry, SETTING_FIELDS));
      const { key, value, ttlMs = forAll } = entry;
      return this.#setting(call, Operation.SET, key, value, 0n, ttlMs);
    });
    return this.#callAll(call, versionSet, all, wait);
  }

  /**
   * Ends several entries, each for itself, all at once as far as the window goes.
   *
   * @returns of each whether there was one, in their order
   * @throws as {@link getMany}: those that the error does not name were ended
   */
  async deleteMany(keys: Iterable<Bytes>, options: WaitOptions = {}): Promise<boolean[]> {
    const call = 'deleteMany';
    const all = listOf(call, 'keys', keys).map((key) => ({ operation: Operation.DEL, key: keyOf(call, key) }));
    return this.#callAll(call, isDone, all, options);
  }

  /**
   * All keys of the store, or those with a prefix, in no order, page by page as they are asked for. Each key that is there all the time comes once, seldom twice; one
   * that comes or goes meanwhile may be among them. `signal` and `timeoutMs` are for each page.
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
   * Some keys of the store, as {@link scan} lists them; there may be none though others follow.
   *
   * @param cursor 0 to begin, then what the page before has; that of another server, or of one that began anew, leads anywhere
   * @throws as {@link entry}
   */
  async scanPage(cursor: bigint, options: ScanOptions = {}): Promise<KvPage> {
    const call = 'scanPage';
    checkWait(call, options, SCAN_FIELDS);
    const { prefix = NO_BYTES, count, ...wait } = options;
    const key = prefixOf(call, prefix);
    const asked = { operation: Operation.SCAN, key, operand: cursorOf(call, cursor), ttlMs: countOf(call, count) };
    return this.#call(call, pageFrom(cursor), asked, wait);
  }

  /** Whether a key is there, or why not, as far as the server remembers. @throws as {@link entry} */
  async explain(key: Bytes, options: WaitOptions = {}): Promise<KvExplanation> {
    const asked = { operation: Operation.EXPLAIN, key: keyOf('explain', key) };
    return this.#call('explain', explanation, asked, options);
  }

  /**
   * What the server has counted, since it began, for all clients together: numbers of 64 bits by their names, `server.requests` or `store.hits`. Newer servers may
   * have more of them.
   *
   * @throws as {@link entry}
   */
  async serverStatistics(options: WaitOptions = {}): Promise<ReadonlyMap<string, bigint>> {
    const all = new Map<string, bigint>();
    let operand = 0n;
    do {
      const some = await this.#call('serverStatistics', numbers, { operation: Operation.STATS, operand }, options);
      for (const [name, value] of some.list) all.set(name, value);
      // A server that does not go forward has no end.
      if (some.next <= operand) break;
      operand = some.next;
    } while (operand !== 0n);
    return all;
  }

  /** Ends the client: calls that are under way reject with ECANCELED. Idempotent. */
  close(): void {
    this[endFor](new KvError('close', 'ECANCELED', 'the client was closed', 'unknown'));
  }

  /** @internal Ends the client: calls that are under way reject for that reason. Idempotent. */
  [endFor](reason: KvError): void {
    this.#requester.end(reason);
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

  #put<T>(
    call: string,
    operation: Operation,
    meaning: Meaning<T>,
    key: Bytes,
    value: Bytes,
    operand: bigint,
    all: SetOptions,
  ): Promise<T> {
    checkWait(call, all, SET_FIELDS);
    const { ttlMs, ...options } = all;
    return this.#call(call, meaning, this.#setting(call, operation, key, value, operand, ttlMs), options);
  }

  #setting(
    call: string,
    operation: Operation,
    key: Bytes,
    value: Bytes,
    operand: bigint,
    ttlMs = 0,
  ): Pick<Asked, 'operation' | 'key' | 'value' | 'ttlMs' | 'operand'> {
    const keyBytes = keyOf(call, key);
    const inMessage = this.#requester.welcome.slotBytes - REQUEST_HEAD_BYTES - keyBytes.length;
    const bytes = valueOf(call, value, (length) => length > inMessage);
    return { operation, key: keyBytes, value: bytes, ttlMs: ttlOf(call, ttlMs), operand };
  }

  async #callAll<T>(
    call: string,
    meaning: Meaning<T>,
    all: readonly Partial<Asked>[],
    options: WaitOptions,
  ): Promise<T[]> {
    checkWait(call, options);
    const { signal, timeoutMs } = options;
    signal?.throwIfAborted();
    const calls = all.map((asked) => this.#begin(call, meaning, asked, { timeoutMs }));
    // The signal has one listener, however many there are: Node warns of many.
    const giveUp = (): void => {
      for (const each of calls) each.giveUp(signal?.reason);
    };
    signal?.addEventListener('abort', giveUp, { once: true });
    try {
      const promises = calls.map(({ promise }) => promise);
      return await allOf(call, promises, signal);
    } finally {
      signal?.removeEventListener('abort', giveUp);
    }
  }

  async #call<T>(call: string, meaning: Meaning<T>, asked: Partial<Asked>, options: WaitOptions): Promise<T> {
    checkWait(call, options);
    options.signal?.throwIfAborted();
    return this.#begin(call, meaning, asked, options).promise;
  }

  #begin<T>(call: string, meaning: Meaning<T>, asked: Partial<Asked>, options: WaitOptions): Call<T> {
    const request: Asked = { ...NOTHING, ...asked };
    const pending = new Call(call, request, meaning, this.#requester);
    pending.heed(options, this.#requester.engine);
    if (this.#reader !== undefined && request.operation === Operation.GET) this.#reader.get(pending);
    else this.#requester.post(pending);
    return pending;
  }
}

const NOTHING: Asked = {
  operation: Operation.NOOP,
  key: NO_BYTES,
  value: NO_BYTES,
  remote: undefined,
  ttlMs: 0,
  operand: 0n,
};
