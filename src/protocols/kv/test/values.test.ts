import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { simulate } from '../../../entry/sim.js';
import { alloc } from '../../../entry/index.js';
import { Engine } from '../../core/index.js';
import type { TransportName } from '../index.js';
import { Partition } from '../store/index.js';
import { hostOf, newStore, served } from './support/served.js';

const TRANSPORTS: readonly TransportName[] = ['rc', 'uc', 'ud'];
const MIB = 1 << 20;

/** Bytes that no other seed has. */
function bytesOf(length: number, seed = 0): Uint8Array {
  return Uint8Array.from({ length }, (_, i) => (i * 31 + (i >> 8) * 7 + seed * 101) & 0xff);
}

for (const transport of TRANSPORTS) {
  describe(`a value that does not fit a message, by ${transport}`, () => {
    it('is set, added, replaced and got as any other', () =>
      simulate(async (sim) => {
        const { server, host, client: connected } = served(sim, { store: newStore(8 * MIB) }, { transport });
        using client = await connected();
        const long = bytesOf(MIB);
        const version = await client.set('a', long);
        assert.deepEqual(await client.entry('a'), { value: long, version });
        assert.equal(await client.add('a', bytesOf(9000, 1)), undefined);
        assert.ok((await client.add('b', bytesOf(9000, 1))) !== undefined);
        assert.deepEqual(await client.get('b'), bytesOf(9000, 1));
        assert.ok((await client.cas('a', bytesOf(5000, 2), version)) !== undefined);
        assert.equal(await client.cas('a', bytesOf(7000, 3), version), undefined);
        assert.deepEqual(await client.get('a'), bytesOf(5000, 2));
        await client.set('a', 'short');
        assert.equal((await client.get('a'))?.length, 5);
        assert.ok(server.statistics.transfers >= 7);
        assert.equal(server.statistics.brokenTransfers, 0);
        assert.deepEqual(Engine.of(host.context).statistics.outstanding.get('values') ?? 0, 0);
      }));

    it('of each length around that of a message is the same when it comes back', () =>
      simulate(async (sim) => {
        const { client: connected } = served(sim, {}, { transport });
        using client = await connected();
        for (const length of [0, 1, 940, 983, 984, 991, 992, 993, 1024, 4055, 4056, 4063, 4064, 4065, 4096, 4097]) {
          await client.set('k', bytesOf(length, length));
          assert.deepEqual(await client.get('k'), bytesOf(length, length), `${length} bytes`);
        }
      }));

    it('comes whole though others overwrite it all the time, and a cache evicts it', () =>
      simulate(async (sim) => {
        const store = new Partition({ mode: 'cache', memory: alloc(128 << 10), seed: 1n });
        const { client: connected } = served(sim, { store }, { transport });
        using writer = await connected('writer');
        using reader = await connected('reader');
        await writer.set('k', bytesOf(20_000));
        let writes = 0;
        const writing = (async () => {
          for (writes = 1; writes < 40; writes += 1) await writer.set('k', bytesOf(20_000 + writes, writes));
        })();
        for (let i = 0; i < 20; i += 1) {
          const value = await reader.get('k');
          if (value === undefined) continue;
          assert.deepEqual(value, bytesOf(value.length, value.length - 20_000));
        }
        await writing;
      }));

    it('and many of them go through a window at once', () =>
      simulate({ conditions: { delayUs: 5, loss: 0.01, duplication: 0.02, reordering: 0.02 } }, async (sim) => {
        const { client: connected } = served(sim, { store: newStore(4 * MIB) }, { transport });
        using client = await connected('client', { window: 4 });
        const keys = Array.from({ length: 12 }, (_, i) => `k${i}`);
        await client.setMany(keys.map((key, i) => ({ key, value: bytesOf(30_000 + i, i) })));
        const values = await client.getMany(keys);
        for (const [i, value] of values.entries()) assert.deepEqual(value, bytesOf(30_000 + i, i));
      }));

    it('that is longer than the store takes is refused before it is read', () =>
      simulate(async (sim) => {
        const { server, client: connected } = served(sim, { store: newStore(16 << 10) }, { transport });
        using client = await connected();
        await assert.rejects(client.set('k', bytesOf(9000)), { code: 'EMSGSIZE', outcome: 'refused' });
        assert.equal(server.statistics.transfers, 0);
        await client.set('a', bytesOf(6000));
        await client.set('b', bytesOf(6000));
        await assert.rejects(client.set('c', bytesOf(6000)), { code: 'ENOSPC', outcome: 'refused' });
      }));

    it('that is given up is not carried out again, and its memory is not used for another before the answer', () =>
      simulate(async (sim) => {
        const { host, client: connected } = served(sim, { store: newStore(4 * MIB) }, { transport });
        using client = await connected('client', { window: 1 });
        await client.set('k', bytesOf(50_000, 1));
        host.pause();
        const setting = client.set('k', bytesOf(50_000, 2), { timeoutMs: 1 });
        await assert.rejects(setting, { name: 'KvError', code: 'ETIMEDOUT', outcome: 'unknown' });
        const getting = client.get('k', { timeoutMs: 1 });
        await assert.rejects(getting, { code: 'ETIMEDOUT' });
        const other = client.set('other', bytesOf(50_000, 3));
        host.resume();
        await other;
        assert.deepEqual(await client.get('k'), bytesOf(50_000, 2));
        assert.deepEqual(await client.get('other'), bytesOf(50_000, 3));
      }));

    it('is on its way while its client vanishes, which disturbs nobody', () =>
      simulate(async (sim) => {
        const {
          host,
          server,
          client: connected,
        } = served(sim, { store: newStore(8 * MIB), maxSilenceMs: 15_000 }, { transport });
        using honest = await connected('honest');
        await honest.set('k', bytesOf(MIB));
        const lost = await connected('lost');
        const mortal = hostOf(sim, 'lost');
        const setting = lost.set('k', bytesOf(MIB, 1)).catch(() => undefined);
        const getting = lost.get('k').catch(() => undefined);
        await sim.sleep(30);
        mortal.crash();
        void setting;
        void getting;
        assert.equal((await honest.get('k'))?.length, MIB);
        assert.equal(await honest.incr('n'), 1n);
        await sim.sleep(40e6);
        assert.equal(await honest.incr('n'), 2n);
        assert.equal(server.statistics.clients, 1);
        assert.deepEqual(
          [...Engine.of(host.context).pool.leases()].filter(({ owner }) => owner === 'values'),
          [],
        );
      }));

    it('goes on where the network comes back, and is set once', () =>
      simulate(async (sim) => {
        const { host, client: connected } = served(sim, { store: newStore(8 * MIB) }, { transport });
        using client = await connected();
        const before = await client.set('k', bytesOf(10));
        const setting = client.cas('k', bytesOf(MIB, 1), before);
        await sim.sleep(20);
        sim.partition(host);
        await sim.sleep(6e6);
        sim.heal(host);
        const version = await setting;
        assert.ok(version !== undefined && version > before);
        assert.deepEqual(await client.entry('k'), { value: bytesOf(MIB, 1), version });
      }));
  });
}
