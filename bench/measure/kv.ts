/** The key-value store beside Redis and memcached, on this machine. */
import { rmSync } from 'node:fs';
import type { KvOperation, KvOrder } from '../peers/kv-peer.js';
import { KV_KEYS, VALUE_BYTES } from '../peers/kv-keys.js';
import type { MemcachedOrder } from '../peers/memcached-peer.js';
import type { Effort, Measurement } from './measurement.js';
import { Peer } from './peer.js';
import type { Way } from './rdma.js';
import { freePort, outputOf, type Tool, ToolServer } from './tool.js';

export const REDIS: Tool = { program: 'redis-server', advice: 'apt-get install redis-server' };
export const REDIS_BENCHMARK: Tool = { program: 'redis-benchmark', advice: 'apt-get install redis-tools' };
export const MEMCACHED: Tool = { program: 'memcached', advice: 'apt-get install memcached' };

const NETWORK = `127.97.${process.pid % 256}`;
const SERVER = `${NETWORK}.1`;
const CLIENT = `${NETWORK}.2`;

/** Requests of each place in a window that tell how quick a server is, roughly. */
const PROBE = 200;

export interface Load {
  readonly operation: KvOperation;
  readonly clients: number;
  /** Requests that each of them makes at a time. */
  readonly atATime: number;
}

export interface LoadFigures {
  /** Requests a second. */
  readonly rate: Measurement;
  /** µs; only of one client that makes one request at a time. */
  readonly latency?: Measurement;
}

const isAlone = ({ clients, atATime }: Load): boolean => clients === 1 && atATime === 1;

/** Asks a peer that takes orders for loads. */
async function loadBy(peer: Peer, load: Load, effort: Effort): Promise<LoadFigures> {
  const { operation } = load;
  if (!isAlone(load))
    return { rate: await peer.measurement({ kind: 'rate', ...load, effort } satisfies KvOrder & MemcachedOrder) };
  const latency = await peer.measurement({ kind: 'latency', operation, effort } satisfies KvOrder & MemcachedOrder);
  const rate = await peer.measurement({ kind: 'rate', ...load, effort } satisfies KvOrder & MemcachedOrder);
  return { latency, rate };
}

/** Our own store, server and clients a process each. */
export async function kvLoad({ host, link }: Way, load: Load, effort: Effort): Promise<LoadFigures> {
  const env = { VERBENA_HOST: host, VERBENA_LINK: link };
  await using server = new Peer('kv-peer', ['serve', SERVER], env);
  const { info } = await server.order({ kind: 'hello' } satisfies KvOrder);
  await using client = new Peer('kv-peer', ['ask', CLIENT, SERVER, String(info)], env);
  await client.order({ kind: 'fill' } satisfies KvOrder);
  return await loadBy(client, load, effort);
}

export async function memcachedLoad(load: Load, effort: Effort): Promise<LoadFigures> {
  const port = await freePort();
  const user = process.getuid?.() === 0 ? ['-u', 'root'] : [];
  // A thread for all, since the clients take a processor, too.
  const args = ['-l', '127.0.0.1', '-p', `${port}`, '-U', '0', '-t', '1', ...user];
  await using server = await ToolServer.start(MEMCACHED.program, args, port);
  await using client = new Peer('memcached-peer', [`${server.port}`]);
  await client.order({ kind: 'hello' } satisfies MemcachedOrder);
  return await loadBy(client, load, effort);
}

/** Redis itself, over TCP or a Unix socket; or our gateway, over TCP, with its store in the same process. */
export type RedisKind = 'tcp' | 'unix' | 'gateway';

export async function redisLoad(kind: RedisKind, load: Load, effort: Effort): Promise<LoadFigures> {
  if (kind === 'gateway') {
    await using gateway = new Peer('kv-peer', ['gateway', SERVER]);
    const { info } = await gateway.order({ kind: 'hello' } satisfies KvOrder);
    return await benchmarkRedis(['-p', String(info)], load, effort);
  }
  const port = await freePort();
  const path = `/tmp/verbena-bench-redis-${process.pid}.sock`;
  const listening = ['--bind', '127.0.0.1', '--port', `${port}`, '--unixsocket', path];
  await using server = await ToolServer.start(
    REDIS.program,
    [...listening, '--save', '', '--appendonly', 'no', '--dir', '/tmp'],
    port,
  );
  try {
    return await benchmarkRedis(kind === 'unix' ? ['-s', path] : ['-p', `${server.port}`], load, effort);
  } finally {
    // A server that is killed leaves it.
    rmSync(path, { force: true });
  }
}

/** What redis-benchmark says of a run, in its table of commas. */
export interface RedisBenchmark {
  readonly perSecond: number;
  readonly p50Ms: number;
}

/** @throws Error where there is no such table */
export function parseRedisBenchmark(output: string): RedisBenchmark {
  const rows = output
    .trim()
    .split('\n')
    .map((line) => line.split(',').map((cell) => cell.replaceAll('"', '')));
  const [names, figures] = [rows[0] ?? [], rows.at(-1) ?? []];
  const of = (name: string): number => Number(figures[names.indexOf(name)]);
  const found = { perSecond: of('rps'), p50Ms: of('p50_latency_ms') };
  if (!(found.perSecond > 0)) throw new Error(`no figures of redis-benchmark: ${output.trim().slice(-200)}`);
  return found;
}

async function benchmarkRedis(where: readonly string[], load: Load, effort: Effort): Promise<LoadFigures> {
  const { operation } = load;
  const run = async (what: KvOperation, requests: number, shape: Omit<Load, 'operation'>): Promise<RedisBenchmark> => {
    const args = [
      '-c',
      shape.clients,
      '-P',
      shape.atATime,
      '-d',
      VALUE_BYTES,
      '-r',
      KV_KEYS,
      '-n',
      requests,
      '-t',
      what,
    ];
    return parseRedisBenchmark(await outputOf(REDIS_BENCHMARK.program, [...where, '--csv', ...args.map(String)]));
  };
  // It takes keys by chance: nearly all of them are set then.
  await run('set', 5 * KV_KEYS, { clients: 50, atATime: 16 });
  const { perSecond } = await run(operation, PROBE * load.clients * load.atATime, load);
  const requestsOf = (milliseconds: number): number => Math.ceil((perSecond * milliseconds) / 1000);
  await run(operation, requestsOf(effort.warmUpMs), load);
  const runs: RedisBenchmark[] = [];
  for (let i = 0; i < effort.stretches; i += 1) runs.push(await run(operation, requestsOf(effort.stretchMs), load));
  return {
    rate: { samples: runs.map((one) => one.perSecond) },
    ...(isAlone(load) ? { latency: { samples: runs.map(({ p50Ms }) => p50Ms * 1000) } } : {}),
  };
}
