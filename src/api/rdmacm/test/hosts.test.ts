import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';
import {
  alloc,
  CmEventType,
  connect,
  type Connection,
  type Context,
  createEventChannel,
  createId,
  listen,
  openDevice,
  PortSpace,
  QpState,
  SendFlags,
  WcStatus,
} from '../../../entry/index.js';
import { loopback } from '../../../../test/support/loopback.js';
import { assertErrno, message, next, PORT, textOf } from './support.js';

for (const host of ['inline', 'thread'] as const) {
  describe(`${host} devices`, () => {
    let place = host === 'inline' ? 10 : 60;

    function open(): Context {
      place += 1;
      return openDevice({ host, address: loopback(place) });
    }

    it('are connected by channels that block', () => {
      using a = open();
      using b = open();
      const [active, passive] = [createEventChannel({ contexts: [a] }), createEventChannel({ contexts: [b] })];
      const listener = createId(passive, PortSpace.TCP);
      listener.bindAddr({ port: PORT });
      listener.listen();
      const id = createId(active, PortSpace.TCP);
      id.resolveAddr({ host: b.address, port: PORT });
      next(active, CmEventType.ADDR_RESOLVED);
      id.resolveRoute();
      next(active, CmEventType.ROUTE_RESOLVED);
      id.createQp();
      id.connect({ privateData: Buffer.from('hello') });
      const request = next(passive, CmEventType.CONNECT_REQUEST);
      assert.equal(textOf(request.param.conn?.privateData), 'hello');
      request.id.createQp();
      const room = message(request.id, '');
      request.id.postRecv(1, room.sge());
      request.id.accept();
      next(active, CmEventType.ESTABLISHED);
      next(passive, CmEventType.ESTABLISHED);
      id.postSend(1, message(id, 'over the wire').sge(0, 13), SendFlags.SIGNALED);
      assert.equal(id.getSendComp().status, WcStatus.SUCCESS);
      assert.equal(request.id.getRecvComp().byteLen, 13);
      assert.equal(textOf(room.bytes), 'over the wire');
      id.disconnect();
      next(passive, CmEventType.DISCONNECTED);
      request.id.disconnect();
      next(active, CmEventType.DISCONNECTED);
      for (const end of [id, request.id, listener]) end.destroyEp();
      active.destroy();
      passive.destroy();
    });

    it('report to one channel that blocks', () => {
      using a = open();
      using b = open();
      const channel = createEventChannel({ contexts: [a, b] });
      const listener = createId(channel, PortSpace.TCP);
      listener.bindAddr({ host: b.address, port: PORT });
      listener.listen();
      const id = createId(channel, PortSpace.TCP);
      id.bindAddr({ host: a.address });
      id.resolveAddr({ host: b.address, port: PORT });
      next(channel, CmEventType.ADDR_RESOLVED);
      id.resolveRoute();
      next(channel, CmEventType.ROUTE_RESOLVED);
      id.createQp();
      id.connect();
      const request = next(channel, CmEventType.CONNECT_REQUEST);
      request.id.createQp();
      request.id.accept();
      next(channel, CmEventType.ESTABLISHED);
      next(channel, CmEventType.ESTABLISHED);
    });

    it('wait no longer than they are told', () => {
      using a = open();
      const channel = createEventChannel({ contexts: [a] });
      const id = createId(channel, PortSpace.TCP);
      id.listen();
      assertErrno('ETIMEDOUT', () => channel.getCmEvent(5));
    });

    it('are connected in the event loop', async () => {
      using a = open();
      using b = open();
      await using listener = listen({ port: PORT, context: b });
      const [client, server] = await Promise.all([
        connect({ host: b.address, port: PORT, context: a, timeoutMs: Infinity }),
        listener.next().then((request) => request.accept()),
      ]);
      const room = server.regMsgs(alloc(64));
      server.postRecv(1, room.sge());
      client.postSend(2, message(client.id, 'hello').sge(0, 5), SendFlags.SIGNALED);
      assert.equal((await client.sendComp()).status, WcStatus.SUCCESS);
      assert.equal((await server.recvComp()).byteLen, 5);
      assert.equal(textOf(room.bytes), 'hello');
      await client.close();
      await server.closed;
      assert.equal(server.qp.state, QpState.ERR);
      await server.close();
    });

    it('carry many connections at a time', async () => {
      using a = open();
      using b = open();
      await using listener = listen({ port: PORT, context: b });
      const count = 20;
      const serve = async (): Promise<Connection[]> => {
        const servers: Connection[] = [];
        while (servers.length < count) servers.push(await (await listener.next()).accept());
        return servers;
      };
      const clients = Promise.all(
        Array.from({ length: count }, () => connect({ host: b.address, port: PORT, context: a, timeoutMs: Infinity })),
      );
      const all = (await Promise.all([clients, serve()])).flat();
      assert.equal(new Set(all.map(({ qp }) => `${qp.context.address} ${qp.qpNum}`)).size, 2 * count);
      await Promise.all(all.map((connection) => connection.close()));
    });
  });
}

describe('threads with a device each', () => {
  it('are connected by calls that wait', async () => {
    const workerData = { address: loopback(120), port: PORT };
    const worker = new Worker(new URL('./server-worker.js', import.meta.url), { workerData });
    const ended = once(worker, 'exit');
    const messages: unknown[] = [];
    worker.on('message', (text) => messages.push(text));
    await once(worker, 'message');
    using context = openDevice({ host: 'thread', address: loopback(121) });
    const id = createId(undefined, PortSpace.TCP, { contexts: [context] });
    id.resolveAddr({ host: workerData.address, port: PORT });
    id.resolveRoute();
    id.createQp();
    const room = message(id, '');
    id.postRecv(1, room.sge());
    id.connect();
    assert.equal(id.event?.event, CmEventType.ESTABLISHED);
    id.postSend(2, message(id, 'ping').sge(0, 4), SendFlags.SIGNALED);
    assert.equal(id.getSendComp().status, WcStatus.SUCCESS);
    assert.equal(id.getRecvComp().byteLen, 4);
    assert.equal(textOf(room.bytes), 'pong');
    id.disconnect();
    assert.equal(id.event.event, CmEventType.DISCONNECTED);
    id.destroyEp();
    await ended;
    assert.deepEqual(messages, ['ready', 'ping']);
  });
});
