import { join } from 'node:path';
import { Child } from './child.js';
import type { MemberPlan } from './lanes.js';
import { type Figures, type Footprint, noFigures, type Order, type Report } from './protocol.js';
import { growth, type Sample, slopePerHour } from './slope.js';
import { UNDER_ANOTHER_CLOCK } from './namespaces.js';
import type { TimeOfDay } from './time-of-day.js';

/** Until a program's memory and descriptors are those that it keeps. */
const WARM_UP_MS = 60_000;
/** Blocks of 512 bytes that a file may have where files stay small. */
const SMALL_FILE_BLOCKS = 512;

/**
 * Who could run, and runs for less than this part of the time, is kept waiting by the machine. Far less than a share of two
 * processors among all programs: one that hangs and spins gets that, and is to be noticed.
 */
const LEAST_SHARE = 0.02;

export interface Stall {
  readonly atMs: number;
  readonly ms: number;
}

export interface MemberEvents {
  readonly onReport: (member: MemberWatch, report: Report) => void;
  readonly onExit: (member: MemberWatch, code: number | null, signal: NodeJS.Signals | null) => void;
}

export interface MemberPlace {
  readonly folder: string;
  readonly namespacePrefix: readonly string[];
  readonly namespaceDisk: string;
  readonly hasClock: boolean;
  readonly timeOfDay: TimeOfDay | undefined;
}

export class MemberWatch {
  readonly name: string;
  child: Child | undefined;
  lives = 0;
  isReady = false;
  /** Until when something is done to it. */
  busyUntilMs = 0;
  isStopped = false;
  mayEnd = false;
  heardAtMs = 0;
  bornAtMs = 0;
  doing = '';
  stalls: Stall[] = [];
  figures: Figures = noFigures();
  peak: Footprint | undefined;
  last: Footprint | undefined;
  cpuMs = 0;
  #processor: { readonly atMs: number; readonly usedMs: number } | undefined;
  #samples: (Footprint & { readonly atMs: number })[] = [];

  constructor(
    readonly lane: string,
    readonly plan: MemberPlan,
    private readonly place: MemberPlace,
    private readonly events: MemberEvents,
  ) {
    this.name = `${lane}/${plan.name}`;
  }

  start(seed: number): void {
    this.lives += 1;
    this.isReady = false;
    this.isStopped = false;
    this.mayEnd = false;
    this.bornAtMs = performance.now();
    this.heardAtMs = this.bornAtMs;
    this.figures = noFigures();
    this.doing = 'starting';
    this.#samples = [];
    this.#processor = undefined;
    const { folder, namespaceDisk } = this.place;
    const { options } = this.plan;
    const capture = options.capture === 'namespaces' ? join(namespaceDisk, 'capture.pcapng') : options.capture;
    const log = join(folder, `${this.lane}-${this.plan.name}-${this.lives}.log`);
    this.child = new Child(
      {
        options: { ...options, capture, seed },
        prefix: this.#prefix(),
        env: this.#environment(),
        log,
        folder,
      },
      {
        onReport: (report) => this.#onReport(report),
        onExit: (code, signal) => this.events.onExit(this, code, signal),
      },
    );
  }

  order(order: Order): void {
    this.child?.order(order);
  }

  /** A program that gets no processor at all cannot say so. To be called now and then. */
  lookForStarvation(): void {
    const atMs = performance.now();
    const seen = this.child?.processor();
    const before = this.#processor;
    this.#processor = seen && { ...seen, atMs };
    if (seen === undefined || before === undefined || !seen.isRunnable || seen.usedMs < before.usedMs) return;
    const passedMs = atMs - before.atMs;
    if (seen.usedMs - before.usedMs < LEAST_SHARE * passedMs) this.stalls.push({ atMs, ms: passedMs });
  }

  get isFree(): boolean {
    return this.isReady && !this.isStopped && !this.mayEnd && performance.now() >= this.busyUntilMs;
  }

  /** How long the machine kept it waiting since then, in all. */
  stalledSince(atMs: number): number {
    return this.stalls.filter((stall) => stall.atMs >= atMs).reduce((sum, { ms }) => sum + ms, 0);
  }

  /** Samples of what it keeps, after it has warmed up. */
  #settled(of: (footprint: Footprint) => number): Sample[] {
    return this.#samples
      .filter(({ atMs }) => atMs - this.bornAtMs > WARM_UP_MS)
      .map((sample) => ({ atMs: sample.atMs, value: of(sample) }));
  }

  /** For how long it has been looked at since it was warm. */
  get settledMs(): number {
    const samples = this.#settled(() => 0);
    return samples.length < 2 ? 0 : samples[samples.length - 1].atMs - samples[0].atMs;
  }

  growthOf(of: (footprint: Footprint) => number): number {
    return growth(this.#settled(of));
  }

  slopeOf(of: (footprint: Footprint) => number): number {
    return slopePerHour(this.#settled(of));
  }

  #environment(): Readonly<Record<string, string>> {
    const { namespaceDisk, timeOfDay } = this.place;
    switch (this.plan.within) {
      case 'namespaces':
        return { XDG_RUNTIME_DIR: namespaceDisk };
      case 'time of day':
        return timeOfDay?.environment ?? {};
      default:
        return {};
    }
  }

  #prefix(): readonly string[] {
    const { namespacePrefix, hasClock } = this.place;
    switch (this.plan.within) {
      case 'namespaces':
        return namespacePrefix;
      case 'clock':
        return hasClock ? UNDER_ANOTHER_CLOCK : [];
      case 'small files':
        return ['sh', '-c', `ulimit -f ${SMALL_FILE_BLOCKS}; exec "$@"`, 'sh'];
      default:
        return [];
    }
  }

  #onReport(report: Report): void {
    const nowMs = performance.now();
    this.heardAtMs = nowMs;
    if (report.report === 'status') {
      this.figures = report.figures;
      this.doing = report.doing;
      if (report.stallMs > 20) this.stalls.push({ atMs: nowMs, ms: report.stallMs });
      this.stalls = this.stalls.filter(({ atMs }) => nowMs - atMs < WARM_UP_MS);
      if (report.footprint !== undefined) this.#keep(report.footprint, nowMs);
    }
    this.events.onReport(this, report);
  }

  #keep(footprint: Footprint, atMs: number): void {
    this.#samples.push({ ...footprint, atMs });
    this.last = footprint;
    if (footprint.rssBytes > (this.peak?.rssBytes ?? 0)) this.peak = footprint;
  }
}
