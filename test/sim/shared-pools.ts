import type { SeededRandom } from '../../src/link/index.js';
import type { TestHost, TestSrq } from '../nic/host.js';
import type { DriverChannel, DriverCq } from '../nic/rings.js';
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
  readonly xrcd?: number;
  readonly cq?: DriverCq;
}

/** Makes a shared receive queue for up to so many QPs. */
export function makeSharedPool(
  host: TestHost,
  { headerBytes, targetType }: TransportRules,
  messageLimit: number,
  users: number,
  random: SeededRandom,
  { sharedCq, channel }: { readonly sharedCq: DriverCq | undefined; readonly channel: DriverChannel | undefined },
): SharedPool {
  const maxWr = users + random.pick(SPARE_REQUESTS);
  const maxSge = random.between(1, 6);
  const bytes = headerBytes + messageLimit;
  const xrc =
    targetType === undefined ? {} : { xrcd: host.nic.control.openXrcd(), cq: sharedCq ?? host.cq(maxWr, channel) };
  const srq = host.srq({ maxWr, maxSge, ...xrc });
  // One place for each request: they complete in another order than they were taken in.
  const spaces = Array.from(
    { length: maxWr },
    () => new Space(host.mr(8 * Math.ceil((bytes + GAP_BYTES * maxSge) / 8))),
  );
  const pool = new ReceivePool(
    {
      queue: srq.queue,
      spaces,
      oneCq: sharedCq !== undefined || targetType !== undefined,
      maxWr,
      maxSge,
      bytes,
      shared: { srqn: srq.srqn, limit: new LimitWatch(host, srq) },
      post: (request) => srq.queue.writeReceive(request),
    },
    random,
  );
  return { pool, srq, ...xrc };
}
