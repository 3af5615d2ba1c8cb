import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { simulate } from '../../../../entry/sim.js';
import { alloc } from '../../../../entry/index.js';
import { type KvClient, serve, type TransportName } from '../../index.js';
import { Partition, SipHash } from '../../store/index.js';
import { newStore, PORT, served, text } from '../support/served.js';

const TRANSPORTS: readonly TransportName[] = ['rc', 'uc', 'ud'];
const DOOR = { oneSided: true };

function counted({ statistics: { oneSided } }: KvClient): Record<'reads' | 'hits' | 'fallbacks', number> {
  assert.ok(oneSided !== undefined);
  const { reads, hits, fallbacks } = oneSided;
  return { reads, hits, fallbacks };
}

for (const transport of TRANSPORTS) {
  describe(`a value that is read one-sided, by a client of ${transport}`, () => {
    it('takes two READs, and no request', () =>
      simulate(async (sim) => {
        const { server, client: connected } = served(sim, DOOR, { transport, oneSided: true });
        using client = await connected();
        await client.set('key', 'value');
        const { requests } = server.statistics;
        assert.equal(text(await client.get('key')), 'value');
        assert.equal(server.statistics.requests, requests);
        assert.deepEqual(counted(client), { reads: 2, hits: 1, fallbacks: 0 });
      }));

    it('has the version that CAS wants', () =>
      simulate(async (sim) => {
        const { client: connected } = served(sim, DOOR, { transport, oneSided: true });
        using client = await connected();
        const version = await client.set('key', 'value');
        const entry = await client.entry('key');
        assert.equal(entry?.version, version);
        assert.notEqual(await client.cas('key', 'another', version), undefined);
        assert.equal(text(await client.get('key')), 'another');
      }));

    it('is asked for where it is not found, or too long', () =>
      simulate(async (sim) => {
        const { client: connected } = served(sim, DOOR, { transport, oneSided: true });
        using client = await connected();
        assert.equal(await client.get('key'), undefined);
        await client.set('key', 'v'.repeat(9000));
        assert.equal((await client.get('key'))?.length, 9000);
        await client.delete('key');
        assert.equal(await client.get('key'), undefined);
        assert.deepEqual(counted(client), { reads: 4, hits: 0, fallbacks: 3 });
      }));
  });
}

