import { Command, Option } from 'commander';
import {
  connect,
  createStore,
  type EtcdRegistration,
  type KvMode,
  type KvServer,
  type KvStore,
  type KvSyncPolicy,
  openPersistence,
  type RedisGateway,
  registerInEtcd,
  serve,
  serveRedis,
} from '../../../entry/kv.js';
import { ToolError, warn } from '../../kit/errors.js';
import { endOnInterrupt } from '../../kit/interrupt.js';
import { type HostingOptions, openOptions, wholeNumber, withHosting } from '../../kit/options.js';
import { EXIT_FAILED, failingDistinctly, kvTool } from '../common/failure.js';
import { DEFAULT_HOST, DEFAULT_PORT } from '../common/server-place.js';
import { clusterOption, etcdOption } from '../common/reach.js';
import { bytesBetween, milliseconds } from '../common/units.js';
import { reportJson, reportText, type ServedCounts } from './report.js';
import type { ListenOptions } from '../../../entry/index.js';

/** As --addr: whichever loopback address nobody has. */
export const FREE_ADDRESS = 'free';

/** Where to listen, when that is the value of --addr. */
function hostFor(address: string | undefined): Pick<ListenOptions, 'host'> {
  if (address === FREE_ADDRESS) return {};
  return { host: address ?? DEFAULT_HOST };
}

interface ServeFlags extends HostingOptions {
  readonly port: number;
  readonly mode: KvMode;
  readonly memory: number;
  readonly maxClients: number;
  readonly maxWindow: number;
  readonly maxValue?: number;
  readonly oneSided?: true;
  readonly redis?: number;
  readonly stats: number;
  readonly data?: string;
  readonly sync?: KvSyncPolicy;
  readonly repair?: true;
  readonly etcd?: readonly string[];
  readonly name?: string;
  readonly cluster: string;
  readonly keys?: 'move' | 'stay';
  readonly lease: number;
  readonly json?: true;
}

const MIN_MEMORY = 4096;
/** How long the end of a server may take: etcd is to forget it, and the store to be on the disk. */
const PATIENCE_MS = 10_000;
const GATEWAY_WINDOW = 64;
const MAX_MEMORY = 2 ** 31;
const memory = bytesBetween(MIN_MEMORY, MAX_MEMORY, 'Give bytes, such as 256M or 1.5G: 4K to 2G.');

function syncPolicy(text: string): KvSyncPolicy {
  if (text === 'always' || text === 'never') return text;
  return { everyMs: wholeNumber(1, 3_600_000)(text) };
}

function countsOf(begun: number, server: KvServer, store: KvStore): ServedCounts {
  const seconds = Math.round(performance.now() - begun) / 1000;
  return { seconds, server: server.statistics, store: { ...store.statistics } };
}

/** @throws ToolError for what would be left undone without a word: somebody relies on it */
function checkDataFlags({ data, sync, repair }: ServeFlags): void {
  if (data !== undefined || (sync === undefined && repair === undefined)) return;
  const flag = sync === undefined ? '--repair' : '--sync';
  throw new ToolError(`${flag} is of stores that are kept on disk; give --data as well`, EXIT_FAILED);
}

/** @throws ToolError likewise */
function checkEtcdFlags({ etcd, name, keys }: ServeFlags): void {
  const flag = name !== undefined ? '--name' : '--keys';
  if (etcd !== undefined || (name === undefined && keys === undefined)) return;
  throw new ToolError(`${flag} is of servers that etcd knows; give --etcd as well`, EXIT_FAILED);
}

async function serveStore(flags: ServeFlags): Promise<void> {
  checkDataFlags(flags);
  checkEtcdFlags(flags);
  const { port, mode, memory: memoryBytes, maxClients, maxWindow, maxValue, redis, stats, json } = flags;
  const { data: directory, sync, repair, oneSided } = flags;
  const { address, ...open } = openOptions(flags);
  const store = createStore({ mode, memoryBytes, maxValueBytes: maxValue });
  const persistence =
    directory === undefined ? undefined : await openPersistence({ directory, store, sync, repair: repair === true });
  const server = serve({
    store,
    persistence,
    oneSided,
    ...hostFor(address),
    port,
    open,
    maxClients,
    maxWindow,
  });
  const report = json === true ? reportJson : reportText;
  const gateway = redis === undefined ? undefined : await openGateway(server, redis);
  const registration = await register(server, flags);
  const begun = performance.now();
  const { epoch } = server;
  endOnInterrupt(
    async () => {
      const counts = countsOf(begun, server, store);
      // Clients go elsewhere before they miss it.
      await registration?.close();
      gateway?.close();
      server.close();
      await server.closed;
      persistence?.close();
      report({ event: 'end', ...counts });
    },
    directory === undefined && flags.etcd === undefined ? undefined : PATIENCE_MS,
  );
  // Whoever has begun this one by `fork` has gone.
  process.once('disconnect', () => process.exit(0));
  report({
    event: 'listening',
    address: { host: server.address.host, port: server.address.port },
    mode,
    memoryBytes,
    epoch,
    ...(persistence === undefined ? {} : { directory: persistence.directory, log: persistence.statistics }),
    ...(gateway === undefined ? {} : { redisPort: gateway.port }),
    ...(registration === undefined ? {} : { name: registration.name, keys: registration.keys }),
  });
  if (stats > 0) {
    let before = 0;
    setInterval(() => {
      const counts = countsOf(begun, server, store);
      const requestsPerSecond = Math.round((counts.server.requests - before) / stats);
      before = counts.server.requests;
      report({ event: 'statistics', requestsPerSecond, ...counts });
    }, stats * 1000).unref();
  }
  await server.closed;
}

