/** What requests and their answers cost between two processes of this machine, by several ways. */
import type { RequestOrder } from '../peers/request-peer.js';
import type { Asking, RequestWayName } from '../peers/requesters/index.js';
import type { Effort, Measurement } from './measurement.js';
import { Peer } from './peer.js';
import type { Way } from './rdma.js';

const NETWORK = `127.90.${process.pid % 256}`;

export interface RequestFigures {
  /** Requests that were answered, of a second. */
  readonly rate: Measurement;
  /** µs from a request until its answer. */
  readonly latency: Measurement;
}

/** @param way for those that have a NIC */
export async function requestFigures(
  name: RequestWayName,
  { host, link }: Way,
  asking: Asking,
  effort: Effort,
): Promise<RequestFigures> {
  const env = { VERBENA_HOST: host, VERBENA_LINK: link };
  await using server = new Peer('request-peer', [name, `${NETWORK}.1`], env);
  const { info } = await server.order({ kind: 'hello' } satisfies RequestOrder);
  await using client = new Peer('request-peer', [name, `${NETWORK}.2`, `${NETWORK}.1:${String(info)}`], env);
  const order = { kind: 'ask', ...asking, effort } satisfies RequestOrder;
  const { samples, rows, percentiles } = await client.order(order);
  if (samples === undefined || rows === undefined || percentiles === undefined)
    throw new Error('a measuring process sent no samples');
  return { rate: { samples }, latency: { samples: rows[0], percentiles } };
}
