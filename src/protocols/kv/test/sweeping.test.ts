import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { simulate } from '../../../entry/sim.js';
import { Span } from '../store/index.js';
import { newStore, served } from './support/served.js';

const SECOND_US = 1_000_000;

describe('a server', () => {
  it('ends keys whose time has come, though nobody asks for them', () =>
    simulate(async (sim) => {
      const store = newStore();
      using client = await served(sim, { store }).client();
      await client.set('long', 'value');
      for (let i = 0; i < 100; i += 1) await client.set(`short ${i}`, 'value', { ttlMs: 1000 });
      assert.equal(store.statistics.keys, 101);
      await sim.sleep(60 * SECOND_US);
      assert.equal(store.statistics.keys, 1);
      assert.equal(store.statistics.expirations, 100);
    }));
});

describe('a store', () => {
  it('knows whether a key may expire: until all were looked at, and none was left that will', () => {
    const store = newStore();
    const key = new Span(new TextEncoder().encode('key'));
    store.set(key, key, 1);
    assert.equal(store.mayExpire, false);
    store.touch(key, 100, 1);
    assert.equal(store.mayExpire, true);
    store.sweep(store.buckets, 50);
    assert.equal(store.mayExpire, true);
    store.sweep(store.buckets, 101);
    assert.deepEqual([store.mayExpire, store.statistics.keys], [false, 0]);
    store.restore(key, key, 1n, 200);
    assert.equal(store.mayExpire, true);
  });
});
