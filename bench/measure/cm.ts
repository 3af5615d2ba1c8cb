/** What connections cost: made and ended between two processes, and the memory that the connection manager keeps of them. */
import type { HostKind } from '../../src/entry/index.js';
import type { CmOrder } from '../peers/cm-peer.js';
import { Peer } from './peer.js';

/** Addresses of this run alone, so that two runs at a time disturb each other's figures only. */
const NETWORK = `127.93.${process.pid % 256}`;

/** Connections of rdma_cm made and ended in a second, queue pairs and all, so many at a time. */
export async function connectionRate(host: HostKind, connections: number, runs: number): Promise<readonly number[]> {
  await using server = new Peer('cm-peer', ['server', host, `${NETWORK}.1`]);
  await using client = new Peer('cm-peer', ['client', host, `${NETWORK}.2`]);
  await Promise.all([server, client].map((peer) => peer.order({ kind: 'hello' } satisfies CmOrder)));
  const order: CmOrder = { kind: 'measure', destination: `${NETWORK}.1`, connections, runs };
  return await client.samples(order);
}

/** KiB that one end of a connection takes of the connection manager's memory, of so many. */
export async function connectionMemory(connections: number): Promise<number> {
  await using peer = new Peer('cm-cost', [`${connections}`]);
  return (await peer.samples({}))[0];
}
