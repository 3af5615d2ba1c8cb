/** Does to members what the plan says. */
import type { Connections } from './connections.js';
import type { MemberWatch } from './member-watch.js';
import type { Fault, FaultKind } from './plan.js';
import type { Namespaces } from './namespaces.js';
import type { TimeOfDay } from './time-of-day.js';

/** A fault that connections of a lane may break by, and until when that may be. */
interface Disturbance {
  readonly lane: string;
  readonly fromMs: number;
  readonly untilMs: number;
}

const CROWD = 100;
/** Whoever is to die by its own hand, and has not come to it by then, is killed. */
const DEATH_MS = 8000;
/** Retry times, and another attempt. */
const AFTERMATH_MS = 10_000;
const MOST_DELAY_MS = 8;
/** The time of day goes wrong by up to so much, on or back. */
const MOST_SECONDS = 7 * 24 * 3600;
/** What no connection may break by. */
const HARMLESS: readonly FaultKind[] = ['crowd', 'clock'];

export class Injector {
  readonly #disturbances: Disturbance[] = [];
  readonly #timers = new Set<NodeJS.Timeout>();
  #dues = new Set<() => void>();

  constructor(
    private readonly connections: Connections,
    private readonly namespaces: Namespaces | undefined,
    private readonly timeOfDay: TimeOfDay | undefined,
    private readonly random: (below: number) => number,
  ) {}

  /** @returns when it will be over, in milliseconds from now */
  inject(fault: Fault, member: MemberWatch): void {
    const nowMs = performance.now();
    const { kind, lastsMs } = fault;
    const disturbs = !HARMLESS.includes(kind) && !(kind === 'slow' && member.plan.options.host === 'thread');
    if (disturbs) this.#disturbances.push({ lane: fault.lane, fromMs: nowMs, untilMs: nowMs + lastsMs + AFTERMATH_MS });
    member.busyUntilMs = nowMs + lastsMs + 500;
    this.#actions[kind](fault, member);
  }

  /** Whether a connection of a lane may have broken by what was done to it. */
  explains(lane: string, fromMs: number, toMs: number): boolean {
    return this.#disturbances.some((one) => one.lane === lane && one.fromMs <= toMs && one.untilMs >= fromMs);
  }

  /** Everything that was to be done later is done now. */
  settle(): void {
    for (const due of [...this.#dues]) due();
    for (const timer of this.#timers) clearTimeout(timer);
  }

  readonly #actions: Readonly<Record<FaultKind, (fault: Fault, member: MemberWatch) => void>> = {
    kill: (_, member) => {
      member.mayEnd = true;
      member.child?.signal('SIGKILL');
    },
    die: ({ moment = 'write' }, member) => {
      member.mayEnd = true;
      const { child } = member;
      member.order({ order: 'die', moment, delayMs: this.random(MOST_DELAY_MS) });
      const timer = setTimeout(() => child?.signal('SIGKILL'), DEATH_MS);
      void child?.gone.then(() => clearTimeout(timer));
    },
    stop: ({ lastsMs }, member) => {
      member.isStopped = true;
      member.child?.signal('SIGSTOP');
      this.connections.stopped(member.name, performance.now());
      this.#later(lastsMs, () => {
        member.heardAtMs = performance.now();
        member.isStopped = false;
        member.child?.signal('SIGCONT');
      });
    },
    slow: ({ lastsMs }, member) => member.order({ order: 'slow', ms: lastsMs }),
    squeeze: ({ lastsMs }, member) => member.order({ order: 'squeeze', ms: lastsMs }),
    address: ({ lastsMs }, member) => {
      const { address } = member.plan.options;
      this.namespaces?.address('del', address);
      this.#later(lastsMs, () => this.namespaces?.address('add', address));
    },
    clock: ({ lastsMs }) => {
      this.timeOfDay?.turn(this.random(2 * MOST_SECONDS) - MOST_SECONDS);
      this.#later(lastsMs, () => this.timeOfDay?.turn(0));
    },
    crowd: (_, member) => {
      member.busyUntilMs = Infinity;
      member.order({ order: 'crowd', count: CROWD });
    },
    terminate: ({ lastsMs }, member) => {
      member.busyUntilMs = Infinity;
      member.order({ order: 'terminate', restMs: lastsMs });
    },
  };

  #later(ms: number, action: () => void): void {
    const due = (): void => {
      this.#dues.delete(due);
      action();
    };
    this.#dues.add(due);
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      if (this.#dues.has(due)) due();
    }, ms);
    this.#timers.add(timer);
  }
}
