import { Sim, type SimHost } from '../../../../sim/index.js';
import type { UcpEndpoint } from '../../worker/endpoint.js';
import { UcpError } from '../../worker/errors.js';
import { UcpWorker } from '../../worker/worker.js';
import { UcsStatus } from '../../wire/index.js';
import { check } from '../../../../../test/sim/failure.js';
import { MOST_BYTES } from './chance.js';
import type { DisasterPlan, UcpPlan } from './plan.js';

const PORT = 13337;
/** What a program writes over memory that it has back. */
const OWN = 0xdd;
/** As much of that as any memory of a program has bytes. */
const OWNED = new Uint8Array(2 * MOST_BYTES).fill(OWN);

/** What a request may end with when its peer is gone, or one of both has closed. */
export const STATUSES_OF_THE_LOST: readonly UcsStatus[] = [
  UcsStatus.UCS_ERR_CONNECTION_RESET,
  UcsStatus.UCS_ERR_ENDPOINT_TIMEOUT,
  UcsStatus.UCS_ERR_CANCELED,
];

/** Why a program gives something up. */
export class GivenUp extends Error {}

/** What is asked of a worker, and what may become of it. */
export interface Question {
  readonly at: number;
  /** By whose fault it may fail, beside its own. */
  readonly peers: readonly number[];
  readonly what: string;
  /** The program itself may give it up. */
  readonly abortAfterUs: number;
  /** The peer may give it up. */
  readonly mayBeCanceled?: boolean;
  /** It may wait for ever: nobody owes it anything. */
  readonly waits?: boolean;
  /** Takes statuses that are right for it. @returns whether this is one */
  readonly explains?: (status: UcsStatus) => boolean;
}

/** Workers that all have endpoints to each other and to themselves, on hosts that something may befall, and what is under way there. */
export class UcpWorld {
  readonly sim: Sim;
  readonly hosts: readonly SimHost[];
  readonly workers: readonly UcpWorker[];
  readonly endpoints: UcpEndpoint[][];
  /** Of workers, where any is asked for by it. */
  readonly addresses: readonly Uint8Array[];
  readonly down = new Set<number>();
  /** Rejects with what proves the package wrong. */
  readonly fault: Promise<never>;
  canceled = 0;
  failed = 0;
  #onFault: (error: unknown) => void = () => undefined;
  /** Workers, and ways between two of them, that something may befall. */
  readonly #frail = new Set<string>();
  readonly #underWay = new Set<Question>();
  readonly #own: { readonly bytes: Uint8Array; readonly what: string }[] = [];
  readonly #endings = new AbortController();
  #fromUs = 0;

  constructor(
    private readonly plan: UcpPlan,
    trace?: (line: string) => void,
  ) {
    const { seed, conditions, workers, window, thresholds, keepAliveMs, transport, disasters } = plan;
    this.sim = new Sim({ seed, conditions });
    if (trace !== undefined) this.sim.when({}, ({ sentUs, text }) => trace(`${sentUs} ${text}`));
    this.hosts = Array.from({ length: workers }, (_, i) => this.sim.host(`worker ${i}`));
    const options = { window, thresholds, keepAliveMs, transport };
    this.workers = this.hosts.map(({ context }) => new UcpWorker(context, options));
    this.endpoints = this.workers.map(() => []);
    const isByAddress = plan.byAddressWithinUs !== undefined || plan.wireup.length > 0;
    this.addresses = isByAddress ? this.workers.map(({ address }) => address) : [];
    this.fault = new Promise<never>((_, reject) => (this.#onFault = reject));
    this.fault.catch(() => undefined);
    for (const disaster of disasters)
      this.#frail.add(disaster.kind === 'close' ? pairOf(disaster.host, disaster.peer) : String(disaster.host));
  }

  async connect(): Promise<void> {
    const { byAddressWithinUs } = this.plan;
    if (byAddressWithinUs === undefined) await this.#connectToListeners();
    else await this.#meet(byAddressWithinUs);
    this.#fromUs = this.sim.nowUs;
  }

  async #connectToListeners(): Promise<void> {
    let accepted: (endpoint: UcpEndpoint) => void = () => undefined;
    for (const [i, worker] of this.workers.entries()) {
      worker.listen({ port: PORT }, (endpoint) => accepted(endpoint));
      this.endpoints[i][i] = worker.connectToSelf();
    }
    for (const { one, other } of this.pairs()) {
      if (one >= other) continue;
      const accepting = new Promise<UcpEndpoint>((resolve) => (accepted = resolve));
      const where = { host: `worker ${other}`, port: PORT };
      this.endpoints[one][other] = await this.hosts[one].run(() => this.workers[one].connect(where));
      this.endpoints[other][one] = await accepting;
    }
  }

  /** All ask for each other by their addresses. */
  async #meet(withinUs: number): Promise<void> {
    const { sim } = this;
    await Promise.all(
      this.pairs().map(async ({ one, other }) => {
        await sim.sleep((one * 7 + other * 13) % withinUs);
        const asking = (): Promise<UcpEndpoint> => this.workers[one].connectByAddress(this.addresses[other]);
        this.endpoints[one][other] = await this.hosts[one].run(asking);
      }),
    );
  }

