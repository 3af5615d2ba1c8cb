import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket as NetSocket } from 'node:net';
import { describe, it } from 'node:test';
import tls from 'node:tls';
import { listening, NETS, placeOf } from './support/nets.js';
import { CERTIFICATE, KEY } from './support/certificate.js';

const BYTES = 3_000_000;
const VERSIONS = ['TLSv1.2', 'TLSv1.3'] as const;

/** What the `socket` of `node:tls` is: any Duplex, though its declarations say a socket of `node:net`. */
function asTlsTakes(socket: unknown): NetSocket {
  return socket as NetSocket;
}

function lengthOf(socket: tls.TLSSocket): Promise<number> {
  let bytes = 0;
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  return new Promise((resolve, reject) => {
    socket.on('end', () => resolve(bytes));
    socket.on('error', reject);
  });
}

for (const [where, net] of NETS)
  for (const version of VERSIONS) {
    /** Both ends of a connection of that version. */
    const pair = async () => {
      const server = await listening(net);
      const accepted = once(server, 'connection');
      const client = tls.connect({
        socket: asTlsTakes(net.connect(placeOf(server))),
        ca: CERTIFICATE,
        servername: 'localhost',
        minVersion: version,
        maxVersion: version,
      });
      const [socket] = (await accepted) as [unknown];
      const atServer = new tls.TLSSocket(asTlsTakes(socket), { isServer: true, key: KEY, cert: CERTIFICATE });
      await once(client, 'secureConnect');
      return { server, client, atServer };
    };

    describe(`${version} over ${where}`, () => {
      it('sends all that a server writes after its client has ended', async () => {
        const { server, client, atServer } = await pair();
        atServer.pipe(atServer);
        const echoed = lengthOf(client);
        client.end(Buffer.alloc(BYTES));
        assert.equal(await echoed, BYTES);
        await server[Symbol.asyncDispose]();
      });

      it('sends all that a client has written when its server ends first', async () => {
        const { server, client, atServer } = await pair();
        const received = lengthOf(atServer);
        client.resume().write(Buffer.alloc(BYTES));
        atServer.end('no more');
        assert.equal(await received, BYTES);
        await server[Symbol.asyncDispose]();
      });

      it('ends both ways when one end has nothing to write', async () => {
        const { server, client, atServer } = await pair();
        const closed = Promise.all([once(client, 'close'), once(atServer, 'close')]);
        atServer.resume();
        client.resume().end();
        assert.deepEqual(await closed, [[false], [false]]);
        await server[Symbol.asyncDispose]();
      });
    });
  }
