import { type Agreement } from './agreement.js';
import { BandwidthTest } from './bandwidth-test.js';
import { type PerfFlags } from './flags.js';
import { type Lanes } from './lanes.js';
import { LatencyTest } from './latency-test.js';
import { type Line, PeerLeft } from './line.js';
import { Partner } from './partner.js';
import { type Practice } from './practice.js';
import { type Report } from './report.js';
import { type Settings, isPassive, sizesOf } from './settings.js';
import { isReliable } from './tests.js';

/** Who is on both ends of a test, and what they go by. */
export interface Scene {
  readonly settings: Settings;
  readonly flags: PerfFlags;
  readonly agreement: Agreement;
  readonly line: Line;
  /** With queue pairs, which are connected if it was rdma_cm that made them. */
  readonly lanes: Lanes;
  readonly report: Report;
  readonly practice: Practice | undefined;
}

/** Connects the queue pairs, and tells who they are. */
async function connect({ settings, agreement, lanes, report }: Scene, partner: Partner): Promise<void> {
  const { meetings } = settings.test;
  if (meetings.beforeKeys) await partner.meet();
  lanes.remote = await partner.swapKeys();
  if (!settings.byCm) {
    lanes.checkRemote();
    lanes.connect(agreement.mtu);
  }
  if (meetings.connected) await partner.meet();
  report.keys('local', lanes.local);
  report.keys('remote', await partner.swapKeys());
  if (meetings.afterKeys) await partner.meet();
}

async function measureBandwidth(scene: Scene, test: BandwidthTest): Promise<void> {
  const { settings, report } = scene;
  report.heading();
  if (isPassive(settings)) return test.awaitActive();
  for (const sizeBytes of sizesOf(settings)) await test.measure(sizeBytes);
  if (settings.test.meetings.beforeReport && !settings.both) await test.tellPassive();
}

async function measureLatency({ settings, report }: Scene, test: LatencyTest): Promise<void> {
  if (isPassive(settings)) return;
  report.heading();
  for (const sizeBytes of sizesOf(settings)) await test.measure(sizeBytes);
}

/** Runs a test from when both sides have agreed to its last line. */
export async function play(scene: Scene): Promise<void> {
  const { settings, flags, agreement, line, lanes, report, practice } = scene;
  const partner = new Partner(line, lanes, isReliable(settings.connection));
  report.info({
    device: lanes.context.device.name,
    mtu: agreement.mtu,
    gidIndex: lanes.gidIndex,
    outReads: lanes.outReads,
    queuePairs: lanes.count,
    tos: flags.tos,
    warmUpMs: practice?.elapsedMs,
  });
  await connect(scene, partner);
  const bandwidth = new BandwidthTest(settings, flags, lanes, line, partner, report);
  try {
    if (settings.test.measure === 'bw') await measureBandwidth(scene, bandwidth);
    else await measureLatency(scene, new LatencyTest(settings, flags, lanes, partner, report));
    if (settings.test.meetings.atEnd) await partner.meet(isPassive(settings));
  } catch (error) {
    // A test without end ends so.
    if (!(error instanceof PeerLeft && settings.endless)) throw error;
    report.left();
  }
  report.end(lanes.context, practice?.counters);
  await partner.meanwhile(line.close());
  if (!settings.endless) bandwidth.requireLimits();
}
