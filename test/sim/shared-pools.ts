import type { SeededRandom } from '../../src/device/link/index.js';
import type { TestHost, TestSrq } from '../../src/device/nic/test/host.js';
import type { DriverChannel, DriverCq, ReceiveRequest } from '../../src/device/nic/test/rings.js';
import { LimitWatch } from './limit-watch.js';
import { ReceivePool } from './receive-pool.js';
import { Space } from './space.js';
import type { TransportRules } from './transport.js';

/** Receive requests of an SRQ beyond the one that each of its QPs may hold. */
const SPARE_REQUESTS = [1, 2, 4, 16];
/** Bytes that may lie unused between two pieces of a request. */
const GAP_BYTES = 6;

/** A shared receive queue, and where those of XRC are and complete. */
export interface SharedPool {
  readonly pool: ReceivePool;
  readonly srq: TestSrq;
  /** Another one of the same domain. */
  readonly others?: readonly ReceivePool[];
  readonly xrcd?: number;
  readonly cq?: DriverCq;
}

/** Makes a shared receive queue for up to so many QPs, for XRC two of one domain. */
export function makeSharedPool(
  { host, sharedCq, channel }: Place,
  { headerBytes, targetType }: TransportRules,
  messageLimit: number,
  users: number,
  random: SeededRandom,
): SharedPool {
  const bytes = headerBytes + messageLimit;
  const oneCq = sharedCq !== undefined || targetType !== undefined;
  if (targetType === undefined) return makeOne(host, bytes, users, random, oneCq);
  const cq = sharedCq ?? host.cq(2 * (users + Math.max(...SPARE_REQUESTS)), channel);
  const xrc = { xrcd: host.nic.control.openXrcd(), cq };
  const [first, second] = [0, 1].map(() => makeOne(host, bytes, users, random, oneCq, xrc));
  return { ...first, ...xrc, others: [second.pool] };
}

interface Place {
  readonly host: TestHost;
  readonly sharedCq: DriverCq | undefined;
  readonly channel: DriverChannel | undefined;
}

function makeOne(
  host: TestHost,
  bytes: number,
  users: number,
  random: SeededRandom,
  oneCq: boolean,
  xrc: Pick<SharedPool, 'xrcd' | 'cq'> = {},
): Pick<SharedPool, 'pool' | 'srq'> {
  const maxWr = users + random.pick(SPARE_REQUESTS);
  const maxSge = random.between(1, 6);
  const srq = host.srq({ maxWr, maxSge, ...xrc });
  // One place for each request: they complete in another order than they were taken in.
  const room = 8 * Math.ceil((bytes + GAP_BYTES * maxSge) / 8);
  const spaces = Array.from({ length: maxWr }, () => new Space(host.mr(room)));
  const shared = { srqn: srq.srqn, limit: new LimitWatch(host, srq) };
  const post = (request: ReceiveRequest): void => srq.queue.writeReceive(request);
  const pool = new ReceivePool({ queue: srq.queue, spaces, oneCq, maxWr, maxSge, bytes, shared, post }, random);
  return { pool, srq };
}
