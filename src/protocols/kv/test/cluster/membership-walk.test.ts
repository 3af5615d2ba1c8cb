import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SeededRandom } from '../../../../device/link/index.js';
import { type Sim, simulate } from '../../../../entry/sim.js';
import { VerbsError } from '../../../../entry/index.js';
import { type KvCluster, KvError, KvManyError, type KvMember } from '../../index.js';
import { PORT } from '../support/served.js';
import { Servers, Told } from './support.js';
import { seedsOf } from '../../../../../test/support/share.js';

const SEEDS = 8;
const NAMES = ['a', 'b', 'c', 'd'];
const HOSTS = ['a', 'b', 'c', 'd', 'e', 'f'];
const KEYS = Array.from({ length: 24 }, (_, n) => `key ${n}`);
const LANES = 4;
const DEEDS = 40;
const TIMEOUT_MS = 3000;

/** Servers that come, go, move, crash and begin anew while a client calls them, and is told of it late, or not at all. */
class Walk {
  readonly #random: SeededRandom;
  readonly #servers: Servers;
  readonly #told = new Told();
  /** Where each name is served, as the client is told. */
  readonly #places = new Map<string, string>();
  #isOver = false;
  done = 0;
  failed = 0;

  constructor(
    private readonly sim: Sim,
    seed: number,
  ) {
    this.#random = new SeededRandom(seed);
    this.#servers = new Servers(sim, HOSTS);
    for (const name of NAMES) this.#places.set(name, name);
  }

  async run(): Promise<void> {
    this.#tell();
    const cluster = await this.#servers.client({ members: this.#told });
    const lanes = Array.from({ length: LANES }, () => this.#lane(cluster));
    const changes = this.#changes();
    await Promise.all(lanes);
    this.#isOver = true;
    await changes;
    await this.#settle(cluster);
    cluster.close();
    await this.sim.sleep(2e6);
    for (const { statistics } of this.#servers.servers.values()) assert.equal(statistics.clients, 0);
  }

  /** All are up again, and the client is told so: then nothing fails. */
  async #settle(cluster: KvCluster): Promise<void> {
    for (const name of NAMES) this.#places.set(name, name);
    for (const host of HOSTS) this.#servers.restart(host);
    this.#tell(true);
    await this.sim.sleep(5e6);
    await cluster.setMany(KEYS.map((key) => ({ key, value: 'value' })));
    assert.equal((await cluster.getMany(KEYS)).filter((value) => value !== undefined).length, KEYS.length);
    const listed: unknown[] = [];
    for await (const key of cluster.scan()) listed.push(Buffer.from(key).toString());
    assert.deepEqual(listed.sort(), [...KEYS].sort());
    assert.deepEqual(cluster.members.map(({ name }) => name).sort(), NAMES);
  }

  #one<T>(of: readonly T[]): T {
    return of[this.#random.below(of.length)];
  }

  #tell(areUp = false): void {
    const members: KvMember[] = [];
    for (const [name, host] of this.#places) {
      // Which life that is, is known by and by.
      const epoch = areUp || this.#random.chance(0.5) ? this.#servers.servers.get(host)?.epoch : undefined;
      members.push({ name, host, port: PORT, epoch, isUp: areUp || !this.#random.chance(0.1) });
    }
    this.#told.say(members);
  }

  async #changes(): Promise<void> {
    while (!this.#isOver) {
      await this.sim.sleep(this.#random.below(400_000));
      const name = this.#one(NAMES);
      switch (this.#random.below(5)) {
        case 0:
          if (this.#places.size > 1) this.#places.delete(name);
          break;
        case 1:
          this.#places.set(name, this.#one(HOSTS));
          break;
        case 2:
          this.#servers.restart(this.#one(HOSTS));
          break;
        case 3:
          this.#servers.host(this.#one(HOSTS)).crash();
          break;
        default:
          this.#told.say([]);
      }
      if (this.#random.chance(0.7)) this.#tell();
    }
  }

  async #lane(cluster: KvCluster): Promise<void> {
    for (let n = 0; n < DEEDS; n += 1) {
      const begunUs = this.sim.nowUs;
      await this.#deed(cluster).then(
        () => (this.done += 1),
        (error: unknown) => this.#fail(error),
      );
      const tookMs = (this.sim.nowUs - begunUs) / 1000;
      assert.ok(tookMs <= TIMEOUT_MS, `a call took ${tookMs} ms`);
      await this.sim.sleep(this.#random.below(100_000));
    }
  }

  async #deed(cluster: KvCluster): Promise<unknown> {
    const wait = { timeoutMs: TIMEOUT_MS };
    const key = this.#one(KEYS);
    switch (this.#random.below(6)) {
      case 0:
        return cluster.set(key, 'value', wait);
      case 1:
        return cluster.get(key, wait);
      case 2:
        return cluster.delete(key, wait);
      case 3:
        return cluster.getMany(KEYS, wait);
      case 4:
        return cluster.setMany(
          KEYS.map((each) => ({ key: each, value: 'value' })),
          wait,
        );
      default:
        return cluster.scanPage(0n, wait);
    }
  }

  /** What a call may fail with: nothing else. */
  #fail(error: unknown): void {
    this.failed += 1;
    const reasons = error instanceof KvManyError ? [...error.failures.values()] : [error];
    for (const reason of reasons) {
      assert.ok(reason instanceof VerbsError, String(reason));
      assert.ok(
        reason instanceof KvError ? reason.outcome !== 'refused' : reason.errno === 'ETIMEDOUT',
        String(reason),
      );
    }
  }
}

describe('a client whose servers come, go, move and begin anew at random', () => {
  for (const seed of seedsOf(SEEDS))
    it(`has each call end in its time, for a reason that there is, and uses all of them in the end (seed ${seed})`, () =>
      simulate({ seed }, async (sim) => {
        const walk = new Walk(sim, seed);
        await walk.run();
        assert.ok(walk.done > 0 && walk.failed < LANES * DEEDS);
      }));
});
