import { SeededRandom } from '../../../../device/link/index.js';
import { Sim } from '../../../../sim/index.js';
import { alloc } from '../../../../entry/index.js';
import { Engine } from '../../../core/index.js';
import { connect, type KvClient, type KvServer, serve } from '../../index.js';
import { type KeyHash, Partition, SipHash } from '../../store/index.js';
import { check } from '../../../../../test/sim/failure.js';
import type { Figures } from '../../../../../test/sim/game.js';
import { KeyHistories } from './key-model.js';
import { type ClientPlan, type DisasterPlan, type KvPlan, planKv } from './plan.js';
import { Program } from './program.js';

const PORT = 7175;
/** How long after the end late packets, timers and sessions without a client may still be there. */
const AFTERMATH_US = 120e6;
/** As often a program connects anew that has lost its client. */
const MOST_CLIENTS = 4;
const PAUSE_US = 500_000;
const PROBE = { window: 16, transport: 'rc', oneSided: false } as const;

/** One seeded run: programs that use a store, a rough network, disasters, and a search for an order that explains it all. */
class KvRun {
  readonly #plan: KvPlan;
  readonly #sim: Sim;
  readonly #random: SeededRandom;
  readonly #histories: KeyHistories;
  #onFault: (error: Error) => void = () => undefined;
  readonly #fault = new Promise<never>((_, reject) => (this.#onFault = reject));
  #server: KvServer | undefined;
  readonly #gone: (() => void)[] = [];
  readonly #keys: readonly string[];
  #values = 0;
  #clients = 0;
  #calls = 0;
  #resumptions = 0;
  #repeats = 0;
  #hits = 0;
  #torn = 0;
  #servers = 0;

  constructor(seed: number, trace: ((line: string) => void) | undefined) {
    this.#plan = planKv(seed);
    const { conditions, hosts, store } = this.#plan;
    this.#keys = [
      ...new Set(this.#plan.clients.flatMap(({ calls }) => calls.flatMap(({ key, keys }) => [key, ...keys]))),
    ];
    this.#histories = new KeyHistories({ evicts: store.mode === 'cache' });
    this.#random = new SeededRandom(~seed);
    this.#sim = new Sim({ seed, conditions });
    if (trace !== undefined) this.#sim.when({}, ({ sentUs, text }) => trace(`${sentUs} ${text}`));
    this.#sim.host('server');
    for (let i = 1; i <= hosts; i += 1) this.#sim.host(`client ${i}`);
  }

