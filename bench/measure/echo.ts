/** What an awaited round trip takes between two processes of this machine, on connections as `connect` and `listen` make them. */
import type { EchoOrder } from '../peers/echo-peer.js';
import type { EchoTask, Measurement } from './measurement.js';
import { Peer } from './peer.js';
import type { Way } from './rdma.js';

const NETWORK = `127.93.${process.pid % 256}`;

async function withPair<T>({ host, link }: Way, measure: (client: Peer, server: Peer) => Promise<T>): Promise<T> {
  const env = { VERBENA_HOST: host, VERBENA_LINK: link };
  await using server = new Peer('echo-peer', [`${NETWORK}.1`], env);
  const { info } = await server.order({ kind: 'hello' } satisfies EchoOrder);
  await using client = new Peer('echo-peer', [`${NETWORK}.2`, `${NETWORK}.1`, String(info)], env);
  await client.order({ kind: 'hello' } satisfies EchoOrder);
  return await measure(client, server);
}

/** µs of a round trip. */
export function echoRoundTrip(way: Way, task: EchoTask): Promise<Measurement> {
  return withPair(way, (client) => client.measurement({ kind: 'ping', ...task } satisfies EchoOrder));
}

/** % of one processor that two programs use together which await each other's messages, while none comes. */
export function echoIdleLoad(way: Way, seconds: number): Promise<Measurement> {
  return withPair(way, async (client, server) => {
    await client.order({
      kind: 'ping',
      bytes: 64,
      restMs: 0,
      effort: { stretches: 1, stretchMs: 50, warmUpMs: 50 },
    } satisfies EchoOrder);
    const rest = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
    // By then what starting has left over is done.
    await rest(500);
    const usedMs = (): number => client.threadsTimeMs + server.threadsTimeMs;
    const before = usedMs();
    await rest(seconds * 1000);
    return { samples: [(usedMs() - before) / (seconds * 10)] };
  });
}
