import { Sim, type SimHost } from '../../../src/api/sim/index.js';
import { Engine } from '../../../src/layers/engine/index.js';
import type { UcpEndpoint } from '../../../src/layers/ucp/worker/endpoint.js';
import { UcpError } from '../../../src/layers/ucp/worker/errors.js';
import { UcpWorker } from '../../../src/layers/ucp/worker/worker.js';
import { UcsStatus } from '../../../src/layers/ucp/wire/index.js';
import { check, SimulationFailure } from '../failure.js';
import type { Figures } from '../game.js';
import { type DisasterPlan, MOST_BYTES, planUcp, type ReceiveStep, type SendStep, type UcpPlan } from './plan.js';
import { type BookedReceive, contentOf, TagBook } from './tag-book.js';

const PORT = 13337;
/** What a program writes over memory that it has back. */
const OWN = 0xdd;
/** How long all may take once nothing more is asked for, in virtual time: more than all repeats of any message. */
const PATIENCE_US = 600e6;
const LOOK_US = 2000;
const AFTERMATH_US = 1e6;
const FULL_MASK = 2n ** 64n - 1n;

class GivenUp extends Error {}

function memoryFor(registers: boolean, length: number): Uint8Array {
  if (registers) return new Uint8Array(length);
  return new Uint8Array(Reflect.construct(ArrayBuffer, [length, { maxByteLength: length }]) as ArrayBuffer);
}

/** One seeded run: workers that send and receive by tags, a rough network, disasters, and a book of it all. */
class UcpRun {
  readonly #plan: UcpPlan;
  readonly #sim: Sim;
  readonly #hosts: readonly SimHost[];
  readonly #workers: readonly UcpWorker[];
  readonly #endpoints: UcpEndpoint[][];
  readonly #book = new TagBook();
  /** Workers, and ways between two of them, that something may befall. */
  readonly #frail = new Set<string>();
  readonly #down = new Set<number>();
  /** Memory that programs have back. */
  readonly #own: { readonly bytes: Uint8Array; readonly what: string }[] = [];
  readonly #endings = new AbortController();
  readonly #sends = new Set<{ readonly from: number; readonly to: number }>();
  readonly #receives = new Set<number>();
  #onFault: (error: Error) => void = () => undefined;
  readonly #fault = new Promise<never>((_, reject) => (this.#onFault = reject));
  #order = 0;
  #truncated = 0;
  #canceled = 0;
  #failed = 0;

  constructor(seed: number) {
    this.#plan = planUcp(seed);
    const { conditions, workers, window, thresholds, keepAliveMs, disasters } = this.#plan;
    this.#sim = new Sim({ seed, conditions });
    this.#hosts = Array.from({ length: workers }, (_, i) => this.#sim.host(`worker ${i}`));
    this.#workers = this.#hosts.map(({ context }) => new UcpWorker(context, { window, thresholds, keepAliveMs }));
    this.#endpoints = this.#workers.map(() => []);
    for (const disaster of disasters)
      this.#frail.add(disaster.kind === 'close' ? pairOf(disaster.host, disaster.peer) : String(disaster.host));
  }

