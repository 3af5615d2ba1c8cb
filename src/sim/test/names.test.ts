import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { connect, listen, openDevice } from '../../entry/index.js';
import * as kv from '../../entry/kv.js';
import * as messages from '../../entry/messages.js';
import * as net from '../../entry/net.js';
import * as rsocket from '../../entry/rsocket.js';
import { type Sim, type SimHost, simulate } from '../../entry/sim.js';
import { UcpWorker } from '../../entry/ucp.js';
import * as xio from '../../entry/xio.js';

const PORT = 7300;
/** From the beginning of one attempt to connect again to that of the next. */
const LONGEST_PAUSE_US = 250_000;
/** A handshake on this network, and what a program does in between. */
const HANDSHAKE_US = 1000;

function hosts(sim: Sim): [SimHost, SimHost] {
  return [sim.host('server'), sim.host('client')];
}

async function serveSessions(): Promise<void> {
  const listener = await xio.listen({ port: PORT });
  for await (const session of listener) session.on('request', ({ body }) => ({ body }));
}

async function echo(session: xio.XioSession): Promise<string> {
  const { body } = await session.request('echo', 'hello', { idempotent: true });
  return new TextDecoder().decode(body);
}

describe('a session of verbena/xio', () => {
  const urls = {
    'the name of its server': () => `rdma://server:${PORT}`,
    'the address of its server': ({ address }: SimHost) => `rdma://${address}:${PORT}`,
  };
  for (const [how, url] of Object.entries(urls)) {
    it(`by ${how} goes on after a partition, soon after that has ended`, () =>
      simulate(async (sim) => {
        const [server, client] = hosts(sim);
        void server.run(serveSessions);
        const session = await client.run(() => xio.connect({ url: url(server), keepAliveMs: 1000 }));
        assert.equal(await echo(session), 'hello');
        const partedUs = sim.nowUs;
        sim.partition(server);
        sim.at(partedUs + 16_000_000, () => sim.heal());
        const reconnected = new Promise<number>((resolve) => session.on('reconnected', () => resolve(sim.nowUs)));
        const healedUs = partedUs + 16_000_000;
        assert.equal(await echo(session), 'hello');
        const tookUs = (await reconnected) - healedUs;
        assert.ok(tookUs <= LONGEST_PAUSE_US + HANDSHAKE_US, `${tookUs} µs after the end of the partition`);
        const reqs = sim.packets({ cm: 'REQ', where: ({ sentUs }) => sentUs > partedUs });
        for (const [i, { sentUs }] of reqs.entries())
          if (i > 0) assert.ok(sentUs - reqs[i - 1].sentUs <= LONGEST_PAUSE_US + HANDSHAKE_US, `REQ at ${sentUs} µs`);
        assert.ok(reqs.length > 30, `${reqs.length} REQs`);
      }));

    it(`by ${how} goes on when the server has crashed and is back`, () =>
      simulate(async (sim) => {
        const [server, client] = hosts(sim);
        void server.run(serveSessions);
        const session = await client.run(() => xio.connect({ url: url(server), keepAliveMs: 1000 }));
        assert.equal(await echo(session), 'hello');
        server.crash();
        const backUs = sim.nowUs + 16_000_000;
        sim.at(backUs, () => {
          server.restart();
          void server.run(serveSessions);
        });
        assert.equal(await echo(session), 'hello');
        assert.ok(sim.nowUs - backUs <= LONGEST_PAUSE_US + HANDSHAKE_US, `${sim.nowUs - backUs} µs later`);
      }));
  }

  it('whose answers take long is given the time to answer when it connects again', () =>
    simulate({ conditions: { delayUs: 300_000 } }, async (sim) => {
      const [server, client] = hosts(sim);
      void server.run(serveSessions);
      const session = await client.run(() => xio.connect(`rdma://server:${PORT}`));
      assert.equal(await echo(session), 'hello');
      sim.partition(server);
      sim.at(sim.nowUs + 12_000_000, () => sim.heal());
      assert.equal(await echo(session), 'hello');
    }));

  it('of a program on no host, by the device that it was given', () =>
    simulate(async (sim) => {
      const [server, client] = hosts(sim);
      void server.run(serveSessions);
      const session = await xio.connect({ url: `rdma://server:${PORT}`, context: client.context });
      assert.equal(await echo(session), 'hello');
      sim.partition(server);
      sim.at(sim.nowUs + 9_000_000, () => sim.heal());
      assert.equal(await echo(session), 'hello');
    }));
});

