import { ToolError } from '../../kit/errors.js';
import {
  type Bandwidth,
  bandwidthOf,
  type Count,
  GBIT_PER_S,
  MIB_PER_S,
  NOTHING_MEASURED,
  sumOf,
  swapReports,
} from './bandwidth.js';
import { BothWays } from './both-ways.js';
import type { PerfFlags } from '../flags.js';
import type { QueuePairs } from '../queue-pairs/queue-pairs.js';
import type { Exchange } from '../exchange/exchange.js';
import type { Partner } from '../exchange/partner.js';
import { Posting, Receiving } from '../running/posting.js';
import { Receiver } from './receiver.js';
import type { Report } from '../report/report.js';
import type { Run } from '../running/run.js';
import { Sender } from './sender.js';
import type { Settings } from '../settings.js';
import { isReliable, Verb } from '../tests.js';
import { CpuMeter, Timing } from '../running/timing.js';

export interface Measured extends Run {
  readonly lost?: number;
  result(): Count;
  cut(nowMs: number): Count;
}

export class BandwidthTest {
  readonly #settings: Settings;
  readonly #flags: PerfFlags;
  readonly #queuePairs: QueuePairs;
  readonly #exchange: Exchange;
  readonly #partner: Partner;
  readonly #report: Report;
  readonly #cpu = new CpuMeter();
  #last = NOTHING_MEASURED;
  #bestAverage = 0;
  #bestRate = 0;

  constructor(
    settings: Settings,
    flags: PerfFlags,
    queuePairs: QueuePairs,
    exchange: Exchange,
    partner: Partner,
    report: Report,
  ) {
    this.#settings = settings;
    this.#flags = flags;
    this.#queuePairs = queuePairs;
    this.#exchange = exchange;
    this.#partner = partner;
    this.#report = report;
  }

  /** Measures messages of one size. Of an endless test, until it is ended. */
  async measure(sizeBytes: number): Promise<void> {
    const { test, both, allSizes, endless } = this.#settings;
    const { beforeRun, afterSize } = test.handshakes;
    const { period, cpuUtil } = this.#settings;
    const timing = period === undefined ? undefined : new Timing(period, cpuUtil ? this.#cpu : undefined);
    const run = bandwidthRun(this.#queuePairs, this.#settings, sizeBytes, timing);
    if (this.#flags.perform_warm_up === true) await this.#warmUp(sizeBytes);
    if (beforeRun === 'always' || (beforeRun === 'both' && both)) await this.#partner.handshake();
    do {
      this.#report.underWay = () => this.#cut(run, sizeBytes);
      await this.#partner.carryOut(run);
      this.#report.underWay = undefined;
      this.#tellLost(run.lost ?? 0);
      const sent = bandwidthOf(run.result(), sizeBytes, this.#unit);
      // An endless run exchanges no reports; as in the C tools the other direction is assumed equal.
      const own = endless && both ? sumOf(sent, sent) : sent;
      if (allSizes && afterSize === 'both' && both) await this.#partner.handshake();
      await this.#tell(own);
    } while (endless);
    if (allSizes && afterSize === 'always') await this.#partner.handshake();
  }

  async tellPassive(): Promise<void> {
    await this.#partner.handshake();
    await this.#partner.meanwhile(swapReports(this.#exchange, this.#last));
  }

  /** Waits until the other side sends the result. */
  async awaitActive(): Promise<void> {
    this.#cpu.begin();
    await this.#partner.handshake(true);
    const theirs = await this.#partner.meanwhile(swapReports(this.#exchange, NOTHING_MEASURED));
    this.#show(theirs);
  }

  /** @throws ToolError when the figures at a client are below what was asked for */
  requireLimits(): void {
    if (!this.#settings.isClient) return;
    const { limit_bw = 0, limit_msgrate = 0 } = this.#flags;
    if (this.#bestAverage < limit_bw) {
      throw new ToolError(`BW result ${this.#bestAverage.toFixed(2)} is below bw limit ${limit_bw}`);
    }
    if (this.#bestRate < limit_msgrate) {
      throw new ToolError(`Msg rate ${this.#bestRate.toFixed(6)} is below msg_rate limit ${limit_msgrate}`);
    }
  }

  /** Sends as many messages as there is room for, uncounted. */
  async #warmUp(sizeBytes: number): Promise<void> {
    const { txDepth, postList } = this.#settings;
    const iterations = txDepth - (txDepth % postList);
    const { period, ...settings } = { ...this.#settings, iterations, peak: false };
    const posting = new Posting(this.#queuePairs, settings, sizeBytes);
    await this.#partner.carryOut(new Sender(this.#queuePairs, settings, posting, undefined));
  }

  get #unit(): number {
    return this.#flags.report_gbits === true ? GBIT_PER_S : MIB_PER_S;
  }

  /** The user ends a run before its end. */
  #cut(run: Measured, sizeBytes: number): void {
    const count = run.cut(performance.now());
    if (count.messages > 0) this.#report.bandwidth(bandwidthOf(count, sizeBytes, this.#unit), this.#cpu.percent);
  }

  #tellLost(messages: number): void {
    if (messages === 0) return;
    const { connection } = this.#settings;
    const told = `${messages} messages did not come`;
    if (isReliable(connection)) throw new ToolError(`${told}: the peer sends fewer; give both sides the same options.`);
    process.stderr.write(`${told}: nobody repeats what is lost over ${connection}.\n`);
  }

  async #tell(own: Bandwidth): Promise<void> {
    const { test, both, endless, period } = this.#settings;
    this.#last = own;
    // A side that counts both directions itself needs no report.
    const isWhole = !both || endless || (test.verb === Verb.SEND && period !== undefined);
    if (isWhole) {
      this.#show(own);
      return;
    }
    const theirs = await this.#partner.meanwhile(swapReports(this.#exchange, own));
    this.#show(sumOf(own, theirs));
    if (this.#flags.reportBoth === true) this.#report.eachWay(own, theirs);
  }

  #show(bandwidth: Bandwidth): void {
    this.#bestAverage = Math.max(this.#bestAverage, bandwidth.average);
    this.#bestRate = Math.max(this.#bestRate, bandwidth.messageRate);
    this.#report.bandwidth(bandwidth, this.#cpu.percent);
  }
}

/** A side of a bandwidth test that sends, receives, or both. */
export function bandwidthRun(
  queuePairs: QueuePairs,
  settings: Settings,
  sizeBytes: number,
  timing: Timing | undefined,
): Measured {
  const { test, both, active } = settings;
  const sender = (): Sender => new Sender(queuePairs, settings, new Posting(queuePairs, settings, sizeBytes), timing);
  if (test.verb !== Verb.SEND || (active && !both)) return sender();
  const receiver = new Receiver(queuePairs, settings, new Receiving(queuePairs, settings, sizeBytes), timing);
  return both ? new BothWays(sender(), receiver, timing, active) : receiver;
}
