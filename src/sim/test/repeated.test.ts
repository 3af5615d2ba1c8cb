import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Sim } from '../../entry/sim.js';
import { connect as connectKv, serve } from '../../protocols/kv/index.js';
import { connect, listen } from '../../protocols/messages/index.js';
import { UcpWorker } from '../../protocols/ucp/index.js';
import { connect as connectXio, listen as listenXio } from '../../protocols/xio/index.js';

type Program = (sim: Sim) => Promise<void>;

const PORT = 7174;
const hello = new TextEncoder().encode('hello');

/** A conversation of each protocol that makes up names and keys that nobody can guess. */
const PROGRAMS: Readonly<Record<string, Program>> = {
  'a message': async (sim) => {
    const [server, client] = [sim.host('server'), sim.host('client')];
    void server.run(() =>
      listen({ port: PORT }).serve(async (connection) => {
        for await (const message of connection.messages()) await connection.send(message);
      }),
    );
    await client.run(async () => {
      const connection = await connect({ host: 'server', port: PORT });
      await connection.send(hello);
      await connection.receive();
    });
  },
  'a call of the key-value store': async (sim) => {
    const [server, client] = [sim.host('server'), sim.host('client')];
    void server.run(() => serve({ port: PORT }));
    await client.run(async () => {
      const store = await connectKv({ host: 'server', port: PORT, transport: 'ud' });
      await store.set('key', hello);
    });
  },
  'a tag of UCP over ud': async (sim) => {
    const hosts = [sim.host('server'), sim.host('client')];
    const [a, b] = hosts.map(({ context }) => new UcpWorker(context, { transport: 'ud' }));
    const listener = a.listen({}, () => undefined);
    const endpoint = await b.connect(listener.address);
    await endpoint.tagSend(hello, 1n);
    await a.tagReceive(new Uint8Array(16), 1n);
  },
  'a request of xio': async (sim) => {
    const [server, client] = [sim.host('server'), sim.host('client')];
    void server.run(async () => {
      for await (const session of await listenXio({ port: PORT })) session.on('request', ({ body }) => ({ body }));
    });
    await client.run(async () => {
      const session = await connectXio(`rdma://server:${PORT}`);
      await session.request('', hello);
    });
  },
};

async function packetsOf(program: Program, seed: number): Promise<string[]> {
  const sim = new Sim({ seed });
  try {
    await sim.until(program(sim));
    return sim.packets().map(({ sentUs, text }) => `${sentUs} ${text}`);
  } finally {
    sim.close();
  }
}

for (const [what, program] of Object.entries(PROGRAMS)) {
  test(`${what} takes the same packets when its seed is played again, and others by another seed`, async () => {
    const first = await packetsOf(program, 7);
    assert.ok(first.length > 3);
    assert.deepEqual(await packetsOf(program, 7), first);
    assert.notDeepEqual(await packetsOf(program, 8), first);
  });
}
