import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { simulate } from '../../../entry/sim.js';
import { Engine } from '../../core/index.js';
import { EpochError, KvError, type TransportName } from '../index.js';
import { newStore, PORT, served, text } from './support/served.js';
import { serve } from '../index.js';

const TRANSPORTS: readonly TransportName[] = ['rc', 'uc', 'ud'];

for (const transport of TRANSPORTS) {
  describe(`a client of a store by ${transport}`, () => {
    it('gets what was set, with versions, and nothing that was deleted or is over', () =>
      simulate(async (sim) => {
        const { client: connected } = served(sim, {}, { transport });
        using client = await connected();
        assert.equal(await client.get('a'), undefined);
        const first = await client.set('a', 'one');
        assert.equal(text(await client.get('a')), 'one');
        assert.deepEqual(await client.entry('a'), { value: new TextEncoder().encode('one'), version: first });
        assert.equal(await client.has('a'), true);
        assert.equal(await client.add('a', 'two'), undefined);
        const second = await client.cas('a', 'two', first);
        assert.ok(second !== undefined && second > first);
        assert.equal(await client.cas('a', 'three', first), undefined);
        assert.equal(text(await client.get(new TextEncoder().encode('a'))), 'two');
        assert.deepEqual(
          [await client.delete('a'), await client.delete('a'), await client.has('a')],
          [true, false, false],
        );
        await client.set('b', new Uint8Array(0), { ttlMs: 5 });
        assert.equal((await client.get('b'))?.length, 0);
        assert.equal(await client.touch('b', 50), true);
        await sim.sleep(20_000);
        assert.equal(await client.has('b'), true);
        await sim.sleep(40_000);
        assert.deepEqual([await client.has('b'), await client.touch('b', 1)], [false, false]);
      }));

    it('counts, whatever the network loses', () =>
      simulate(
        { seed: 3, conditions: { delayUs: 5, loss: 0.05, duplication: 0.05, reordering: 0.05 } },
        async (sim) => {
          const { client: connected } = served(sim, {}, { transport });
          using client = await connected();
          const sums = await Promise.all(Array.from({ length: 100 }, () => client.incr('n', 2)));
          assert.equal(new Set(sums).size, 100);
          assert.equal(await client.incr('n', -200n), 0n);
          await client.set('n', 'many');
          await assert.rejects(client.incr('n'), { name: 'KvError', code: 'EINVAL', outcome: 'refused' });
        },
      ));

    it('has its own copy of what it was given', () =>
      simulate(async (sim) => {
        const { client: connected } = served(sim, {}, { transport });
        using client = await connected('client', { window: 1 });
        const [key, value] = [Uint8Array.of(1), Uint8Array.of(2)];
        const setting = [client.set('other', 'x'), client.set(key, value)];
        key.fill(9);
        value.fill(9);
        await Promise.all(setting);
        assert.deepEqual(await client.get(Uint8Array.of(1)), Uint8Array.of(2));
      }));

    it('is told what it does wrong, before anything is sent', () =>
      simulate(async (sim) => {
        const { client: connected, server } = served(sim, {}, { transport });
        using client = await connected();
        const before = server.statistics.requests;
        await assert.rejects(client.get(''), { code: 'EINVAL' });
        await assert.rejects(client.get('k'.repeat(251)), { code: 'EINVAL' });
        await assert.rejects(client.set('k', 'v', { ttlMs: -1 }), { code: 'EINVAL' });
        await assert.rejects(client.incr('k', 1.5), { code: 'EINVAL' });
        await assert.rejects(client.incr('k', 2n ** 63n), { code: 'EINVAL' });
        await assert.rejects(client.cas('k', 'v', -1n), { code: 'EINVAL' });
        // @ts-expect-error: what programs without types may do
        await assert.rejects(client.set('k', 5), { code: 'EINVAL' });
        // @ts-expect-error: the same
        await assert.rejects(client.get('k', { timeout: 5 }), { code: 'EINVAL' });
        assert.equal(server.statistics.requests, before);
      }));

    it('gives up when it is told to, and its slot is another call’s', () =>
      simulate(async (sim) => {
        const { host, client: connected } = served(sim, {}, { transport });
        using client = await connected('client', { window: 1 });
        await client.set('a', '1');
        host.pause();
        const controller = new AbortController();
        const waiting = [client.get('a', { signal: controller.signal }), client.get('a', { timeoutMs: 3 })];
        const last = client.get('a');
        controller.abort(new Error('enough'));
        await assert.rejects(waiting[0], { message: 'enough' });
        await assert.rejects(waiting[1], { name: 'KvError', code: 'ETIMEDOUT', outcome: 'unknown' });
        // The slot is that of the last.
        const unsent = client.get('a', { timeoutMs: 3 });
        await assert.rejects(unsent, { name: 'KvError', code: 'ETIMEDOUT', outcome: 'not sent' });
        await assert.rejects(client.get('a', { signal: AbortSignal.abort(new Error('before')) }), {
          message: 'before',
        });
        host.resume();
        assert.equal(text(await last), '1');
      }));

    it('rejects what is under way when it is closed, and all that comes after', () =>
      simulate(async (sim) => {
        const { client: connected, server } = served(sim, {}, { transport });
        const client = await connected('client', { window: 1 });
        const [sent, waiting] = [client.incr('a'), client.incr('a')];
        await Promise.resolve();
        client.close();
        await assert.rejects(sent, { code: 'ECANCELED', outcome: 'unknown' });
        await assert.rejects(waiting, { code: 'ECANCELED', outcome: 'not sent' });
        await assert.rejects(client.get('a'), { code: 'ECANCELED', outcome: 'not sent' });
        await client.closed;
        await sim.sleep(1_000_000);
        assert.equal(server.statistics.clients, 0);
      }));
  });

  describe(`a client by ${transport} whose server is gone`, () => {
    it('goes on with its session when the network comes back, and what was under way is carried out once', () =>
      simulate(async (sim) => {
        const { host, server, client: connected } = served(sim, {}, { transport });
        using client = await connected();
        await client.incr('n');
        sim.partition(host);
        const sums = Promise.all([client.incr('n'), client.incr('n')]);
        await sim.sleep(6_000_000);
        sim.heal(host);
        assert.deepEqual([...(await sums)].sort(), [2n, 3n]);
        assert.ok(sim.nowUs < 7e6, 'all is sent again as soon as there is a way, not when it is due');
        assert.equal(client.statistics.resumptions, 1);
        assert.equal(await client.incr('n'), 4n);
        assert.equal(server.statistics.clients, 1);
      }));

    it('rests while its send queue is full of repeats', () =>
      simulate(async (sim) => {
        const { host, client: connected } = served(sim, {}, { transport });
        using client = await connected('client', { window: 1 });
        sim.partition(host);
        const counting = client.incr('n');
        await sim.sleep(2_500_000);
        sim.heal(host);
        assert.equal(await counting, 1n);
        assert.ok(client.statistics.repeats > 0);
      }));

    it('says so after some time', () =>
      simulate(async (sim) => {
        const { host, client: connected } = served(sim, {}, { transport });
        const client = await connected();
        sim.partition(host);
        await assert.rejects(client.incr('n'), (error) => error instanceof KvError && error.outcome === 'unknown');
        await client.closed;
        assert.ok(sim.nowUs < 60e6, 'within a minute');
        await assert.rejects(client.get('n'), { outcome: 'not sent' });
      }));

    it('says that the server began anew, though nothing was under way', () =>
      simulate(async (sim) => {
        const { host, server, client: connected } = served(sim, {}, { transport });
        const client = await connected();
        await client.set('a', '1');
        host.crash();
        host.restart();
        const again = serve({ store: newStore(), port: PORT, context: host.context });
        const error: unknown = await client.get('a').catch((reason: unknown) => reason);
        assert.ok(error instanceof EpochError, String(error));
        assert.deepEqual([error.before, error.epoch], [server.epoch, again.epoch]);
        await assert.rejects(client.set('a', '2'), { name: 'EpochError', outcome: 'not sent' });
      }));

    it('hears of it though it asks nothing', () =>
      simulate(async (sim) => {
        const { host, client: connected } = served(sim, {}, { transport });
        const client = await connected();
        host.crash();
        await sim.sleep(45e6);
        assert.ok(client.failure instanceof KvError);
      }));

    it('hears of it at once when the server is closed', () =>
      simulate(async (sim) => {
        const { server, client: connected } = served(sim, {}, { transport });
        const client = await connected();
        server.close();
        await server.closed;
        await assert.rejects(client.get('a'), { name: 'KvError' });
      }));
  });

  describe(`a server of a store whose clients come by ${transport}`, () => {
    it('has so many clients at most, and tells others so', () =>
      simulate(async (sim) => {
        const { client: connected, server } = served(sim, { maxClients: 2 }, { transport });
        const [first] = [await connected('a'), await connected('b')];
        await assert.rejects(connected('c'), { code: 'EBUSY' });
        assert.deepEqual([server.statistics.clients, server.statistics.refused], [2, 1]);
        first.close();
        await sim.sleep(100_000);
        using client = await connected('d');
        assert.equal(await client.get('a'), undefined);
      }));

    it('forgets clients that vanish, and has nothing of theirs left', () =>
      simulate(async (sim) => {
        const { host, client: connected, server } = served(sim, {}, { transport });
        const held = (): unknown => {
          const { pool, statistics } = Engine.of(host.context);
          return [pool.leases(), statistics.outstanding];
        };
        // What the server has for all its clients together, it keeps.
        (await connected('a')).close();
        await sim.sleep(100e6);
        const before = held();
        const client = await connected('a');
        await client.set('a', '1');
        sim.hosts[1].crash();
        await sim.sleep(100e6);
        await sim.sleep(1);
        assert.equal(server.statistics.clients, 0);
        assert.deepEqual(held(), before);
        server.close();
        await sim.sleep(1);
        assert.deepEqual(held(), [[], new Map()]);
      }));

    it('keeps a client that has asked and then rests, though it waits no longer than it must', () =>
      simulate(async (sim) => {
        const { client: connected } = served(sim, { maxSilenceMs: 15_000 }, { transport });
        using client = await connected();
        await sim.sleep(5000);
        await client.incr('n');
        await sim.sleep(60e6);
        assert.equal(await client.incr('n'), 2n);
        assert.equal(client.statistics.resumptions, 0);
      }));

    it('keeps clients that ask nothing for long', () =>
      simulate(async (sim) => {
        const { client: connected, server } = served(sim, {}, { transport });
        using client = await connected();
        const counting = client.incr('n');
        await counting;
        await sim.sleep(300e6);
        assert.equal(server.statistics.clients, 1);
        assert.equal(await client.incr('n'), 2n);
        assert.equal(client.statistics.resumptions, 0);
      }));
  });
}
