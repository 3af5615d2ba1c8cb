import { ErrorReply, OK, type Reply, type Soon } from '../resp/reply.js';
import type { Request } from '../resp/request-reader.js';
import {
  type GatewayStore,
  ALL_KEYS,
  type Caller,
  CommandError,
  type Commands,
  KEYS_AND_VALUES,
  ONE_KEY,
} from './command.js';
import { integerOf, lifetimeOf, optionTimeOf, SYNTAX_ERROR, textOf, TIME_OPTIONS, wordOf } from './arguments.js';
import { endIn } from './expiry.js';

/** Others may change a key between the steps of a command that has several, so often before it gives up. */
const MAX_TRIES = 64;
const AT_A_TIME = 64;
/** Bytes of all values of one answer. */
const MAX_ANSWER_BYTES = 64 << 20;
const MIN_INTEGER = -(2n ** 63n);

const CONTENDED = new ErrorReply('TRYAGAIN others keep changing the key');
const TOO_LONG = new ErrorReply(`ERR the values have more than ${MAX_ANSWER_BYTES} bytes together`);
const PAIRS_WANTED = new ErrorReply("ERR wrong number of arguments for 'mset' command");
const OVERFLOWS = new ErrorReply('ERR decrement would overflow');

/** What SET was told besides key and value. */
interface SetTerms {
  /** 0 for ever. */
  readonly ttlMs: number;
  /** The value lives as long as that before. */
  readonly keepsTtl: boolean;
  readonly isOver: boolean;
  readonly when: 'always' | 'absent' | 'present';
  readonly wantsOld: boolean;
}

const PLAIN: SetTerms = { ttlMs: 0, keepsTtl: false, isOver: false, when: 'always', wantsOld: false };

function setTermsOf(request: Request): SetTerms {
  if (request.length === 3) return PLAIN;
  let keepsTtl = false;
  let when: SetTerms['when'] = 'always';
  let wantsOld = false;
  let time: GivenTime | undefined;
  for (let at = 3; at < request.length; at += 1) {
    const word = wordOf(request[at]);
    // An option may be repeated, as in Redis.
    if (isTimeOption(word, time) && !keepsTtl && at + 1 < request.length) time = { word, bytes: request[(at += 1)] };
    else if (word === 'KEEPTTL' && time === undefined) keepsTtl = true;
    else if (word === 'NX' && when !== 'present') when = 'absent';
    else if (word === 'XX' && when !== 'absent') when = 'present';
    else if (word === 'GET') wantsOld = true;
    else throw new CommandError(SYNTAX_ERROR);
  }
  // What is no option is told first, as in Redis.
  const ttlMs = time === undefined ? 0 : timeOf(time, 'set');
  return { ttlMs, keepsTtl, isOver: time !== undefined && ttlMs === 0, when, wantsOld };
}

interface GivenTime {
  readonly word: string;
  readonly bytes: Uint8Array;
}

/** Whether a word is an option that has a time, and goes with the one before. */
function isTimeOption(word: string, before: GivenTime | undefined): boolean {
  return TIME_OPTIONS[word] !== undefined && (before === undefined || before.word === word);
}

/** @throws CommandError for what is no time above 0, or too far */
function timeOf({ word, bytes }: GivenTime, command: string): number {
  const unit = TIME_OPTIONS[word];
  if (unit === undefined) throw new CommandError(SYNTAX_ERROR);
  return optionTimeOf(bytes, unit, command);
}

const isPlain = (request: Request): boolean => request.length === 3;

function set(store: GatewayStore, request: Request): Soon<Reply> {
  const [, key, value] = request;
  if (isPlain(request)) return store.set(key, value).then(() => OK);
  const terms = setTermsOf(request);
  const { ttlMs, keepsTtl, isOver, when, wantsOld } = terms;
  const isSingle = !wantsOld && !keepsTtl;
  if (isSingle && isOver && when === 'always') return store.delete(key).then(() => OK);
  if (isSingle && !isOver && when === 'always') return store.set(key, value, { ttlMs }).then(() => OK);
  if (isSingle && !isOver && when === 'absent')
    return store.add(key, value, { ttlMs }).then((version) => (version === undefined ? undefined : OK));
  return exchange(store, key, value, terms);
}

