import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, it } from 'node:test';
import { simulate } from '../../../entry/sim.js';
import { alloc } from '../../../entry/index.js';
import { KvManyError, type TransportName } from '../index.js';
import { Partition } from '../store/index.js';
import { hostOf, newStore, served, text } from './support/served.js';

const TRANSPORTS: readonly TransportName[] = ['rc', 'uc', 'ud'];

async function all(keys: AsyncIterable<Uint8Array>): Promise<string[]> {
  const found: string[] = [];
  for await (const key of keys) found.push(text(key) ?? '');
  return found.sort();
}

const names = (count: number, bytes = 0): string[] =>
  Array.from({ length: count }, (_, i) => `k${String(i).padStart(4, '0')}`.padEnd(bytes, '.'));

for (const transport of TRANSPORTS) {
  describe(`what a store holds, asked by ${transport}`, () => {
    it('is listed once, and what has expired is not', () =>
      simulate(async (sim) => {
        const { client: connected } = served(sim, {}, { transport });
        using client = await connected();
        const keys = names(500);
        await client.setMany(keys.map((key) => ({ key, value: 'v' })));
        await client.set('brief', 'v', { ttlMs: 1 });
        await sim.sleep(2000);
        assert.deepEqual(await all(client.scan()), keys);
        assert.deepEqual(await all(client.scan({ prefix: 'k004' })), names(50).slice(40));
        assert.deepEqual(await all(client.scan({ prefix: 'x' })), []);
      }));

    it('is listed page by page, however long the keys are and however few are wanted', () =>
      simulate(async (sim) => {
        const { client: connected } = served(sim, {}, { transport });
        using client = await connected();
        const keys = names(40, 250);
        await client.setMany(keys.map((key) => ({ key, value: 'v' })));
        assert.deepEqual(await all(client.scan()), keys);
        assert.deepEqual(await all(client.scan({ count: 1 })), keys);
        const { cursor, keys: some } = await client.scanPage(0n, { count: 3 });
        assert.equal(some.length, 3);
        const { keys: others } = await client.scanPage(cursor, { count: 3 });
        assert.equal(new Set([...some, ...others].map(text)).size, 6);
      }));
  });
}

describe('keys that are listed', () => {
  it('are met though others come and go in the same bucket', () =>
    simulate(async (sim) => {
      const store = new Partition({ mode: 'store', memory: alloc(1 << 20), seed: 1n, buckets: 1 });
      const { client: connected } = served(sim, { store });
      using client = await connected();
      const keys = names(100);
      await client.setMany(keys.map((key) => ({ key, value: 'v' })));
      await client.setMany(names(100, 10).map((key) => ({ key, value: 'v' })));
      const met: (string | undefined)[] = [];
      let cursor = 0n;
      let page = 0;
      do {
        const some = await client.scanPage(cursor, { count: 7 });
        met.push(...some.keys.map(text));
        cursor = some.cursor;
        await client.deleteMany(names(100, 10).slice(5 * page, 5 * page + 5));
        page += 1;
      } while (cursor !== 0n);
      for (const key of keys) assert.equal(met.filter((other) => other === key).length, 1, key);
    }));

  it('are not listed from where no cursor leads, or as nobody can', () =>
    simulate(async (sim) => {
      const { client: connected } = served(sim);
      using client = await connected();
      assert.deepEqual(await client.scanPage(2n ** 64n - 1n), { cursor: 0n, keys: [] });
      await assert.rejects(client.scanPage(-1n), { code: 'EINVAL' });
      await assert.rejects(client.scanPage(0n, { count: 0 }), { code: 'EINVAL' });
      await assert.rejects(client.scanPage(0n, { prefix: 'p'.repeat(251) }), { code: 'EINVAL' });
    }));

  it('need not be found by one request that looks at all buckets', () =>
    simulate(async (sim) => {
      const store = new Partition({ mode: 'store', memory: alloc(1 << 19), seed: 1n, buckets: 4096 });
      const { client: connected } = served(sim, { store });
      using client = await connected();
      await client.setMany(Array.from({ length: 3000 }, (_, i) => ({ key: `key:${i}`, value: '1' })));
      const first = await client.scanPage(0n, { prefix: 'a' });
      assert.deepEqual(first.keys, []);
      assert.notEqual(first.cursor, 0n);
      await client.set('a', '1');
      assert.deepEqual(await all(client.scan({ prefix: 'a' })), ['a']);
    }));

  it('are found by one request where few buckets have any, as keys come and go', () =>
    simulate(async (sim) => {
      const store = new Partition({ mode: 'store', memory: alloc(1 << 20), seed: 1n, buckets: 1 << 16 });
      const { client: connected } = served(sim, { store });
      using client = await connected();
      assert.deepEqual(await client.scanPage(0n), { cursor: 0n, keys: [] });
      const keys = Array.from({ length: 50 }, (_, i) => `key:${i}`);
      for (const key of keys) await client.set(key, '1');
      for (const key of keys.slice(25)) await client.delete(key);
      const { cursor, keys: found } = await client.scanPage(0n);
      assert.equal(cursor, 0n);
      assert.equal(found.length, 25);
    }));

  it('end at a version, and at no other', () =>
    simulate(async (sim) => {
      const store = new Partition({ mode: 'store', memory: alloc(1 << 16), seed: 1n });
      const { client: connected } = served(sim, { store });
      using client = await connected();
      const version = await client.set('a', '1');
      const next = await client.set('a', '2');
      assert.equal(await client.delete('a', { version }), false);
      assert.equal(await client.delete('b', { version }), false);
      assert.equal(await client.delete('a', { version: next }), true);
      assert.equal(await client.has('a'), false);
    }));
});

