/** What RDMA gives between two processes of this machine. */
import type { HostKind } from '../../src/entry/index.js';
import type { Order } from '../peers/rdma-peer.js';
import type { Frame } from '../report/flame.js';
import type { Effort, Measurement } from './measurement.js';
import { Peer, withProcessorTime } from './peer.js';
import { evaluateShares, type Shares } from './shares.js';

/** Which way packets go between NICs of one machine, as `VERBENA_LINK` names it. */
export type LinkKind = 'udp' | 'shm';

/** Where a NIC runs, and the way its packets go. */
export interface Way {
  readonly host: HostKind;
  readonly link: LinkKind;
}

/** Addresses of this run alone, so that two runs at a time disturb each other's figures only. */
const NETWORK = `127.92.${process.pid % 256}`;
const ADDRESSES = [`${NETWORK}.1`, `${NETWORK}.2`] as const;
/** Large requests under way at a time. */
const OUTSTANDING = 4;

async function withPair<T>(
  { host, link }: Way,
  measure: (active: Peer, passive: Peer) => Promise<T>,
  qpCount = 1,
): Promise<T> {
  const env = { VERBENA_LINK: link };
  await using active = new Peer('rdma-peer', [host, ADDRESSES[0], `${qpCount}`], env);
  await using passive = new Peer('rdma-peer', [host, ADDRESSES[1], `${qpCount}`], env);
  const infos = await Promise.all([active, passive].map((peer) => peer.order({ kind: 'hello' } satisfies Order)));
  await active.order({ kind: 'connect', peer: infos[1].info });
  await passive.order({ kind: 'connect', peer: infos[0].info });
  return await measure(active, passive);
}

/** Has the passive side serve, which a NIC in a thread does by itself. */
function whileServing<T>(way: Way, measure: (active: Peer, passive: Peer) => Promise<T>, qpCount?: number): Promise<T> {
  const served = async (active: Peer, passive: Peer): Promise<T> => {
    await passive.order({ kind: 'serve' } satisfies Order);
    return measure(active, passive);
  };
  return withPair(way, served, qpCount);
}

/** µs one way of a SEND of `bytes`. */
export function sendLatency(way: Way, bytes: number, effort: Effort): Promise<Measurement> {
  return withPair(way, async (active, passive) => {
    passive.start({ kind: 'pong' } satisfies Order);
    return active.measurement({ kind: 'ping', bytes, effort } satisfies Order);
  });
}

/** 10^9 bytes a second of RDMA WRITEs or READs of `bytes`, a few at a time. */
export function bandwidth(way: Way, verb: 'write' | 'read', bytes: number, effort: Effort): Promise<Measurement> {
  const order: Order = { kind: 'bandwidth', verb, bytes, outstanding: OUTSTANDING, effort };
  return whileServing(way, (active, passive) => withProcessorTime([active, passive], () => active.order(order)));
}

/** RDMA WRITEs of `bytes` on so many queue pairs at the same time, a few on each. */
export async function crowd(way: Way, qpCount: number, bytes: number, effort: Effort): Promise<Shares> {
  const order: Order = { kind: 'onAll', bytes, outstanding: OUTSTANDING, effort };
  const { rows = [] } = await whileServing(way, (active) => active.order(order), qpCount);
  return evaluateShares(rows, effort.stretchMs);
}

/** 10^6 RDMA WRITEs of 8 bytes a second, posted in lists. */
export function writeRate(way: Way, listLength: number, effort: Effort): Promise<Measurement> {
  return whileServing(way, (active) => active.measurement({ kind: 'rate', listLength, effort } satisfies Order));
}

/** µs of an RDMA WRITE of 64 bytes, one after the other, each on the next of so many queue pairs. */
export function writeInTurn(way: Way, qpCount: number, effort: Effort): Promise<Measurement> {
  const order: Order = { kind: 'inTurn', bytes: 64, effort };
  return whileServing(way, (active) => active.measurement(order), qpCount);
}

/** What is looked at to see where time goes. */
export interface Profiled {
  readonly way: Way;
  readonly what: 'ping' | 'write';
  readonly bytes: number;
}

export async function stacks({ way, what, bytes }: Profiled, effort: Effort): Promise<Frame> {
  const order: Order =
    what === 'ping'
      ? { kind: 'ping', bytes, effort }
      : { kind: 'bandwidth', verb: what, bytes, outstanding: OUTSTANDING, effort };
  return withPair(way, async (active, passive) => {
    if (what === 'ping') passive.start({ kind: 'pong' } satisfies Order);
    else await passive.order({ kind: 'serve' } satisfies Order);
    const { profile } = await active.order({ kind: 'profile', order } satisfies Order);
    if (profile === undefined) throw new Error('a measuring process sent no profile');
    return profile;
  });
}
