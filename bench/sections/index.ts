/** What `npm run bench` measures, in this order. */
import { read, stream, write } from './bandwidth.js';
import { captures } from './captures.js';
import { comfort, comfortCrowd } from './comfort.js';
import { connections } from './connections.js';
import { crowd } from './crowd.js';
import { echo, sleepyEcho } from './echo.js';
import { gpu } from './gpu.js';
import { herd } from './herd.js';
import { idle } from './idle.js';
import { incast } from './incast.js';
import { kv } from './kv.js';
import { latency } from './latency.js';
import { inTurn, queuePairs } from './queue-pairs.js';
import { rate } from './rate.js';
import { rendezvous } from './rendezvous.js';
import { run } from './run.js';
import type { Extent, Section } from './section.js';
import { streams } from './streams.js';
import { ucp } from './ucp.js';
import { xio } from './xio.js';

const KIB = 1024;
const MIB = KIB * KIB;

export const FULL: Extent = {
  effort: { stretches: 5, stretchMs: 150, warmUpMs: 1500 },
  times: 3,
  rounds: (perSecond) => ({ count: Math.max(16, Math.ceil(perSecond / 4)), warmUp: Math.ceil(perSecond / 20) }),
  latencyBytes: [2, 64, 4096],
  echoBytes: [64, 4096],
  bandwidthBytes: [4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB, 8 * MIB],
  qpCounts: [1, 100, 10_000],
  qpCostCounts: [1, 10_000],
  senders: [1, 4, 16, 64],
  idleSeconds: 3,
  verbBytes: [16, 64, 256, 1024],
  herdWindows: [1, 4, 16],
  putPercents: [5, 50, 100],
  storeBytes: [128, 512, 1024],
  requestBytes: [32, 4 * KIB, 64 * KIB, MIB],
  capturePackets: 1_000_000,
};

/** Enough to see where one stands: what the aims are about. */
export const QUICK: Extent = {
  effort: { stretches: 3, stretchMs: 80, warmUpMs: 1000 },
  times: 1,
  rounds: (perSecond) => ({ count: Math.max(10, Math.ceil(perSecond / 8)), warmUp: Math.ceil(perSecond / 50) }),
  latencyBytes: [64],
  echoBytes: [64, 4096],
  bandwidthBytes: [64 * KIB, MIB],
  qpCounts: [1, 10_000],
  qpCostCounts: [10_000],
  senders: [1, 16],
  idleSeconds: 2,
  verbBytes: [32],
  herdWindows: [16],
  putPercents: [5],
  storeBytes: [],
  requestBytes: [32, MIB],
  capturePackets: 100_000,
};

const READ_BYTES = 64 * KIB;

/** Two programs that look for each other's messages leave the compilers of V8 little time on few processors. */
const AWAITED_WARM_UP_MS = 4000;

/** The extent for programs that are told by the event loop. */
const awaited = (extent: Extent): Extent => ({
  ...extent,
  effort: { ...extent.effort, warmUpMs: AWAITED_WARM_UP_MS },
});

export function sectionsOf(extent: Extent): readonly Section[] {
  return [
    ...extent.latencyBytes.map((bytes) => latency(bytes, extent)),
    ...extent.echoBytes.map((bytes) => echo(bytes, awaited(extent))),
    sleepyEcho(awaited(extent)),
    stream(extent),
    ...extent.bandwidthBytes.map((bytes) => write(bytes, extent)),
    read(READ_BYTES, extent),
    ...[rate, inTurn, queuePairs, crowd, incast, idle, connections].map((make) => make(extent)),
    ...[comfort, comfortCrowd, rendezvous, streams, kv, xio].map((make) => make(awaited(extent))),
    gpu(extent),
    run(extent),
    ucp(extent),
    ...herd(extent),
    captures(extent),
  ];
}
