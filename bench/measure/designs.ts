/** The key-value store beside designs whose GETs are READs. */
import type { Design, DesignOrder, DesignPlaces } from '../peers/designs-peer.js';
export type { Design } from '../peers/designs-peer.js';
import type { Effort, Measurement } from './measurement.js';
import { Peer } from './peer.js';
import type { Way } from './rdma.js';

export const DESIGNS: readonly Design[] = ['rc', 'uc', 'ud', 'pilaf', 'farm'];

const NETWORK = `127.99.${process.pid % 256}`;
const SERVER = `${NETWORK}.1`;
const CLIENT = `${NETWORK}.2`;

export interface DesignLoad {
  readonly design: Design;
  readonly valueBytes: number;
  readonly putPercent: number;
  readonly window: number;
}

/** What a run finds: calls a second, and µs of one at a time. */
export interface DesignFigures {
  readonly rate: Measurement;
  readonly latency: Measurement;
}

export async function designLoad(
  { host, link }: Way,
  { design, valueBytes, putPercent, window }: DesignLoad,
  effort: Effort,
): Promise<DesignFigures> {
  const env = { VERBENA_HOST: host, VERBENA_LINK: link };
  await using server = new Peer('designs-peer', ['serve', SERVER, `${valueBytes}`], env);
  const { info } = await server.order({ kind: 'hello' } satisfies DesignOrder);
  const places = info as DesignPlaces;
  const args = ['ask', CLIENT, `${valueBytes}`, design, JSON.stringify(places)];
  await using client = new Peer('designs-peer', args, env);
  await client.order({ kind: 'fill' } satisfies DesignOrder);
  const rate = await client.measurement({ kind: 'rate', putPercent, window, effort } satisfies DesignOrder);
  const latency = await client.measurement({ kind: 'latency', putPercent, effort } satisfies DesignOrder);
  return { rate, latency };
}
