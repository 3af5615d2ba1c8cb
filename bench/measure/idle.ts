/** What an open device takes of the processors while nobody uses it. */
import type { HostKind } from '../../src/entry/index.js';
import { Peer } from './peer.js';

const NETWORK = `127.95.${process.pid % 256}`;

/** % of one processor, for each stretch of so many seconds. A device is connected to itself; nothing is sent. */
export async function idleLoad(host: HostKind, seconds: number, stretches: number): Promise<readonly number[]> {
  await using peer = new Peer('idle-peer', [host, `${NETWORK}.1`]);
  await peer.order({});
  const samples: number[] = [];
  for (let i = 0; i < stretches; i += 1) {
    const before = peer.threadsTimeMs;
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    samples.push((peer.threadsTimeMs - before) / (seconds * 10));
  }
  return samples;
}
