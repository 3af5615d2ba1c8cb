import type { Sim } from '../../../../sim/index.js';
import { type KvClient, KvError, KvManyError } from '../../index.js';
import { SimulationFailure } from '../../../../../test/sim/failure.js';
import type { KeyDeed, KeyHistories } from './key-model.js';
import type { CallPlan, StorePlan } from './plan.js';

export interface Shared {
  readonly sim: Sim;
  readonly histories: KeyHistories;
  /** A value that nobody has set before: a number, or if it must be a longer text. */
  readonly newValue: (bytes: number) => string;
  /** Something proves the package wrong. */
  readonly onFault: (error: Error) => void;
  readonly store: StorePlan;
  readonly keys: readonly string[];
}

type OneKind = Exclude<CallPlan['kind'], 'getMany' | 'setMany' | 'deleteMany' | 'scan'>;
type OneCall = CallPlan & { readonly kind: OneKind };

/** What was done to a key, or may have been. */
interface Done {
  readonly key: string;
  readonly deed: KeyDeed;
}

/** What a store that is full refuses, and one that is too small for a value. */
const REFUSALS: readonly unknown[] = ['ENOSPC', 'EMSGSIZE'];

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
    const { histories } = this.shared;
    const { epoch } = this.client;
    const begun = histories.tick();
    const fromUs = this.shared.sim.nowUs;
    const call = this.#begin(plan);
    // Its host may crash, and then it neither succeeds nor fails.
    const ends = call.unknown.map(({ key, deed }) => histories.begins(epoch, key, begun, deed, fromUs));
    try {
      const deeds = await call.deeds;
      const moment = { fromUs, toUs: this.shared.sim.nowUs };
      const done = histories.tick();
      for (const { key, deed } of deeds) histories.record(epoch, key, begun, done, deed, moment);
    } catch (error) {
      this.#failed(plan, error);
      for (const [i, { key, deed }] of call.unknown.entries())
        if (mayHaveBeenDone(error, i)) histories.record(epoch, key, begun, Infinity, deed, { fromUs, toUs: Infinity });
    } finally {
      for (const end of ends) end();
    }
  }

  /** Calls the client. @returns what will have been done, and what may have been should nobody hear of it */
  #begin(plan: CallPlan): { readonly deeds: Promise<readonly Done[]>; readonly unknown: readonly Done[] } {
    const { key, keys, kind, ttlMs, timeoutMs } = plan;
    const options = { timeoutMs };
    const { client, shared } = this;
    switch (kind) {
      case 'getMany': {
        const deeds = client.getMany(keys, options).then((values) =>
          keys.map((one, i): Done => {
            const value = values[i];
            return { key: one, deed: { kind: 'value', result: value && textOf(value) } };
          }),
        );
        return { deeds, unknown: [] };
      }
      case 'setMany': {
        const settings = keys.map((one) => ({ key: one, value: shared.newValue(plan.bytes) }));
        const deedOf = (value: string, result: bigint | 'unknown'): KeyDeed => ({ kind: 'set', value, ttlMs, result });
        const deeds = client
          .setMany(settings, { ...options, ttlMs })
          .then((versions) => settings.map((set, i): Done => ({ key: set.key, deed: deedOf(set.value, versions[i]) })));
        return { deeds, unknown: settings.map((set) => ({ key: set.key, deed: deedOf(set.value, 'unknown') })) };
      }
      case 'deleteMany': {
        const deedOf = (result: boolean | 'unknown'): KeyDeed => ({ kind: 'delete', result });
        const deeds = client
          .deleteMany(keys, options)
          .then((results) => keys.map((one, i): Done => ({ key: one, deed: deedOf(results[i]) })));
        return { deeds, unknown: keys.map((one) => ({ key: one, deed: deedOf('unknown') })) };
      }
      case 'scan':
        return { deeds: this.#scan(plan), unknown: [] };
      default: {
        const value = shared.newValue(plan.bytes);
        const before = this.#versions.get(key) ?? 0n;
        const one = { ...plan, kind };
        const unknown = unknownDeed(one, value, before);
        const deeds = this.#do(one, value, before).then((deed) => [{ key, deed }]);
        return { deeds, unknown: unknown === undefined ? [] : [{ key, deed: unknown }] };
      }
    }
  }

  /** Lists the keys: each was there at some moment meanwhile, and each that is not listed was not. */
  async #scan({ count, timeoutMs }: CallPlan): Promise<readonly Done[]> {
    const listed = new Set<string>();
    const scanned = this.client.scan({ timeoutMs, ...(count > 0 && { count }) });
    for await (const key of scanned) listed.add(textOf(key));
    return this.shared.keys.map((key) => ({ key, deed: { kind: 'has', result: listed.has(key) } }));
  }

  async #do({ kind, key, by, ttlMs, timeoutMs }: OneCall, value: string, before: bigint): Promise<KeyDeed> {
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
      case 'explain': {
        const told = await this.client.explain(key, options);
        if (told.is === 'evicted' && this.shared.store.mode === 'store')
          this.shared.onFault(new SimulationFailure(`a store says that it has evicted ${key}`));
        return { kind, result: told.is === 'present' ? told : undefined };
      }
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

  #failed(plan: CallPlan, error: unknown): void {
    if (error instanceof KvManyError) {
      for (const failure of error.failures.values()) this.#failed(plan, failure);
      return;
    }
    const { timeoutMs, kind } = plan;
    const isTight = this.shared.store.memoryBytes < 1 << 20;
    if (isTight && error instanceof KvError && error.outcome === 'refused' && REFUSALS.includes(error.code)) return;
    if (error instanceof KvError ? error.outcome !== 'refused' : timeoutMs < Infinity) return;
    this.shared.onFault(new SimulationFailure(`${kind} had no reason to fail: ${String(error)}`, { cause: error }));
  }
}

function notANumber(error: unknown): 'not a number' {
  if (error instanceof KvError && error.code === 'EINVAL') return 'not a number';
  throw error;
}

/** @param i of a call about many, which of them */
function mayHaveBeenDone(error: unknown, i: number): boolean {
  if (error instanceof KvManyError) return !error.failures.has(i) || mayHaveBeenDone(error.failures.get(i), i);
  return !(error instanceof KvError) || error.outcome === 'unknown';
}

/** What may have been done; undefined where that makes no difference. */
function unknownDeed({ kind, by, ttlMs }: OneCall, value: string, before: bigint): KeyDeed | undefined {
  const result = 'unknown';
  switch (kind) {
    case 'entry':
    case 'has':
    case 'ttl':
    case 'explain':
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
