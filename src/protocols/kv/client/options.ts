import type { CmConnectTarget } from '../../../api/rdmacm/index.js';
import {
  countProblem,
  type FieldsOf,
  fieldsProblem,
  invalid,
  oneOf,
  refuse,
  show,
  trueOrFalse,
  VerbsError,
  wholeNumber,
} from '../../../api/verbs/index.js';
import { WAIT_FIELDS, type WaitOptions } from '../../core/index.js';
import { MAX_KEY_BYTES } from '../store/index.js';
import { MAX_WINDOW } from '../wire/index.js';
import { CLIENT_TRANSPORTS, type ClientTransport, type TransportName } from './transports.js';

/** What `connect` takes. */
export interface KvConnectOptions extends CmConnectTarget, WaitOptions {
  /** Requests that are under way at a time: 1 to 1024, and no more than the server gives; default 16. Others wait for them. */
  readonly window?: number | undefined;
  /**
   * How requests and answers travel. `rc`, the default: on a reliable connection, where adapters repeat what is lost. With the others the client does; a request,
   * and an answer, fits into one packet, and nobody acknowledges packets; values that do not fit go by a reliable connection beside it. `uc`: requests are written to memory of the server's and answers come as datagrams,
   * as HERD has it. `ud`: both are datagrams.
   */
  readonly transport?: TransportName | undefined;
  /**
   * Whether values are read in the server's memory, by RDMA READ, without its doing anything; all else is asked, and so is what is not found that way. The server must allow it:
   * `serve({ oneSided: true })`. Default: no.
   */
  readonly oneSided?: boolean | undefined;
}

/** What calls take that set something. */
export interface SetOptions extends WaitOptions {
  /** Milliseconds until the entry ends: whole, up to 2^32 - 1; 0, the default, or Infinity for ever. */
  readonly ttlMs?: number | undefined;
}

/** What is set of one key by `setMany`. */
export interface KvSetting {
  readonly key: Bytes;
  readonly value: Bytes;
  /** As of {@link SetOptions}; default what that says for all. */
  readonly ttlMs?: number | undefined;
}

/** How an entry is ended. */
export interface DeleteOptions extends WaitOptions {
  /** The version that the entry must have. Default: any. */
  readonly version?: bigint | undefined;
}

/** Which keys are listed. */
export interface ScanOptions extends WaitOptions {
  /** Of the keys that are meant. Default: all. */
  readonly prefix?: Bytes | undefined;
  /** Keys of one page, at most: 1 to 2^32 - 1; default as many as fit an answer. */
  readonly count?: number | undefined;
}

export const SET_FIELDS = { ...WAIT_FIELDS, ttlMs: true } as const;

export const DELETE_FIELDS = { ...WAIT_FIELDS, version: true } as const;

export const SETTING_FIELDS: FieldsOf<KvSetting> = { key: true, value: true, ttlMs: true };

export const SCAN_FIELDS = { ...WAIT_FIELDS, prefix: true, count: true } as const;

/** Those that are for each server of a cluster as well. */
export const CLIENT_FIELDS: FieldsOf<Omit<KvConnectOptions, 'host' | 'port'>> = {
  ...WAIT_FIELDS,
  localAddress: true,
  context: true,
  open: true,
  window: wholeNumber(1, MAX_WINDOW),
  transport: oneOf(...Object.keys(CLIENT_TRANSPORTS)),
  oneSided: trueOrFalse,
};
const CONNECT_FIELDS: FieldsOf<KvConnectOptions> = { ...CLIENT_FIELDS, host: true, port: true };
const MAX_TTL_MS = 2 ** 32 - 1;
const MAX_COUNT = 2 ** 32 - 1;
/** The longest value that any store has: half of the memory of the largest. */
export const MAX_VALUE_BYTES = 2 ** 30;

/** @throws VerbsError EINVAL for what makes no sense */
export function settingsOf(options: KvConnectOptions): {
  readonly window: number;
  readonly isOneSided: boolean;
  readonly transport: ClientTransport;
} {
  refuse('connect', fieldsProblem('options', options, CONNECT_FIELDS));
  const { window = 16, oneSided = false, transport = 'rc' } = options;
  return { window, isOneSided: oneSided, transport: CLIENT_TRANSPORTS[transport] };
}

/** Bytes, or a text that stands for its UTF-8. */
export type Bytes = Uint8Array | string;

const ENCODER = new TextEncoder();

/** The client's own copy of a key. @throws VerbsError EINVAL for none, or one of no bytes, or of more than 250 */
export function keyOf(call: string, key: Bytes): Uint8Array {
  const bytes = bytesOf(call, 'key', key);
  if (bytes.length >= 1 && bytes.length <= MAX_KEY_BYTES) return bytes;
  throw new VerbsError(call, invalid(`the key has ${bytes.length} bytes`, `It has 1 to ${MAX_KEY_BYTES}`));
}

