/** The supervisor: starts all lanes, has faults injected, listens, and looks whether anything is not as it must be. */
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDevice } from '../../src/entry/index.js';
import { Choices } from '../../test/fuzz/random.js';
import { loopback } from '../../test/support/loopback.js';
import { Connections } from './connections.js';
import { Injector } from './injector.js';
import { cardsOf, type LanePlan } from './lanes.js';
import { leftovers } from './leftovers.js';
import { MemberWatch } from './member-watch.js';
import { type Fault, Planner } from './plan.js';
import type { Report } from './protocol.js';
import type { Namespaces } from './namespaces.js';
import { Stalls } from './stalls.js';
import { Tally } from './tally.js';
import type { TimeOfDay } from './time-of-day.js';

/** Between two looks at everything. */
const LOOK_MS = 1000;
/** A dead peer shows in about a second; so long on a machine that is busy with other things. */
const NOTICE_MS = 30_000;
/** Whatever is done to a lane, in so long a time something comes of it. */
const PROGRESS_MS = 120_000;
/** A member says something every second. */
const SILENCE_MS = 45_000;
const END_MS = 45_000;
const START_MS = 300_000;
/** For everybody to be back and at work after the last fault. */
const REST_MS = 300_000;
/** Files younger than this may be somebody's who is just making them. */
const SETTLED_MS = 11_000;
/** An address of its own for whoever looks what was left behind. */
const NEIGHBOUR = 100;
/** Time that the machine took away from programs counts so many times: what it holds up piles up. */
const STALL_WEIGHT = 4;
/** A wait for the processor of so long may cost a retry. */
const STALL_MS = 120;
/** Until those who were kept waiting have said so. */
const VERDICT_MS = 2500;
/** Traffic by which a capture must have met the limit of its file. */
const CAPTURED_BYTES = 4 << 20;
const MOST_MORE_DESCRIPTORS = 16;
/** So long must a member have been watched for its memory to be judged, and so much more may it have then. */
const JUDGED_MS = 300_000;
const MOST_MORE_HEAP = 12 << 20;
const MOST_MORE_EXTERNAL = 16 << 20;
const MOST_MORE_RSS = 128 << 20;

export interface SoakInit {
  readonly seed: number;
  readonly lanes: readonly LanePlan[];
  readonly namespaces: Namespaces | undefined;
  readonly hasClock: boolean;
  readonly timeOfDay: TimeOfDay | undefined;
  readonly folder: string;
}

function isServer({ plan }: MemberWatch): boolean {
  return plan.options.role === 'server';
}

export class Soak {
  readonly tally = new Tally();
  readonly members: readonly MemberWatch[];
  readonly connections = new Connections();
  beganMs = performance.now();
  readonly pids = new Set<number>();
  readonly #choices: Choices;
  readonly #injector: Injector;
  readonly #planner: Planner;
  readonly #stalls = new Stalls();
  readonly #own: { atMs: number; ms: number }[] = [];
  readonly #progress = new Map<string, number>();
  readonly #deferred: Fault[] = [];
  #ending = false;

  constructor(private readonly init: SoakInit) {
    const { seed, lanes, namespaces, hasClock, timeOfDay, folder } = init;
    this.#choices = new Choices(seed ^ 0x50a4);
    const place = {
      folder,
      namespacePrefix: namespaces?.prefix ?? [],
      namespaceDisk: namespaces?.disk ?? '',
      hasClock,
      timeOfDay,
    };
    const events = {
      onReport: (member: MemberWatch, report: Report) => this.#onReport(member, report),
      onExit: (member: MemberWatch, code: number | null, signal: string | null) => this.#onExit(member, code, signal),
    };
    this.members = lanes.flatMap(({ name, members }) =>
      members.map((plan) => new MemberWatch(name, plan, place, events)),
    );
    this.#injector = new Injector(this.connections, namespaces, timeOfDay, (below) => this.#choices.below(below));
    const cards = cardsOf(lanes).filter(({ kind }) => kind !== 'clock' || timeOfDay !== undefined);
    this.#planner = new Planner(seed, cards);
  }

  get seconds(): number {
    return (performance.now() - this.beganMs) / 1000;
  }

