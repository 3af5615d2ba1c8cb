/** What messages of UCP cost that are sent before they are asked for, and by rendezvous. */
import type { RendezvousOrder } from '../peers/rendezvous-peer.js';
import type { Effort, Measurement } from './measurement.js';
import { Peer } from './peer.js';
import type { Way } from './rdma.js';

const NETWORK = `127.94.${process.pid % 256}`;

/** µs of processor time of both ends for a message one way, of both kinds. Others that keep the machine busy do not change it much. */
export async function eagerAndRendezvous(
  { host, link }: Way,
  bytes: number,
  effort: Effort,
): Promise<Readonly<Record<'eager' | 'rendezvous', Measurement>>> {
  await using peer = new Peer('rendezvous-peer', [NETWORK], { VERBENA_HOST: host, VERBENA_LINK: link });
  const { rows: [eager, rendezvous] = [[], []] } = await peer.order({
    kind: 'rendezvous',
    bytes,
    effort,
  } satisfies RendezvousOrder);
  return { eager: { samples: eager }, rendezvous: { samples: rendezvous } };
}
