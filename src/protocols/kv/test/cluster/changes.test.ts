import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Sim, simulate } from '../../../../entry/sim.js';
import { type KvCluster, KvManyError } from '../../index.js';
import { PORT, text } from '../support/served.js';
import { keysAt, Servers, Told } from './support.js';

const KEYS = Array.from({ length: 60 }, (_, n) => `key ${n}`);

/** Three servers of which a client is told, and one of them, b, from which nothing comes any more. */
async function withoutB(
  sim: Sim,
  use: (servers: Servers, told: Told, cluster: KvCluster) => Promise<void>,
): Promise<void> {
  const servers = new Servers(sim);
  const told = new Told(servers.members);
  using cluster = await servers.client({ members: told });
  await cluster.setMany(KEYS.map((key) => ({ key, value: `value of ${key}` })));
  servers.host('b').crash();
  await use(servers, told, cluster);
}

/** Begins calls, and does something a moment later, when they are under way. */
async function meanwhile<T>(sim: Sim, underWay: Promise<T>, action: () => void): Promise<T> {
  underWay.catch(() => undefined);
  await sim.sleep(1000);
  action();
  return underWay;
}

describe('a call during which servers change', () => {
  it('that only reads is made again where its key is by then', () =>
    simulate((sim) =>
      withoutB(sim, async (servers, told, cluster) => {
        const [key] = keysAt(cluster, 'b', 1);
        const others = servers.members.filter(({ name }) => name !== 'b');
        assert.equal(await meanwhile(sim, cluster.get(key), () => told.say(others)), undefined);
        assert.ok(sim.nowUs < 1e6);
      }),
    ));

  it('that reads several keys is made again for those that have moved', () =>
    simulate((sim) =>
      withoutB(sim, async (servers, told, cluster) => {
        const homes = KEYS.map((key) => cluster.homeOf(key).name);
        const others = servers.members.filter(({ name }) => name !== 'b');
        const values = await meanwhile(sim, cluster.getMany(KEYS), () => told.say(others));
        assert.deepEqual(
          values.map(text),
          KEYS.map((key, n) => (homes[n] === 'b' ? undefined : `value of ${key}`)),
        );
        assert.ok(sim.nowUs < 1e6);
      }),
    ));

  it('that lists keys goes on with the servers that are left', () =>
    simulate((sim) =>
      withoutB(sim, async (servers, told, cluster) => {
        const left = KEYS.filter((key) => cluster.homeOf(key).name !== 'b');
        const others = servers.members.filter(({ name }) => name !== 'b');
        const listed: string[] = [];
        const scan = async (): Promise<void> => {
          for await (const key of cluster.scan({ count: 5 })) listed.push(text(key) ?? '');
        };
        await meanwhile(sim, scan(), () => told.say(others));
        assert.deepEqual(listed.sort(), left.sort());
        assert.ok(sim.nowUs < 1e6);
      }),
    ));

  it('that waits for a connection is made at the address to which the server has moved', () =>
    simulate((sim) =>
      withoutB(sim, async (servers, told, cluster) => {
        const [key] = keysAt(cluster, 'b', 1);
        // The client notices that it is gone, and looks for it again.
        await assert.rejects(cluster.get(key));
        await sim.sleep(200_000);
        const { epoch } = servers.begin(sim.host('elsewhere'));
        const others = servers.members.filter(({ name }) => name === 'a' || name === 'c');
        const moved = { name: 'b', host: 'elsewhere', port: PORT, epoch };
        assert.equal(await meanwhile(sim, cluster.incr(key), () => told.say([...others, moved])), 1n);
      }),
    ));

  it('that waits for a connection is made where its key is by then', () =>
    simulate((sim) =>
      withoutB(sim, async (servers, told, cluster) => {
        const [key] = keysAt(cluster, 'b', 1);
        await assert.rejects(cluster.get(key));
        await sim.sleep(200_000);
        const others = servers.members.filter(({ name }) => name !== 'b');
        assert.equal(await meanwhile(sim, cluster.incr(key), () => told.say(others)), 1n);
      }),
    ));

  it('that sets several keys says which of them may be set when a server is lost, and has set all others', () =>
    simulate((sim) =>
      withoutB(sim, async (servers, told, cluster) => {
        const homes = KEYS.map((key) => cluster.homeOf(key).name);
        const others = servers.members.filter(({ name }) => name !== 'b');
        const setting = cluster.setMany(KEYS.map((key) => ({ key, value: 'again' })));
        const error: unknown = await meanwhile(sim, setting, () => told.say(others)).catch((reason: unknown) => reason);
        assert.ok(error instanceof KvManyError);
        assert.equal(error.outcome, 'unknown');
        assert.deepEqual(
          [...error.failures.keys()],
          [...homes.keys()].filter((at) => homes[at] === 'b'),
        );
        assert.deepEqual(
          (await cluster.getMany(KEYS)).map(text),
          homes.map((home) => (home === 'b' ? undefined : 'again')),
        );
      }),
    ));

  it('that sets several keys in a limited time has set all that it does not name', () =>
    simulate(async (sim) => {
      const servers = new Servers(sim);
      using cluster = await servers.client({ window: 1 });
      await cluster.getMany(KEYS);
      const atB = KEYS.filter((key) => cluster.homeOf(key).name === 'b');
      const setting = cluster.setMany(
        KEYS.map((key) => ({ key, value: 'value' })),
        { timeoutMs: 500 },
      );
      await sim.sleep(35);
      servers.host('b').pause();
      const error: unknown = await setting.catch((reason: unknown) => reason);
      assert.ok(error instanceof KvManyError);
      assert.ok(error.failures.size > 0 && error.failures.size < atB.length, `${error.failures.size} failed`);
      servers.host('b').resume();
      const values = await cluster.getMany(KEYS);
      for (const [at, value] of values.entries()) assert.ok(error.failures.has(at) || text(value) === 'value');
    }));

  it('takes no longer than it may, though it is made again', () =>
    simulate((sim) =>
      withoutB(sim, async (_, __, cluster) => {
        const [key] = keysAt(cluster, 'b', 1);
        const begunUs = sim.nowUs;
        // That of a server that is lost is given up after some 15 s, and another one looked for, for 2 s.
        await assert.rejects(cluster.get(key, { timeoutMs: 16_000 }), { code: 'ETIMEDOUT' });
        const tookMs = (sim.nowUs - begunUs) / 1000;
        assert.ok(tookMs <= 16_000, `${tookMs} ms`);
      }),
    ));
});

describe('a client of several servers', () => {
  it('refuses what is no list as a client of one does, before anything is sent', () =>
    simulate(async (sim) => {
      using cluster = await new Servers(sim).client();
      const entry = { key: 'k', value: 'v' };
      const wrong: readonly (readonly [string, () => Promise<unknown>])[] = [
        ['a text of keys', () => cluster.getMany('abc')],
        ['a text of keys to delete', () => cluster.deleteMany('abc')],
        // @ts-expect-error: what programs without types may do
        ['a number of keys', () => cluster.getMany(5)],
        // @ts-expect-error: the same
        ['an entry that is none', () => cluster.setMany([entry, null])],
        // @ts-expect-error: the same
        ['a field that entries do not have', () => cluster.setMany([{ ...entry, ttl: 5 }])],
        // @ts-expect-error: the same
        ['a field that options do not have', () => cluster.setMany([], { ttl: 5 })],
        ['a time to live that is none', () => cluster.setMany([entry], { ttlMs: -1 })],
      ];
      for (const [what, call] of wrong) await assert.rejects(call(), { code: 'EINVAL' }, what);
      assert.equal((await cluster.serverStatistics()).get('store.keys'), 0n);
    }));
});
