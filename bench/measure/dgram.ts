/** What node:dgram gives between two processes of this machine: UDP as a program of Node's has it. */
import type { DgramOrder } from '../peers/dgram-peer.js';
import type { Effort, Measurement } from './measurement.js';
import { Peer } from './peer.js';

function portOf(info: unknown): number {
  if (typeof info === 'object' && info !== null && 'port' in info && typeof info.port === 'number') return info.port;
  throw new Error('a process did not say its port');
}

/** µs one way of a datagram of `bytes`. */
export async function dgramLatency(bytes: number, effort: Effort): Promise<Measurement> {
  await using echo = new Peer('dgram-peer', []);
  await using client = new Peer('dgram-peer', []);
  const { info } = await echo.order({ kind: 'hello' } satisfies DgramOrder);
  await client.order({ kind: 'hello' } satisfies DgramOrder);
  await echo.order({ kind: 'echo' } satisfies DgramOrder);
  return await client.measurement({ kind: 'ping', port: portOf(info), bytes, effort } satisfies DgramOrder);
}
