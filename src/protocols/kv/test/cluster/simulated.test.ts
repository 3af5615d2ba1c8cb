import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SeededRandom } from '../../../../device/link/index.js';
import { type Sim, simulate } from '../../../../entry/sim.js';
import { type KvCluster, KvError, type TransportName } from '../../index.js';
import { type KeyDeed, KeyHistories } from '../sim/key-model.js';
import { text } from '../support/served.js';
import { Servers } from './support.js';
import { seedsOf } from '../../../../../test/support/share.js';

const SEEDS = 24;
const NAMES = ['a', 'b', 'c'];
const KEYS = Array.from({ length: 12 }, (_, n) => `key ${n}`);
const TRANSPORTS: readonly TransportName[] = ['rc', 'uc', 'ud'];
const CONDITIONS = { delayUs: 20, loss: 0.01, duplication: 0.01, reordering: 0.02 };
const DEEDS = 60;
const LANES = 3;
/** Within which calls about the keys of others than the lost one are to be done. */
const SECOND_US = 1e6;

/** Clients that call three servers, of which now and then one ends and begins anew with nothing. */
class Play {
  readonly histories = new KeyHistories({ versionsGrow: false });
  readonly #random: SeededRandom;
  readonly #servers: Servers;
  longestElsewhereUs = 0;
  failures = 0;
  done = 0;
  #isDown: string | undefined;
  /** Those that were lost at some time: clients may still look for them. */
  readonly #wereDown = new Set<string>();

  constructor(
    private readonly sim: Sim,
    seed: number,
  ) {
    this.#random = new SeededRandom(seed);
    this.#servers = new Servers(sim, NAMES);
  }

  async run(transport: TransportName): Promise<void> {
    const clusters = [await this.#servers.client({ transport }), await this.#servers.client({ transport })];
    const [cluster] = clusters;
    await Promise.all([
      this.#killing(cluster),
      ...clusters.flatMap((each) => Array.from({ length: LANES }, () => this.#lane(each))),
    ]);
    // All servers are used again, by whoever had lost them.
    await this.sim.sleep(SECOND_US);
    for (const each of clusters)
      for (const key of KEYS) await this.#entry(each, key).catch(() => this.#entry(each, key));
    for (const each of clusters) each.close();
    this.histories.verify();
  }

  #below(limit: number): number {
    return this.#random.below(limit);
  }

  async #killing(cluster: KvCluster): Promise<void> {
    for (let n = 0; n < 3; n += 1) {
      await this.sim.sleep(1000 + this.#below(40_000));
      const name = NAMES[this.#below(NAMES.length)];
      this.#isDown = name;
      this.#wereDown.add(name);
      const begun = this.histories.tick();
      const host = this.#servers.host(name);
      host.crash();
      await this.sim.sleep(this.#below(3_000_000));
      host.restart();
      this.#servers.begin(host);
      const ended = this.histories.tick();
      // What it held has gone, at some moment in between.
      for (const key of KEYS)
        if (cluster.homeOf(key).name === name)
          this.histories.record(1, key, begun, ended, { kind: 'delete', result: 'unknown' });
      this.#isDown = undefined;
    }
  }

  async #lane(cluster: KvCluster): Promise<void> {
    for (let n = 0; n < DEEDS; n += 1) {
      const key = KEYS[this.#below(KEYS.length)];
      const home = cluster.homeOf(key).name;
      const begunUs = this.sim.nowUs;
      const wasDown = this.#isDown;
      await this.#deed(cluster, key);
      const isElsewhere = wasDown !== undefined && wasDown === this.#isDown && !this.#wereDown.has(home);
      if (isElsewhere) this.longestElsewhereUs = Math.max(this.longestElsewhereUs, this.sim.nowUs - begunUs);
      await this.sim.sleep(this.#below(20_000));
    }
  }

  async #deed(cluster: KvCluster, key: string): Promise<void> {
    switch (this.#below(4)) {
      case 0:
        return this.#change(
          key,
          (result) => ({ kind: 'incr', by: 1n, result }),
          'unknown',
          async () =>
            cluster.incr(key).catch((error: unknown) => {
              if (error instanceof KvError && error.errno === 'EINVAL') return 'not a number' as const;
              throw error;
            }),
        );
      case 1: {
        const value = `${this.histories.tick()}`;
        return this.#change(
          key,
          (result) => ({ kind: 'set', value, result }),
          'unknown',
          () => cluster.set(key, value),
        );
      }
      case 2:
        return this.#change(
          key,
          (result) => ({ kind: 'delete', result }),
          'unknown',
          () => cluster.delete(key),
        );
      default:
        return this.#entry(cluster, key).catch((error: unknown) => this.#fail(error));
    }
  }

  async #entry(cluster: KvCluster, key: string): Promise<void> {
    const begun = this.histories.tick();
    const entry = await cluster.entry(key);
    const result = entry && { value: text(entry.value) ?? '', version: entry.version };
    this.histories.record(1, key, begun, this.histories.tick(), { kind: 'entry', result });
    this.done += 1;
  }

  async #change<T>(key: string, deed: (result: T | 'unknown') => KeyDeed, unknown: 'unknown', call: () => Promise<T>) {
    const begun = this.histories.tick();
    try {
      const result = await call();
      this.histories.record(1, key, begun, this.histories.tick(), deed(result));
      this.done += 1;
    } catch (error) {
      this.#fail(error);
      if (error instanceof KvError && error.outcome !== 'not sent')
        this.histories.record(1, key, begun, Infinity, deed(unknown));
    }
  }

  #fail(error: unknown): void {
    assert.ok(error instanceof KvError, String(error));
    assert.notEqual(error.outcome, 'refused');
    this.failures += 1;
  }
}

describe('three servers, of which now and then one is lost and begins anew', () => {
  for (const seed of seedsOf(SEEDS)) {
    const transport = TRANSPORTS[seed % TRANSPORTS.length];
    it(`lose and double nothing, and the others go on within a second (${transport}, seed ${seed})`, () =>
      simulate({ seed, conditions: CONDITIONS }, async (sim) => {
        const play = new Play(sim, seed);
        await play.run(transport);
        assert.ok(play.longestElsewhereUs < SECOND_US, `a call about another's key took ${play.longestElsewhereUs} µs`);
      }));
  }
});
