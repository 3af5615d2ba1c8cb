import type { Reply } from '../resp/reply.js';
import { SimpleReply } from '../resp/reply.js';
import type { Request } from '../resp/request-reader.js';
import { lifetimeOrOver } from './arguments.js';
import { ALL_KEYS, type Caller, type Command, type Commands, ONE_KEY } from './command.js';
import { countTrue } from './strings.js';

const STRING = new SimpleReply('string');
const NONE = new SimpleReply('none');

const deleteAll = ([, ...keys]: Request, { store }: Caller): Promise<Reply> =>
  countTrue(keys, (key) => store.delete(key));
const countAll = ([, ...keys]: Request, { store }: Caller): Promise<Reply> => countTrue(keys, (key) => store.has(key));

/** A time that is over ends the key. */
function expire(name: string, unitMs: number): Command {
  return {
    name,
    arity: 3,
    flags: ['write', 'fast'],
    keys: ONE_KEY,
    run: async ([, key, time], { store }) => {
      const ttlMs = lifetimeOrOver(time, unitMs, name);
      return Number(await (ttlMs === 0 ? store.delete(key) : store.touch(key, ttlMs)));
    },
  };
}

/** Commands about keys. */
export const KEYS: Commands = [
  { name: 'del', arity: -2, flags: ['write'], keys: ALL_KEYS, run: deleteAll },
  { name: 'unlink', arity: -2, flags: ['write', 'fast'], keys: ALL_KEYS, run: deleteAll },
  { name: 'exists', arity: -2, flags: ['readonly', 'fast'], keys: ALL_KEYS, run: countAll },
  { name: 'touch', arity: -2, flags: ['readonly', 'fast'], keys: ALL_KEYS, run: countAll },
  {
    name: 'type',
    arity: 2,
    flags: ['readonly', 'fast'],
    keys: ONE_KEY,
    run: async ([, key], { store }) => ((await store.has(key)) ? STRING : NONE),
  },
  expire('expire', 1000),
  expire('pexpire', 1),
];