  /** Each worker with each, itself included. */
  pairs(): { readonly one: number; readonly other: number }[] {
    const numbers = [...this.workers.keys()];
    return numbers.flatMap((one) => numbers.map((other) => ({ one, other })));
  }

  /** Has something done so many µs after all are connected. */
  at(atUs: number, action: () => void | Promise<void>): void {
    this.sim.at(this.#fromUs + atUs, () => this.doing(Promise.resolve(action())));
  }

  /** What goes on by itself: nothing but what proves the package wrong may end it in error. */
  doing(action: Promise<void>): void {
    action.catch(this.#onFault);
  }

  /** @returns undefined for what has failed with a reason, or whose program has crashed. @throws SimulationFailure for what had no reason */
  async ask<T>(
    question: Question,
    call: (signal: AbortSignal) => Promise<T>,
  ): Promise<{ readonly value: T } | undefined> {
    this.#underWay.add(question);
    try {
      const value = await call(this.#signalFor(question));
      return this.down.has(question.at) ? undefined : { value };
    } catch (error) {
      this.#explain(question, error);
      return undefined;
    } finally {
      this.#underWay.delete(question);
    }
  }

  /** Whether nothing befalls anybody. */
  get isSafe(): boolean {
    return this.plan.disasters.length === 0;
  }

  /** Whether programs ask for workers by their addresses, and close what they get. */
  get isMeeting(): boolean {
    return this.plan.wireup.length > 0;
  }

  /** Whether something may befall either of them, or the way between them. */
  mayFail(one: number, other: number): boolean {
    return this.#frail.has(String(one)) || this.#frail.has(String(other)) || this.#frail.has(pairOf(one, other));
  }

  /** Whether they cannot talk any more, or one of them believes so. */
  isBroken(one: number, other: number): boolean {
    if (this.down.has(one) || this.down.has(other)) return true;
    return this.endpoints[one][other].failure !== undefined || this.endpoints[other][one].failure !== undefined;
  }

  /** The program has memory back: nobody writes to it any more, or reads it. */
  own(bytes: Uint8Array, what: string): void {
    bytes.fill(OWN);
    this.#own.push({ bytes, what });
  }

  /** What has not ended on hosts that are up. */
  underWay(waits: boolean): string[] {
    const left = [...this.#underWay].filter((question) => (question.waits ?? false) === waits);
    return left.filter(({ at }) => !this.down.has(at)).map(({ what }) => what);
  }

  endWaits(): void {
    this.#endings.abort(new GivenUp());
  }

  befall(disaster: DisasterPlan): void {
    const { sim } = this;
    const host = this.hosts[disaster.host];
    if (host.state === 'down') return;
    if (disaster.kind === 'pause') {
      host.pause();
      sim.at(sim.nowUs + disaster.forUs, () => host.resume());
    } else if (disaster.kind === 'partition') {
      sim.partition(host);
      sim.at(sim.nowUs + disaster.forUs, () => sim.heal(host));
    } else if (disaster.kind === 'close') {
      this.endpoints[disaster.host][disaster.peer].close();
    } else {
      this.down.add(disaster.host);
      host.crash();
    }
  }

  /** @throws SimulationFailure when something was written to memory that a program had back */
  verify(): void {
    for (const { bytes, what } of this.#own)
      check(
        Buffer.compare(bytes, OWNED.subarray(0, bytes.length)) === 0,
        () => `${what} was written to after it had ended`,
      );
  }

  #signalFor({ abortAfterUs, waits = false }: Question): AbortSignal {
    const controller = new AbortController();
    const { sim } = this;
    if (abortAfterUs !== Infinity) sim.at(sim.nowUs + abortAfterUs, () => controller.abort(new GivenUp()));
    return waits ? AbortSignal.any([controller.signal, this.#endings.signal]) : controller.signal;
  }

  #explain(
    { at, peers, what, abortAfterUs, mayBeCanceled = false, waits = false, explains }: Question,
    error: unknown,
  ) {
    if (error instanceof GivenUp) {
      check(abortAfterUs !== Infinity || waits, () => `${what} was given up by nobody`);
      this.canceled += 1;
      return;
    }
    check(error instanceof UcpError, () => `${what} failed with ${String(error)}`);
    const { status } = error;
    if (explains?.(status) === true) return;
    this.failed += 1;
    if (mayBeCanceled && status === UcsStatus.UCS_ERR_CANCELED) return;
    const isLost = this.down.has(at) || peers.some((peer) => this.mayFail(at, peer));
    check(isLost && STATUSES_OF_THE_LOST.includes(status), () => `${what} had no reason to fail: ${String(error)}`);
  }
}

/** Memory of a program's, which can be registered or not. */
export function memoryFor(registers: boolean, length: number): Uint8Array {
  if (registers) return new Uint8Array(length);
  return new Uint8Array(Reflect.construct(ArrayBuffer, [length, { maxByteLength: length }]) as ArrayBuffer);
}

function pairOf(one: number, other: number): string {
  return `${Math.min(one, other)} and ${Math.max(one, other)}`;
}
