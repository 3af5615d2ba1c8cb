import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { simulate } from '../../../../entry/sim.js';
import { Engine } from '../../../core/index.js';
import type { UcpEndpoint } from '../../worker/endpoint.js';
import { UcpWorker } from '../../worker/worker.js';
import { pattern, PORT, until } from '../support/transports.js';
import { ALL_WAYS } from '../support/workers.js';

for (const [name, made] of Object.entries(ALL_WAYS))
  describe(`a worker whose memory is used by ${name}`, () => {
    it('has peers put, get and change words, and send messages meanwhile', () =>
      simulate(async (sim) => {
        const { server, client, there, close } = await made(sim);
        using memory = server.memMap(100_000);
        const rkey = there.unpackRkey(memory.packRkey());
        assert.deepEqual([rkey.address, rkey.length, rkey.atomics], [memory.address, 100_000, 'messages']);
        const received = server.tagReceive(new Uint8Array(50_000), 1);
        const sent = there.tagSend(pattern(50_000), 1);
        await there.put(pattern(90_000, 3), rkey.address + 8n, rkey);
        await client.flush();
        assert.deepEqual(memory.bytes.slice(8, 90_008), pattern(90_000, 3));
        const buffer = new Uint8Array(90_000);
        await there.get(buffer, rkey.address + 8n, rkey);
        assert.deepEqual(buffer, pattern(90_000, 3));
        await there.atomic('add', 40n, rkey.address, rkey);
        await there.atomic('or', 2n, rkey.address + 4n, rkey, { bytes: 4 });
        assert.equal(await there.atomicFetch('xor', 1n, rkey.address, rkey), (2n << 32n) | 40n);
        assert.equal(await there.atomicFetch('compareSwap', 7n, rkey.address, rkey, { bytes: 4, compare: 41n }), 41n);
        assert.equal(memory.bytes[0], 7);
        await Promise.all([received, sent]);
        await close();
      }));
  });

for (const [name, made] of Object.entries(ALL_WAYS))
  describe(`fences of a worker by ${name}`, () => {
    it('are nothing where nothing is under way, however many there are', () =>
      simulate(async (sim) => {
        const { server, client, there, close } = await made(sim);
        client.fence();
        using memory = server.memMap(8);
        const rkey = there.unpackRkey(memory.packRkey());
        for (let i = 0; i < 1000; i += 1) client.fence();
        await there.atomic('add', 1n, rkey.address, rkey);
        await there.flush();
        for (let i = 0; i < 1000; i += 1) client.fence();
        assert.equal(await there.atomicFetch('add', 1n, rkey.address, rkey), 1n);
        client.fence();
        await client.flush();
        assert.equal(memory.bytes[0], 2);
        there.close();
        client.fence();
        await close();
      }));

    it('do not keep an endpoint from others that are closed while they wait for it', () =>
      simulate(async (sim) => {
        const { server, client, there, close } = await made(sim);
        using memory = server.memMap(100_000);
        const rkey = there.unpackRkey(memory.packRkey());
        const before = there.get(new Uint8Array(100_000), rkey.address, rkey).catch(() => undefined);
        client.fence();
        const own = client.connectToSelf();
        using mine = client.memMap(8);
        const key = own.unpackRkey(mine.packRkey());
        const behind = own.atomicFetch('add', 1n, key.address, key);
        there.close();
        assert.equal(await behind, 0n);
        await before;
        await close();
      }));
  });

for (const [name, made] of Object.entries(ALL_WAYS))
  describe(`a key of another worker by ${name}`, () => {
    for (const what of ['put', 'get', 'atomic'] as const)
      it(`gives no ${what}`, () =>
        simulate(async (sim) => {
          const { server, there, close } = await made(sim);
          const host = sim.host('other');
          const other = new UcpWorker(host.context);
          // So that the numbers that they may have been given first are not those of one only.
          using own = server.memMap(64);
          using foreign = other.memMap(64);
          const rkey = there.unpackRkey(foreign.packRkey());
          const { address } = rkey;
          const asking = async (): Promise<void> => {
            if (what === 'put') await there.put(pattern(64, 1), address, rkey);
            else if (what === 'get') await there.get(new Uint8Array(64), address, rkey);
            else await there.atomicFetch('add', 1n, address, rkey);
            await there.flush();
          };
          await assert.rejects(asking(), { name: 'UcpError' });
          assert.ok([...own.bytes, ...foreign.bytes].every((byte) => byte === 0));
          other.close();
          await close();
          Engine.of(host.context).close();
        }));
  });

describe('a worker', () => {
  it('that sets a fence between what it asks of two others begins the second when the first is done', () =>
    simulate(async (sim) => {
      const hosts = ['client', 'one', 'two'].map((host) => sim.host(host));
      const [client, one, two] = hosts.map(({ context }) => new UcpWorker(context));
      const connect = async (worker: UcpWorker, host: string): Promise<UcpEndpoint> => {
        const accepted = new Promise((resolve) => worker.listen({ port: PORT }, resolve));
        const endpoint = await hosts[0].run(() => client.connect({ host, port: PORT }));
        await accepted;
        return endpoint;
      };
      const [toOne, toTwo] = [await connect(one, 'one'), await connect(two, 'two')];
      using data = one.memMap(500_000);
      using flag = two.memMap(8);
      const [dataKey, flagKey] = [toOne.unpackRkey(data.packRkey()), toTwo.unpackRkey(flag.packRkey())];
      for (let round = 1; round < 4; round += 1) {
        const all = [toOne.put(pattern(500_000, round), dataKey.address, dataKey)];
        client.fence();
        all.push(toTwo.atomic('add', 1n, flagKey.address, flagKey));
        await until(sim, () => flag.bytes[0] === round);
        assert.ok(Buffer.from(data.bytes).equals(pattern(500_000, round)));
        await Promise.all(all);
      }
      // Who has gone keeps nobody from what is behind a fence.
      const lost = assert.rejects(toOne.get(new Uint8Array(500_000), dataKey.address, dataKey));
      client.fence();
      const behind = toTwo.atomicFetch('add', 1n, flagKey.address, flagKey);
      one.close();
      await lost;
      assert.equal(await behind, 3n);
      for (const worker of [client, two]) worker.close();
      for (const { context } of hosts) Engine.of(context).close();
    }));

  it('refuses to map what is no memory, and rights that are none', () =>
    simulate(async (sim) => {
      const { server, close } = await ALL_WAYS['self'](sim);
      for (const memory of [0, -1, 0.5, new Uint8Array(0)])
        assert.throws(() => server.memMap(memory), { errno: 'EINVAL' });
      const nothing = { read: false, write: false, atomics: false } as const;
      assert.throws(() => server.memMap(8, nothing), { errno: 'EINVAL' });
      // @ts-expect-error what JavaScript allows
      assert.throws(() => server.memMap(8, { atomics: 'both' }), { errno: 'EINVAL' });
      await close();
    }));
});
