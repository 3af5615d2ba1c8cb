/** Many senders, one receiver: what arrives, and whether each gets its share. */
import type { IncastOrder } from '../peers/incast-peer.js';
import type { EndpointInfo } from '../peers/endpoint.js';
import type { Effort } from './measurement.js';
import { Peer } from './peer.js';
import { evaluateShares, type Shares } from './shares.js';

const NETWORK = `127.94.${process.pid % 256}`;
/** More processes than that would measure how the kernel divides the processors among them. */
const PROCESSES = 4;
/** The last byte of the senders' addresses begins here. */
const FIRST_SENDER = 2;
/** Until all senders have been told. */
const PREPARATION_MS = 100;

function infosOf(info: unknown): readonly EndpointInfo[] {
  if (!Array.isArray(info)) throw new Error('a sender said nothing of itself');
  // `incast-peer.ts` says nothing else.
  return info as EndpointInfo[];
}

/** RDMA WRITEs of `bytes` from so many devices to one, over UDP, all inline. */
export async function incast(senders: number, bytes: number, effort: Effort): Promise<Shares> {
  const env = { VERBENA_LINK: 'udp' };
  const count = Math.min(senders, PROCESSES);
  const started: Peer[] = [];
  const start = (address: string, devices: number): Peer => {
    const peer = new Peer('incast-peer', [address, `${devices}`], env);
    started.push(peer);
    return peer;
  };
  try {
    const receiver = start(`${NETWORK}.1`, 1);
    const processes: Peer[] = [];
    for (let next = 0; processes.length < count;) {
      const devices = Math.ceil((senders - next) / (count - processes.length));
      processes.push(start(`${NETWORK}.${FIRST_SENDER + next}`, devices));
      next += devices;
    }
    const hello: IncastOrder = { kind: 'hello' };
    const answers = await Promise.all(processes.map((peer) => peer.order(hello)));
    const infos = answers.map(({ info }) => infosOf(info));
    const { info } = await receiver.order({ kind: 'receive', senders: infos.flat() } satisfies IncastOrder);
    const [own] = infosOf(info);
    let first = 0;
    for (const [i, peer] of processes.entries()) {
      await peer.order({ kind: 'connect', receiver: own, first } satisfies IncastOrder);
      first += infos[i].length;
    }
    const order: IncastOrder = { kind: 'send', bytes, startAtMs: Date.now() + PREPARATION_MS, effort };
    const moved = await Promise.all(processes.map((peer) => peer.order(order)));
    return evaluateShares(
      moved.flatMap(({ rows }) => rows ?? []),
      effort.stretchMs,
    );
  } finally {
    await Promise.all(started.map((peer) => peer[Symbol.asyncDispose]()));
  }
}
