import { ErrorReply, OK, type Reply, type Soon } from '../resp/reply.js';
import type { Request } from '../resp/request-reader.js';
import type { GatewayStore } from '../store.js';
import { integerOf, lifetimeOf, SYNTAX_ERROR, textOf, wordOf } from './arguments.js';
import { ALL_KEYS, CommandError, type Commands, KEYS_AND_VALUES, ONE_KEY } from './command.js';

/** Others may change a key between the steps of a command that has several, so often before it gives up. */
const MAX_TRIES = 64;
/** Keys of one command that are asked for at a time. */
const AT_A_TIME = 64;
/** Bytes of all values of one answer. */
const MAX_ANSWER_BYTES = 64 << 20;
const MIN_INTEGER = -(2n ** 63n);

const CONTENDED = new ErrorReply('TRYAGAIN others keep changing the key');
const KEEPTTL_UNKNOWN = new ErrorReply('ERR KEEPTTL is not supported');
const TOO_LONG = new ErrorReply(`ERR the values have more than ${MAX_ANSWER_BYTES} bytes together`);
const PAIRS_WANTED = new ErrorReply("ERR wrong number of arguments for 'mset' command");
const OVERFLOWS = new ErrorReply('ERR decrement would overflow');

/** What SET was told besides key and value. */
interface SetTerms {
  readonly ttlMs: number;
  readonly when: 'always' | 'absent' | 'present';
  readonly wantsOld: boolean;
}

const PLAIN: SetTerms = { ttlMs: 0, when: 'always', wantsOld: false };
const LIFETIMES: Readonly<Record<string, number | undefined>> = { EX: 1000, PX: 1 };

function setTermsOf(request: Request): SetTerms {
  if (request.length === 3) return PLAIN;
  let ttlMs = 0;
  let when: SetTerms['when'] = 'always';
  let wantsOld = false;
  for (let at = 3; at < request.length; at += 1) {
    const word = wordOf(request[at]);
    const unitMs = LIFETIMES[word];
    if (unitMs !== undefined && ttlMs === 0 && at + 1 < request.length) {
      at += 1;
      ttlMs = lifetimeOf(request[at], unitMs, 'set');
    } else if (word === 'NX' && when === 'always') when = 'absent';
    else if (word === 'XX' && when === 'always') when = 'present';
    else if (word === 'GET') wantsOld = true;
    else throw new CommandError(word === 'KEEPTTL' ? KEEPTTL_UNKNOWN : SYNTAX_ERROR);
  }
  return { ttlMs, when, wantsOld };
}

const isPlain = (request: Request): boolean => request.length === 3;

function set(store: GatewayStore, request: Request): Soon<Reply> {
  const [, key, value] = request;
  if (isPlain(request)) return store.set(key, value).then(() => OK);
  const terms = setTermsOf(request);
  const { ttlMs, when, wantsOld } = terms;
  if (!wantsOld && when === 'always') return store.set(key, value, { ttlMs }).then(() => OK);
  if (!wantsOld && when === 'absent')
    return store.add(key, value, { ttlMs }).then((version) => (version === undefined ? undefined : OK));
  return exchange(store, key, value, terms);
}

/** Sets a value that depends on what there is, by its version: as one step, unless others do the same too often. */
async function exchange(
  store: GatewayStore,
  key: Uint8Array,
  value: Uint8Array,
  { ttlMs, when, wantsOld }: SetTerms,
): Promise<Reply> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const entry = await store.entry(key);
    const old = entry?.value;
    if (entry === undefined ? when === 'present' : when === 'absent') return wantsOld ? old : undefined;
    const version =
      entry === undefined
        ? await store.add(key, value, { ttlMs })
        : await store.cas(key, value, entry.version, { ttlMs });
    if (version !== undefined) return wantsOld ? old : OK;
  }
  throw new CommandError(CONTENDED);
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

/** How many of the keys an action is true of. */
export async function countTrue(keys: Request, action: (key: Uint8Array) => Promise<boolean>): Promise<number> {
  if (keys.length === 1) return Number(await action(keys[0]));
  return (await forEach(keys, action)).filter(Boolean).length;
}

function negated(bytes: Uint8Array): bigint {
  const by = integerOf(bytes);
  if (by === MIN_INTEGER) throw new CommandError(OVERFLOWS);
  return -by;
}

/** Commands about values. */
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
