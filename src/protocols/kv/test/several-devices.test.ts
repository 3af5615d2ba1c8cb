import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Context, openDevice } from '../../../entry/index.js';
import { connect, type KvClient, type KvServer, serve, type TransportName } from '../index.js';

const LONG = new Uint8Array(200_000).map((_, i) => (i * 7) & 0xff);

/** A server at the wildcard address of two devices, and a client by each of them. */
async function served(
  transport: TransportName,
  oneSided: boolean,
  use: (clients: readonly [KvClient, KvClient], server: KvServer, devices: readonly Context[]) => Promise<void>,
): Promise<void> {
  const devices = Array.from({ length: 2 }, () => openDevice({ host: 'inline' }));
  using own = openDevice({ host: 'inline' });
  const server = serve({ host: '0.0.0.0', oneSided });
  const { port } = server.address;
  const by = ({ address: host }: Context): Promise<KvClient> =>
    connect({ host, port, context: own, transport, oneSided });
  try {
    const clients = [await by(devices[0]), await by(devices[1])] as const;
    await use(clients, server, devices);
    for (const client of clients) client.close();
    await Promise.all(clients.map(({ closed }) => closed));
  } finally {
    server.close();
    await server.closed;
    for (const device of devices) device.close();
  }
}

describe('a server that clients reach by several devices', () => {
  for (const transport of ['rc', 'uc', 'ud'] as const)
    it(`moves long values by the device of each client, by ${transport}`, () =>
      served(transport, false, async (clients, server) => {
        for (const key of ['a', 'b', 'c'])
          for (const client of clients) {
            await client.set(key, LONG);
            assert.deepEqual(await client.get(key), LONG);
          }
        assert.equal(server.statistics.brokenTransfers, 0);
        for (const { statistics } of clients) assert.equal(statistics.resumptions, 0);
      }));

  it('has clients of each device read its memory', () =>
    served('rc', true, async (clients, server) => {
      await clients[0].set('a', 'one');
      for (const client of [...clients, ...clients])
        assert.deepEqual(await client.get('a'), new TextEncoder().encode('one'));
      assert.equal(server.statistics.readers, 2);
      for (const { statistics } of clients) assert.ok((statistics.oneSided?.hits ?? 0) > 0, 'it reads by itself');
    }));
});
