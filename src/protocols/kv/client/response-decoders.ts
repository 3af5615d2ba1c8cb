import { parseInteger, Span } from '../store/index.js';
import {
  decodeKeyStatus,
  decodeNumbers,
  decodeTimeLeft,
  KeyStatus,
  listedKeys,
  type NamedNumber,
  Status,
} from '../wire/index.js';
import { FAILURE, type ResponseDecoder } from './call.js';

// What the answers to a client's calls mean to a program.

/** A value, and what tells it from all others that its key has had or will have. */
export interface KvEntry {
  readonly value: Uint8Array;
  readonly version: bigint;
}

/** Some keys of a store. */
export interface KvPage {
  /** Where to go on; 0 when that was all. */
  readonly cursor: bigint;
  readonly keys: readonly Uint8Array[];
}

/** What is known of a key. How long ago something was is told in milliseconds. */
export type KvExplanation =
  /** `ttlMs`: how long it has to live; Infinity for ever. */
  | { readonly is: 'present'; readonly version: bigint; readonly ttlMs: number }
  /** `isCertain`: false when it may have been there, so long ago that the server remembers others in its place. */
  | { readonly is: 'never'; readonly isCertain: boolean }
  | { readonly is: 'expired' | 'deleted'; readonly agoMs: number }
  /** `why`: it was among the oldest, and the memory was needed; or it was the oldest of its bucket, which was full. */
  | { readonly is: 'evicted'; readonly agoMs: number; readonly why: 'memory' | 'bucket' };

export const isDone: ResponseDecoder<boolean> = ({ status }) =>
  status === Status.OK ? true : status === Status.NOT_FOUND ? false : FAILURE;

/** As {@link isDone}, where the entry was to have a version. */
export const isDoneAtVersion: ResponseDecoder<boolean> = ({ status }) =>
  status === Status.OK ? true : status === Status.NOT_FOUND || status === Status.EXISTS ? false : FAILURE;

export const versionSet: ResponseDecoder<bigint> = ({ status, version }) => (status === Status.OK ? version : FAILURE);

export const versionSetOrNone: ResponseDecoder<bigint | undefined> = ({ status, version }) => {
  if (status === Status.OK) return version;
  return status === Status.EXISTS || status === Status.NOT_FOUND ? undefined : FAILURE;
};

export const entryFound: ResponseDecoder<KvEntry | undefined> = ({ status, value, version }) => {
  if (status === Status.OK) return { value: value.slice(), version };
  return status === Status.NOT_FOUND ? undefined : FAILURE;
};

export const valueFound: ResponseDecoder<Uint8Array | undefined> = ({ status, value }) => {
  if (status === Status.OK) return value.slice();
  return status === Status.NOT_FOUND ? undefined : FAILURE;
};

export const sumOf: ResponseDecoder<bigint> = ({ status, value }) =>
  (status === Status.OK ? parseInteger(new Span(value)) : undefined) ?? FAILURE;

export const timeLeft: ResponseDecoder<number | undefined> = ({ status, value }) => {
  if (status === Status.NOT_FOUND) return undefined;
  const ms = status === Status.OK ? decodeTimeLeft(value) : undefined;
  return ms === undefined ? FAILURE : livesFor(ms);
};

/** @param cursor where the page begins: a server that does not go forward has no end */
export function pageFrom(cursor: bigint): ResponseDecoder<KvPage> {
  return ({ status, value, version }) => {
    const keys = status === Status.OK ? listedKeys(value) : undefined;
    return keys === undefined || (version !== 0n && version <= cursor) ? FAILURE : { cursor: version, keys };
  };
}

/** Some numbers, and where to go on. */
export const numbers: ResponseDecoder<{ readonly next: bigint; readonly list: readonly NamedNumber[] }> = (answer) => {
  const list = answer.status === Status.OK ? decodeNumbers(answer.value) : undefined;
  return list === undefined ? FAILURE : { next: answer.version, list };
};

const EXPLANATIONS: Readonly<Record<KeyStatus, (ms: number, version: bigint) => KvExplanation>> = {
  [KeyStatus.PRESENT]: (ms, version) => ({ is: 'present', version, ttlMs: livesFor(ms) }),
  [KeyStatus.NEVER]: () => ({ is: 'never', isCertain: true }),
  [KeyStatus.UNKNOWN]: () => ({ is: 'never', isCertain: false }),
  [KeyStatus.EXPIRED]: (agoMs) => ({ is: 'expired', agoMs }),
  [KeyStatus.DELETED]: (agoMs) => ({ is: 'deleted', agoMs }),
  [KeyStatus.EVICTED]: (agoMs) => ({ is: 'evicted', agoMs, why: 'memory' }),
  [KeyStatus.CROWDED_OUT]: (agoMs) => ({ is: 'evicted', agoMs, why: 'bucket' }),
};

export const explanation: ResponseDecoder<KvExplanation> = ({ status, value, version }) => {
  const known = status === Status.OK ? decodeKeyStatus(value) : undefined;
  return known === undefined ? FAILURE : EXPLANATIONS[known.keyStatus](known.ms, version);
};

/** What the wire has for how long something lives. */
function livesFor(ms: number): number {
  return ms === 0 ? Infinity : ms;
}
