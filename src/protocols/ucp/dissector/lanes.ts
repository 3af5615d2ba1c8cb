import { hex, type CaptureWay } from '../../core/index.js';
import { type UcxQueuePair, ucsStatusName, UcsStatus } from '../wire/index.js';

// The reliable connections of UCX, of which its ends tell each other in messages.

/** Whoever floods a capture with endpoints is forgotten beyond that. */
const MAX_ENDPOINTS = 4096;

/** An endpoint of UCP, and where its lanes are. */
interface Endpoint {
  readonly address: string;
  readonly queuePairs: readonly UcxQueuePair[];
}

/** What two endpoints say of themselves. */
export interface Wireup {
  readonly sourceEpId: bigint;
  /** 0 where the sender does not know it. */
  readonly destinationEpId: bigint;
}

export class LaneFollower {
  readonly #endpoints = new Map<string, Endpoint>();
  readonly #peers = new Map<string, string>();

  /** An endpoint says where its lanes are. */
  told({ from, to }: CaptureWay, { sourceEpId, destinationEpId }: Wireup, queuePairs: readonly UcxQueuePair[]): void {
    const [address] = from.split(' ');
    const name = `${from} ${hex(sourceEpId)}`;
    if (queuePairs.some(isLane)) remember(this.#endpoints, name, { address, queuePairs });
    const own = this.#endpoints.get(name);
    const other = this.#endpoints.get(`${to} ${hex(destinationEpId)}`);
    if (own === undefined || other === undefined) return;
    for (const { qpn, lane } of own.queuePairs.filter(isLane)) {
      const theirs = other.queuePairs.find((one) => isLane(one) && one.lane === lane);
      if (theirs === undefined) continue;
      const ends = [`${own.address} ${hex(qpn)}`, `${other.address} ${hex(theirs.qpn)}`] as const;
      remember(this.#peers, ends[0], ends[1]);
      remember(this.#peers, ends[1], ends[0]);
    }
  }

  peerOf(end: string): string | undefined {
    return this.#peers.get(end);
  }
}

function isLane({ lane }: UcxQueuePair): boolean {
  return lane !== undefined;
}

function remember<T>(map: Map<string, T>, key: string, value: T): void {
  const [oldest] = map.keys();
  if (!map.has(key) && map.size >= MAX_ENDPOINTS) map.delete(oldest);
  map.set(key, value);
}

// Numbers in words.

const MOST_DECIMAL = 65_535n;
const AM_ID_MASK = 0xffffn;

/** Small tags are numbers, and large ones are bits. */
export function tagText(tag: bigint): string {
  return `tag ${tag <= MOST_DECIMAL ? tag.toString() : hex(tag)}`;
}

/** Which active message of a program, in the first two bytes of its header. */
export function amText(header: bigint): string {
  return `AM ${(header & AM_ID_MASK).toString()}`;
}

/** `ok`, or the name. */
export function statusText(status: number): string {
  return status === UcsStatus.UCS_OK ? 'ok' : (ucsStatusName(status) ?? `status ${status}`);
}
