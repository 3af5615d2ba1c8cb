/** What node:net gives between two processes of this machine: the peer to compare with. */
import type { Effort } from './endpoint.js';
import type { NetOrder } from './net-peer.js';
import { Peer } from './peers.js';

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

/** µs of a round trip of 64 bytes. */
export function netRoundTrip(effort: Effort): Promise<readonly number[]> {
  return withPair(async (client, server) => {
    await server.order({ kind: 'echo' } satisfies NetOrder);
    return client.samples({ kind: 'ping', effort } satisfies NetOrder);
  });
}

/** 10^9 bytes a second, written in pieces of `bytes`. */
export function netBandwidth(bytes: number, effort: Effort): Promise<readonly number[]> {
  return withPair(async (client, server) => {
    const samples = server.samples({ kind: 'drain', effort } satisfies NetOrder);
    await client.order({ kind: 'pour', bytes } satisfies NetOrder);
    return samples;
  });
}

/** TCP connections made and ended in a second, so many together. */
export function netConnectionRate(connections: number, { stretches }: Effort): Promise<readonly number[]> {
  return withPair(async (client, server) => {
    await server.order({ kind: 'echo' } satisfies NetOrder);
    return client.samples({ kind: 'connect', connections, runs: stretches } satisfies NetOrder);
  });
}
