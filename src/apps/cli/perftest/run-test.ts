import { type Agreement } from './exchange/agreement.js';
import { BandwidthTest } from './bandwidth/bandwidth-test.js';
import { type PerfFlags } from './flags.js';
import { type Lanes } from './queue-pairs/lanes.js';
import { LatencyTest } from './latency/latency-test.js';
import { type Line, PeerLeft } from './exchange/line.js';
import { Partner } from './exchange/partner.js';
import { type WarmUp } from './warm-up.js';
import { type Report } from './report/report.js';
import { type Settings, isPassive, sizesOf } from './settings.js';
import { isReliable } from './tests.js';

/** Who is on both ends of a test, and what they go by. */
export interface TestSession {
  readonly settings: Settings;
  readonly flags: PerfFlags;
  readonly agreement: Agreement;
  readonly line: Line;
  /** With queue pairs, which are connected if it was rdma_cm that made them. */
  readonly lanes: Lanes;
  readonly report: Report;
  readonly warmUpRun: WarmUp | undefined;
}

/** Connects the queue pairs, and tells who they are. */
async function connect({ settings, agreement, lanes, report }: TestSession, partner: Partner): Promise<void> {
  const { handshakes } = settings.test;
  if (handshakes.beforeKeys) await partner.handshake();
  lanes.remote = await partner.swapKeys();
  if (!settings.byCm) {
    lanes.checkRemote();
    lanes.connect(agreement.mtu);
  }
  if (handshakes.connected) await partner.handshake();
  report.keys('local', lanes.local);
  report.keys('remote', await partner.swapKeys());
  if (handshakes.afterKeys) await partner.handshake();
}

async function measureBandwidth(session: TestSession, test: BandwidthTest): Promise<void> {
  const { settings, report } = session;
  report.heading();
  if (isPassive(settings)) return test.awaitActive();
  for (const sizeBytes of sizesOf(settings)) await test.measure(sizeBytes);
  if (settings.test.handshakes.beforeReport && !settings.both) await test.tellPassive();
}

async function measureLatency({ settings, report }: TestSession, test: LatencyTest): Promise<void> {
  if (isPassive(settings)) return;
  report.heading();
  for (const sizeBytes of sizesOf(settings)) await test.measure(sizeBytes);
}

/** Runs a test from when both sides have agreed to its last line. */
export async function runTest(session: TestSession): Promise<void> {
  const { settings, flags, agreement, line, lanes, report, warmUpRun } = session;
  const partner = new Partner(line, lanes, isReliable(settings.connection));
  report.info({
    device: lanes.context.device.name,
    mtu: agreement.mtu,
    gidIndex: lanes.gidIndex,
    outReads: lanes.outReads,
    queuePairs: lanes.count,
    tos: flags.tos,
    warmUpMs: warmUpRun?.elapsedMs,
  });
  await connect(session, partner);
  const bandwidth = new BandwidthTest(settings, flags, lanes, line, partner, report);
  try {
    if (settings.test.measure === 'bw') await measureBandwidth(session, bandwidth);
    else await measureLatency(session, new LatencyTest(settings, flags, lanes, partner, report));
    if (settings.test.handshakes.atEnd) await partner.handshake(isPassive(settings));
  } catch (error) {
    // A test without end ends so.
    if (!(error instanceof PeerLeft && settings.endless)) throw error;
    report.left();
  }
  report.end(lanes.context, warmUpRun?.counters);
  await partner.meanwhile(line.close());
  if (!settings.endless) bandwidth.requireLimits();
}
