import { ReadLatency } from './read-latency.js';
import { type PerfFlags } from '../flags.js';
import { type QueuePairs } from '../queue-pairs/queue-pairs.js';
import { latencyOf, latencyOfDuration, samplesOf } from './latency.js';
import { Pace } from './pace.js';
import { type Partner } from '../exchange/partner.js';
import { Posting, Receiving } from '../running/posting.js';
import { type Report } from '../report/report.js';
import { type Run } from '../running/run.js';
import { type Settings } from '../settings.js';
import { Verb } from '../tests.js';
import { CpuMeter, Timing } from '../running/timing.js';
import { WriteLatency } from './write-latency.js';
import { SendLatency } from './send-latency.js';

/** Figures of fewer messages say nothing. */
const FEWEST_POSTS = 5;

export class LatencyTest {
  readonly #settings: Settings;
  readonly #flags: PerfFlags;
  readonly #queuePairs: QueuePairs;
  readonly #partner: Partner;
  readonly #report: Report;

  constructor(settings: Settings, flags: PerfFlags, queuePairs: QueuePairs, partner: Partner, report: Report) {
    this.#settings = settings;
    this.#flags = flags;
    this.#queuePairs = queuePairs;
    this.#partner = partner;
    this.#report = report;
  }

  async measure(sizeBytes: number): Promise<void> {
    const { test, period, iterations } = this.#settings;
    const timing = period === undefined ? undefined : new Timing(period, new CpuMeter());
    const pace = new Pace(this.#settings, timing, this.#flags.latency_gap ?? 0);
    const run = latencyRun(this.#queuePairs, this.#settings, sizeBytes, pace);
    if (test.handshakes.beforeRun === 'always') await this.#partner.handshake();
    // What the peer answers by a message of its own is half of what was measured.
    const isRoundTrip = test.verb === Verb.SEND || test.verb === Verb.WRITE;
    this.#report.underWay = () => this.#cut(pace, sizeBytes, isRoundTrip);
    await this.#partner.carryOut(run);
    this.#report.underWay = undefined;
    if (timing === undefined) {
      this.#tell(pace, iterations, sizeBytes, isRoundTrip);
    } else {
      const latency = latencyOfDuration(pace.counted, timing.sampledMs, sizeBytes, isRoundTrip);
      this.#report.latencyOfDuration(latency, timing.cpu?.percent);
    }
  }

  /** The user ends a run before its end. */
  #cut(pace: Pace, sizeBytes: number, isRoundTrip: boolean): void {
    const { posted, elapsedMs } = pace.soFar(performance.now());
    if (posted < FEWEST_POSTS) return;
    if (pace.timing === undefined) {
      this.#tell(pace, posted, sizeBytes, isRoundTrip);
    } else {
      const latency = latencyOfDuration(posted, elapsedMs, sizeBytes, isRoundTrip);
      this.#report.latencyOfDuration(latency, pace.timing.cpu?.percent);
    }
  }

  #tell(pace: Pace, posted: number, sizeBytes: number, isRoundTrip: boolean): void {
    const { cyclesPerUs = 1 } = this.#settings;
    const samples = samplesOf(pace.postedMs, posted, isRoundTrip).map((us) => us * cyclesPerUs);
    this.#report.latency(latencyOf(samples, sizeBytes), samples);
  }
}

export function latencyRun(queuePairs: QueuePairs, settings: Settings, sizeBytes: number, pace: Pace): Run {
  const posting = new Posting(queuePairs, settings, sizeBytes);
  switch (settings.test.verb) {
    case Verb.SEND:
      return new SendLatency(queuePairs, settings, posting, new Receiving(queuePairs, settings, sizeBytes), pace);
    case Verb.WRITE:
      return new WriteLatency(queuePairs, settings, posting, pace);
    case Verb.READ:
    case Verb.ATOMIC:
      return new ReadLatency(queuePairs, posting, pace);
  }
}