/** Sets a value that depends on what there is, by its version: as one step, unless others do the same too often. */
async function exchange(
  store: GatewayStore,
  key: Uint8Array,
  value: Uint8Array,
  { ttlMs: givenMs, keepsTtl, isOver, when, wantsOld }: SetTerms,
): Promise<Reply> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const entry = await store.entry(key);
    const old = entry?.value;
    if (entry === undefined ? when === 'present' : when === 'absent') return wantsOld ? old : undefined;
    const answer = wantsOld ? old : OK;
    if (isOver) {
      if (entry === undefined || (await store.delete(key, { version: entry.version }))) return answer;
      continue;
    }
    const ttlMs = keepsTtl && entry !== undefined ? await ttlOf(store, key) : givenMs;
    const version =
      entry === undefined
        ? await store.add(key, value, { ttlMs })
        : await store.cas(key, value, entry.version, { ttlMs });
    if (version !== undefined) return answer;
  }
  throw new CommandError(CONTENDED);
}

/** How long a key lives, in ms, at least one; 0 for ever. */
async function ttlOf(store: GatewayStore, key: Uint8Array): Promise<number> {
  const leftMs = (await store.ttl(key)) ?? Infinity;
  return leftMs === Infinity ? 0 : Math.max(1, Math.ceil(leftMs));
}

/** Adds to a value, which lives as long as before. */
async function append([, key, more]: Request, { store }: Caller): Promise<Reply> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const entry = await store.entry(key);
    if (entry === undefined) {
      if ((await store.add(key, more)) !== undefined) return more.length;
      continue;
    }
    const value = new Uint8Array(entry.value.length + more.length);
    value.set(entry.value);
    value.set(more, entry.value.length);
    if ((await store.cas(key, value, entry.version, { ttlMs: await ttlOf(store, key) })) !== undefined)
      return value.length;
  }
  throw new CommandError(CONTENDED);
}

/** Gives a value, and ends it: of several clients one has it. */
async function getAndDelete([, key]: Request, { store }: Caller): Promise<Reply> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const entry = await store.entry(key);
    if (entry === undefined) return undefined;
    if (await store.delete(key, { version: entry.version })) return entry.value;
  }
  throw new CommandError(CONTENDED);
}

/** Gives a value, and then another time to live. */
async function getAndExpire([, key, ...options]: Request, { store }: Caller): Promise<Reply> {
  let isPersist = false;
  let time: GivenTime | undefined;
  for (let at = 0; at < options.length; at += 1) {
    const word = wordOf(options[at]);
    if (isTimeOption(word, time) && !isPersist && at + 1 < options.length) time = { word, bytes: options[(at += 1)] };
    else if (word === 'PERSIST' && time === undefined) isPersist = true;
    else throw new CommandError(SYNTAX_ERROR);
  }
  const value = await store.get(key);
  if (value === undefined) return undefined;
  if (isPersist) await store.touch(key, 0);
  else if (time !== undefined) await endIn(store, key, timeOf(time, 'getex'));
  return value;
}

/** Does something for each, a few at a time. */
async function forEach<T, U>(items: readonly T[], action: (item: T) => Promise<U>): Promise<U[]> {
  const results: U[] = [];
  for (let at = 0; at < items.length; at += AT_A_TIME)
    results.push(...(await Promise.all(items.slice(at, at + AT_A_TIME).map(action))));
  return results;
}

async function getAll(store: GatewayStore, keys: readonly Uint8Array[]): Promise<Reply> {
  let bytes = 0;
  return forEach(keys, async (key) => {
    const value = await store.get(key);
    bytes += value?.length ?? 0;
    if (bytes > MAX_ANSWER_BYTES) throw new CommandError(TOO_LONG);
    return value;
  });
}

async function setAll(store: GatewayStore, pairs: Request): Promise<Reply> {
  if (pairs.length % 2 !== 0) throw new CommandError(PAIRS_WANTED);
  // Of a key that is there twice the last value lasts: side by side, a long one would come after a short one that is behind it.
  const last = new Map<string, number>();
  for (let at = 0; at < pairs.length; at += 2) last.set(textOf(pairs[at]), at);
  await forEach([...last.values()], (at) => store.set(pairs[at], pairs[at + 1]));
  return OK;
}

