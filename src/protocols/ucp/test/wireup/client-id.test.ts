import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { simulate } from '../../../../entry/sim.js';
import type { UcpClient } from '../../worker/listener.js';
import { UcpWorker } from '../../worker/worker.js';
import { PORT } from '../support/transports.js';

for (const transport of ['rc', 'ud'] as const)
  describe(`a client’s id by ${transport}`, () => {
    it('is told to the listener, where the client wants that', () =>
      simulate(async (sim) => {
        const hosts = ['client', 'server'].map((name) => sim.host(name));
        const client = new UcpWorker(hosts[0].context, { transport, clientId: 2n ** 64n - 1n });
        const server = new UcpWorker(hosts[1].context, { transport });
        const [asked, made]: UcpClient[][] = [[], []];
        const accept = (from: UcpClient) => {
          asked.push(from);
          return true;
        };
        server.listen({ port: PORT, accept }, (_, from) => made.push(from));
        const connect = (sendClientId?: boolean) =>
          hosts[0].run(() => client.connect({ host: 'server', port: PORT, sendClientId }));
        await connect(true);
        await connect();
        await sim.sleep(1000);
        assert.deepEqual(
          asked.map(({ clientId }) => clientId),
          [2n ** 64n - 1n, undefined],
        );
        assert.deepEqual(made, asked);
        client.close();
        server.close();
      }));

    it('is told by the listener that was asked, of several', () =>
      simulate(async (sim) => {
        const hosts = ['client', 'server'].map((name) => sim.host(name));
        const [client, server] = hosts.map(({ context }) => new UcpWorker(context, { transport }));
        const told: string[] = [];
        server.listen({ port: PORT }, () => told.push('first'));
        server.listen({ port: PORT + 1 }, () => told.push('second'));
        await hosts[0].run(() => client.connect({ host: 'server', port: PORT }));
        await hosts[0].run(() => client.connect({ host: 'server', port: PORT + 1 }));
        await sim.sleep(1000);
        assert.deepEqual(told, ['first', 'second']);
        client.close();
        server.close();
      }));
  });

describe('what a worker is called', () => {
  it('is a name of 31 bytes at most, and a number of 64 bits', () =>
    simulate(async (sim) => {
      const { context } = sim.host('alone');
      for (const name of ['x'.repeat(32), 'é'.repeat(16), 7])
        // @ts-expect-error what JavaScript allows
        assert.throws(() => new UcpWorker(context, { name }), { errno: 'EINVAL' });
      for (const clientId of [-1n, 2n ** 64n, 7])
        // @ts-expect-error what JavaScript allows
        assert.throws(() => new UcpWorker(context, { clientId }), { errno: 'EINVAL' });
      const worker = new UcpWorker(context, { name: 'x'.repeat(31) });
      assert.equal(worker.query().name.length, 31);
      // @ts-expect-error what JavaScript allows
      await assert.rejects(worker.connect({ host: '10.0.0.1', port: 1, sendClientId: 1 }), { errno: 'EINVAL' });
      worker.close();
    }));
});
