import { type Command, Option } from 'commander';
import { VerbsError } from '../../../entry/index.js';
import {
  connect,
  connectCluster,
  etcdMembership,
  type KvCalls,
  type KvConnectOptions,
  type TransportName,
} from '../../../entry/kv.js';
import { ToolError, warn } from '../../kit/errors.js';
import { type HostingOptions, streamDevice, withHosting } from '../../kit/options.js';
import { inlineFirst, openFirst } from '../../kit/spinning.js';
import { EXIT_FAILED } from './failure.js';
import { DEFAULT_HOST, DEFAULT_PORT, parseServers, serverText, type StorePlace, storeText } from './server-place.js';
import { milliseconds } from './units.js';

/** How long a tool waits for its servers. They answer in a moment, but one may register with etcd late. */
const CONNECT_TIMEOUT_MS = 5000;

/** How a tool gets to its server. */
export interface ReachFlags extends HostingOptions, StorePlace {
  readonly cluster: string;
  readonly transport: TransportName;
  readonly oneSided?: true;
  /** Milliseconds to wait for the servers. */
  readonly connectTimeout?: number;
}

/** The ways that requests travel, as `--transport` has them. */
export function transportOption(): Option {
  return new Option(
    '--transport <how>',
    'how requests and answers travel: rc, on a reliable connection; uc, as HERD has it, or ud: what is lost the client sends again',
  )
    .choices(['rc', 'uc', 'ud'] satisfies readonly TransportName[])
    .default('rc' satisfies TransportName);
}

export function oneSidedOption(): Option {
  return new Option(
    '--one-sided',
    'read values in the server’s memory, by RDMA READ, without its doing anything: one that was served with --one-sided',
  );
}

export function etcdOption(what: string): Option {
  return new Option('--etcd <url,...>', what).argParser((text) => text.split(','));
}

export function clusterOption(): Option {
  return new Option('--cluster <name>', 'with --etcd, servers of that name').default('default');
}

export function connectTimeoutOption(): Option {
  const what = 'how long to wait for the servers: 500ms, 5s, 2m (default: 5s)';
  return new Option('--connect-timeout <time>', what).argParser(milliseconds);
}

export function serverOption(preset?: string): Option {
  const what = 'where the store is served; of several, each has its share of the keys';
  return new Option(
    '-s, --server <host:port,...>',
    preset === undefined ? what : `${what} (default: ${preset})`,
  ).argParser(parseServers);
}

export function etcdOfClients(): Option {
  return etcdOption('where etcd is that has the servers, such as http://127.0.0.1:2379').conflicts('server');
}

export function withServer(command: Command): Command {
  const preset = { host: DEFAULT_HOST, port: DEFAULT_PORT };
  command
    .addOption(serverOption().default([preset], serverText(preset)))
    .addOption(etcdOfClients())
    .addOption(clusterOption())
    .addOption(transportOption())
    .addOption(connectTimeoutOption());
  return withHosting(command, 'the one that --server calls for, else VERBENA_ADDR, or a free loopback address');
}

/** For a tool that is done in a moment. @throws ToolError which says where nobody was */
export function reach(flags: ReachFlags, options: Partial<KvConnectOptions> = {}): Promise<KvCalls> {
  // One that opens no thread begins sooner.
  return reachBy(inlineFirst(flags), options);
}

/** By the first device of these that this machine can have. @throws as {@link reach} */
export async function reachBy(
  candidates: readonly ReachFlags[],
  options: Partial<KvConnectOptions> = {},
): Promise<KvCalls> {
  try {
    return await openFirst(candidates, (asked) => connectTo(asked, { ...streamDevice(asked), ...options }));
  } catch (error) {
    if (!(error instanceof VerbsError)) throw error;
    // One that refuses this client is there.
    const [what, hint] =
      error.errno === 'EOPNOTSUPP' ? ['cannot use the store', ''] : ['no store', hintFor(error, candidates[0])];
    const message = `${what} at ${storeText(candidates[0])}${hint}: ${error.message}`;
    throw new ToolError(message, EXIT_FAILED, { cause: error });
  }
}

/** A client of the servers that were named. */
export function connectTo(
  { server, etcd, cluster, transport, oneSided, connectTimeout }: Omit<ReachFlags, keyof HostingOptions>,
  options: Partial<KvConnectOptions>,
): Promise<KvCalls> {
  const how = { transport, oneSided, timeoutMs: connectTimeout ?? CONNECT_TIMEOUT_MS, ...options };
  if (etcd !== undefined)
    return connectCluster({
      members: etcdMembership({
        endpoints: etcd,
        cluster,
        onProblem: (problem) => warn(problem.message),
      }),
      ...how,
    });
  return server.length === 1 ? connect({ ...server[0], ...how }) : connectCluster({ members: server, ...how });
}

function hintFor({ errno }: VerbsError, { etcd }: StorePlace): string {
  if (etcd !== undefined) return errno === 'ETIMEDOUT' ? '; `verbena kv serve --etcd` has etcd know one' : '';
  return errno === 'ECONNREFUSED' || errno === 'ETIMEDOUT' ? '; `verbena kv serve` serves one' : '';
}
