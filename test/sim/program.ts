import type { SeededRandom } from '../../src/device/link/index.js';
import type { Completion, DriverCq } from '../../src/device/nic/test/rings.js';
import type { HostMemory } from './endpoint.js';
import { check } from './failure.js';
import type { Flow } from './flow.js';
import { Polled } from './polled.js';
import { isReceive } from './receive-pool.js';
import type { Receiver } from './receiver.js';

export interface Actor {
  readonly flow: Flow;
  readonly receiver: Receiver;
  /** Time between two looks at its queues. */
  paceUs: number;
}

/** The program of one host: it posts to its QPs, and polls its CQs or sleeps until a channel wakes it. */
export class Program {
  readonly actors: Actor[] = [];
  readonly polled = new Polled();
  readonly #actorsOfCq = new Map<DriverCq, Map<number, Actor>>();
  /** CQs that may raise an event: one for each time that they were armed. */
  readonly #armed = new Set<DriverCq>();

  constructor(
    readonly memory: HostMemory,
    private readonly random: SeededRandom,
  ) {}

  add(actor: Actor): void {
    this.actors.push(actor);
    const { qp, inbound } = actor.flow.end;
    for (const [cq, { qpn }] of [
      [qp.sendCq, qp],
      [inbound.recvCq, inbound],
    ] as const) {
      const actors = this.#actorsOfCq.get(cq) ?? new Map<number, Actor>();
      this.#actorsOfCq.set(cq, actors.set(qpn, actor));
      if (this.sleeps && actors.size === 1) this.#arm(cq);
    }
  }

  /** Whether it waits for events instead of polling. */
  get sleeps(): boolean {
    return this.memory.channel !== undefined;
  }

  /** Lets one actor look at its queues and post. @returns whether it found something to do */
  work({ flow, receiver }: Actor): boolean {
    const { qp, inbound } = flow.end;
    const polled = this.sleeps ? 0 : this.#poll(qp.sendCq) + this.#poll(inbound.recvCq);
    const received = receiver.work();
    const posted = flow.work();
    return polled > 0 || received || posted;
  }

  /** CQs that have raised an event since the last call. */
  events(): DriverCq[] {
    const cqns = this.memory.channel?.take() ?? [];
    return cqns.map((cqn) => {
      const cq = [...this.#actorsOfCq.keys()].find((candidate) => candidate.cqn === cqn);
      check(cq !== undefined, () => `an event of CQ ${String(cqn)}, which is not here`);
      check(this.#armed.delete(cq), () => `an event of CQ ${String(cqn)}, which was not armed`);
      return cq;
    });
  }

  /** What a program does that was woken for a CQ: poll, arm, and poll once more (protocol/services.md 3.8). */
  wake(cq: DriverCq): void {
    this.#take(cq, cq.poll());
    this.#arm(cq);
    this.#take(cq, cq.poll());
  }

  #arm(cq: DriverCq): void {
    cq.arm(false);
    this.#armed.add(cq);
  }

  /** Takes whatever completions are left. */
  pollAll(): void {
    for (const cq of this.#actorsOfCq.keys()) this.#take(cq, cq.poll());
  }

  #poll(cq: DriverCq): number {
    const completions = cq.poll(this.random.between(1, 16));
    this.#take(cq, completions);
    return completions.length;
  }

  #take(cq: DriverCq, completions: readonly Completion[]): void {
    check(!cq.overrun, () => 'a CQ overran');
    for (const completion of completions) {
      this.polled.add(completion);
      const actor = this.#actorsOfCq.get(cq)?.get(completion.qpNum);
      check(actor !== undefined, () => `a completion for QP 0x${completion.qpNum.toString(16)}, which is not here`);
      // wr_ids tell receives from sends: in an error the opcode means nothing.
      if (isReceive(completion.wrId)) actor.receiver.take(completion);
      else actor.flow.take(completion);
    }
  }
}
