import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { simulate } from '../../../entry/sim.js';
import type { UcpStatistics } from '../worker/statistics.js';
import { UcpWorker } from '../worker/worker.js';
import { pattern, PORT, until } from './support/transports.js';
import { ALL_WAYS, connected, onSelf } from './support/workers.js';

/** Those that are not 0. */
function counted(statistics: UcpStatistics): Record<string, number> {
  return Object.fromEntries(Object.entries(statistics).filter(([, count]) => count !== 0));
}

/** What has been counted since. */
function since(before: UcpStatistics, now: UcpStatistics): Record<string, number> {
  const first = new Map<string, number>(Object.entries(before));
  const grown = Object.entries(now).map(([name, count]) => [name, count - (first.get(name) ?? 0)] as const);
  return Object.fromEntries(grown.filter(([, count]) => count !== 0));
}

const NOTHING = new Uint8Array(0);

describe('the statistics of a worker', () => {
  it('are all 0 at first, and are those of the moment at which they were asked for', () =>
    simulate((sim) => {
      const worker = new UcpWorker(sim.host('alone').context);
      const first = worker.statistics;
      assert.deepEqual(counted(first), {});
      worker.connectToSelf();
      assert.deepEqual([first.epCreations, worker.statistics.epCreations], [0, 1]);
      worker.close();
      return Promise.resolve();
    }));

  it('count messages by tags at both ends, expected and not, whole and in parts', () =>
    simulate(async (sim) => {
      const { client, server, there, close } = await connected(sim);
      const [here, far] = [client.statistics, server.statistics];
      const buffer = new Uint8Array(20_000);
      const expected = server.tagReceive(buffer, 1);
      await there.tagSend(pattern(8), 1);
      await expected;
      await there.tagSend(pattern(10), 1);
      await until(sim, () => server.tagProbe(1) !== undefined);
      await server.tagReceive(buffer, 1);
      const whole = server.tagReceive(buffer, 1);
      await there.tagSend(pattern(10_000), 1);
      await whole;
      const sync = server.tagReceive(buffer, 1);
      await there.tagSendSync(pattern(4), 1);
      await sync;
      assert.deepEqual(since(here, client.statistics), { txEager: 3, txEagerSync: 1, txEagerBytes: 10_022 });
      // 10,000 bytes go in three buffers of 4 KiB.
      assert.deepEqual(since(far, server.statistics), {
        rxEagerMsg: 3,
        rxSyncMsg: 1,
        rxEagerChunkExp: 5,
        rxEagerChunkUnexp: 1,
        rxEagerBytes: 10_022,
      });
      close();
    }));

  const MOVED = { get_zcopy: 'rndvGetZcopy', put_zcopy: 'rndvPutZcopy', am: 'rndvAm' } as const;
  for (const [rndvScheme, by] of Object.entries(MOVED))
    it(`count a rendezvous by ${rndvScheme} where its data is moved`, () =>
      simulate(async (sim) => {
        const config = { RNDV_SCHEME: rndvScheme };
        const { client, server, there, close } = await connected(sim, { config });
        const [here, far] = [client.statistics, server.statistics];
        const receiving = server.tagReceive(new Uint8Array(50_000), 1);
        await there.tagSend(pattern(50_000), 1);
        await receiving;
        const isReader = rndvScheme === 'get_zcopy';
        const moved = { [by]: 1 };
        assert.deepEqual(since(here, client.statistics), { txRndv: 1, txRndvBytes: 50_000, ...(!isReader && moved) });
        const received = { rxRndvRtsExp: 1, rxRndvBytes: 50_000 };
        assert.deepEqual(since(far, server.statistics), { ...received, ...(isReader && moved) });
        close();
      }));

  it('count no bytes of a rendezvous that is given up', () =>
    simulate(async (sim) => {
      const { client, server, there, close } = await connected(sim);
      const far = server.statistics;
      const controller = new AbortController();
      const sending = there.tagSend(pattern(50_000), 1, { signal: controller.signal });
      await until(sim, () => server.tagProbe(1) !== undefined);
      controller.abort();
      await assert.rejects(sending);
      await until(sim, () => server.tagProbe(1) === undefined);
      assert.deepEqual([client.statistics.txRndv, client.statistics.txRndvBytes], [1, 0]);
      assert.deepEqual(since(far, server.statistics), { rxRndvRtsUnexp: 1 });
      close();
    }));

  it('count active messages, and those that are dropped not', () =>
    simulate(async (sim) => {
      const { client, server, there, close } = await connected(sim);
      const [here, far] = [client.statistics, server.statistics];
      let got = 0;
      server.setAmHandler(1, () => void (got += 1));
      await there.amSend(1, NOTHING, pattern(8));
      await there.amSend(1, NOTHING, pattern(10_000));
      await there.amSend(2, NOTHING, pattern(9));
      await there.amSend(1, NOTHING, pattern(50_000));
      await until(sim, () => got === 3);
      const { txAmEager, txAmRndv, txAmBytes } = since(here, client.statistics);
      assert.deepEqual({ txAmEager, txAmRndv, txAmBytes }, { txAmEager: 3, txAmRndv: 1, txAmBytes: 10_017 });
      assert.deepEqual(since(far, server.statistics), { rxAmMsg: 2, rxAmRndvRts: 1, rxAmBytes: 10_008 });
      close();
    }));

  it('count bytes of streams', () =>
    simulate(async (sim) => {
      const { client, server, there, back, close } = await connected(sim);
      const [here, far] = [client.statistics, server.statistics];
      await there.streamSend(pattern(10_000));
      await back.streamReceive(new Uint8Array(10_000), { waitAll: true });
      assert.deepEqual(since(here, client.statistics), { txStream: 1, txStreamBytes: 10_000 });
      const { rxStreamChunk, ...others } = since(far, server.statistics);
      assert.ok(rxStreamChunk > 1);
      assert.deepEqual(others, { rxStreamBytes: 10_000 });
      close();
    }));

  for (const [way, made] of Object.entries(ALL_WAYS))
    it(`count puts, gets and atomics by ${way}, and at their owner those that came by messages`, () =>
      simulate(async (sim) => {
        const { client, server, there, close } = await made(sim);
        const memory = server.memMap(64);
        const before = client.statistics;
        const rkey = there.unpackRkey(memory.packRkey());
        await there.put(pattern(8), rkey.address, rkey);
        client.fence();
        await there.get(new Uint8Array(16), rkey.address, rkey);
        await there.atomic('add', 1n, rkey.address, rkey);
        await there.atomicFetch('add', 1n, rkey.address, rkey);
        await there.flush();
        const { put, putBytes, get, getBytes, atomic, rkeyUnpack, flush, fence } = since(before, client.statistics);
        assert.deepEqual([put, putBytes, get, getBytes, atomic], [1, 8, 1, 16, 2]);
        assert.deepEqual([rkeyUnpack, flush, fence], [1, 1, 1]);
        const { rxPut, rxGet, rxAtomic } = server.statistics;
        assert.deepEqual([rxPut, rxGet, rxAtomic], way === 'ud' ? [1, 1, 2] : [0, 0, 2]);
        await close();
      }));

  it('count sends that wait for room', () =>
    simulate(async (sim) => {
      const { client, server, there, close } = await connected(sim, { window: 2 });
      const receives = Array.from({ length: 20 }, () => server.tagReceive(new Uint8Array(8), 1));
      await Promise.all(receives.map(() => there.tagSend(pattern(8), 1)));
      await Promise.all(receives);
      assert.ok(client.statistics.pending > 0);
      close();
    }));

  it('count endpoints that were made, that were not, that fail and that are closed', () =>
    simulate(async (sim) => {
      const { hosts, client, server, there, back, close } = await connected(sim);
      assert.deepEqual(counted(client.statistics), { epCreations: 1 });
      await assert.rejects(hosts[0].run(() => client.connect({ host: 'server', port: PORT + 1 })));
      there.close();
      await until(sim, () => back.failure !== undefined);
      const made = { epCreations: 1, epClosures: 1 };
      assert.deepEqual(counted(client.statistics), { ...made, epCreationFailures: 1 });
      back.close();
      back.close();
      assert.deepEqual(counted(server.statistics), { ...made, epFailures: 1 });
      close();
    }));

  it('of one that talks to itself are those of both ends', () =>
    simulate(async (sim) => {
      const { client, there, close } = onSelf(sim);
      const receiving = client.tagReceive(new Uint8Array(8), 1);
      await there.tagSend(pattern(8), 1);
      await receiving;
      const { txEager, rxEagerMsg } = client.statistics;
      assert.deepEqual([txEager, rxEagerMsg], [1, 1]);
      close();
    }));
});
