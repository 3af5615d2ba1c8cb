import { type Context, type Mtu, mtuBytes } from '../../entry/index.js';
import { ToolError } from '../kit/errors.js';
import { Turns } from '../kit/interrupt.js';
import { alone } from './exchange/agreement.js';
import { bandwidthRun } from './bandwidth/bandwidth-test.js';
import type { PerfFlags } from './flags.js';
import { Backoff } from './running/backoff.js';
import { QueuePairs } from './queue-pairs/queue-pairs.js';
import { latencyRun } from './latency/latency-test.js';
import { Pace } from './latency/pace.js';
import type { Run } from './running/run.js';
import { isPassive, type Settings, sizesOf } from './settings.js';

/** Until V8 has compiled what a test runs; what is left after that is within the noise. */
const WARM_UP_MS = 800;
/** What is longer takes the same way, only more often. */
const LONGEST_BYTES = 1 << 20;
const ITERATIONS = 1000;
const STEPS_PER_CLOCK = 32;

/** What a warm-up was: nothing that a report should count. */
export interface WarmUp {
  readonly elapsedMs: number;
  /** The device's counters after it. */
  readonly counters: Readonly<Record<string, number>>;
}

/** Whether a warm-up would disturb: its packets would be recorded, or change the random sequence. */
function isWatched({ netem = process.env['VERBENA_NETEM'] ?? '' }: PerfFlags): boolean {
  return netem !== '' || (process.env['VERBENA_PCAP'] ?? '') !== '';
}

/** The test in small: for one queue pair, with an end. */
function shortened({ period, ...settings }: Settings, sizeBytes: number): Settings {
  const { rxDepth, postList } = settings;
  const iterations = Math.ceil(Math.max(rxDepth, ITERATIONS) / postList) * postList;
  return {
    ...settings,
    sizeBytes,
    iterations,
    allSizes: false,
    endless: false,
    qps: 1,
    byCm: false,
    peak: false,
  };
}

/** Both sides of a test, connected with each other. */
function sidesOf(context: Context, settings: Settings, flags: PerfFlags, mtu: Mtu): readonly [QueuePairs, QueuePairs] {
  const queuePairs = [true, false].map((active) => new QueuePairs(context, { ...settings, active }, flags, alone(mtu)));
  const [one, other] = queuePairs;
  for (const side of queuePairs) side.createQps();
  one.remote = other.local;
  other.remote = one.local;
  for (const side of queuePairs) side.connect(mtu);
  return [one, other];
}

function runOf(queuePairs: QueuePairs, settings: Settings): Run {
  if (settings.test.measure === 'bw') return bandwidthRun(queuePairs, settings, settings.sizeBytes, undefined);
  return latencyRun(queuePairs, settings, settings.sizeBytes, new Pace(settings, undefined, 0));
}

/** Plays both sides in turn until they are done, or it is time. */
async function runBoth(runs: readonly Run[], backoff: Backoff, untilMs: number, turns: Turns): Promise<void> {
  for (const run of runs) run.begin?.();
  for (let steps = 1; runs.some((run) => !run.over); steps += 1) {
    let moved = false;
    for (const run of runs) if (!run.over && run.step()) moved = true;
    if (moved) backoff.busy();
    else backoff.pause();
    if (steps % STEPS_PER_CLOCK !== 0) continue;
    if (performance.now() > untilMs) return;
    if (turns.isDue) await turns.take();
  }
}

async function practise(
  context: Context,
  settings: Settings,
  flags: PerfFlags,
  mtu: Mtu,
  untilMs: number,
): Promise<void> {
  const backoff = new Backoff(context, undefined, []);
  const turns = new Turns();
  while (performance.now() < untilMs) {
    const sides = sidesOf(context, settings, flags, mtu);
    try {
      const runs = sides
        .map((queuePairs, i) => ({ queuePairs, settings: { ...settings, active: i === 0 } }))
        .filter((side) => !isPassive(side.settings))
        .map((side) => runOf(side.queuePairs, side.settings));
      await runBoth(runs, backoff, untilMs, turns);
    } finally {
      for (const queuePairs of sides) queuePairs.close();
    }
  }
}

/**
 * Has this process do by itself, between queue pairs of its own device, what it is about to do with its peer: the first
 * thousands of messages of a program are slow, since V8 has yet to compile it. Nothing of that goes to the peer.
 *
 * @returns undefined when it was not to be
 */
export async function warmUp(
  context: Context,
  settings: Settings,
  flags: PerfFlags,
  mtu: Mtu,
): Promise<WarmUp | undefined> {
  if (flags.warmUp !== true || isWatched(flags)) return undefined;
  const begun = performance.now();
  // A datagram is one packet.
  const longest = settings.connection === 'UD' ? mtuBytes(mtu) : LONGEST_BYTES;
  const all = sizesOf(settings).map((bytes) => Math.min(bytes, longest));
  const sizes = [...new Set([all[0], all[all.length >> 1], all[all.length - 1]])];
  for (const [i, sizeBytes] of sizes.entries()) {
    const untilMs = begun + (WARM_UP_MS * (i + 1)) / sizes.length;
    try {
      await practise(context, shortened(settings, sizeBytes), flags, mtu, untilMs);
    } catch (error) {
      // What the test itself cannot do either, it will tell better.
      if (!(error instanceof ToolError)) throw error;
    }
  }
  return { elapsedMs: performance.now() - begun, counters: context.counters() };
}
