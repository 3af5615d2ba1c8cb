/** What each verb gives by each transport between two processes of this machine. */
import type { Verb, VerbsInfo } from '../peers/verbs-end.js';
import type { VerbsOrder } from '../peers/verbs-peer.js';
import type { Effort, Measurement } from './measurement.js';
import { Peer } from './peer.js';
import type { Way } from './rdma.js';

const NETWORK = `127.98.${process.pid % 256}`;
const ADDRESSES = [`${NETWORK}.1`, `${NETWORK}.2`] as const;

async function served(
  { host, link }: Way,
  answer: Verb | undefined,
  bytes: number,
  ask: VerbsOrder,
): Promise<Measurement> {
  const env = { VERBENA_LINK: link };
  await using active = new Peer('verbs-peer', [host, ADDRESSES[0]], env);
  await using passive = new Peer('verbs-peer', [host, ADDRESSES[1]], env);
  const [a, b] = await Promise.all([active, passive].map((peer) => peer.order({ kind: 'hello' } satisfies VerbsOrder)));
  // It is what a peer answers to that.
  await active.order({ kind: 'connect', peer: b.info as VerbsInfo } satisfies VerbsOrder);
  await passive.order({ kind: 'connect', peer: a.info as VerbsInfo } satisfies VerbsOrder);
  await passive.order({ kind: 'serve', ...(answer && { answer }), bytes } satisfies VerbsOrder);
  return await active.measurement(ask);
}

/** 10^6 messages of `bytes` a second, one way. */
export function verbRate(way: Way, verb: Verb, bytes: number, effort: Effort): Promise<Measurement> {
  return served(way, undefined, bytes, { kind: 'rate', verb, bytes, effort });
}

/** What asks and what answers. A READ is answered by the adapter. */
export interface Echo {
  readonly request: Verb;
  readonly answer?: Verb | undefined;
}

/** 10^6 messages of `bytes` a second that are answered with as many, so many at a time. */
export function echoRate(
  way: Way,
  { request, answer }: Echo,
  bytes: number,
  window: number,
  effort: Effort,
): Promise<Measurement> {
  return served(way, answer, bytes, { kind: 'echoRate', request, bytes, window, effort });
}

/** µs there and back of one message of `bytes`. */
export function echoLatency(way: Way, { request, answer }: Echo, bytes: number, effort: Effort): Promise<Measurement> {
  return served(way, answer, bytes, { kind: 'echoLatency', request, bytes, effort });
}