export async function countTrue(keys: Request, action: (key: Uint8Array) => Promise<boolean>): Promise<number> {
  if (keys.length === 1) return Number(await action(keys[0]));
  return (await forEach(keys, action)).filter(Boolean).length;
}

function negated(bytes: Uint8Array): bigint {
  const by = integerOf(bytes);
  if (by === MIN_INTEGER) throw new CommandError(OVERFLOWS);
  return -by;
}

export const STRINGS: Commands = [
  {
    name: 'get',
    arity: 2,
    flags: ['readonly', 'fast'],
    keys: ONE_KEY,
    run: ([, key], { store }) => store.get(key),
  },
  {
    name: 'set',
    arity: -3,
    flags: ['write', 'denyoom'],
    keys: ONE_KEY,
    isComposed: (request) => !isPlain(request),
    run: (request, { store }) => set(store, request),
  },
  {
    name: 'append',
    arity: 3,
    flags: ['write', 'denyoom', 'fast'],
    keys: ONE_KEY,
    isComposed: () => true,
    run: append,
  },
  { name: 'getdel', arity: 2, flags: ['write', 'fast'], keys: ONE_KEY, isComposed: () => true, run: getAndDelete },
  {
    name: 'getex',
    arity: -2,
    flags: ['write', 'fast'],
    keys: ONE_KEY,
    isComposed: ({ length }) => length > 2,
    run: getAndExpire,
  },
  {
    name: 'setex',
    arity: 4,
    flags: ['write', 'denyoom'],
    keys: ONE_KEY,
    run: ([, key, seconds, value], { store }) =>
      store.set(key, value, { ttlMs: lifetimeOf(seconds, 1000, 'setex') }).then(() => OK),
  },
  {
    name: 'psetex',
    arity: 4,
    flags: ['write', 'denyoom'],
    keys: ONE_KEY,
    run: ([, key, ms, value], { store }) =>
      store.set(key, value, { ttlMs: lifetimeOf(ms, 1, 'psetex') }).then(() => OK),
  },
  {
    name: 'setnx',
    arity: 3,
    flags: ['write', 'denyoom', 'fast'],
    keys: ONE_KEY,
    run: ([, key, value], { store }) => store.add(key, value).then((version) => (version === undefined ? 0 : 1)),
  },
  {
    name: 'getset',
    arity: 3,
    flags: ['write', 'denyoom', 'fast'],
    keys: ONE_KEY,
    isComposed: () => true,
    run: ([, key, value], { store }) => exchange(store, key, value, { ...PLAIN, wantsOld: true }),
  },
  {
    name: 'strlen',
    arity: 2,
    flags: ['readonly', 'fast'],
    keys: ONE_KEY,
    run: ([, key], { store }) => store.get(key).then((value) => value?.length ?? 0),
  },
  {
    name: 'incr',
    arity: 2,
    flags: ['write', 'denyoom', 'fast'],
    keys: ONE_KEY,
    run: ([, key], { store }) => store.incr(key, 1n),
  },
  {
    name: 'decr',
    arity: 2,
    flags: ['write', 'denyoom', 'fast'],
    keys: ONE_KEY,
    run: ([, key], { store }) => store.incr(key, -1n),
  },
  {
    name: 'incrby',
    arity: 3,
    flags: ['write', 'denyoom', 'fast'],
    keys: ONE_KEY,
    run: ([, key, by], { store }) => store.incr(key, integerOf(by)),
  },
  {
    name: 'decrby',
    arity: 3,
    flags: ['write', 'denyoom', 'fast'],
    keys: ONE_KEY,
    run: ([, key, by], { store }) => store.incr(key, negated(by)),
  },
  {
    name: 'mget',
    arity: -2,
    flags: ['readonly', 'fast'],
    keys: ALL_KEYS,
    isComposed: (request) => request.length > AT_A_TIME,
    run: ([, ...keys], { store }) => getAll(store, keys),
  },
  {
    name: 'mset',
    arity: -3,
    flags: ['write', 'denyoom'],
    keys: KEYS_AND_VALUES,
    isComposed: (request) => request.length > AT_A_TIME,
    run: ([, ...pairs], { store }) => setAll(store, pairs),
  },
];
