import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Sim, simulate } from '../../../entry/sim.js';
import { Engine } from '../../core/index.js';
import type { UcpEndpoint } from '../worker/endpoint.js';
import { UcpWorker } from '../worker/worker.js';
import { UcsStatus } from '../wire/index.js';
import { pattern, PORT, until } from './support/transports.js';

/** Two workers that go by datagrams, with an endpoint of each to the other. */
async function connected(sim: Sim) {
  const hosts = [sim.host('client'), sim.host('server')] as const;
  const [client, server] = hosts.map(({ context }) => new UcpWorker(context, { transport: 'ud' }));
  const accepted = new Promise<UcpEndpoint>((resolve) => server.listen({ port: PORT }, resolve));
  const there = await hosts[0].run(() => client.connect({ host: 'server', port: PORT }));
  const back = await accepted;
  const close = async (): Promise<void> => {
    client.close();
    server.close();
    // The last that is said goes first.
    await sim.sleep(1000);
    for (const { context } of hosts) Engine.of(context).close();
  };
  return { hosts, client, server, there, back, close };
}

describe('a worker that goes by datagrams', () => {
  it('brings messages of all lengths on both sides of every threshold, expected or not', () =>
    simulate(async (sim) => {
      const { server, there, close } = await connected(sim);
      const lengths = [0, 1, 239, 240, 241, 4079, 4080, 4081, 32_767, 32_768, 50_000, 300_000];
      for (const isExpected of [true, false])
        for (const length of lengths) {
          const buffer = new Uint8Array(length + 3);
          const receiving = isExpected ? server.tagReceive(buffer, 7n) : undefined;
          const sending = there.tagSend(pattern(length), 7n);
          if (!isExpected) await until(sim, () => server.tagProbe(7n)?.length === length);
          const got = await (receiving ?? server.tagReceive(buffer, 7));
          assert.deepEqual(got, { tag: 7n, length });
          assert.deepEqual(buffer.subarray(0, length), pattern(length));
          await sending;
        }
      assert.equal(server.unexpectedBytes, 0);
      await close();
    }));

  it('brings all of both in their order on a bad network', () =>
    simulate({ seeds: 5 }, async (sim) => {
      const { client, server, there, back, close } = await connected(sim);
      sim.setConditions({ loss: 0.02, duplication: 0.02, reordering: 0.05 });
      const lengths = Array.from({ length: 30 }, (_, i) => (i % 3 === 0 ? 40_000 + i : 10 + i));
      const exchange = async (endpoint: UcpEndpoint, to: UcpWorker): Promise<void> => {
        const buffers = lengths.map((length) => new Uint8Array(length));
        const receives = buffers.map((buffer) => to.tagReceive(buffer, 0, { mask: 0 }));
        await Promise.all(lengths.map((length, i) => endpoint.tagSend(pattern(length, i), i)));
        const got = await Promise.all(receives);
        assert.deepEqual(
          got,
          lengths.map((length, i) => ({ tag: BigInt(i), length })),
        );
        for (const [i, buffer] of buffers.entries()) assert.deepEqual(buffer, pattern(lengths[i], i));
      };
      await Promise.all([exchange(there, server), exchange(back, client)]);
      sim.setConditions({ loss: 0, duplication: 0, reordering: 0 });
      await close();
    }));

  it('learns at once that the peer has closed', () =>
    simulate(async (sim) => {
      const { server, there, close } = await connected(sim);
      server.close();
      await until(sim, () => there.failure !== undefined);
      assert.equal(there.failure?.status, UcsStatus.UCS_ERR_CONNECTION_RESET);
      await assert.rejects(there.tagSend(pattern(10), 1), { status: UcsStatus.UCS_ERR_CONNECTION_RESET });
      await close();
    }));

  it('has many endpoints by one queue pair', () =>
    simulate(async (sim) => {
      const { hosts, client, server, there, close } = await connected(sim);
      const others = await Promise.all(
        Array.from({ length: 5 }, () => hosts[0].run(() => client.connect({ host: 'server', port: PORT }))),
      );
      const all = [there, ...others];
      await Promise.all(all.map((endpoint, i) => endpoint.tagSend(pattern(100, i), i)));
      for (const i of all.keys()) {
        const buffer = new Uint8Array(100);
        await server.tagReceive(buffer, i);
        assert.deepEqual(buffer, pattern(100, i));
      }
      await close();
    }));

  for (const [one, other] of [
    ['rc', 'ud'],
    ['ud', 'rc'],
  ] as const)
    it(`is not understood by ${other} where it goes by ${one}`, () =>
      simulate(async (sim) => {
        const hosts = [sim.host('client'), sim.host('server')] as const;
        const client = new UcpWorker(hosts[0].context, { transport: one });
        const server = new UcpWorker(hosts[1].context, { transport: other });
        server.listen({ port: PORT }, () => assert.fail('nobody can connect'));
        await assert.rejects(
          hosts[0].run(() => client.connect({ host: 'server', port: PORT })),
          { errno: 'ECONNREFUSED' },
        );
        client.close();
        server.close();
      }));
});
