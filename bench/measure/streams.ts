/** What streams of rsockets give between two processes of this machine. */
import type { StreamOrder } from '../peers/stream-peer.js';
import type { EchoTask, Effort, Measurement } from './measurement.js';
import { Peer, withProcessorTime } from './peer.js';
import type { Way } from './rdma.js';
import { outputOf, type Tool } from './tool.js';
import { fileURLToPath } from 'node:url';

export const RSTREAM: Tool = { program: 'rstream', advice: 'apt-get install rdmacm-utils ibverbs-providers' };

const NETWORK = `127.97.${process.pid % 256}`;
const TOOL = fileURLToPath(new URL('../../tools/main.js', import.meta.url));

async function withPair<T>({ host, link }: Way, measure: (client: Peer, server: Peer) => Promise<T>): Promise<T> {
  const env = { VERBENA_HOST: host, VERBENA_LINK: link };
  await using server = new Peer('stream-peer', [`${NETWORK}.1`], env);
  const { info } = await server.order({ kind: 'hello' } satisfies StreamOrder);
  await using client = new Peer('stream-peer', [`${NETWORK}.2`, `${NETWORK}.1`, String(info)], env);
  await client.order({ kind: 'hello' } satisfies StreamOrder);
  return await measure(client, server);
}

/** µs one way of a message. */
export function streamLatency(way: Way, task: EchoTask): Promise<Measurement> {
  return withPair(way, (client) => client.measurement({ kind: 'ping', legs: 2, ...task } satisfies StreamOrder));
}

/** 10^9 bytes a second, written in pieces of `bytes`. */
export function streamBandwidth(way: Way, bytes: number, effort: Effort): Promise<Measurement> {
  return withPair(way, (client, server) =>
    withProcessorTime([client, server], async () => {
      const answer = server.order({ kind: 'drain', effort } satisfies StreamOrder);
      await client.order({ kind: 'pour', bytes } satisfies StreamOrder);
      return answer;
    }),
  );
}

/** % of one processor that so many silent streams take at both ends together. */
export function idleStreams(way: Way, streams: number, seconds: number): Promise<Measurement> {
  return withPair(way, async (client, server) => {
    await client.order({ kind: 'crowd', streams } satisfies StreamOrder);
    const rest = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
    // By then what making them has left over is done.
    await rest(1000);
    const usedMs = (): number => client.threadsTimeMs + server.threadsTimeMs;
    const before = usedMs();
    await rest(seconds * 1000);
    return { samples: [(usedMs() - before) / (seconds * 10)] };
  });
}

/** C's rstream under one launcher: µs of a transfer, and 10^9 bytes a second. */
export async function rstreamInC(
  bytes: number,
  count: number,
): Promise<{ readonly us: number; readonly rate: number }> {
  const server = `${NETWORK}.3`;
  const custom = ['-S', String(bytes), '-C', String(count), '-I', '1'];
  const both = 'a=$1; shift; rstream -b "$a" "$@" >/dev/null & sleep 0.5; rstream -s "$a" "$@" && wait';
  const output = await outputOf(process.execPath, [
    ...[TOOL, 'run', '--addr', server, '--', 'sh', '-c', both, 'sh', server],
    ...custom,
  ]);
  const line = output.split('\n').findLast((text) => /\d+\.\d+s\s/.test(text));
  const [gigabits, us] = (line ?? '').trim().split(/\s+/).slice(-2).map(Number);
  if (!Number.isFinite(us)) throw new Error(`no figures of rstream: ${output.trim().slice(-200)}`);
  return { us, rate: gigabits / 8 };
}
