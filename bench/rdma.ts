/** What RDMA gives between two processes of this machine. */
import type { HostKind } from '../src/index.js';
import type { Effort } from './endpoint.js';
import { Peer } from './peers.js';
import type { Order } from './rdma-peer.js';

/** Addresses of this run alone, so that two runs at a time disturb each other's figures only. */
const NETWORK = `127.92.${process.pid % 256}`;
const ADDRESSES = [`${NETWORK}.1`, `${NETWORK}.2`] as const;

async function withPair<T>(host: HostKind, measure: (active: Peer, passive: Peer) => Promise<T>): Promise<T> {
  await using active = new Peer('rdma-peer', [host, ADDRESSES[0]]);
  await using passive = new Peer('rdma-peer', [host, ADDRESSES[1]]);
  const infos = await Promise.all([active, passive].map((peer) => peer.order({ kind: 'hello' } satisfies Order)));
  await active.order({ kind: 'connect', peer: infos[1].info });
  await passive.order({ kind: 'connect', peer: infos[0].info });
  return await measure(active, passive);
}

/** µs of a round trip of SENDs of 64 bytes. */
export function sendRoundTrip(host: HostKind, effort: Effort): Promise<readonly number[]> {
  return withPair(host, async (active, passive) => {
    passive.start({ kind: 'pong' } satisfies Order);
    return active.samples({ kind: 'ping', effort } satisfies Order);
  });
}

/** 10^9 bytes a second of RDMA WRITEs of `bytes`, four at a time. */
export function writeBandwidth(host: HostKind, bytes: number, effort: Effort): Promise<readonly number[]> {
  return withPair(host, async (active, passive) => {
    await passive.order({ kind: 'serve' } satisfies Order);
    return active.samples({ kind: 'bandwidth', bytes, outstanding: 4, effort } satisfies Order);
  });
}

/** 10^6 RDMA WRITEs of 8 bytes a second, posted in lists. */
export function writeRate(host: HostKind, listLength: number, effort: Effort): Promise<readonly number[]> {
  return withPair(host, async (active, passive) => {
    await passive.order({ kind: 'serve' } satisfies Order);
    return active.samples({ kind: 'rate', listLength, effort } satisfies Order);
  });
}