async function register(
  server: KvServer,
  { etcd: endpoints, name, cluster, keys, lease: ttlMs }: ServeFlags,
): Promise<EtcdRegistration | undefined> {
  if (endpoints === undefined) return undefined;
  try {
    return await registerInEtcd(server, {
      endpoints,
      name,
      cluster,
      keys,
      ttlMs,
      onProblem: (problem) => warn(problem.message),
    });
  } catch (error) {
    server.close();
    throw error;
  }
}

/** Clients of Redis come by TCP, and from this machine alone. */
async function openGateway(server: KvServer, port: number): Promise<RedisGateway> {
  const { host } = server.address;
  const client = await connect({ ...server.address, localAddress: host, window: GATEWAY_WINDOW });
  // It counts as a client of the server, and goes with it.
  return serveRedis({ client, port });
}

export function serveCommand(): Command {
  const base = failingDistinctly(new Command('serve'))
    .description('Serve a store to this package’s clients, until Ctrl-C.')
    .addOption(
      new Option('-p, --port <port>', 'where it listens; 0: a port that is free')
        .argParser(wholeNumber(0, 65_535))
        .default(DEFAULT_PORT),
    )
    .addOption(
      new Option('--mode <mode>', 'when it is full: a cache lets the oldest entries go, a store refuses what is new')
        .choices(['cache', 'store'] satisfies readonly KvMode[])
        .default('cache' satisfies KvMode),
    )
    .addOption(
      new Option('-m, --memory <bytes>', 'for entries, such as 256M or 1.5G')
        .argParser(memory)
        .default(64 << 20, '64M'),
    )
    .addOption(
      new Option('--max-value <bytes>', 'the longest value (default: 1M, and at most half of the memory)').argParser(
        bytesBetween(0, MAX_MEMORY, 'Give bytes, such as 4K or 1M.'),
      ),
    )
    .addOption(
      new Option('--max-clients <n>', 'clients at a time; more are refused')
        .argParser(wholeNumber(1, 1 << 20))
        .default(1024),
    )
    .addOption(
      new Option('--max-window <n>', 'requests of one client that are under way at a time')
        .argParser(wholeNumber(1, 1024))
        .default(64),
    )
    .option(
      '--one-sided',
      'let clients read values in its memory by themselves, and all that is there; not with --data',
    )
    .addOption(
      new Option(
        '--redis <port>',
        'serve clients of Redis as well, by TCP at 127.0.0.1 and that port; 0: a port that is free',
      ).argParser(wholeNumber(0, 65_535)),
    )
    .addOption(
      new Option('--stats <seconds>', 'print what it counts that often; 0: never')
        .argParser(wholeNumber(0, 86_400))
        .default(0),
    )
    .option('--data <folder>', 'keep the store there, in a log and snapshots (default: in memory alone)')
    .addOption(
      new Option(
        '--sync <when>',
        'with --data, when what was changed is on the disk: always, before it is answered; never, when the system likes; or so many ms later (default: always)',
      ).argParser(syncPolicy),
    )
    .option('--repair', 'with --data, read a damaged log up to the damage, and lose what comes after')
    .addOption(etcdOption('be found by clients through etcd, such as the one at http://127.0.0.1:2379'))
    .option('--name <name>', 'with --etcd, of this server: keys are divided by it (default: address and port)')
    .addOption(clusterOption())
    .addOption(
      new Option(
        '--keys <what>',
        'with --etcd, what becomes of its keys when it is lost: others have them, or they stay (default: those of a cache move, those of a store stay)',
      ).choices(['move', 'stay']),
    )
    .addOption(
      new Option(
        '--lease <time>',
        'with --etcd, it is taken for lost when nothing was heard of it for so long: 2s to 1h',
      )
        .argParser(milliseconds)
        .default(5000, '5s'),
    )
    .option('--json', 'tell all that happens, a line of JSON each');
  return withHosting(base, `${DEFAULT_HOST}; ${FREE_ADDRESS}: a loopback address that nobody has`)
    .addHelpText(
      'after',
      `
Two shells, one machine:
  verbena kv serve
  verbena kv set greeting hello && verbena kv get greeting

Several servers, which clients find by etcd, each with its share of the keys:
  verbena kv serve --addr 127.0.0.2 --etcd http://127.0.0.1:2379 --name red
  verbena kv serve --addr 127.0.0.3 --etcd http://127.0.0.1:2379 --name green
  verbena kv get greeting --etcd http://127.0.0.1:2379

For other hosts, give an address that they reach: --addr 10.0.0.1, and they say --server 10.0.0.1.
Whoever reaches a server can read and change all that it holds: RDMA authenticates nobody.`,
    )
    .action(kvTool(serveStore));
}
