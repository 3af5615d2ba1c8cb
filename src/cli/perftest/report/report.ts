import type { Context } from '../../../entry/index.js';
import { checkWritable, writeWhole } from '../../kit/new-file.js';
import type { Bandwidth } from '../bandwidth/bandwidth.js';
import { DEFAULT_JSON_FILE, type PerfFlags } from '../flags.js';
import { infoFacts, infoText, type Surroundings } from './info.js';
import type { Keys } from '../exchange/keys.js';
import { countedSamples, type Latency, type LatencyOfDuration } from '../latency/latency.js';
import { LARGE_BYTES, type Settings } from '../settings.js';
import {
  bandwidthHeading,
  bandwidthRow,
  CPU_HEADING,
  DURATION_HEADING,
  durationRow,
  general,
  keyLines,
  LATENCY_HEADING,
  latencyRow,
  RULE,
  WAITING,
  withCpu,
} from './table.js';

/** A counter's name without the folder that the C tools find it in. */
export function counterOf(name: string): string {
  return name.replace(/^(?:hw_)?counters\//, '');
}

function note(text: string): void {
  process.stderr.write(`${text}\n`);
}

type Results = Readonly<Record<string, number>>;
type Counters = Readonly<Record<string, number>>;

const WAITING_FOR_CM =
  ' Waiting for client rdma_cm QP to connect\n Please run the same command with the IB/RoCE interface IP\n';

const LARGE_AND_MODERATED =
  'Warning: Large message requested and CQ moderation enabled\nWarning: It can lead to inaccurate results\n';
const MODERATED_BY_LIST = 'Post List requested - CQ moderation will be the size of the post list\n';

/** Prints what the C tools print; or one figure of it; or the same as one JSON object at the end. */
export class Report {
  underWay: (() => void) | undefined;
  readonly #settings: Settings;
  readonly #flags: PerfFlags;
  readonly #results: Results[] = [];
  #info: ReturnType<typeof infoFacts> = {};
  #hasEnded = false;
  #counters: (() => Counters) | undefined;
  #counted: Counters = {};

  /** @throws ToolError when a report file was asked for that cannot be written */
  constructor(settings: Settings, flags: PerfFlags) {
    this.#settings = settings;
    this.#flags = flags;
    const { out_json, out_json_file } = flags;
    if (out_json === true || out_json_file !== undefined) checkWritable(out_json_file ?? DEFAULT_JSON_FILE);
  }

  /** What the C tools say of the options before anything else. */
  notes(): void {
    const { sizeBytes, cqMod, postList, connection, allSizes, events } = this.#settings;
    const { cqMod: asked } = this.#flags;
    const isLarge = sizeBytes > LARGE_BYTES && connection !== 'UD' && !allSizes && !events;
    if (isLarge && asked !== undefined && cqMod > 1) this.#tell(RULE + LARGE_AND_MODERATED);
    if (postList > 1 && asked === undefined) this.#tell(RULE + MODERATED_BY_LIST);
    const { rate, cpuUtil } = this.#settings;
    const { cpu_util, rate_limit_type, burst_size } = this.#flags;
    if (cpu_util === true && !cpuUtil) note(' CPU Utilization works only with Duration mode.');
    if (rate === undefined) return;
    if (burst_size === undefined) note(` Setting burst size to tx depth = ${rate.burst}`);
    if (rate_limit_type === undefined) note('The device has no rate limit of its own: software limits the rate.');
  }

  /** @param counters those of the device, of which `--report-counters` reports how much some grew */
  watch(counters: () => Counters): void {
    if (this.#flags.reportCounters === undefined) return;
    this.#counters = counters;
    this.#counted = counters();
  }

  waiting(): void {
    this.#tell(WAITING);
  }

  info(around: Surroundings): void {
    this.#info = infoFacts(this.#settings, around);
    this.#tell(RULE + infoText(this.#settings, around));
    if (this.#settings.byCm && !this.#settings.active) this.#tell(RULE + WAITING_FOR_CM);
    this.#tell(RULE);
  }

  keys(side: 'local' | 'remote', keys: readonly Keys[]): void {
    const { test, connection, talkByCm } = this.#settings;
    const verb = talkByCm ? undefined : test.verb;
    for (const each of keys) this.#tell(keyLines(side, each, verb, connection === 'XRC'));
  }

  heading(): void {
    const { test, period, cpuUtil } = this.#settings;
    const latency = period === undefined ? LATENCY_HEADING : DURATION_HEADING;
    const heading = test.measure === 'bw' ? bandwidthHeading(this.#gbits) : latency;
    this.#tell(RULE + withCpu(heading, cpuUtil ? CPU_HEADING : undefined));
  }

  /** @param cpuPercent how busy the processors were, for `--cpu_util` */
  bandwidth(bandwidth: Bandwidth, cpuPercent: number): void {
    const { sizeBytes, iterations, peak, average, messageRate } = bandwidth;
    this.#keep({
      MsgSize: sizeBytes,
      n_iterations: iterations,
      BW_peak: peak,
      BW_average: average,
      MsgRate: messageRate,
      ...this.#cpuFact(cpuPercent),
    });
    this.#figure(this.#flags.output === 'bandwidth' ? average : messageRate, () =>
      withCpu(bandwidthRow(bandwidth, this.#gbits), this.#cpuColumn(cpuPercent)),
    );
  }

  /** What came of each direction, with --report-both. */
  eachWay(own: Bandwidth, theirs: Bandwidth): void {
    const table = (whose: string, bandwidth: Bandwidth): string =>
      `\n ${whose} results: \n${RULE}${bandwidthHeading(this.#gbits)}${bandwidthRow(bandwidth, this.#gbits)}`;
    this.#tell(`${RULE}${table('Local', own)}${RULE}${table('Remote', theirs)}`);
  }

  /** @param samples all of them in order, for -H and -U; microseconds */
  latency(latency: Latency, samples: Float64Array): void {
    const { sizeBytes, iterations, min, max, typical, average, deviation, percentile99, percentile999 } = latency;
    const { reportUnsorted, reportHistogram, json } = this.#flags;
    this.#keep({
      MsgSize: sizeBytes,
      n_iterations: iterations,
      t_min: min,
      t_max: max,
      t_typical: typical,
      t_avg: average,
      t_stdev: deviation,
      percentile_99: percentile99,
      'percentile_99.9': percentile999,
    });
    if (json !== true) {
      const unit = this.#settings.cyclesPerUs === undefined ? 'usec' : 'cycles';
      if (reportUnsorted === true) process.stdout.write(sampleLines(samples, unit));
      if (reportHistogram === true) process.stdout.write(sampleLines(countedSamples(samples), unit));
      if (reportUnsorted === true || reportHistogram === true) this.heading();
    }
    this.#figure(average, () => latencyRow(latency));
  }

  latencyOfDuration(latency: LatencyOfDuration, cpuPercent = 0): void {
    const { sizeBytes, iterations, average, perSecond } = latency;
    this.#keep({
      MsgSize: sizeBytes,
      n_iterations: iterations,
      t_avg: average,
      tps_average: perSecond,
      ...this.#cpuFact(cpuPercent),
    });
    this.#figure(average, () => withCpu(durationRow(latency), this.#cpuColumn(cpuPercent)));
  }

  /**
   * The rule below the table, and the JSON object where one is wanted.
   *
   * @param before what the device had counted before the test
   */
  end(context: Context, before: Counters = {}): void {
    this.#hasEnded = true;
    this.#tell(RULE);
    if (this.#flags.json !== true || this.#settings.endless) return;
    const counters: Record<string, number> = {};
    for (const [name, count] of Object.entries(context.counters())) counters[name] = count - (before[name] ?? 0);
    process.stdout.write(`${JSON.stringify(this.#document(counters))}\n`);
  }

  /** The user ends this side: a row of what there is of the run under way, and the JSON object of all rows. */
  interrupted(): void {
    if (this.#hasEnded) return;
    this.underWay?.();
    if (this.underWay !== undefined) this.#tell('(interrupted)\n');
    if (this.#flags.json !== true || this.#settings.endless) return;
    process.stdout.write(`${JSON.stringify({ ...this.#document(), interrupted: true })}\n`);
  }

  left(): void {
    this.#tell(' Client closed connection\n');
  }

  get #gbits(): boolean {
    return this.#flags.report_gbits === true;
  }

  #tell(text: string): void {
    if (this.#settings.output === undefined && this.#flags.json !== true) process.stdout.write(text);
  }

  #figure(figure: number, row: () => string): void {
    if (this.#flags.json === true) return;
    process.stdout.write(this.#settings.output === undefined ? row() : `${figure.toFixed(6)}\n`);
    const lines = Object.entries(this.#growth()).map(([name, count]) => `\t${name}=${count}\n`);
    if (lines.length > 0) process.stdout.write(`${lines.join('')}\n`);
  }

  #cpuColumn(percent: number): number | undefined {
    return this.#settings.cpuUtil ? percent : undefined;
  }

  #cpuFact(percent: number): Results {
    return this.#settings.cpuUtil ? { CPU_util: percent } : {};
  }

  /** How much the counters of `--report-counters` grew since the last row, under the names that were given. */
  #growth(): Counters {
    if (this.#counters === undefined) return {};
    const [before, now] = [this.#counted, this.#counters()];
    this.#counted = now;
    const names = this.#flags.reportCounters ?? [];
    return Object.fromEntries(names.map((name) => [name, now[counterOf(name)] - before[counterOf(name)]]));
  }

  #keep(results: Results): void {
    // Of an endless test the last row is what there is to say.
    if (this.#settings.endless) this.#results.length = 0;
    this.#results.push(results);
    const { out_json, out_json_file, json } = this.#flags;
    if (json === true && this.#settings.endless) process.stdout.write(`${JSON.stringify(this.#document())}\n`);
    if (out_json !== true && out_json_file === undefined) return;
    writeWhole(out_json_file ?? DEFAULT_JSON_FILE, `${JSON.stringify(this.#file(), null, 2)}\n`);
  }

  /** The report file has the results of one size, the latest, as that of the C tools; `all_results` has those of all. */
  #file(): object {
    const { allSizes } = this.#settings;
    const all = allSizes ? { all_results: this.#results } : {};
    return { test_info: this.#info, results: this.#results.at(-1), ...all };
  }

  #document(counters?: Counters): object {
    const results = this.#settings.allSizes ? this.#results : this.#results.at(0);
    return {
      test_info: this.#info,
      ...(results === undefined ? {} : { results }),
      ...(counters === undefined ? {} : { counters }),
    };
  }
}

function sampleLines(samples: Float64Array, unit: string): string {
  return [`#, ${unit}`, ...Array.from(samples, (sample, i) => `${i + 1}, ${general(sample)}`), ''].join('\n');
}
