import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { connect, type Connection, type Context, listen, SendFlags } from '../../../entry/index.js';
import { SimulatedCluster } from '../../../entry/sim.js';
import { ACTIVE, assertRejects, message, PASSIVE, PORT } from './support.js';

/** Two devices, and as many connections between them, the active ends first. */
async function connected(count: number): Promise<{
  readonly a: Context;
  readonly b: Context;
  readonly clients: readonly Connection[];
  readonly servers: readonly Connection[];
}> {
  const cluster = new SimulatedCluster({ seed: 1 });
  const [a, b] = [cluster.open(ACTIVE), cluster.open(PASSIVE)];
  using listener = listen({ port: PORT, context: b });
  const clients: Connection[] = [];
  const servers: Connection[] = [];
  for (let i = 0; i < count; i += 1) {
    const asking = connect({ host: PASSIVE, port: PORT, context: a });
    const prepare = (id: Connection['id']): void => id.postRecv(1, id.regMsgs(new Uint8Array(64)).sge());
    servers.push(await (await listener.next()).accept({ prepare }));
    clients.push(await asking);
  }
  return { a, b, clients, servers };
}

function send(connection: Connection): void {
  connection.postSend(1, message(connection.id, 'x').sge(0, 1), SendFlags.SIGNALED);
}

describe('connections of a device', () => {
  it('share one completion channel', async () => {
    const { a, clients } = await connected(3);
    const channels = clients.flatMap(({ sendCq, recvCq }) => [sendCq?.channel, recvCq?.channel]);
    assert.equal(new Set(channels).size, 1);
    assert.ok(channels[0]);
    for (const connection of clients) connection[Symbol.dispose]();
    a.close();
  });

  it('have queues for as many as there may be queue pairs', () => {
    const device = new SimulatedCluster({ seed: 1 }).open(ACTIVE);
    const { maxCq, maxQp } = device.queryDevice();
    assert.ok(maxCq >= 2 * maxQp);
    device.close();
  });

  it('hear of their own completions alone', async () => {
    const { clients, servers } = await connected(2);
    const ends: string[] = [];
    const waits = servers.map(async (server, i) => {
      await server.recvComp();
      ends.push(`server ${i}`);
    });
    send(clients[1]);
    await waits[1];
    await setImmediate();
    assert.deepEqual(ends, ['server 1']);
    send(clients[0]);
    await waits[0];
  });

  it('do not lose what comes while the thread is blocked for another', async () => {
    const { clients, servers } = await connected(2);
    const first = servers[0].recvComp();
    send(clients[0]);
    send(clients[1]);
    assert.equal(servers[1].getRecvComp().wrId, 1n);
    assert.equal((await first).wrId, 1n);
  });

  it('leave those who wait an error when their device closes', async () => {
    const { b, servers } = await connected(2);
    const waits = servers.map((server) => assertRejects('EINVAL', server.recvComp()));
    b.close();
    await Promise.all(waits);
  });

  it('can be waited for again in the turn in which a wait was given up', async () => {
    const { clients, servers } = await connected(1);
    const controller = new AbortController();
    const given = assert.rejects(servers[0].recvComp(controller.signal), { name: 'AbortError' });
    controller.abort();
    const again = servers[0].recvComp();
    // Whoever waits leaves the event loop to others.
    await new Promise((resolve) => setTimeout(resolve, 0));
    send(clients[0]);
    assert.equal((await again).wrId, 1n);
    await given;
  });

  it('can be ended at any moment while events of theirs are handed out', async () => {
    for (let ticks = 0; ticks < 12; ticks += 1) {
      const { clients, servers } = await connected(2);
      const waits = servers.map((server) => server.recvComp().catch(() => undefined));
      for (const client of clients) send(client);
      // Until then all of it has come, and nobody was told.
      for (const client of clients) client.getSendComp();
      for (let i = 0; i < ticks; i += 1) await Promise.resolve();
      for (const connection of [...servers, ...clients]) connection[Symbol.dispose]();
      await Promise.all(waits);
    }
  });
});
