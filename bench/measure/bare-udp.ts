/**
 * What the UDP socket alone gives, without a NIC on it: the floor under every other figure. Two processes spin, one on
 * each of two loopback addresses of their own.
 */
import type { BareOrder } from '../peers/bare-udp-peer.js';
import type { Effort, Measurement } from './measurement.js';
import { Peer } from './peer.js';

/** Who makes the system calls: a loop of nothing else, or the link that the NIC uses. */
export type BareUdpKind = 'calls' | 'link';

const NETWORK = `127.91.${process.pid % 256}`;
const ADDRESSES = [`${NETWORK}.1`, `${NETWORK}.2`] as const;

async function withPeers<T>(
  roles: readonly [string, string],
  measure: (first: Peer, second: Peer) => Promise<T>,
): Promise<T> {
  await using first = new Peer('bare-udp-peer', [roles[0], ADDRESSES[0], ADDRESSES[1]]);
  await using second = new Peer('bare-udp-peer', [roles[1], ADDRESSES[1], ADDRESSES[0]]);
  // Both sockets must be there before a packet is sent.
  await Promise.all([first, second].map((peer) => peer.order({ kind: 'hello' } satisfies BareOrder)));
  return await measure(first, second);
}

/** µs one way of a datagram of `bytes` between two spinning processes. */
export function bareLatency(bytes: number, effort: Effort, kind: BareUdpKind = 'calls'): Promise<Measurement> {
  return withPeers([`${kind}-ping`, `${kind}-pong`], (ping, pong) => {
    const order: BareOrder = { kind: 'run', bytes, effort };
    pong.start(order);
    return ping.measurement(order);
  });
}

/**
 * 10^9 bytes a second that arrive of a stream of 4 KiB packets, cut and joined by the kernel. Nobody holds the sender
 * back.
 */
export function bareStream(effort: Effort, kind: BareUdpKind = 'calls'): Promise<Measurement> {
  return withPeers([`${kind}-source`, `${kind}-drain`], (source, drain) => {
    const order: BareOrder = { kind: 'run', bytes: 0, effort };
    source.start(order);
    return drain.measurement(order);
  });
}
