import { checkWait, type WaitOptions, WAIT_FIELDS } from '../../engine/index.js';
import { KvError } from '../errors.js';
import { type Answered, type Asked, Operation, REQUEST_HEAD_BYTES, Status } from '../wire/index.js';
import { Call, FAILURE, type Meaning } from './call.js';
import { amountOf, type Bytes, keyOf, ttlOf, valueOf, versionOf } from './options.js';
import type { KvClientStatistics, Requester } from './requester.js';

/** A value, and what tells it from all others that its key has had or will have. */
export interface KvEntry {
  readonly value: Uint8Array;
  readonly version: bigint;
}

/** What calls take that set something. */
export interface SetOptions extends WaitOptions {
  /** Milliseconds until the entry ends: whole, up to 2^32 - 1; 0, the default, for ever. */
  readonly ttlMs?: number | undefined;
}

const NO_BYTES = new Uint8Array(0);
const SET_FIELDS = { ...WAIT_FIELDS, ttlMs: true } as const;

const isDone: Meaning<boolean> = ({ status }) =>
  status === Status.OK ? true : status === Status.NOT_FOUND ? false : FAILURE;
const versionSet: Meaning<bigint> = ({ status, version }) => (status === Status.OK ? version : FAILURE);
const versionSetOrNone: Meaning<bigint | undefined> = ({ status, version }) => {
  if (status === Status.OK) return version;
  return status === Status.EXISTS || status === Status.NOT_FOUND ? undefined : FAILURE;
};
const entryFound: Meaning<KvEntry | undefined> = ({ status, value, version }) => {
  if (status === Status.OK) return { value: value.slice(), version };
  return status === Status.NOT_FOUND ? undefined : FAILURE;
};
const sumOf: Meaning<bigint> = ({ status, value }: Answered) =>
  status === Status.OK ? BigInt(new TextDecoder().decode(value)) : FAILURE;

/**
 * A client of a key-value store. Keys and values are bytes, or texts that stand for their UTF-8; what is handed over is copied.
 *
 * Each call is carried out once, or not at all, whatever the network does. One that fails with a `KvError` says by its `outcome` whether the server may have
 * carried it out. One that was given up, by a signal or a time limit, may have been carried out, or may yet be.
 */
export class KvClient implements AsyncDisposable, Disposable {
  readonly #requester: Requester;

  /** @internal `connect` makes clients for programs. */
  constructor(requester: Requester) {
    this.#requester = requester;
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

  get statistics(): KvClientStatistics {
    return this.#requester.statistics;
  }

  /** The value of a key; undefined when there is none. @throws as {@link entry} */
  async get(key: Bytes, options: WaitOptions = {}): Promise<Uint8Array | undefined> {
    const entry = await this.#call('get', entryFound, { operation: Operation.GET, key: keyOf('get', key) }, options);
    return entry?.value;
  }

  /**
   * The value of a key with its version; undefined when there is none.
   *
   * @throws (the promise rejects) KvError when the server is gone; the signal's reason; VerbsError ETIMEDOUT, EINVAL
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
   * @throws (the promise rejects) as {@link entry}; KvError ENOSPC when the store is full, EMSGSIZE for a value that is too long
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
   * @param ttlMs milliseconds from now on; 0 for ever
   * @returns whether there was one
   * @throws as {@link entry}
   */
  async touch(key: Bytes, ttlMs: number, options: WaitOptions = {}): Promise<boolean> {
    const asked = { operation: Operation.TOUCH, key: keyOf('touch', key), ttlMs: ttlOf('touch', ttlMs) };
    return this.#call('touch', isDone, asked, options);
  }

  /** Ends the client: calls that are under way reject with ECANCELED. Idempotent. */
  close(): void {
    this.#requester.end(new KvError('close', 'ECANCELED', 'the client was closed', 'unknown'));
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
    const { ttlMs = 0, ...options } = all;
    const keyBytes = keyOf(call, key);
    const most = this.#requester.welcome.slotBytes - REQUEST_HEAD_BYTES - keyBytes.length;
    const asked = { operation, key: keyBytes, value: valueOf(call, value, most), ttlMs: ttlOf(call, ttlMs), operand };
    return this.#call(call, meaning, asked, options);
  }

  async #call<T>(call: string, meaning: Meaning<T>, asked: Partial<Asked>, options: WaitOptions): Promise<T> {
    checkWait(call, options);
    options.signal?.throwIfAborted();
    const request: Asked = { ...NOTHING, ...asked };
    const pending = new Call(call, request, meaning, this.#requester);
    pending.heed(options, this.#requester.engine);
    this.#requester.post(pending);
    return pending.promise;
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
