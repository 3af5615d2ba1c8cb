import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { simulate } from '../../../entry/sim.js';
import { connect, createStore, serve } from '../index.js';
import { PORT, served, text } from './support/served.js';

describe('what is served', () => {
  it('is a cache of its own where none is named', () =>
    simulate(async (sim) => {
      const host = sim.host('server');
      using server = await host.run(() => serve({ port: PORT }));
      const client = await sim.host('client').run(() => connect({ host: 'server', port: PORT }));
      await client.set('key', 'value');
      assert.equal(text(await client.get('key')), 'value');
      assert.equal(server.statistics.clients, 1);
    }));

  it('refuses what is new when it is full, in the mode of a store', () =>
    simulate(async (sim) => {
      const store = createStore({ mode: 'store', memoryBytes: 4096 });
      const { client } = served(sim, { store });
      const one = await client();
      const fill = async (): Promise<void> => {
        for (let n = 0; n < 100; n += 1) await one.set(`key ${n}`, 'x'.repeat(100));
      };
      await assert.rejects(fill(), { name: 'KvError', errno: 'ENOSPC', outcome: 'refused' });
      assert.equal(text(await one.get('key 0')), 'x'.repeat(100));
      assert.equal(store.statistics.refusals, 1);
    }));

  it('gives up the oldest entries when it is full, in the mode of a cache', () =>
    simulate(async (sim) => {
      const store = createStore({ memoryBytes: 4096 });
      const { client } = served(sim, { store });
      const one = await client();
      for (let n = 0; n < 100; n += 1) await one.set(`key ${n}`, 'x'.repeat(100));
      assert.equal(await one.get('key 0'), undefined);
      assert.equal(text(await one.get('key 99')), 'x'.repeat(100));
      assert.ok(store.statistics.evictions > 0);
    }));

  it('begins its versions elsewhere each time', async () => {
    const versionOfFirst = async (): Promise<bigint> =>
      simulate(async (sim) => {
        const { client } = served(sim, { store: createStore() });
        return (await client()).set('key', 'value');
      });
    assert.notEqual(await versionOfFirst(), await versionOfFirst());
  });

  const WRONG: readonly (readonly [string, object, RegExp])[] = [
    ['too little memory', { memoryBytes: 100 }, /memoryBytes is 100/],
    ['half a byte', { memoryBytes: 4096.5 }, /memoryBytes is 4096\.5/],
    ['more than there are positions', { memoryBytes: 2 ** 31 + 1 }, /from 4096 to 2147483648/],
    ['a mode that there is not', { mode: 'both' }, /mode is both/],
    ['a field that there is not', { memory: 4096 }, /memory/],
  ];
  for (const [what, options, message] of WRONG)
    it(`is refused with ${what}`, () => {
      assert.throws(() => createStore(options), { errno: 'EINVAL', message });
    });

  it('is nothing but what createStore made', () => {
    const store = { statistics: createStore().statistics, maxValueBytes: 1 };
    assert.throws(() => serve({ store }), { errno: 'EINVAL', message: /createStore/ });
  });
});
