import { ErrorReply, type Reply } from '../resp/reply.js';
import type { Request } from '../resp/request-reader.js';
import { type GatewayStore, type Caller, type Command, CommandError, type Commands, ONE_KEY } from './command.js';
import { shown, timeLeftOf, type TimeUnit, wordOf } from './arguments.js';

const MIXED_NX = new ErrorReply('ERR NX and XX, GT or LT options at the same time are not compatible');
const MIXED_GT = new ErrorReply('ERR GT and LT options at the same time are not compatible');

/** When EXPIRE and its like change a time, as their options say. */
interface Condition {
  readonly nx: boolean;
  readonly xx: boolean;
  readonly gt: boolean;
  readonly lt: boolean;
}

function conditionOf(options: Request): Condition {
  const words = options.map(wordOf);
  const unknown = words.findIndex((word) => !['NX', 'XX', 'GT', 'LT'].includes(word));
  if (unknown >= 0) throw new CommandError(new ErrorReply(`ERR Unsupported option ${shown(options[unknown])}`));
  const [nx, xx, gt, lt] = ['NX', 'XX', 'GT', 'LT'].map((word) => words.includes(word));
  if (nx && (xx || gt || lt)) throw new CommandError(MIXED_NX);
  if (gt && lt) throw new CommandError(MIXED_GT);
  return { nx, xx, gt, lt };
}

/** @param leftMs that the key has, Infinity for ever */
function isMet({ nx, xx, gt, lt }: Condition, leftMs: number, nextMs: number): boolean {
  const isForEver = leftMs === Infinity;
  if (nx && !isForEver) return false;
  if (xx && isForEver) return false;
  if (gt && nextMs <= leftMs) return false;
  return !lt || nextMs < leftMs;
}

/** Gives a key another time to live; one that is over ends the key. @returns whether there was one */
export function endIn(store: GatewayStore, key: Uint8Array, ttlMs: number): Promise<boolean> {
  return ttlMs === 0 ? store.delete(key) : store.touch(key, ttlMs);
}

function expire(name: string, unit: TimeUnit): Command {
  const run = async ([, key, time, ...options]: Request, { store }: Caller): Promise<Reply> => {
    const condition = conditionOf(options);
    const ttlMs = timeLeftOf(time, unit, name);
    if (options.length > 0) {
      const leftMs = await store.ttl(key);
      if (leftMs === undefined || !isMet(condition, leftMs, ttlMs)) return 0;
    }
    return Number(await endIn(store, key, ttlMs));
  };
  const isComposed = ({ length }: Request): boolean => length > 3;
  return { name, arity: -3, flags: ['write', 'fast'], keys: ONE_KEY, isComposed, run };
}

/** What is left of a key's time, or when it ends, in a unit; as in Redis -1 for ever, -2 where there is no key. */
function timeLeft(name: string, { ms: unitMs, isAbsolute }: TimeUnit): Command {
  return {
    name,
    arity: 2,
    flags: ['readonly', 'fast'],
    keys: ONE_KEY,
    run: async ([, key], { store }) => {
      const ms = await store.ttl(key);
      if (ms === undefined) return -2;
      if (ms === Infinity) return -1;
      return Math.round((isAbsolute ? Date.now() + ms : ms) / unitMs);
    },
  };
}

async function persist([, key]: Request, { store }: Caller): Promise<Reply> {
  const ms = await store.ttl(key);
  if (ms === undefined || ms === Infinity) return 0;
  return Number(await store.touch(key, 0));
}

/** Commands about how long keys live. */
export const EXPIRY: Commands = [
  expire('expire', { ms: 1000, isAbsolute: false }),
  expire('pexpire', { ms: 1, isAbsolute: false }),
  expire('expireat', { ms: 1000, isAbsolute: true }),
  expire('pexpireat', { ms: 1, isAbsolute: true }),
  timeLeft('ttl', { ms: 1000, isAbsolute: false }),
  timeLeft('pttl', { ms: 1, isAbsolute: false }),
  timeLeft('expiretime', { ms: 1000, isAbsolute: true }),
  timeLeft('pexpiretime', { ms: 1, isAbsolute: true }),
  { name: 'persist', arity: 2, flags: ['write', 'fast'], keys: ONE_KEY, isComposed: () => true, run: persist },
];