describe('a key', () => {
  it('is explained: never there, there, expired, deleted, evicted', () =>
    simulate(async (sim) => {
      const store = new Partition({ mode: 'cache', memory: alloc(8192), seed: 1n });
      const { client: connected } = served(sim, { store });
      using client = await connected();
      assert.deepEqual(await client.explain('a'), { is: 'never', isCertain: true });
      const version = await client.set('a', '1');
      assert.deepEqual(await client.explain('a'), { is: 'present', version, ttlMs: Infinity });
      await sim.sleep(2000);
      await client.delete('a');
      await sim.sleep(3000);
      assert.deepEqual(await client.explain('a'), { is: 'deleted', agoMs: 3 });
      await client.set('a', '1', { ttlMs: 5 });
      const present = await client.explain('a');
      assert.ok(present.is === 'present' && present.ttlMs <= 5 && present.ttlMs > 3);
      await sim.sleep(10_000);
      assert.equal((await client.explain('a')).is, 'expired');
      await client.set('b', '1');
      await client.setMany(names(300).map((key) => ({ key, value: 'v'.repeat(20) })));
      const gone = await client.explain('b');
      assert.ok(gone.is === 'evicted' && gone.why === 'memory', gone.is);
    }));

  it('says how long it has to live', () =>
    simulate(async (sim) => {
      const { client: connected } = served(sim);
      using client = await connected();
      assert.equal(await client.ttl('a'), undefined);
      await client.set('a', '1');
      assert.equal(await client.ttl('a'), Infinity);
      await client.touch('a', 2 ** 32 - 1);
      await sim.sleep(3000);
      await client.touch('a', 2 ** 32 - 1);
      await sim.sleep(7000);
      assert.equal(await client.ttl('a'), 2 ** 32 - 8);
      await client.touch('a', 5);
      await sim.sleep(6000);
      assert.equal(await client.ttl('a'), undefined);
      const { hits, misses } = { hits: 0n, misses: 0n };
      const numbers = await client.serverStatistics();
      assert.deepEqual([numbers.get('store.hits'), numbers.get('store.misses')], [hits, misses], 'nobody has read it');
    }));
});

