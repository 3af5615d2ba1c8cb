import type { Sim } from '../../../src/api/sim/index.js';
import { type KvClient, KvError } from '../../../src/layers/kv/index.js';
import { SimulationFailure } from '../failure.js';
import type { KeyDeed, KeyHistories } from './key-model.js';
import type { CallPlan } from './plan.js';

/** What programs share that use one store. */
export interface Shared {
  readonly sim: Sim;
  readonly histories: KeyHistories;
  /** A value that nobody has set before: a number, or if it must be a longer text. */
  readonly newValue: (bytes: number) => string;
  /** Something proves the package wrong. */
  readonly onFault: (error: Error) => void;
}

const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** One program that uses a client: makes its calls, and records what comes of them. */
export class Program {
  readonly #versions = new Map<string, bigint>();
  readonly #underWay = new Set<Promise<void>>();

  constructor(
    private readonly shared: Shared,
    private readonly client: KvClient,
  ) {}

  /** Makes calls until the client fails. @returns how many it made */
  async run(calls: readonly CallPlan[]): Promise<number> {
    let made = 0;
    for (const plan of calls) {
      if (plan.afterUs > 0) await this.shared.sim.sleep(plan.afterUs);
      if (this.client.failure !== undefined) break;
      made += 1;
      const call = this.#make(plan).finally(() => this.#underWay.delete(call));
      this.#underWay.add(call);
      if (plan.awaited) await call;
    }
    await Promise.all(this.#underWay);
    return made;
  }

  async #make(plan: CallPlan): Promise<void> {
    const { histories, newValue } = this.shared;
    const { key } = plan;
    const value = newValue(plan.bytes);
    const begun = histories.tick();
    const fromUs = this.shared.sim.nowUs;
    const before = this.#versions.get(key) ?? 0n;
    const unknown = unknownDeed(plan, value, before);
    // Its host may crash, and then it neither succeeds nor fails.
    const ends = unknown && histories.begins(this.client.epoch, key, begun, unknown, fromUs);
    try {
      const deed = await this.#do(plan, value, before);
      const moment = { fromUs, toUs: this.shared.sim.nowUs };
      histories.record(this.client.epoch, key, begun, histories.tick(), deed, moment);
    } catch (error) {
      this.#failed(plan, error);
      if (unknown !== undefined && mayHaveBeenDone(error))
        histories.record(this.client.epoch, key, begun, Infinity, unknown, { fromUs, toUs: Infinity });
    } finally {
      ends?.();
    }
  }

  async #do({ kind, key, by, ttlMs, timeoutMs }: CallPlan, value: string, before: bigint): Promise<KeyDeed> {
    const options = { timeoutMs };
    const timed = { timeoutMs, ttlMs };
    switch (kind) {
      case 'entry': {
        const entry = await this.client.entry(key, options);
        if (entry !== undefined) this.#versions.set(key, entry.version);
        return { kind, result: entry && { value: textOf(entry.value), version: entry.version } };
      }
      case 'has':
        return { kind, result: await this.client.has(key, options) };
      case 'ttl':
        return { kind, result: await this.client.ttl(key, options) };
      case 'touch':
        return { kind, ttlMs, result: await this.client.touch(key, ttlMs, options) };
      case 'set':
        return { kind, value, ttlMs, result: await this.client.set(key, value, timed) };
      case 'add':
        return { kind, value, ttlMs, result: await this.client.add(key, value, timed) };
      case 'cas':
        return { kind, value, before, ttlMs, result: await this.client.cas(key, value, before, timed) };
      case 'delete':
        return { kind, result: await this.client.delete(key, options) };
      case 'incr':
        return { kind, by, result: await this.client.incr(key, by, options).catch(notANumber) };
    }
  }

  #failed({ timeoutMs, kind }: CallPlan, error: unknown): void {
    if (error instanceof KvError ? error.outcome !== 'refused' : timeoutMs < Infinity) return;
    this.shared.onFault(new SimulationFailure(`${kind} had no reason to fail: ${String(error)}`, { cause: error }));
  }
}

function notANumber(error: unknown): 'not a number' {
  if (error instanceof KvError && error.code === 'EINVAL') return 'not a number';
  throw error;
}

function mayHaveBeenDone(error: unknown): boolean {
  return !(error instanceof KvError) || error.outcome === 'unknown';
}

/** What may have been done; undefined where that makes no difference. */
function unknownDeed({ kind, by, ttlMs }: CallPlan, value: string, before: bigint): KeyDeed | undefined {
  const result = 'unknown';
  switch (kind) {
    case 'entry':
    case 'has':
    case 'ttl':
      return undefined;
    case 'touch':
      return { kind, ttlMs, result };
    case 'set':
    case 'add':
      return { kind, value, ttlMs, result };
    case 'cas':
      return { kind, value, before, ttlMs, result };
    case 'delete':
      return { kind, result };
    case 'incr':
      return { kind, by, result };
  }
}