  async play(): Promise<Figures> {
    const sim = this.#sim;
    try {
      await sim.until(Promise.race([this.#all(), this.#fault]));
      await sim.until(sim.sleep(AFTERMATH_US));
      this.#check();
      return { counts: this.#counts(), network: sim.statistics(), virtualUs: sim.nowUs };
    } finally {
      sim.close();
    }
  }

  async #all(): Promise<void> {
    await this.#connect();
    const { steps, disasters } = this.#plan;
    const sim = this.#sim;
    const from = sim.nowUs;
    for (const step of steps) sim.at(from + step.atUs, () => this.#step(step));
    for (const disaster of disasters) sim.at(from + disaster.atUs, () => this.#befall(disaster));
    const ends = [...steps.map(({ atUs }) => atUs), ...disasters.map(({ atUs, forUs }) => atUs + forUs)];
    await sim.sleep(Math.max(0, ...ends) + 1);
    await this.#settle();
    for (const [i, worker] of this.#workers.entries()) if (!this.#down.has(i)) worker.close();
  }

  async #connect(): Promise<void> {
    let accepted: (endpoint: UcpEndpoint) => void = () => undefined;
    for (const [i, worker] of this.#workers.entries()) {
      worker.listen({ port: PORT }, (endpoint) => accepted(endpoint));
      this.#endpoints[i][i] = worker.connectToSelf();
    }
    for (let i = 0; i < this.#workers.length; i += 1)
      for (let j = i + 1; j < this.#workers.length; j += 1) {
        const accepting = new Promise<UcpEndpoint>((resolve) => (accepted = resolve));
        const where = { host: `worker ${j}`, port: PORT };
        this.#endpoints[i][j] = await this.#hosts[i].run(() => this.#workers[i].connect(where));
        this.#endpoints[j][i] = await accepting;
      }
  }

  #step(step: SendStep | ReceiveStep): void {
    const done = step.kind === 'send' ? this.#send(step) : this.#receive(step);
    done.catch(this.#onFault);
  }

  async #send(step: SendStep): Promise<void> {
    const { from, to, tag, bytes, isSync, registers, abortAfterUs } = step;
    if (this.#down.has(from)) return;
    const endpoint = this.#endpoints[from][to];
    const message = this.#book.send(step);
    const data = memoryFor(registers, bytes);
    data.set(contentOf(message.number, bytes));
    const under = { from, to };
    this.#sends.add(under);
    try {
      const options = { signal: this.#whenGivenUp(abortAfterUs) };
      await (isSync ? endpoint.tagSendSync(data, tag, options) : endpoint.tagSend(data, tag, options));
    } catch (error) {
      this.#explain(error, this.#mayFail(from, to), `message ${message.number}`);
    }
    this.#sends.delete(under);
    data.fill(OWN);
  }

  async #receive(step: ReceiveStep): Promise<void> {
    const { at, tag, mask, bytes, takesForUs, registers, abortAfterUs } = step;
    if (this.#down.has(at)) return;
    const worker = this.#workers[at];
    const wide = mask === -1 ? FULL_MASK : BigInt(mask);
    const booked = { at, order: (this.#order += 1), tag, mask };
    const buffer = memoryFor(registers, bytes);
    const signal = AbortSignal.any([this.#whenGivenUp(abortAfterUs), this.#endings.signal]);
    if (takesForUs === undefined) {
      await this.#end(booked, buffer, worker.tagReceive(buffer, tag, { mask: wide, signal }));
      return;
    }
    const taken = worker.tagProbeRemove(tag, wide);
    if (taken === undefined) return;
    await this.#sim.sleep(takesForUs);
    if (this.#down.has(at)) return;
    // It has to be received, lest it stay there.
    await this.#end(booked, buffer, worker.tagMessageReceive(taken, buffer));
  }

  async #end(
    receive: BookedReceive,
    buffer: Uint8Array,
    receiving: Promise<{ readonly tag: bigint; readonly length: number }>,
  ): Promise<void> {
    const what = `receive ${receive.order} of worker ${receive.at}`;
    const isFrail = [...this.#workers.keys()].some((peer) => this.#mayFail(receive.at, peer));
    this.#receives.add(receive.order);
    try {
      const { tag, length } = await receiving;
      if (!this.#down.has(receive.at)) this.#book.receive(receive, Number(tag), buffer.subarray(0, length));
    } catch (error) {
      if (error instanceof SimulationFailure) throw error;
      const isTruncated = error instanceof UcpError && error.status === UcsStatus.UCS_ERR_MESSAGE_TRUNCATED;
      if (isTruncated) {
        check(buffer.length < MOST_BYTES, () => `${what} has room for every message`);
        check(
          buffer.every((byte) => byte === 0),
          () => `${what} was written to, and then truncated`,
        );
        this.#truncated += 1;
      } else this.#explain(error, isFrail, what);
    }
    this.#receives.delete(receive.order);
    buffer.fill(OWN);
    this.#own.push({ bytes: buffer, what });
  }

  #explain(error: unknown, mayFail: boolean, what: string): void {
    if (error instanceof GivenUp) {
      this.#canceled += 1;
      return;
    }
    const aborts = this.#plan.steps.some(({ abortAfterUs }) => abortAfterUs !== Infinity);
    const isCanceled = error instanceof UcpError && error.status === UcsStatus.UCS_ERR_CANCELED;
    this.#failed += 1;
    check(error instanceof UcpError, () => `${what} failed with ${String(error)}`);
    check(mayFail || (aborts && isCanceled), () => `${what} had no reason to fail: ${String(error)}`);
  }

  #whenGivenUp(afterUs: number): AbortSignal {
    const controller = new AbortController();
    if (afterUs !== Infinity) this.#sim.at(this.#sim.nowUs + afterUs, () => controller.abort(new GivenUp()));
    return controller.signal;
  }

  #mayFail(one: number, other: number): boolean {
    return this.#frail.has(String(one)) || this.#frail.has(String(other)) || this.#frail.has(pairOf(one, other));
  }

  /** Has all come that was sent, and ends what waits for more. */
  async #settle(): Promise<void> {
    const sim = this.#sim;
    const until = sim.nowUs + PATIENCE_US;
    const isOver = (): boolean => [...this.#sends].every(({ from }) => this.#down.has(from));
    for (let calm = 0; calm < 3; calm += 1) {
      for (const [at, worker] of this.#workers.entries()) {
        while (!this.#down.has(at) && worker.tagProbe(0, 0) !== undefined) {
          calm = 0;
          await this.#drain(at);
        }
      }
      if (isOver()) await this.#flush();
      else calm = 0;
      check(sim.nowUs < until, () => `after ${PATIENCE_US} µs ${JSON.stringify([...this.#sends])} have not ended`);
      await sim.sleep(LOOK_US * 10 ** Math.min(calm, 2));
    }
    this.#endings.abort(new GivenUp());
    await sim.sleep(LOOK_US);
  }

  /** What was handed over has come, or never will. */
  async #flush(): Promise<void> {
    const live = this.#endpoints.filter((_, at) => !this.#down.has(at)).flat();
    await Promise.all(live.map((endpoint) => endpoint.flush().catch(() => undefined)));
  }

  async #drain(at: number): Promise<void> {
    const buffer = new Uint8Array(MOST_BYTES);
    const booked = { at, order: (this.#order += 1), tag: 0, mask: 0 };
    await Promise.race([
      this.#end(booked, buffer, this.#workers[at].tagReceive(buffer, 0, { mask: 0 })),
      this.#sim.sleep(PATIENCE_US),
    ]);
  }

  #befall(disaster: DisasterPlan): void {
    const sim = this.#sim;
    const host = this.#hosts[disaster.host];
    if (host.state === 'down') return;
    if (disaster.kind === 'pause') {
      host.pause();
      sim.at(sim.nowUs + disaster.forUs, () => host.resume());
    } else if (disaster.kind === 'partition') {
      sim.partition(host);
      sim.at(sim.nowUs + disaster.forUs, () => sim.heal(host));
    } else if (disaster.kind === 'close') {
      this.#endpoints[disaster.host][disaster.peer].close();
    } else {
      this.#down.add(disaster.host);
      host.crash();
    }
  }

  #check(): void {
    this.#book.verifyOrder();
    for (const { bytes, what } of this.#own)
      check(
        bytes.every((byte) => byte === OWN),
        () => `${what} was written to after it had ended`,
      );
    const { steps, disasters } = this.#plan;
    const isCalm = disasters.length === 0 && steps.every(({ abortAfterUs }) => abortAfterUs === Infinity);
    const { sent, received } = this.#book;
    if (isCalm)
      check(sent === received + this.#truncated, () => {
        return `of ${sent} messages ${received} were received and ${this.#truncated} were too long`;
      });
    for (const [i, worker] of this.#workers.entries()) {
      if (this.#down.has(i)) continue;
      const { pool, statistics, registrations } = Engine.of(this.#hosts[i].context);
      const left = [...pool.leases(), ...statistics.outstanding];
      check(left.length === 0, () => `worker ${i}: nobody gave back ${JSON.stringify(left)}`);
      check(registrations.used === 0, () => `worker ${i}: ${registrations.used} registrations are left`);
      check(worker.unexpectedBytes === 0, () => `worker ${i} keeps ${worker.unexpectedBytes} bytes for messages`);
    }
  }

  #counts(): Record<string, number> {
    const { sent, received } = this.#book;
    const [truncated, canceled, failed] = [this.#truncated, this.#canceled, this.#failed];
    return { workers: this.#workers.length, sent, received, truncated, canceled, failed };
  }
}

function pairOf(one: number, other: number): string {
  return `${Math.min(one, other)} and ${Math.max(one, other)}`;
}

/** Plays the run of one seed. @throws what proves the package wrong */
export function runUcpSeed(seed: number): Promise<Figures> {
  return new UcpRun(seed).play();
}