describe('a client that reads one-sided', () => {
  it('finds what others set, whatever its length, and reads once more what is longer than it had thought', () =>
    simulate(async (sim) => {
      const { client: connected } = served(sim, DOOR);
      using writer = await connected('writer');
      using reader = await connected('reader', { oneSided: true });
      for (const length of [0, 1, 100, 1000, 3000, 5, 700]) {
        await writer.set('key', 'v'.repeat(length));
        assert.equal((await reader.get('key'))?.length, length);
      }
      const { hits, reads } = counted(reader);
      assert.deepEqual([hits, reads], [7, 2 * 7 + 3]);
    }));

  it('gets many at a time, more than its window', () =>
    simulate(async (sim) => {
      const { client: connected } = served(sim, DOOR);
      using client = await connected('reader', { oneSided: true, window: 4 });
      const keys = Array.from({ length: 100 }, (_, i) => `key ${i}`);
      await client.setMany(keys.map((key) => ({ key, value: `value of ${key}` })));
      const values = await client.getMany(keys);
      assert.deepEqual(
        values.map(text),
        keys.map((key) => `value of ${key}`),
      );
      assert.deepEqual(counted(client), { reads: 200, hits: 100, fallbacks: 0 });
    }));

  it('never has what has expired, and asks for what may have', () =>
    simulate(async (sim) => {
      const { client: connected } = served(sim, DOOR);
      using client = await connected('reader', { oneSided: true });
      await client.set('brief', 'v', { ttlMs: 5000 });
      await sim.sleep(4e6);
      assert.equal(text(await client.get('brief')), 'v');
      assert.equal(counted(client).hits, 1);
      // By how far clocks may be apart after 4.998 s it is too late to know.
      await sim.sleep(997_000);
      assert.equal(text(await client.get('brief')), 'v');
      assert.deepEqual([counted(client).hits, counted(client).fallbacks], [1, 1]);
      await sim.sleep(5000);
      assert.equal(await client.get('brief'), undefined);
      assert.equal(counted(client).hits, 1);
    }));

  it('looks at the clock again when an entry may have expired', () =>
    simulate(async (sim) => {
      const { server, client: connected } = served(sim, DOOR);
      using client = await connected('reader', { oneSided: true });
      await client.set('brief', 'v', { ttlMs: 1_000_300 });
      await sim.sleep(1e9);
      const { requests } = server.statistics;
      assert.equal(text(await client.get('brief')), 'v');
      await sim.sleep(1000);
      assert.equal(server.statistics.requests, requests + 2, 'one for the value and one for the time');
      assert.equal(text(await client.get('brief')), 'v');
      assert.equal(counted(client).hits, 1);
    }));

  it('finds keys whose tags are the same, and asks where a bucket is full', () =>
    simulate(async (sim) => {
      const store = new Partition({ mode: 'store', memory: alloc(1 << 20), seed: 1n, buckets: 1 });
      const { client: connected } = served(sim, { ...DOOR, store });
      using client = await connected('reader', { oneSided: true });
      const [a, b] = sameTags(1n);
      await client.set(a, 'a');
      await client.set(b, 'b');
      assert.deepEqual([text(await client.get(a)), text(await client.get(b))], ['a', 'b']);
      assert.deepEqual([counted(client).hits, counted(client).fallbacks], [2, 0]);
      const others = Array.from({ length: 20 }, (_, i) => `other ${i}`);
      await client.setMany(others.map((key) => ({ key, value: key })));
      assert.deepEqual((await client.getMany(others)).map(text), others);
      assert.deepEqual([counted(client).hits, counted(client).fallbacks], [2 + 6, 14]);
    }));

  it('goes on by requests when its way is lost, and finds another', () =>
    simulate(async (sim) => {
      const { server, host, client: connected } = served(sim, DOOR);
      using client = await connected('reader', { oneSided: true });
      await client.set('key', 'value');
      sim.partition(host);
      const lost = client.get('key');
      sim.at(sim.nowUs + 6e6, () => sim.heal(host));
      assert.equal(text(await lost), 'value');
      assert.equal(counted(client).hits, 0);
      await sim.sleep(2e6);
      assert.equal(text(await client.get('key')), 'value');
      await sim.sleep(2e6);
      assert.equal(text(await client.get('key')), 'value');
      assert.equal(counted(client).hits, 1);
      assert.equal(server.statistics.readers, 1);
    }));

  it('fails as others do when the server begins anew', () =>
    simulate(async (sim) => {
      const { server, host, client: connected } = served(sim, DOOR);
      using client = await connected('reader', { oneSided: true });
      await client.set('key', 'value');
      server.close();
      using again = serve({ store: newStore(), port: PORT, context: host.context, oneSided: true });
      await assert.rejects(client.get('key'), { name: 'EpochError' });
      assert.equal(again.statistics.readers, 0);
    }));

  it('leaves nothing when it is closed or given up', () =>
    simulate(async (sim) => {
      const { server, client: connected } = served(sim, DOOR);
      const client = await connected('reader', { oneSided: true });
      await client.set('key', 'value');
      await assert.rejects(client.get('key', { signal: AbortSignal.abort() }), { name: 'AbortError' });
      const late = client.get('key', { timeoutMs: 0 });
      await assert.rejects(late, { code: 'ETIMEDOUT' });
      const last = client.get('key');
      client.close();
      await assert.rejects(last, { code: 'ECANCELED' });
      await sim.sleep(1e6);
      assert.deepEqual([server.statistics.readers, server.statistics.clients], [0, 0]);
    }));

  it('is refused where the server does not say that it may', () =>
    simulate(async (sim) => {
      const { server, client: connected } = served(sim);
      await assert.rejects(connected('reader', { oneSided: true }), { code: 'EOPNOTSUPP' });
      await sim.sleep(1e6);
      assert.equal(server.statistics.clients, 0);
    }));
});

/** Two keys that no slot tells from each other. */
function sameTags(seed: bigint): readonly [string, string] {
  const hash = new SipHash(seed);
  const byTag = new Map<number, string>();
  for (let n = 0; ; n += 1) {
    const key = `key ${n}`;
    const bytes = new TextEncoder().encode(key);
    hash.of(bytes, 0, bytes.length);
    const tag = hash.high & 0x7fffffff;
    const other = byTag.get(tag);
    if (other !== undefined) return [other, key];
    byTag.set(tag, key);
  }
}
