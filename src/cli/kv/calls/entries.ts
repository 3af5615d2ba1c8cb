// Calls about one entry, or a few by their names.
import { type Command, InvalidArgumentError, Option } from 'commander';
import { ToolError } from '../../kit/errors.js';
import { bytesFact, standardInput } from '../common/bytes.js';
import { EXIT_FAILED } from '../common/failure.js';
import { oneSidedOption } from '../common/reach.js';
import { milliseconds } from '../common/units.js';
import type { CallSpec } from './call.js';

const withKey = (command: Command): Command => command.argument('<key>', 'a text of 1 to 250 bytes');

/** A value for people: on a terminal it ends its line, elsewhere it is what was set, byte for byte. */
function shown(value: Uint8Array): Uint8Array {
  const isCut = process.stdout.isTTY && value.at(-1) !== 0x0a;
  return isCut ? Buffer.concat([value, Buffer.from('\n')]) : value;
}

export const get: CallSpec = {
  name: 'get',
  description: 'Print the value of a key, as it is.',
  prepare: (command) => withKey(command).addOption(oneSidedOption()),
  make:
    ([key]) =>
    async (client) => {
      const entry = await client.entry(key);
      if (entry === undefined) return { isDone: false, facts: { key, found: false } };
      const { value, version } = entry;
      const facts = { key, found: true, ...bytesFact('value', value), version: String(version) };
      return { isDone: true, output: shown(value), facts };
    },
};

interface SetFlags {
  readonly ttl?: number;
  readonly add?: true;
  readonly cas?: bigint;
}

function version(text: string): bigint {
  if (!/^\d{1,20}$/.test(text) || BigInt(text) >= 1n << 64n)
    throw new InvalidArgumentError('Give a version that `get --json` or `set --json` has printed.');
  return BigInt(text);
}

export const set: CallSpec<SetFlags> = {
  name: 'set',
  description: 'Set the value of a key: the argument, or what comes on standard input.',
  notes: `Examples:
  verbena kv set greeting hello
  verbena kv set page --ttl 10m < page.html
  verbena kv set lock "$HOSTNAME" --add --ttl 30s && echo mine`,
  prepare: (command) =>
    withKey(command)
      .argument('[value]', 'without it, all that comes on standard input')
      .addOption(new Option('--ttl <time>', 'ends then: 30s, 500ms, 5m, 2h, 7d').argParser(milliseconds))
      .addOption(new Option('--add', 'only where there is no such entry').conflicts('cas'))
      .addOption(
        new Option('--cas <version>', 'only where the entry has that version, which get --json prints').argParser(
          version,
        ),
      ),
  make: async ([key, text], { ttl: ttlMs = 0, add, cas }) => {
    const value = text ?? (await standardInput());
    return async (client) => {
      const options = { ttlMs };
      const done = await (cas !== undefined
        ? client.cas(key, value, cas, options)
        : add === true
          ? client.add(key, value, options)
          : client.set(key, value, options));
      const isDone = done !== undefined;
      return { isDone, facts: { key, set: isDone, ...(isDone ? { version: String(done) } : {}) } };
    };
  },
};

export const del: CallSpec = {
  name: 'del',
  description: 'End entries; done when all of them were there.',
  prepare: (command) => command.argument('<key...>', 'texts of 1 to 250 bytes'),
  make: (words) => async (client) => {
    const keys = words.filter((word) => word !== undefined);
    const were = await Promise.all(keys.map((key) => client.delete(key)));
    const deleted = keys.filter((_, at) => were[at]);
    return { isDone: deleted.length === keys.length, facts: { keys, deleted } };
  },
};

function amount(text: string): bigint {
  const least = -(1n << 63n);
  const by = /^[+-]?\d{1,19}$/.test(text) ? BigInt(text.replace('+', '')) : least - 1n;
  if (by >= least && by < -least) return by;
  throw new ToolError(`'${text}' is no whole number of 64 bits.`, EXIT_FAILED);
}

export const incr: CallSpec = {
  name: 'incr',
  description: 'Add to a value that is a whole number, and print the sum; one that is not there begins with 0.',
  prepare: (command) => withKey(command).argument('[by]', 'how much; less than 0 to take away (default: 1)'),
  make: ([key, by]) => {
    const added = amount(by ?? '1');
    return async (client) => {
      const sum = String(await client.incr(key, added));
      return { isDone: true, output: `${sum}\n`, facts: { key, value: sum } };
    };
  },
};

const FOR_EVER = 'never';

export const touch: CallSpec = {
  name: 'touch',
  description: 'Give an entry another time to live, from now on.',
  prepare: (command) => withKey(command).argument('<ttl>', `30s, 500ms, 5m, 2h, 7d; ${FOR_EVER}: it stays`),
  make: ([key, text = '']) => {
    const ttlMs = text === FOR_EVER ? 0 : milliseconds(text);
    return async (client) => {
      const isDone = await client.touch(key, ttlMs);
      return { isDone, facts: { key, found: isDone, ...(isDone ? { ttlMs } : {}) } };
    };
  },
};
