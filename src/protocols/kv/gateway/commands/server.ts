import { ErrorReply, MapReply, type Reply, SetReply, SimpleReply, TextReply } from '../resp/reply.js';
import type { Request } from '../resp/request-reader.js';
import { shown, textOf, wordOf } from './arguments.js';
import { type Caller, type Command, CommandError, type Commands, NO_KEYS } from './command.js';
import { isGlobMatch } from './glob.js';

export const PRODUCT = {
  name: 'verbena',
  /** The version of Redis whose commands clients may take for granted where there is a command of that name at all. */
  imitated: '6.2.0',
} as const;

/** What programs ask for to know how a server is set up. */
const PARAMETERS: Readonly<Record<string, (caller: Caller) => string>> = {
  save: () => '',
  appendonly: () => 'no',
  databases: () => '1',
  maxmemory: () => '0',
  'maxmemory-policy': () => 'noeviction',
  maxclients: ({ gateway }) => String(gateway.maxConnections),
  timeout: () => '0',
  port: ({ gateway }) => String(gateway.port),
};

function config([, subcommand, ...patterns]: Request, caller: Caller): Reply {
  if (wordOf(subcommand) !== 'GET' || patterns.length === 0)
    throw new CommandError(new ErrorReply('ERR only CONFIG GET is supported'));
  const globs = patterns.map((pattern) => textOf(pattern).toLowerCase());
  const entries = Object.entries(PARAMETERS).filter(([name]) => globs.some((glob) => isGlobMatch(glob, name)));
  return new MapReply(entries.map(([name, value]) => [name, value(caller)]));
}

type Facts = Readonly<Record<string, string | number | bigint>>;

const ofStore = (statistics: ReadonlyMap<string, bigint>, name: string): bigint =>
  statistics.get(`store.${name}`) ?? 0n;

const SECTIONS: Readonly<Record<string, (caller: Caller, statistics: ReadonlyMap<string, bigint>) => Facts>> = {
  Server: ({ gateway: { port, startedMs } }) => ({
    redis_version: PRODUCT.imitated,
    server_name: PRODUCT.name,
    redis_mode: 'standalone',
    tcp_port: port,
    uptime_in_seconds: Math.floor((performance.now() - startedMs) / 1000),
  }),
  Clients: ({ gateway: { connections, maxConnections } }) => ({
    connected_clients: connections,
    maxclients: maxConnections,
  }),
  Memory: (_, statistics) => ({
    used_memory: ofStore(statistics, 'bytes'),
    maxmemory: ofStore(statistics, 'memoryBytes'),
  }),
  Persistence: () => ({ loading: 0 }),
  Stats: ({ gateway: { totals } }, statistics) => ({
    total_connections_received: totals.connections,
    total_commands_processed: totals.commands,
    rejected_connections: totals.refused,
    protocol_errors: totals.faults,
    evicted_clients: totals.evicted,
    expired_keys: ofStore(statistics, 'expirations'),
    evicted_keys: ofStore(statistics, 'evictions'),
    keyspace_hits: ofStore(statistics, 'hits'),
    keyspace_misses: ofStore(statistics, 'misses'),
  }),
  Replication: () => ({ role: 'master', connected_slaves: 0 }),
  Keyspace: (_, statistics) => ({ db0: `keys=${ofStore(statistics, 'keys')}` }),
};
const ALL_SECTIONS = ['DEFAULT', 'ALL', 'EVERYTHING'];

async function info([, ...asked]: Request, caller: Caller): Promise<Reply> {
  const statistics = await caller.store.serverStatistics();
  const words = asked.map(wordOf);
  const hasAll = words.length === 0 || words.some((word) => ALL_SECTIONS.includes(word));
  const sections = Object.entries(SECTIONS)
    .filter(([name]) => hasAll || words.includes(name.toUpperCase()))
    .map(([name, facts]) => {
      const lines = Object.entries(facts(caller, statistics)).map(([fact, value]) => `${fact}:${value}\r\n`);
      return `# ${name}\r\n${lines.join('')}`;
    });
  return new TextReply(sections.join('\r\n'));
}

function described({ name, arity, flags, keys: { first, last, step } }: Command): Reply {
  return [name, arity, new SetReply(flags.map((flag) => new SimpleReply(flag))), first, last, step];
}

/** Commands about the server; COMMAND tells of those that `all` gives. */
export const SERVER = (all: () => ReadonlyMap<string, Command>): Commands => {
  const subcommands: Readonly<Record<string, ((words: Request) => Reply) | undefined>> = {
    COUNT: () => all().size,
    LIST: () => [...all().values()].map(({ name }) => name),
    INFO: (words) =>
      words.map((word) => {
        const found = all().get(wordOf(word));
        return found === undefined ? undefined : described(found);
      }),
    // What redis-cli helps people with while they type.
    DOCS: () => new MapReply([]),
  };
  const command = ([, subcommand, ...words]: Request): Reply => {
    if ((subcommand as Uint8Array | undefined) === undefined) return [...all().values()].map(described);
    const run = subcommands[wordOf(subcommand)];
    if (run === undefined) throw new CommandError(new ErrorReply(`ERR unknown subcommand '${shown(subcommand)}'`));
    return run(words);
  };
  return [
    { name: 'command', arity: -1, flags: ['loading', 'stale'], keys: NO_KEYS, run: command },
    { name: 'config', arity: -2, flags: ['admin', 'loading', 'stale', 'noscript'], keys: NO_KEYS, run: config },
    { name: 'info', arity: -1, flags: ['loading', 'stale'], keys: NO_KEYS, run: info },
  ];
};
