import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import {
  AccessFlags,
  alloc,
  createEventChannel,
  createId,
  CmEventType,
  type Cq,
  listen,
  PortSpace,
  QpState,
  QpType,
  SendFlags,
  WcStatus,
  WrOpcode,
} from '../../entry/index.js';
import * as kv from '../../entry/kv.js';
import * as messages from '../../entry/messages.js';
import * as net from '../../entry/net.js';
import * as rsocket from '../../entry/rsocket.js';
import { type Sim, type SimHost, simulate } from '../../entry/sim.js';
import { UcpWorker } from '../../entry/ucp.js';
import * as xio from '../../entry/xio.js';

const PORT = 7174;
const ECHOES = 200;
/** A loop of microtasks alone keeps the server from the event loop, which it needs after some. */
const FEW_ECHOES = 50;
/** Few where each takes several packets. */
const CONNECTIONS = 50;

type RoundTrip = () => Promise<unknown>;

/** Carries out round trips, and asserts that in each a packet was under way at every moment. */
async function assertNeverIdle(sim: Sim, roundTrip: RoundTrip, count = ECHOES): Promise<void> {
  const trips: { readonly startUs: number; readonly endUs: number }[] = [];
  for (let i = 0; i < count; i += 1) {
    const startUs = sim.nowUs;
    await roundTrip();
    trips.push({ startUs, endUs: sim.nowUs });
  }
  const flights = sim.packets().sort((a, b) => a.sentUs - b.sentUs);
  let next = 0;
  let coveredUs = 0;
  for (const [i, { startUs, endUs }] of trips.entries()) {
    coveredUs = Math.max(coveredUs, startUs);
    for (; next < flights.length && flights[next].sentUs <= coveredUs; next += 1)
      coveredUs = Math.max(coveredUs, ...flights[next].deliveredUs);
    assert.ok(coveredUs >= endUs, `round trip ${i}, ${startUs} to ${endUs} µs: no packet after ${coveredUs} µs`);
    assert.ok(endUs > startUs, `round trip ${i} took no time`);
  }
}

function hosts(sim: Sim): [SimHost, SimHost] {
  return [sim.host('server'), sim.host('client')];
}

