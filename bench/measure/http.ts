/** What HTTP gives between two processes of this machine, over TCP and over streams of rsockets. */
import type { HttpOrder } from '../peers/http-peer.js';
import type { Effort } from './measurement.js';
import { Peer } from './peer.js';
import type { Way } from './rdma.js';

const NETWORK = `127.98.${process.pid % 256}`;

/**
 * Requests a second of a client whose connections stay, so many at a time.
 *
 * @param way undefined for TCP
 */
export async function httpRate(way: Way | undefined, connections: number, effort: Effort): Promise<readonly number[]> {
  const env = way === undefined ? {} : { VERBENA_HOST: way.host, VERBENA_LINK: way.link };
  const [transport, server, client] =
    way === undefined ? ['tcp', '127.0.0.1', '127.0.0.1'] : ['rdma', `${NETWORK}.1`, `${NETWORK}.2`];
  await using listening = new Peer('http-peer', [transport, server], env);
  const { info } = await listening.order({ kind: 'hello' } satisfies HttpOrder);
  await using asking = new Peer('http-peer', [transport, client, server, String(info)], env);
  await asking.order({ kind: 'hello' } satisfies HttpOrder);
  return await asking.samples({ kind: 'ask', connections, effort } satisfies HttpOrder);
}