  async play(): Promise<Figures> {
    const sim = this.#sim;
    try {
      await sim.until(Promise.race([this.#all(), this.#fault]));
      await sim.until(sim.sleep(AFTERMATH_US));
      await sim.until(sim.sleep(1));
      this.#check();
      const { network, counts } = { network: sim.statistics(), counts: this.#counts() };
      return { counts, network, virtualUs: sim.nowUs };
    } finally {
      sim.close();
    }
  }

  async #all(): Promise<void> {
    this.#serve();
    for (const disaster of this.#plan.disasters) this.#planDisaster(disaster);
    await Promise.all(this.#plan.clients.map((plan) => this.#untilGone(plan.host, this.#program(plan))));
    await this.#calm();
    await this.#probe();
    this.#server?.close();
  }

  #serve(): void {
    // Two restarts may overlap.
    this.#server?.close();
    this.#servers += 1;
    const host = this.#sim.hosts[0];
    const { mode, memoryBytes, buckets, lastVersion, hashes } = this.#plan.store;
    const seed = BigInt(this.#random.u32());
    const hash = hashes === 0 ? undefined : new FewHashes(seed, hashes);
    const store = new Partition({ mode, memory: alloc(memoryBytes), seed, buckets, lastVersion, hash });
    const oneSided = hash === undefined;
    this.#server = serve({ store, oneSided, port: PORT, context: host.context, random: () => this.#random.u32() });
  }

  /** A program that ends with its host. */
  #untilGone(host: number, program: Promise<void>): Promise<void> {
    const gone = new Promise<void>((resolve) => (this.#gone[host] = chained(this.#gone[host], resolve)));
    return Promise.race([program, gone]);
  }

  async #program(plan: ClientPlan): Promise<void> {
    const sim = this.#sim;
    if (plan.startUs > 0) await sim.sleep(plan.startUs);
    let left = plan.calls;
    for (let i = 0; i < MOST_CLIENTS && left.length > 0 && sim.hosts[plan.host].state !== 'down'; i += 1) {
      if (i > 0) await sim.sleep(PAUSE_US);
      left = left.slice(await this.#client(plan, left));
    }
  }

  /** Connects, and makes calls until the client fails. @returns how many it made */
  async #client({ host, window, transport, oneSided }: ClientPlan, calls: ClientPlan['calls']): Promise<number> {
    const client = await this.#connect(host, { window, transport, oneSided });
    if (client === undefined) return 0;
    this.#clients += 1;
    const shared = {
      sim: this.#sim,
      histories: this.#histories,
      newValue: (bytes: number) => `${(this.#values += 1)}000`.padEnd(bytes, '.'),
      onFault: this.#onFault,
      store: this.#plan.store,
      keys: this.#keys,
    };
    const made = await new Program(shared, client).run(calls);
    const isCalm = this.#plan.disasters.length === 0;
    check(!isCalm || client.failure === undefined, () => `a client has failed: ${String(client.failure)}`);
    this.#calls += made;
    this.#resumptions += client.statistics.resumptions;
    this.#repeats += client.statistics.repeats;
    this.#hits += client.statistics.oneSided?.hits ?? 0;
    this.#torn += client.statistics.oneSided?.torn ?? 0;
    client.close();
    return made;
  }

  /** @returns undefined when it failed, and had a reason to: a server gives up a client whose answers are lost one after the other */
  async #connect(
    host: number,
    how: Pick<ClientPlan, 'window' | 'transport' | 'oneSided'>,
  ): Promise<KvClient | undefined> {
    const { disasters, conditions } = this.#plan;
    const mayFail = disasters.length > 0 || (conditions.loss ?? 0) > 0 || (conditions.corruption ?? 0) > 0;
    try {
      return await this.#sim.hosts[host].run(() => connect({ host: 'server', port: PORT, ...how, timeoutMs: 30_000 }));
    } catch (error) {
      if (!mayFail) throw error;
      return undefined;
    }
  }

  /** Waits until no disaster is to come, or goes on. */
  async #calm(): Promise<void> {
    const ends = this.#plan.disasters.map(({ atUs, forUs }) => atUs + forUs);
    const leftUs = Math.max(0, ...ends) + 1000 - this.#sim.nowUs;
    if (leftUs > 0) await this.#sim.sleep(leftUs);
  }

  /** After all that has happened the server serves, and has what the histories say. */
  async #probe(): Promise<void> {
    let client = await this.#connect(1, PROBE);
    for (let tries = 1; client === undefined && tries < 5; tries += 1) client = await this.#connect(1, PROBE);
    check(client !== undefined, () => 'in the end the server serves no more');
    for (const key of this.#keys) {
      const begun = this.#histories.tick();
      const fromUs = this.#sim.nowUs;
      const entry = await client.entry(key);
      const result = entry && { value: new TextDecoder().decode(entry.value), version: entry.version };
      const moment = { fromUs, toUs: this.#sim.nowUs };
      this.#histories.record(client.epoch, key, begun, this.#histories.tick(), { kind: 'entry', result }, moment);
    }
    client.close();
  }

  #planDisaster(disaster: DisasterPlan): void {
    const sim = this.#sim;
    const host = sim.hosts[disaster.host];
    const later = (action: () => void): void => sim.at(sim.nowUs + disaster.forUs, action);
    sim.at(disaster.atUs, () => {
      if (host.state === 'down') return;
      if (disaster.kind === 'pause') {
        host.pause();
        later(() => host.resume());
      } else if (disaster.kind === 'partition') {
        sim.partition(host);
        later(() => sim.heal(host));
      } else if (disaster.kind === 'restart') {
        this.#server?.close();
        later(() => {
          if (host.state !== 'down') this.#serve();
        });
      } else {
        host.crash();
        this.#gone[disaster.host]?.();
        later(() => {
          host.restart();
          if (disaster.host === 0) this.#serve();
        });
      }
    });
  }

  #check(): void {
    this.#histories.verify();
    for (const host of this.#sim.hosts) {
      const { pool, statistics } = Engine.of(host.context);
      const left = [...pool.leases(), ...statistics.outstanding];
      check(left.length === 0, () => `${host.name}: nobody gave back ${JSON.stringify(left)}`);
    }
  }

  #counts(): Record<string, number> {
    return {
      clients: this.#clients,
      calls: this.#calls,
      deeds: this.#histories.size,
      resumptions: this.#resumptions,
      repeats: this.#repeats,
      oneSidedHits: this.#hits,
      torn: this.#torn,
      servers: this.#servers,
    };
  }
}

function chained(before: (() => void) | undefined, action: () => void): () => void {
  return () => {
    before?.();
    action();
  };
}

/** Gives different keys the same hash, and so the same tag in the same bucket. */
class FewHashes implements KeyHash {
  low = 0;
  high = 0;
  readonly #hash: SipHash;

  constructor(
    seed: bigint,
    private readonly many: number,
  ) {
    this.#hash = new SipHash(seed);
  }

  of(bytes: Uint8Array, at: number, length: number): void {
    this.#hash.of(bytes, at, length);
    this.low = this.high = (this.#hash.low >>> 0) % this.many;
  }
}

/** Plays the run of one seed. @throws what proves the package wrong */
export function runKvSeed(seed: number, trace?: (line: string) => void): Promise<Figures> {
  return new KvRun(seed, trace).play();
}