describe('a program that awaits, in a simulation', () => {
  it('has completions when their packets arrive: recvComp and sendComp', () =>
    simulate(async (sim) => {
      const [server, client] = hosts(sim);
      const serve = async (): Promise<void> => {
        const request = await listen({ port: PORT }).next();
        const connection = await request.accept({ prepare: (id) => id.postRecv(0n, id.regMsgs(alloc(64)).sge()) });
        const mr = connection.regMsgs(alloc(64));
        for (;;) {
          await connection.recvComp();
          connection.postRecv(0n, mr.sge());
          connection.postSend(0n, mr.sge(0, 5), SendFlags.SIGNALED);
          await connection.sendComp();
        }
      };
      void server.run(serve);
      const connection = await client.connect({ host: 'server', port: PORT });
      const mr = connection.regMsgs(alloc(64));
      await assertNeverIdle(sim, async () => {
        connection.postRecv(0n, mr.sge());
        connection.postSend(0n, mr.sge(0, 5), SendFlags.SIGNALED);
        await connection.sendComp();
        await connection.recvComp();
      });
    }));

  it('has the completions of a server that only receives, and of a client that only sends', () =>
    simulate(async (sim) => {
      const [server, client] = hosts(sim);
      const serve = async (): Promise<void> => {
        const request = await listen({ port: PORT }).next();
        const connection = await request.accept({ prepare: (id) => id.postRecv(0n, id.regMsgs(alloc(64)).sge()) });
        const mr = connection.regMsgs(alloc(64));
        for (;;) {
          await connection.recvComp();
          connection.postRecv(0n, mr.sge());
        }
      };
      void server.run(serve);
      const connection = await client.connect({ host: 'server', port: PORT, rnrRetryCount: 7 });
      const mr = connection.regMsgs(alloc(64));
      await assertNeverIdle(sim, async () => {
        connection.postSend(0n, mr.sge(0, 5), SendFlags.SIGNALED);
        assert.equal((await connection.sendComp()).status, WcStatus.SUCCESS);
      });
    }));

  it('has them through layers of promises, Promise.all and Promise.race', () =>
    simulate(async (sim) => {
      const [server, client] = hosts(sim);
      const deep = async <T>(promise: Promise<T>, layers: number): Promise<T> =>
        layers === 0 ? await promise : await deep(promise, layers - 1);
      const never = new Promise<never>(() => undefined);
      const serve = async (): Promise<void> => {
        const request = await listen({ port: PORT }).next();
        const connection = await request.accept({ prepare: (id) => id.postRecv(0n, id.regMsgs(alloc(64)).sge()) });
        const mr = connection.regMsgs(alloc(64));
        for (;;) {
          await deep(Promise.race([never, connection.recvComp()]), 20);
          connection.postRecv(0n, mr.sge());
          connection.postSend(0n, mr.sge(0, 5), SendFlags.SIGNALED);
          await deep(connection.sendComp(), 20);
        }
      };
      void server.run(serve);
      const connection = await client.connect({ host: 'server', port: PORT });
      const mr = connection.regMsgs(alloc(64));
      await assertNeverIdle(sim, async () => {
        connection.postRecv(0n, mr.sge());
        connection.postSend(0n, mr.sge(0, 5), SendFlags.SIGNALED);
        await deep(Promise.all([connection.sendComp(), connection.recvComp()]), 20);
      });
    }));

  it('has the events of completion channels, polling in the manner of verbs.h', () =>
    simulate(async (sim) => {
      const ends = hosts(sim).map((host) => datagramEnd(host));
      const [a, b] = ends;
      for (const [end, peer, echoes] of [
        [a, b, true],
        [b, a, false],
      ] as const) {
        const ah = end.pd.createAh({ grh: { dgid: peer.host.context.queryGid(1, 0) } });
        const send = (): void =>
          end.qp.postSend({
            opcode: WrOpcode.SEND,
            sendFlags: SendFlags.SIGNALED,
            sgList: [end.mr.sge(64, 8)],
            ud: { ah, remoteQpn: peer.qp.qpNum, remoteQkey: QKEY },
          });
        end.send = send;
        const follow = async (): Promise<void> => {
          end.cq.reqNotify();
          for await (const cq of end.channel) {
            cq.ackEvents();
            const drain = (): void => {
              for (let all = cq.poll(4); all.length > 0; all = cq.poll(4))
                for (const { opcode } of all) {
                  if (opcode !== RECV) continue;
                  end.qp.postRecv({ sgList: [end.mr.sge(0, 64)] });
                  if (echoes) send();
                  else end.arrived();
                }
            };
            drain();
            cq.reqNotify();
            drain();
          }
        };
        void follow();
      }
      await assertNeverIdle(sim, () => {
        const arrived = new Promise<void>((resolve) => (b.arrived = resolve));
        b.send();
        return arrived;
      });
    }));

  it('finds completions by polling now and then, at no other time than it sleeps until', () =>
    simulate(async (sim) => {
      const ends = hosts(sim).map((host) => datagramEnd(host));
      const [a, b] = ends;
      const ah = a.pd.createAh({ grh: { dgid: b.host.context.queryGid(1, 0) } });
      // Something that is due long after.
      sim.at(60_000_000, () => undefined);
      for (let i = 0; i < 100; i += 1) {
        const startUs = sim.nowUs;
        a.qp.postSend({
          opcode: WrOpcode.SEND,
          sendFlags: SendFlags.SIGNALED,
          sgList: [a.mr.sge(64, 8)],
          ud: { ah, remoteQpn: b.qp.qpNum, remoteQkey: QKEY },
        });
        while (b.cq.poll(1).length === 0) await sim.sleep(1);
        assert.equal(sim.nowUs - startUs, 5);
        b.qp.postRecv({ sgList: [b.mr.sge(0, 64)] });
        while (a.cq.poll(1).length > 0);
      }
    }));

  it('has what others find by polling without a pause', () =>
    simulate(async (sim) => {
      const [server, client] = hosts(sim);
      const serve = async (): Promise<void> => {
        const request = await listen({ port: PORT }).next();
        const connection = await request.accept({ prepare: (id) => id.postRecv(0n, id.regMsgs(alloc(64)).sge()) });
        const mr = connection.regMsgs(alloc(64));
        for (;;) {
          await connection.recvComp();
          for (let layer = 0; layer < 20; layer += 1) await Promise.resolve();
          connection.postRecv(0n, mr.sge());
          connection.postSend(0n, mr.sge(0, 5));
        }
      };
      void server.run(serve);
      const connection = await client.connect({ host: 'server', port: PORT });
      const mr = connection.regMsgs(alloc(64));
      const { recvCq } = connection.qp;
      await assertNeverIdle(
        sim,
        async () => {
          connection.postRecv(0n, mr.sge());
          connection.postSend(0n, mr.sge(0, 5));
          while (recvCq.poll(1).length === 0) await Promise.resolve();
        },
        FEW_ECHOES,
      );
    }));

  it('has the events of rdma_cm', () =>
    simulate(async (sim) => {
      const [server, client] = hosts(sim);
      const serve = async (): Promise<void> => {
        const channel = createEventChannel();
        const listener = createId(channel, PortSpace.TCP);
        listener.bindAddr({ host: server.address, port: PORT });
        listener.listen(16);
        for await (const event of channel) {
          event.ack();
          if (event.event === CmEventType.CONNECT_REQUEST) {
            event.id.createQp();
            event.id.accept();
          } else if (event.event === CmEventType.DISCONNECTED) event.id.disconnect();
        }
      };
      void server.run(serve);
      await assertNeverIdle(
        sim,
        () =>
          client.run(async () => {
            const channel = createEventChannel();
            const events = channel[Symbol.asyncIterator]();
            const id = createId(channel, PortSpace.TCP);
            const expect = async (wanted: CmEventType): Promise<void> => {
              const next = await events.next();
              if (next.done === true) throw new Error('the channel was ended');
              assert.equal(next.value.event, wanted);
              next.value.ack();
            };
            id.resolveAddr({ host: server.address, port: PORT });
            await expect(CmEventType.ADDR_RESOLVED);
            id.resolveRoute();
            await expect(CmEventType.ROUTE_RESOLVED);
            id.createQp();
            id.connect();
            await expect(CmEventType.ESTABLISHED);
            id.disconnect();
            await expect(CmEventType.DISCONNECTED);
          }),
        CONNECTIONS,
      );
    }));

  it('has connections, and their ends, when their messages arrive', () =>
    simulate(async (sim) => {
      const [server, client] = hosts(sim);
      void server.run(async () => {
        for await (const request of listen({ port: PORT })) await request.accept();
      });
      await assertNeverIdle(
        sim,
        async () => {
          await using connection = await client.connect({ host: 'server', port: PORT });
          assert.ok(connection.qp.qpNum > 0);
        },
        CONNECTIONS,
      );
    }));

  it('has messages', () =>
    simulate(async (sim) => {
      const [server, client] = hosts(sim);
      void server.run(async () => {
        await messages.listen({ port: PORT }).serve(async (connection) => {
          for await (const message of connection.messages()) await connection.send(message);
        });
      });
      const connection = await client.run(() => messages.connect({ host: 'server', port: PORT }));
      await assertNeverIdle(sim, async () => {
        await connection.send(new Uint8Array(100));
        await connection.receive();
      });
    }));

  it('has the bytes of streams of rsockets', () =>
    simulate(async (sim) => {
      const [server, client] = hosts(sim);
      void server.run(async () => {
        const socket = rsocket.rsocket(rsocket.AddressFamily.INET, rsocket.SocketType.STREAM);
        rsocket.rbind(socket, { port: PORT });
        rsocket.rlisten(socket, 4);
        const accepted = await rsocket.raccept(socket);
        const bytes = new Uint8Array(100);
        for (;;) {
          const length = await rsocket.rrecv(accepted, bytes);
          await rsocket.rsend(accepted, bytes.subarray(0, length));
        }
      });
      await client.run(async () => {
        const socket = rsocket.rsocket(rsocket.AddressFamily.INET, rsocket.SocketType.STREAM);
        await rsocket.rconnect(socket, { host: server.address, port: PORT });
        await assertNeverIdle(sim, async () => {
          await rsocket.rsend(socket, new Uint8Array(100));
          await rsocket.rrecv(socket, new Uint8Array(100));
        });
      });
    }));

  it("has the data of Node's streams, by events, async iterators and pipes", () =>
    simulate(async (sim) => {
      const [server, client] = hosts(sim);
      const listener = net.createServer((socket) => socket.pipe(socket));
      listener.listen({ port: PORT, context: server.context });
      await once(listener, 'listening');
      const socket = await client.run(() => net.connect(PORT, 'server'));
      await once(socket, 'connect');
      await assertNeverIdle(sim, async () => {
        socket.write(Buffer.alloc(100));
        await once(socket, 'data');
      });
      const chunks = socket[Symbol.asyncIterator]();
      await assertNeverIdle(sim, async () => {
        socket.write(Buffer.alloc(100));
        await chunks.next();
      });
      socket.destroy();
    }));

  it('has the values of a store', () =>
    simulate(async (sim) => {
      const [server, client] = hosts(sim);
      await server.run(() => kv.serve({ port: PORT }));
      const store = await client.run(() => kv.connect({ host: 'server', port: PORT }));
      await assertNeverIdle(sim, () => store.set('key', 'value'));
      await assertNeverIdle(sim, () => store.get('key'));
    }));

  it('has the answers of sessions', () =>
    simulate(async (sim) => {
      const [server, client] = hosts(sim);
      void server.run(async () => {
        const listener = await xio.listen({ port: PORT });
        for await (const session of listener) session.on('request', ({ body }) => ({ body }));
      });
      const session = await client.run(() => xio.connect(`rdma://server:${PORT}`));
      await assertNeverIdle(sim, () => session.request('echo', 'hello'));
    }));

  it('has the messages of UCP, by tags and by streams', () =>
    simulate(async (sim) => {
      const [server, client] = hosts(sim);
      const [at, from] = [new UcpWorker(server.context), new UcpWorker(client.context)];
      const buffer = new Uint8Array(100);
      at.listen({ port: PORT }, (endpoint) => {
        const echo = async (): Promise<void> => {
          for (;;) {
            await at.tagReceive(buffer, 7n);
            await endpoint.tagSend(buffer, 8n);
          }
        };
        void echo();
      });
      const endpoint = await from.connect({ host: 'server', port: PORT });
      const answer = new Uint8Array(100);
      await assertNeverIdle(sim, async () => {
        await endpoint.tagSend(answer, 7n);
        await from.tagReceive(answer, 8n);
      });
    }));

  it('has what an action at a time, or at a packet, resolves', () =>
    simulate(async (sim) => {
      const [server, client] = hosts(sim);
      void server.run(async () => {
        for await (const request of listen({ port: PORT })) await request.accept();
      });
      for (let us = 0; us < 100_000; us += 10) sim.at(us, () => undefined);
      const at = new Promise<number>((resolve) => sim.at(1000, () => resolve(sim.nowUs)));
      await at;
      assert.equal(sim.nowUs, 1000);
      const asked = new Promise<void>((resolve) => void sim.when({ cm: 'REQ', nth: 1 }, () => resolve()));
      const connecting = client.connect({ host: 'server', port: PORT });
      await asked;
      const [req] = sim.packets({ cm: 'REQ' });
      assert.equal(sim.nowUs, req.sentUs);
      await connecting;
    }));

  it('goes through the event loop without time passing', () =>
    simulate(async (sim) => {
      for (let us = 0; us < 100_000; us += 10) sim.at(us, () => undefined);
      await sim.sleep(1000);
      await new Promise((resolve) => setImmediate(resolve));
      await new Promise((resolve) => setImmediate(resolve));
      assert.equal(sim.nowUs, 1000);
    }));
});

const QKEY = 0x11111111;
const RECV = 128;

interface DatagramEnd extends ReturnType<typeof datagramParts> {
  send: () => void;
  arrived: () => void;
}

function datagramEnd(host: SimHost): DatagramEnd {
  return { ...datagramParts(host), send: () => undefined, arrived: () => undefined };
}

function datagramParts(host: SimHost) {
  const { context } = host;
  const channel = context.createCompChannel();
  const pd = context.allocPd();
  const cq: Cq = context.createCq({ cqe: 16, channel });
  const cap = { maxSendWr: 4, maxRecvWr: 4, maxSendSge: 1, maxRecvSge: 1 };
  const qp = pd.createQp({ qpType: QpType.UD, sendCq: cq, recvCq: cq, cap });
  const mr = pd.regMr(alloc(128), AccessFlags.LOCAL_WRITE);
  qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qkey: QKEY });
  qp.modify({ qpState: QpState.RTR });
  qp.modify({ qpState: QpState.RTS, sqPsn: 0 });
  for (let i = 0; i < 2; i += 1) qp.postRecv({ sgList: [mr.sge(0, 64)] });
  return { host, channel, pd, cq, qp, mr };
}
