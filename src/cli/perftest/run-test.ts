import { type Agreement } from './exchange/agreement.js';
import { BandwidthTest } from './bandwidth/bandwidth-test.js';
import { type PerfFlags } from './flags.js';
import { type QueuePairs } from './queue-pairs/queue-pairs.js';
import { LatencyTest } from './latency/latency-test.js';
import { type Exchange, PeerLeft } from './exchange/exchange.js';
import { Partner } from './exchange/partner.js';
import { type WarmUp } from './warm-up.js';
import { type Report } from './report/report.js';
import { type Settings, isPassive, sizesOf } from './settings.js';
import { isReliable } from './tests.js';

/** The two ends of a test, and what they have agreed on. */
export interface TestSession {
  readonly settings: Settings;
  readonly flags: PerfFlags;
  readonly agreement: Agreement;
  readonly exchange: Exchange;
  /** With queue pairs, which are connected if it was rdma_cm that made them. */
  readonly queuePairs: QueuePairs;
  readonly report: Report;
  readonly warmUpRun: WarmUp | undefined;
}

/** Connects the queue pairs, and reports their keys. */
async function connect({ settings, agreement, queuePairs, report }: TestSession, partner: Partner): Promise<void> {
  const { handshakes } = settings.test;
  if (handshakes.beforeKeys) await partner.handshake();
  queuePairs.remote = await partner.swapKeys();
  if (!settings.byCm) {
    queuePairs.checkRemote();
    queuePairs.connect(agreement.mtu);
  }
  if (handshakes.connected) await partner.handshake();
  report.keys('local', queuePairs.local);
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
  const { settings, flags, agreement, exchange, queuePairs, report, warmUpRun } = session;
  const partner = new Partner(exchange, queuePairs, isReliable(settings.connection));
  report.watch(() => queuePairs.context.counters());
  report.info({
    device: queuePairs.context.device.name,
    mtu: agreement.mtu,
    gidIndex: queuePairs.gidIndex,
    outReads: queuePairs.outReads,
    queuePairs: queuePairs.count,
    tos: flags.tos,
    warmUpMs: warmUpRun?.elapsedMs,
  });
  await connect(session, partner);
  const bandwidth = new BandwidthTest(settings, flags, queuePairs, exchange, partner, report);
  try {
    if (settings.test.measure === 'bw') await measureBandwidth(session, bandwidth);
    else await measureLatency(session, new LatencyTest(settings, flags, queuePairs, partner, report));
    if (settings.test.handshakes.atEnd) await partner.handshake(isPassive(settings));
  } catch (error) {
    // A test without end ends so.
    if (!(error instanceof PeerLeft && settings.endless)) throw error;
    report.left();
  }
  report.end(queuePairs.context, warmUpRun?.counters);
  await partner.meanwhile(exchange.close());
  if (!settings.endless) bandwidth.requireLimits();
}
