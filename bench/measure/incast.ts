/** Many senders, one receiver: what arrives, and whether each gets its share. */
import type { IncastOrder } from '../peers/incast-peer.js';
import type { EndpointInfo } from '../peers/endpoint.js';
import type { Effort, Measurement } from './measurement.js';
import { Peer } from './peer.js';

/** What so many senders reach together. */
export interface Incast {
  /** 10^9 bytes a second that the receiver has acknowledged, of all senders. */
  readonly goodput: Measurement;
  /** What the slowest sender got, in parts of an equal share, for each stretch. */
  readonly leastShare: Measurement;
  /** What the quickest sender got. */
  readonly largestShare: Measurement;
}

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

/** 10^9 bytes a second and shares, of what each sender moved in each stretch. */
export function evaluateIncast(bytesOfSenders: readonly (readonly number[])[], stretchMs: number): Incast {
  const stretches = bytesOfSenders[0].map((_, stretch) => bytesOfSenders.map((bytes) => bytes[stretch]));
  const sum = (bytes: readonly number[]): number => bytes.reduce((all, one) => all + one, 0);
  const share = (bytes: readonly number[], one: number): number => (one * bytes.length) / Math.max(1, sum(bytes));
  return {
    goodput: { samples: stretches.map((bytes) => sum(bytes) / stretchMs / 1e6) },
    leastShare: { samples: stretches.map((bytes) => share(bytes, Math.min(...bytes))) },
    largestShare: { samples: stretches.map((bytes) => share(bytes, Math.max(...bytes))) },
  };
}

/** RDMA WRITEs of `bytes` from so many devices to one, over UDP, all inline. */
export async function incast(senders: number, bytes: number, effort: Effort): Promise<Incast> {
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
    return evaluateIncast(
      moved.flatMap(({ rows }) => rows ?? []),
      effort.stretchMs,
    );
  } finally {
    await Promise.all(started.map((peer) => peer[Symbol.asyncDispose]()));
  }
}
