/** What node:net gives between two processes of this machine: the peer to compare with. */
import type { NetOrder } from '../peers/net-peer.js';
import type { EchoTask, Effort, Measurement } from './measurement.js';
import { Peer, withProcessorTime } from './peer.js';

function portOf(info: unknown): number {
  if (typeof info === 'object' && info !== null && 'port' in info && typeof info.port === 'number') return info.port;
  throw new Error('the server did not say its port');
}

async function withPair<T>(measure: (client: Peer, server: Peer) => Promise<T>): Promise<T> {
  await using server = new Peer('net-peer', ['server']);
  const { info } = await server.order({ kind: 'hello' } satisfies NetOrder);
  await using client = new Peer('net-peer', ['client', `${portOf(info)}`]);
  await client.order({ kind: 'hello' } satisfies NetOrder);
  return await measure(client, server);
}

/** µs one way of a message of `bytes`. */
export function netLatency(bytes: number, effort: Effort): Promise<Measurement> {
  return ping({ bytes, effort, restMs: 0 }, 2);
}

/** µs of a round trip. */
export function netRoundTrip(task: EchoTask): Promise<Measurement> {
  return ping(task, 1);
}

function ping(task: EchoTask, legs: number): Promise<Measurement> {
  return withPair(async (client, server) => {
    await server.order({ kind: 'echo' } satisfies NetOrder);
    return client.measurement({ kind: 'ping', legs, ...task } satisfies NetOrder);
  });
}

/** 10^9 bytes a second, written in pieces of `bytes`. */
export function netBandwidth(bytes: number, effort: Effort): Promise<Measurement> {
  return withPair((client, server) =>
    withProcessorTime([client, server], async () => {
      const answer = server.order({ kind: 'drain', effort } satisfies NetOrder);
      await client.order({ kind: 'pour', bytes } satisfies NetOrder);
      return answer;
    }),
  );
}

/** TCP connections made and ended in a second, so many together. */
export function netConnectionRate(connections: number, { stretches }: Effort): Promise<readonly number[]> {
  return withPair(async (client, server) => {
    await server.order({ kind: 'echo' } satisfies NetOrder);
    return client.samples({ kind: 'connect', connections, runs: stretches } satisfies NetOrder);
  });
}
