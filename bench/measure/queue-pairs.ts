import type { Measurement } from './measurement.js';
import { Peer } from './peer.js';

/** µs to create one, and KiB that it takes, each of so many. */
export async function queuePairCost(
  count: number,
  times: number,
): Promise<{ readonly time: Measurement; readonly memory: Measurement }> {
  const pairs: (readonly number[])[] = [];
  for (let i = 0; i < times; i += 1) {
    await using peer = new Peer('qp-cost', [`${count}`]);
    pairs.push(await peer.samples({}));
  }
  return { time: { samples: pairs.map(([us]) => us) }, memory: { samples: pairs.map(([, kib]) => kib) } };
}