/** The client's own copy of what keys begin with. @throws VerbsError EINVAL for none, or one of more than 250 bytes */
export function prefixOf(call: string, prefix: Bytes): Uint8Array {
  const bytes = bytesOf(call, 'prefix', prefix);
  if (bytes.length <= MAX_KEY_BYTES) return bytes;
  throw new VerbsError(call, invalid(`the prefix has ${bytes.length} bytes`, `It has up to ${MAX_KEY_BYTES}`));
}

/** @throws VerbsError EINVAL for what is no number of keys */
export function countOf(call: string, count: number | undefined): number {
  if (count === undefined) return 0;
  refuse(call, countProblem('count', count, 1, MAX_COUNT));
  return count;
}

/** @throws VerbsError EINVAL for what is no cursor */
export function cursorOf(call: string, cursor: bigint): bigint {
  if (typeof cursor === 'bigint' && BigInt.asUintN(64, cursor) === cursor) return BigInt.asIntN(64, cursor);
  throw new VerbsError(call, invalid(`cursor is ${show(cursor)}`, 'It is 0n, or what the page before has'));
}

/**
 * A value: the client's own copy, unless that is made of it anyway.
 *
 * @param isCopied whether one of so many bytes is copied before the call returns
 * @throws VerbsError EINVAL for none, EMSGSIZE for one that is too long for any store
 */
export function valueOf(call: string, value: Bytes, isCopied: (bytes: number) => boolean): Uint8Array {
  const bytes = value instanceof Uint8Array && isCopied(value.length) ? value : bytesOf(call, 'value', value);
  if (bytes.length <= MAX_VALUE_BYTES) return bytes;
  const message = `the value has ${bytes.length} bytes, and no store takes more than ${MAX_VALUE_BYTES}`;
  throw new VerbsError(call, { errno: 'EMSGSIZE', message, advice: 'Divide it among several keys' });
}

/** @throws VerbsError EINVAL for what is none */
export function ttlOf(call: string, ttlMs: number): number {
  // As ttl() says it of an entry without an end.
  if (ttlMs === Infinity) return 0;
  if (Number.isInteger(ttlMs) && ttlMs >= 0 && ttlMs <= MAX_TTL_MS) return ttlMs;
  const advice = `It is a whole number of milliseconds up to ${MAX_TTL_MS}; 0 and Infinity are for ever`;
  throw new VerbsError(call, invalid(`ttlMs is ${show(ttlMs)}`, advice));
}

/** @throws VerbsError EINVAL for what is no signed number of 64 bits */
export function amountOf(call: string, by: bigint | number): bigint {
  if (typeof by === 'bigint' ? BigInt.asIntN(64, by) === by : Number.isSafeInteger(by)) return BigInt(by);
  throw new VerbsError(call, invalid(`${show(by)} is added`, 'It is a whole number of 64 bits'));
}

/** @throws VerbsError EINVAL for what is no version */
export function versionOf(call: string, version: bigint): bigint {
  if (typeof version === 'bigint' && BigInt.asUintN(64, version) === version) return BigInt.asIntN(64, version);
  throw new VerbsError(call, invalid(`version is ${show(version)}`, 'It is what entry, set, add and cas have given'));
}

/** Half of a pair of code units, without the other: there is no UTF-8 for it. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * What a call is about, in a list of its own.
 *
 * @throws VerbsError EINVAL for what cannot be gone through, and for a text, which would be keys of one letter each
 */
export function listOf<T>(call: string, what: string, items: Iterable<T>): T[] {
  // Programs in JavaScript hand over anything.
  const given: unknown = items;
  if (typeof given === 'object' && given !== null && Symbol.iterator in given) return Array.from(items);
  throw new VerbsError(call, invalid(`${what} is ${show(given)}`, 'It is a list, or something else to go through'));
}

function bytesOf(call: string, what: string, bytes: Bytes): Uint8Array {
  if (typeof bytes === 'string') {
    const encoded = ENCODER.encode(bytes);
    // A text of ASCII has none. Each would become U+FFFD, as all others do: different texts, one key.
    if (encoded.length !== bytes.length && LONE_SURROGATE.test(bytes))
      throw new VerbsError(call, invalid(`${what} has half of a surrogate pair`, 'Give bytes where it is no text'));
    return encoded;
  }
  if (!(bytes instanceof Uint8Array))
    throw new VerbsError(call, invalid(`${what} is ${show(bytes)}`, 'It is a Uint8Array or a string'));
  try {
    // Not by slice(): that of a Buffer copies nothing.
    return new Uint8Array(bytes);
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    throw new VerbsError(call, invalid(`the memory of ${what} is gone`, 'It was transferred, or made shorter'), {
      cause,
    });
  }
}
