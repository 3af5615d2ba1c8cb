import { fieldsProblem, refuse } from '../../../api/verbs/index.js';
import { checkWait, type Outcome, type WaitOptions } from '../../core/index.js';
import { KvError } from '../errors.js';
import { type Asked, Operation, REQUEST_HEAD_BYTES } from '../wire/index.js';
import { Call, type ResponseDecoder } from './call.js';
import { Gathering } from './many.js';
import {
  entryFound,
  explanation,
  isDone,
  isDoneAtVersion,
  type KvEntry,
  type KvExplanation,
  type KvPage,
  numbers,
  pageFrom,
  sumOf,
  timeLeft,
  valueFound,
  versionSet,
  versionSetOrNone,
} from './response-decoders.js';
import {
  amountOf,
  type Bytes,
  countOf,
  cursorOf,
  keyOf,
  type KvSetting,
  listOf,
  prefixOf,
  DELETE_FIELDS,
  type DeleteOptions,
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

const NO_BYTES: Uint8Array = new Uint8Array(0);
/** Of calls for which the program says nothing more: there is nothing to check. */
const NOTHING_MORE: WaitOptions & SetOptions = {};

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
  get(key: Bytes, options: WaitOptions = NOTHING_MORE): Promise<Uint8Array | undefined> {
    return this.#about('get', Operation.GET, valueFound, key, options);
  }

  /**
   * The value of a key with its version; undefined when there is none.
   *
   * @throws (the promise rejects) KvError when the server is gone, and ETIMEDOUT; the signal's reason; VerbsError EINVAL
   */
  entry(key: Bytes, options: WaitOptions = NOTHING_MORE): Promise<KvEntry | undefined> {
    return this.#about('entry', Operation.GET, entryFound, key, options);
  }

  /** Whether there is a value. @throws as {@link entry} */
  has(key: Bytes, options: WaitOptions = NOTHING_MORE): Promise<boolean> {
    return this.#about('has', Operation.HAS, isDone, key, options);
  }

  /**
   * Sets a value, whether there was one or not.
   *
   * @returns its version
   * @throws (the promise rejects) as {@link entry}; KvError ENOSPC when the store is full, EMSGSIZE for a value that is too long,
   *   ENOMEM when this program has no memory left for one that does not fit a message
   */
  set(key: Bytes, value: Bytes, options: SetOptions = NOTHING_MORE): Promise<bigint> {
    return this.#put('set', Operation.SET, versionSet, key, value, 0n, options);
  }

  /** Sets a value if there is none. @returns its version; undefined when there was one. @throws as {@link set} */
  add(key: Bytes, value: Bytes, options: SetOptions = NOTHING_MORE): Promise<bigint | undefined> {
    return this.#put('add', Operation.ADD, versionSetOrNone, key, value, 0n, options);
  }

  /**
   * Sets a value if the present one has that version.
   *
   * @returns its version; undefined when it had another one, or there was none
   * @throws as {@link set}
   */
  async cas(key: Bytes, value: Bytes, version: bigint, options: SetOptions = {}): Promise<bigint | undefined> {
    return await this.#put('cas', Operation.CAS, versionSetOrNone, key, value, versionOf('cas', version), options);
  }

  /**
   * Ends an entry.
   *
   * @param options - `version`: only if the entry has that version
   * @returns whether there was one, and it had that version
   * @throws as {@link entry}
   */
  delete(key: Bytes, options: DeleteOptions = NOTHING_MORE): Promise<boolean> {
    if (options === NOTHING_MORE) return this.#about('delete', Operation.DEL, isDone, key, NOTHING_MORE);
    return this.#deleteAt(key, options);
  }

  async #deleteAt(key: Bytes, options: DeleteOptions): Promise<boolean> {
    const call = 'delete';
    checkWait(call, options, DELETE_FIELDS);
    const { version, ...wait } = options;
    const operand = version === undefined ? 0n : versionOf(call, version);
    const asked = asking(Operation.DEL, keyOf(call, key), NO_BYTES, 0, operand);
    return await this.#call(call, isDoneAtVersion, asked, wait);
  }

  /**
   * Adds to a value that is a whole number of 64 bits as decimal text; where there is none it begins with 0.
   *
   * @returns the sum
   * @throws (the promise rejects) as {@link set}; KvError EINVAL when the value is no such number, EOVERFLOW when the sum would be none
   */
  async incr(key: Bytes, by: bigint | number = 1n, options: WaitOptions = NOTHING_MORE): Promise<bigint> {
    const asked = asking(Operation.INCR, keyOf('incr', key), NO_BYTES, 0, amountOf('incr', by));
    return await this.#call('incr', sumOf, asked, options);
  }

  /**
   * Gives an entry another time to live, and leaves its version as it is.
   *
   * @param ttlMs milliseconds from now on; 0 or Infinity for ever
   * @returns whether there was one
   * @throws as {@link entry}
   */
  async touch(key: Bytes, ttlMs: number, options: WaitOptions = NOTHING_MORE): Promise<boolean> {
    const asked = asking(Operation.TOUCH, keyOf('touch', key), NO_BYTES, ttlOf('touch', ttlMs));
    return await this.#call('touch', isDone, asked, options);
  }

  /**
   * How long an entry has to live.
   *
   * @returns milliseconds; Infinity for ever; undefined when there is no entry
   * @throws as {@link entry}
   */
  ttl(key: Bytes, options: WaitOptions = NOTHING_MORE): Promise<number | undefined> {
    return this.#about('ttl', Operation.TTL, timeLeft, key, options);
  }

  /**
   * The values of several keys, in their order; undefined where there is none. They are asked for all at once, as far as the window goes, each for itself: others may
   * change them in between.
   *
   * @throws (the promise rejects) KvManyError, once all are answered or have failed; the signal's reason; VerbsError EINVAL before anything is sent
   */
  async getMany(keys: Iterable<Bytes>, options: WaitOptions = NOTHING_MORE): Promise<(Uint8Array | undefined)[]> {
    const call = 'getMany';
    const all = listOf(call, 'keys', keys).map((key) => asking(Operation.GET, keyOf(call, key)));
    return await this.#callAll(call, valueFound, all, options);
  }

  /**
   * Sets several values, each for itself, all at once as far as the window goes. Of a key that is there twice the one or the other may last.
   *
   * @returns their versions, in their order
   * @throws as {@link getMany}: those that the error does not name were set; VerbsError EMSGSIZE for a value that is too long, before anything is sent
   */
  async setMany(entries: Iterable<KvSetting>, options: SetOptions = NOTHING_MORE): Promise<bigint[]> {
    const call = 'setMany';
    checkWait(call, options, SET_FIELDS);
    const { ttlMs: forAll, ...wait } = options;
    const all = listOf(call, 'entries', entries).map((entry) => {
      refuse(call, fieldsProblem('an entry', entry, SETTING_FIELDS));
      const { key, value, ttlMs = forAll } = entry;
      return this.#setting(call, Operation.SET, key, value, 0n, ttlMs);
    });
    return await this.#callAll(call, versionSet, all, wait);
  }

  /**
   * Ends several entries, each for itself, all at once as far as the window goes.
   *
   * @returns of each whether there was one, in their order
   * @throws as {@link getMany}: those that the error does not name were ended
   */
  async deleteMany(keys: Iterable<Bytes>, options: WaitOptions = NOTHING_MORE): Promise<boolean[]> {
    const call = 'deleteMany';
    const all = listOf(call, 'keys', keys).map((key) => asking(Operation.DEL, keyOf(call, key)));
    return await this.#callAll(call, isDone, all, options);
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
    const asked = asking(Operation.SCAN, key, NO_BYTES, countOf(call, count), cursorOf(call, cursor));
    return await this.#call(call, pageFrom(cursor), asked, wait);
  }

  /** Whether a key is there, or why not, as far as the server remembers. @throws as {@link entry} */
  explain(key: Bytes, options: WaitOptions = NOTHING_MORE): Promise<KvExplanation> {
    return this.#about('explain', Operation.EXPLAIN, explanation, key, options);
  }

  /**
   * What the server has counted, since it began, for all clients together: numbers of 64 bits by their names, `server.requests` or `store.hits`. Newer servers may
   * have more of them.
   *
   * @throws as {@link entry}
   */
  async serverStatistics(options: WaitOptions = NOTHING_MORE): Promise<ReadonlyMap<string, bigint>> {
    const all = new Map<string, bigint>();
    let operand = 0n;
    do {
      const asked = asking(Operation.STATS, NO_BYTES, NO_BYTES, 0, operand);
      const some = await this.#call('serverStatistics', numbers, asked, options);
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

  #about<T>(
    call: string,
    operation: Operation,
    decode: ResponseDecoder<T>,
    key: Bytes,
    options: WaitOptions,
  ): Promise<T> {
    // What is thrown there rejects it: no other promise is needed.
    return new Promise((resolve, reject) => {
      const asked = asking(operation, keyOf(call, key));
      checkMore(call, options);
      this.#begin(call, decode, asked, options, { resolve, reject });
    });
  }

  #put<T>(
    call: string,
    operation: Operation,
    decode: ResponseDecoder<T>,
    key: Bytes,
    value: Bytes,
    operand: bigint,
    all: SetOptions,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      if (all !== NOTHING_MORE) checkWait(call, all, SET_FIELDS);
      const asked = this.#setting(call, operation, key, value, operand, all.ttlMs);
      all.signal?.throwIfAborted();
      this.#begin(call, decode, asked, all, { resolve, reject });
    });
  }

  #setting(call: string, operation: Operation, key: Bytes, value: Bytes, operand: bigint, ttlMs = 0): Asked {
    const keyBytes = keyOf(call, key);
    const inMessage = this.#requester.welcome.slotBytes - REQUEST_HEAD_BYTES - keyBytes.length;
    const bytes = valueOf(call, value, (length) => length > inMessage);
    return asking(operation, keyBytes, bytes, ttlOf(call, ttlMs), operand);
  }

  async #callAll<T>(
    call: string,
    decode: ResponseDecoder<T>,
    all: readonly Asked[],
    options: WaitOptions,
  ): Promise<T[]> {
    checkMore(call, options);
    const { signal, timeoutMs } = options;
    const gathering = new Gathering<T>(call, all.length);
    const wait = timeoutMs === undefined ? NOTHING_MORE : { timeoutMs };
    const calls = all.map((asked, index) => this.#begin(call, decode, asked, wait, gathering.place(index)));
    if (signal === undefined) return await gathering.all(signal);
    // The signal has one listener, however many there are: Node warns of many.
    const giveUp = (): void => {
      for (const each of calls) each.giveUp(signal.reason);
    };
    signal.addEventListener('abort', giveUp, { once: true });
    try {
      return await gathering.all(signal);
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
  }

  #call<T>(call: string, decode: ResponseDecoder<T>, asked: Asked, options: WaitOptions): Promise<T> {
    return new Promise((resolve, reject) => {
      checkMore(call, options);
      this.#begin(call, decode, asked, options, { resolve, reject });
    });
  }

  #begin<T>(
    call: string,
    decode: ResponseDecoder<T>,
    asked: Asked,
    options: WaitOptions,
    outcome: Outcome<T>,
  ): Call<T> {
    const begun = new Call(call, asked, decode, this.#requester, outcome);
    begun.bindCancellation(options, this.#requester.engine);
    if (this.#reader !== undefined && asked.operation === Operation.GET) this.#reader.get(begun);
    else this.#requester.post(begun);
    return begun;
  }
}

/** @throws VerbsError EINVAL for options that are none; the signal's reason */
function checkMore(call: string, options: WaitOptions): void {
  if (options === NOTHING_MORE) return;
  checkWait(call, options);
  options.signal?.throwIfAborted();
}

/** A request; always with the same fields, so that V8 knows where they are. */
function asking(operation: Operation, key: Uint8Array, value = NO_BYTES, ttlMs = 0, operand = 0n): Asked {
  return { operation, key, value, remote: undefined, ttlMs, operand };
}