/** Connects to a server by name, and has called `lost` when that is gone. */
type Client = (name: string, lost: () => void) => Promise<unknown>;
type Serve = () => unknown;

const APIS: Readonly<Record<string, readonly [Serve, Client]>> = {
  verbs: [
    async () => {
      for await (const request of listen({ port: PORT })) await request.accept();
    },
    async (host, lost) => {
      const connection = await connect({ host, port: PORT });
      connection.postSend(0n, connection.regMsgs(new Uint8Array(8)).sge(), 2);
      void connection.sendComp().then(lost);
    },
  ],
  'verbena/net': [
    () => net.createServer((socket) => socket.resume()).listen(PORT),
    async (host, lost) => {
      const socket = net.connect(PORT, host);
      socket.on('error', () => undefined);
      socket.on('close', lost);
      await once(socket, 'connect');
      socket.write('x');
    },
  ],
  'verbena/rsocket': [
    () => rsocket.listenStreams({ port: PORT }),
    async (host, lost) => {
      const stream = await rsocket.connectStream({ host, port: PORT });
      const nothing = (): void => undefined;
      stream.events = { readable: nothing, writable: nothing, drained: nothing, closed: lost };
    },
  ],
  'verbena/messages': [
    () =>
      messages.listen({ port: PORT }).serve(async (connection) => {
        for await (const message of connection.messages()) await connection.send(message);
      }),
    async (host, lost) => {
      const connection = await messages.connect({ host, port: PORT, keepAliveMs: 1000 });
      void connection.closed.then(lost);
    },
  ],
  'verbena/kv': [
    () => kv.serve({ port: PORT }),
    async (host, lost) => {
      const client = await kv.connect({ host, port: PORT });
      void client.closed.then(lost);
      client.set('a', 'b').catch(() => undefined);
    },
  ],
  'verbena/xio': [
    serveSessions,
    async (host, lost) => {
      const session = await xio.connect({ url: `rdma://${host}:${PORT}`, reconnectMs: 0, keepAliveMs: 1000 });
      session.on('close', lost);
    },
  ],
  'verbena/ucp': [
    () => new UcpWorker(openDevice()).listen({ port: PORT }, () => undefined),
    async (host, lost) => {
      const worker = new UcpWorker(openDevice());
      const endpoint = await worker.connect({ host, port: PORT });
      endpoint.setErrorHandler(lost);
      endpoint.tagSend(new Uint8Array(8), 1n).catch(() => undefined);
    },
  ],
};

describe('names of hosts', () => {
  for (const [api, [serve, client]] of Object.entries(APIS))
    it(`lead to a host that was restarted, from a callback that says it was lost: ${api}`, () =>
      simulate(async (sim) => {
        const [server, here] = hosts(sim);
        void server.run(serve);
        const lost = here.run(
          () =>
            new Promise<() => Promise<unknown>>((resolve, reject) => {
              const again = (): void => {
                // Begun within the callback.
                const connecting = client('server', () => undefined);
                resolve(() => connecting);
              };
              client('server', again).then(() => {
                server.crash();
                server.restart();
                void server.run(serve);
              }, reject);
            }),
        );
        const connecting = await lost;
        await connecting();
      }));
});

describe('callbacks of a program', () => {
  it('run on the host of the program', () =>
    simulate(async (sim) => {
      const [server, client] = hosts(sim);
      const seen: string[] = [];
      const note = (): void => void seen.push(openDevice().address);
      await server.run(async () => {
        const listener = net.createServer((socket) => {
          note();
          socket.on('data', (data) => {
            note();
            socket.end(data);
          });
        });
        listener.listen(PORT);
        await once(listener, 'listening');
      });
      await client.run(async () => {
        const socket = net.connect(PORT, 'server');
        socket.on('connect', note);
        socket.end('hello');
        await once(socket.resume(), 'close');
      });
      assert.deepEqual(seen.sort(), [server.address, server.address, client.address].sort());
    }));
});
