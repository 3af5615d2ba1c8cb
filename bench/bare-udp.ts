/**
 * What the UDP socket alone gives, without a NIC on it: the floor under every other figure. Each function starts two
 * processes that spin, one on each of two loopback addresses of their own.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** Who makes the system calls: this file's own loop, or the link that the NIC uses. */
export type BareUdpKind = 'calls' | 'link';

/** What {@link bareStream} measures, in 10^9 bytes a second. */
export interface StreamRate {
  readonly sentGBps: number;
  readonly receivedGBps: number;
}

const PEER = fileURLToPath(new URL('./bare-udp-peer.js', import.meta.url));
const ADDRESSES = ['127.91.7.1', '127.91.7.2'] as const;

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

async function messageOf(peer: ChildProcess): Promise<unknown> {
  const failed = once(peer, 'exit').then(([code]) => {
    throw new Error(`a measuring process ended early, with status ${String(code)}`);
  });
  // Whichever comes first counts; the other may then come or not.
  failed.catch(() => undefined);
  const [message] = (await Promise.race([once(peer, 'message'), failed])) as [unknown];
  return message;
}

async function figureOf(peer: ChildProcess): Promise<number> {
  const message = await messageOf(peer);
  if (!isRecord(message) || typeof message['figure'] !== 'number')
    throw new Error('a measuring process sent no figure');
  return message['figure'];
}

/** A process that is gone has given its address back. */
async function end(peer: ChildProcess): Promise<void> {
  if (peer.exitCode !== null || peer.signalCode !== null) return;
  const gone = once(peer, 'exit');
  peer.kill('SIGKILL');
  await gone;
}

async function withPeers<T>(
  roles: readonly [string, string],
  measure: (first: ChildProcess, second: ChildProcess) => Promise<T>,
): Promise<T> {
  const start = (role: string, own: string, other: string): ChildProcess => fork(PEER, [role, own, other]);
  const [first, second] = [start(roles[0], ...ADDRESSES), start(roles[1], ADDRESSES[1], ADDRESSES[0])];
  try {
    // Both sockets must be there before a packet is sent.
    await Promise.all([messageOf(first), messageOf(second)]);
    return await measure(first, second);
  } finally {
    await Promise.all([end(first), end(second)]);
  }
}

/** Round trip in microseconds of 64 bytes between two spinning processes: the median of many short stretches. */
export async function bareSpinRoundTrip(kind: BareUdpKind = 'calls', rounds = 100_000): Promise<number> {
  return withPeers([`${kind}-ping`, `${kind}-pong`], async (ping, pong) => {
    pong.send({ rounds });
    ping.send({ rounds });
    return figureOf(ping);
  });
}

/** One-way stream of 4 KiB packets, cut and joined by the kernel, for `durationMs`. Nobody holds the sender back. */
export async function bareStream(kind: BareUdpKind = 'calls', durationMs = 1500): Promise<StreamRate> {
  return withPeers([`${kind}-source`, `${kind}-drain`], async (source, drain) => {
    drain.send({ durationMs });
    source.send({ durationMs });
    const [sentGBps, receivedGBps] = await Promise.all([figureOf(source), figureOf(drain)]);
    return { sentGBps, receivedGBps };
  });
}