  /** Servers first, so that nobody asks in vain. */
  async #startAll(which: (member: MemberWatch) => boolean, signal: AbortSignal): Promise<void> {
    const members = this.members.filter(which);
    for (const member of members) this.#start(member);
    const begunMs = performance.now();
    while (members.some(({ isReady }) => !isReady)) {
      await sleep(100, undefined, { signal });
      if (performance.now() - begunMs < START_MS) continue;
      this.violation('all', `programs do not start\n${this.dump(members.filter(({ isReady }) => !isReady))}`);
      return;
    }
  }

  /** Goes on for so long, then lets everything come to rest, and ends it. */
  async run(seconds: number, signal: AbortSignal): Promise<void> {
    const looks = setInterval(() => this.#look(), LOOK_MS);
    try {
      for (const servers of [true, false]) await this.#startAll((member) => isServer(member) === servers, signal);
      this.beganMs = performance.now();
      const untilMs = this.beganMs + seconds * 1000;
      while (performance.now() < untilMs) {
        const fault = this.#next();
        await sleep(fault.afterMs, undefined, { signal });
        this.#inject(fault);
      }
      await this.#comeToRest();
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      clearInterval(looks);
      await this.#end();
      this.#stalls.stop();
    }
  }

  violation(who: string, text: string): void {
    const violation = { atSeconds: Math.round(this.seconds * 10) / 10, who, text };
    this.tally.violations.push(violation);
    this.log({ violation });
  }

  log(entry: object): void {
    appendFileSync(
      join(this.init.folder, 'log.jsonl'),
      `${JSON.stringify({ at: Number(this.seconds.toFixed(3)), ...entry })}\n`,
    );
  }

  /** What members look like that may hang. */
  dump(members: readonly MemberWatch[]): string {
    for (const member of members) member.order({ order: 'dump' });
    return members
      .map((member) => `${member.name}: ${member.doing}\n  ${member.child?.describe() ?? 'is dead'}`)
      .join('\n');
  }

  #start(member: MemberWatch): void {
    if (this.#ending) return;
    member.start(this.#choices.u32() >>> 0);
    if (member.child !== undefined) this.pids.add(member.child.pid);
  }

  #next(): Fault {
    const due = this.#deferred.findIndex(({ lane, member }) => this.#member(lane, member)?.isFree === true);
    return due < 0 ? this.#planner.next() : this.#deferred.splice(due, 1)[0];
  }

  #member(lane: string, name: string): MemberWatch | undefined {
    return this.members.find((member) => member.name === `${lane}/${name}`);
  }

  #inject(fault: Fault): void {
    const member = this.#member(fault.lane, fault.member);
    if (member?.isFree !== true) {
      this.#deferred.push(fault);
      return;
    }
    const { kind, moment } = fault;
    this.tally.count(this.tally.faults, moment === undefined ? kind : `die in ${moment}`);
    this.log({ fault: kind, moment, member: member.name, lastsMs: fault.lastsMs, life: member.lives });
    try {
      this.#injector.inject(fault, member);
    } catch (error) {
      this.violation(member.name, `${kind} could not be done: ${String(error)}`);
    }
    if (kind === 'kill' || kind === 'die')
      void member.child?.gone.then(async () => {
        await sleep(fault.lastsMs);
        this.#start(member);
      });
  }

  #onReport(member: MemberWatch, report: Report): void {
    const nowMs = performance.now();
    const { name } = member;
    switch (report.report) {
      case 'ready':
        member.isReady = true;
        if (!this.#progress.has(member.lane)) this.#progress.set(member.lane, nowMs);
        break;
      case 'up':
        this.connections.up(name, report.connection, nowMs);
        break;
      case 'down':
        this.#onDown(member, report.connection, report.reason, nowMs);
        break;
      case 'failed':
        this.tally.count(this.tally.errors, report.what);
        this.log({ failed: report.what, member: name });
        break;
      case 'violation':
        this.violation(name, report.text);
        break;
      case 'crowd':
        member.busyUntilMs = 0;
        this.tally.longestCrowdMs = Math.max(this.tally.longestCrowdMs, report.tookMs);
        if (report.failed > 0)
          this.#unlessStalled(
            member,
            nowMs - report.tookMs,
            `${report.failed} of a crowd of ${report.count} were not served`,
          );
        break;
      case 'terminated':
        member.busyUntilMs = nowMs + 3000;
        this.tally.longestTerminationMs = Math.max(this.tally.longestTerminationMs, report.tookMs);
        this.connections.died(name, nowMs);
        break;
      case 'status':
        if (report.footprint !== undefined) this.log({ footprint: report.footprint, member: name });
        if (report.figures.rounds > 0 && report.figures.rounds !== this.#rounds.get(name)) {
          this.#progress.set(member.lane, nowMs);
          this.#rounds.set(name, report.figures.rounds);
        }
        break;
      case 'dump':
        this.log({ dump: report.text, member: name });
    }
  }

  readonly #rounds = new Map<string, number>();

  #onDown(member: MemberWatch, connection: number, reason: string, nowMs: number): void {
    const was = this.connections.down(member.name, connection, nowMs);
    if (reason !== 'closed') this.tally.count(this.tally.errors, reason);
    this.log({ down: connection, reason, member: member.name });
    if (was === undefined || was.told || reason !== 'RETRY_EXC_ERR') return;
    if (this.#injector.explains(member.lane, was.sinceMs, nowMs)) return;
    this.#unlessStalled(member, nowMs - 5000, `connection ${connection} broke (${reason}), and nothing was done to it`);
  }

  /** A violation, unless the machine held things up. */
  #unlessStalled(member: MemberWatch, sinceMs: number, text: string): void {
    setTimeout(() => {
      const all = [this.#own, ...this.members.map(({ stalls }) => stalls)].flat();
      const stalled = all.filter(({ atMs, ms }) => atMs >= sinceMs && ms >= STALL_MS);
      if (stalled.length === 0) {
        this.violation(member.name, text);
        return;
      }
      this.tally.excused += 1;
      this.log({ excused: text, member: member.name, stallMs: Math.round(Math.max(...stalled.map(({ ms }) => ms))) });
    }, VERDICT_MS).unref();
  }

  #onExit(member: MemberWatch, code: number | null, signal: string | null): void {
    const { tally } = this;
    this.connections.died(member.name, performance.now());
    // What both sides count is counted once.
    if (!isServer(member)) tally.add(member.figures);
    member.isReady = false;
    this.log({ exit: member.name, life: member.lives, code, signal });
    this.#judgeCapture(member);
    if (!member.mayEnd || (signal !== 'SIGKILL' && code !== 0))
      this.violation(member.name, `it ended by itself (${String(code ?? signal)}):\n${member.child?.tail() ?? ''}`);
    // Somebody who dies where nobody wanted it comes again: the others go on.
    if (!member.mayEnd && !this.#ending) setTimeout(() => this.#start(member), LOOK_MS);
  }

  #judgeCapture({ plan, figures, child, name }: MemberWatch): void {
    if (plan.options.capture === '' || child === undefined) return;
    const said = readFileSync(child.log, 'utf8').split('Recording ends here').length - 1;
    this.tally.capturesEnded += said;
    if (said > 1) this.violation(name, `it said ${said} times that the capture ended`);
    if (said === 0 && figures.bytes > CAPTURED_BYTES)
      this.violation(name, 'its capture has met the limit, and it does not say so');
  }

  #look(): void {
    const nowMs = performance.now();
    const stallMs = this.#stalls.take();
    if (stallMs > 20) this.#own.push({ atMs: nowMs, ms: stallMs });
    if (this.#own.length > 200) this.#own.shift();
    for (const member of this.members) member.lookForStarvation();
    for (const unaware of this.connections.unaware(nowMs)) {
      const member = this.members.find(({ name }) => name === unaware.member);
      if (member === undefined || member.isStopped) continue;
      if (nowMs - unaware.sinceMs < NOTICE_MS + this.#stalledSince(member, unaware.sinceMs)) continue;
      const seconds = ((nowMs - unaware.sinceMs) / 1000).toFixed(1);
      this.violation(
        unaware.member,
        `connection ${unaware.connection}: ${unaware.why} ${seconds} s ago, and it has not noticed\n${this.dump([member])}`,
      );
      this.connections.forget(unaware.connection);
    }
    for (const member of this.members) {
      if (member.child?.isGone !== false || member.isStopped) continue;
      if (nowMs - member.heardAtMs < SILENCE_MS + this.#stalledSince(member, member.heardAtMs)) continue;
      this.violation(member.name, `it has not said anything for ${SILENCE_MS / 1000} s\n${this.dump([member])}`);
      member.heardAtMs = nowMs + SILENCE_MS;
    }
    for (const [lane, atMs] of this.#progress) {
      const members = this.members.filter((member) => member.lane === lane);
      const stalledMs = Math.max(...members.map((member) => this.#stalledSince(member, atMs)));
      if (nowMs - atMs < PROGRESS_MS + stalledMs) continue;
      this.violation(lane, `nothing has come of it for ${PROGRESS_MS / 1000} s\n${this.dump(members)}`);
      this.#progress.set(lane, nowMs + PROGRESS_MS);
    }
  }

  #stalledSince(member: MemberWatch, atMs: number): number {
    const own = this.#own.filter((stall) => stall.atMs >= atMs).reduce((sum, { ms }) => sum + ms, 0);
    return STALL_WEIGHT * (own + member.stalledSince(atMs));
  }

  /** No more faults: every lane must get going again. */
  async #comeToRest(): Promise<void> {
    this.#injector.settle();
    const sinceMs = performance.now();
    const lanes = [...new Set(this.members.map(({ lane }) => lane))];
    const isQuiet = (): boolean =>
      this.members.every(({ isReady, busyUntilMs }) => isReady && busyUntilMs < Infinity) &&
      lanes.every((lane) => (this.#progress.get(lane) ?? 0) > sinceMs + 2000) &&
      [...this.connections.unaware(performance.now())].length === 0;
    while (!isQuiet() && performance.now() - sinceMs < REST_MS) await sleep(200);
    if (!isQuiet()) this.violation('all', `it does not come to rest\n${this.dump(this.members)}`);
  }

  async #end(): Promise<void> {
    this.#ending = true;
    this.#injector.settle();
    for (const member of this.members) this.#judgeGrowth(member);
    await this.#finish(this.members.filter((member) => !isServer(member)));
    await this.#finish(this.members.filter(isServer));
  }

  /** Has members end as programs do, and sees that they can. */
  async #finish(members: readonly MemberWatch[]): Promise<void> {
    const ending = members.map(async (member) => {
      const { child } = member;
      if (child === undefined || child.isGone) return;
      member.mayEnd = true;
      member.order({ order: 'finish' });
      const begunMs = performance.now();
      const isLate = (): boolean => performance.now() - begunMs > END_MS + this.#stalledSince(member, begunMs);
      const gone = child.gone.then(() => true);
      for (;;) {
        if (await Promise.race([gone, sleep(500, false)])) return;
        if (isLate()) break;
      }
      this.violation(member.name, `it does not end\n${this.dump([member])}`);
      await sleep(LOOK_MS);
      child.signal('SIGKILL');
      await child.gone;
    });
    await Promise.all(ending);
  }

  /** What is left on the machine when all are gone. Who was killed, or a thread of whom, has left it to the next to look. */
  async judgeLeftovers(): Promise<void> {
    if (leftovers(this.pids).length > 0) {
      await sleep(SETTLED_MS);
      openDevice({ address: loopback(NEIGHBOUR) }).close();
    }
    const left = leftovers(this.pids);
    if (left.length > 0) this.violation('all', `left behind: ${left.join(', ')}`);
  }

  #judgeGrowth(member: MemberWatch): void {
    const more = member.growthOf(({ descriptors }) => descriptors);
    if (more > MOST_MORE_DESCRIPTORS)
      this.violation(member.name, `it has ${more} descriptors more than when it was warm`);
    if (member.settledMs < JUDGED_MS) return;
    for (const [what, of, most] of [
      ['heap', (footprint) => footprint.heapBytes, MOST_MORE_HEAP],
      ['external memory', (footprint) => footprint.externalBytes, MOST_MORE_EXTERNAL],
      ['resident memory', (footprint) => footprint.rssBytes, MOST_MORE_RSS],
    ] as const satisfies readonly (readonly [string, Parameters<MemberWatch['growthOf']>[0], number])[]) {
      const bytes = member.growthOf(of);
      if (bytes > most)
        this.violation(member.name, `its ${what} has grown by ${(bytes / 1e6).toFixed(1)} MB since it was warm`);
    }
  }
}