describe('the numbers of a server', () => {
  for (const transport of TRANSPORTS)
    it(`come by ${transport} however small an answer is`, () =>
      simulate(async (sim) => {
        const { server, client: connected } = served(sim, {}, { transport });
        using client = await connected();
        await client.set('a', '1');
        await client.get('a');
        await client.get('b');
        const numbers = await client.serverStatistics();
        assert.equal(numbers.get('store.hits'), 1n);
        assert.equal(numbers.get('store.misses'), 1n);
        assert.equal(numbers.get('store.keys'), 1n);
        assert.equal(numbers.get('store.memoryBytes'), 1n << 20n);
        assert.equal(numbers.get('server.clients'), 1n);
        assert.ok((numbers.get('server.requests') ?? 0n) >= 3n);
        assert.equal(BigInt(server.statistics.requests), (numbers.get('server.requests') ?? 0n) + 0n);
      }));
});

describe('several keys at once', () => {
  it('are set, got and deleted in their order, through a window that is smaller', () =>
    simulate(async (sim) => {
      const { client: connected } = served(sim);
      using client = await connected('client', { window: 4 });
      const keys = names(50);
      const versions = await client.setMany(keys.map((key, i) => ({ key, value: String(i) })));
      assert.deepEqual(
        versions,
        [...versions].sort((a, b) => Number(a - b)),
      );
      assert.deepEqual((await client.getMany(['no', ...keys])).map(text), [
        undefined,
        ...keys.map((_, i) => String(i)),
      ]);
      assert.deepEqual(await client.deleteMany([keys[0], 'no', keys[1]]), [true, false, true]);
      assert.deepEqual([await client.getMany([]), await client.setMany([])], [[], []]);
    }));

  it('say which of them have failed, and the others are done', () =>
    simulate(async (sim) => {
      const { client: connected } = served(sim, { store: newStore(4096) });
      using client = await connected();
      const entries = ['a', 'b', 'c'].map((key) => ({ key, value: 'v'.repeat(key === 'b' ? 1500 : 10) }));
      await client.set('big', 'v'.repeat(1500));
      await client.set('second', 'v'.repeat(1000));
      const error: unknown = await client.setMany(entries).catch((reason: unknown) => reason);
      assert.ok(error instanceof KvManyError, String(error));
      assert.deepEqual([error.code, error.outcome, [...error.failures.keys()]], ['ENOSPC', 'refused', [1]]);
      assert.equal(await client.has('c'), true);
    }));

  it('are asked for with times to live for all or for one, and nothing is sent when one makes no sense', () =>
    simulate(async (sim) => {
      const { server, client: connected } = served(sim);
      using client = await connected();
      await client.setMany(
        [
          { key: 'a', value: '1' },
          { key: 'b', value: '1', ttlMs: 0 },
        ],
        { ttlMs: 100 },
      );
      assert.ok(((await client.ttl('a')) ?? 0) <= 100);
      assert.equal(await client.ttl('b'), Infinity);
      const before = server.statistics.requests;
      await assert.rejects(client.getMany(['a', '']), { code: 'EINVAL' });
      await assert.rejects(
        client.setMany([
          { key: 'a', value: '2' },
          { key: 'b', value: '1', ttlMs: -1 },
        ]),
        {
          code: 'EINVAL',
        },
      );
      await assert.rejects(client.deleteMany(['a'], { signal: AbortSignal.abort(new Error('before')) }), {
        message: 'before',
      });
      assert.equal(server.statistics.requests, before);
    }));

  it('hear of a signal by one listener, and leave none', () =>
    simulate(async (sim) => {
      using client = await served(sim).client();
      const { signal } = new AbortController();
      const getting = client.getMany(names(30), { signal });
      assert.equal(getEventListeners(signal, 'abort').length, 1);
      await getting;
      assert.equal(getEventListeners(signal, 'abort').length, 0);
    }));

  it('are given up with the reason of the signal', () =>
    simulate(async (sim) => {
      const { host, client: connected } = served(sim);
      using client = await connected();
      host.pause();
      const controller = new AbortController();
      const getting = client.getMany(names(30), { signal: controller.signal });
      controller.abort(new Error('enough'));
      await assert.rejects(getting, { message: 'enough' });
      const late: unknown = await client.getMany(names(3), { timeoutMs: 3 }).catch((reason: unknown) => reason);
      assert.ok(late instanceof KvManyError);
      assert.deepEqual([late.code, late.failures.size], ['ETIMEDOUT', 3]);
      host.resume();
      assert.equal(hostOf(sim, 'server').state, 'up');
    }));
});
