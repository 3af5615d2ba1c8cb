/** What RDMA gives between two processes of this machine. */
import type { HostKind } from '../src/index.js';
import type { Effort } from './endpoint.js';
import { Peer } from './peers.js';
import type { Order } from './rdma-peer.js';

/** Addresses of this run alone, so that two runs at a time disturb each other's figures only. */
const NETWORK = `127.92.${process.pid % 256}`;
const ADDRESSES = [`${NETWORK}.1`, `${NETWORK}.2`] as const;

async function withPair<T>(
  host: HostKind,
  measure: (active: Peer, passive: Peer) => Promise<T>,
  qpCount = 1,
): Promise<T> {
  await using active = new Peer('rdma-peer', [host, ADDRESSES[0], `${qpCount}`]);
  await using passive = new Peer('rdma-peer', [host, ADDRESSES[1], `${qpCount}`]);
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

/** µs of an RDMA WRITE of 64 bytes, one after the other, each on the next of so many queue pairs. */
export function writeInTurn(host: HostKind, qpCount: number, effort: Effort): Promise<readonly number[]> {
  const measure = async (active: Peer, passive: Peer): Promise<readonly number[]> => {
    await passive.order({ kind: 'serve' } satisfies Order);
    return active.samples({ kind: 'inTurn', bytes: 64, effort } satisfies Order);
  };
  return withPair(host, measure, qpCount);
}
