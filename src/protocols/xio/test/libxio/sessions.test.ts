import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import {
  xioAccept,
  xioBind,
  xioConnect,
  xioConnectionDestroy,
  xioContextCreate,
  xioContextDestroy,
  xioContextRunLoop,
  xioContextStopLoop,
  xioDisconnect,
  type XioMsg,
  xioRedirect,
  xioReject,
  xioReleaseMsg,
  xioReleaseResponse,
  xioSendMsg,
  xioSendRequest,
  xioSendResponse,
  xioSessionCreate,
  xioSessionDestroy,
  xioSessionEventStr,
  type XioSessionOps,
  XioStatus,
  xioStrerror,
  xioUnbind,
} from '../../../../entry/xio.js';
import { runtime } from '../../../../api/runtime/index.js';
import { type Net, NETS } from '../support/nets.js';
import { End, headerOf, text } from './support.js';

const STATE = { code: 'XIO_E_STATE' };

for (const [name, play] of Object.entries(NETS)) {
  const test = (title: string, scene: (net: Net) => Promise<void>): void => void it(title, () => play(scene));

  describe(`sessions in the names of libxio.h over ${name}`, () => {
    test('have their events in order, and private data both ways', async (net) => {
      const heard: string[] = [];
      const from: string[] = [];
      const server = new End(net, net.server, {
        onNewSession: (session, { resource, privateData, proto, srcAddr }) => {
          heard.push(`${resource} ${new TextDecoder().decode(privateData)}`);
          from.push(`${proto} ${srcAddr?.host}`);
          xioAccept(session, [], 'of the server');
        },
      });
      const client = new End(net, net.client, {
        onSessionEstablished: (_, { privateData }) => void heard.push(new TextDecoder().decode(privateData)),
      });
      await server.bind();
      const { conn } = client.connect(net.urlOf(net.server, undefined, '/there'), { privateData: 'of the client' });
      await net.until(client.has('CONNECTION_ESTABLISHED'));
      xioDisconnect(conn);
      assert.throws(() => xioDisconnect(conn), STATE);
      assert.throws(() => xioSendMsg(conn, {}), { code: 'XIO_E_SESSION_CLOSED' });
      await net.until(client.has('TEARDOWN'));
      await net.until(server.has('TEARDOWN'));
      assert.match(from.join(), /^(rdma|tcp) [\d.]+$/);
      const end = ['CONNECTION_ESTABLISHED', 'CONNECTION_CLOSED', 'CONNECTION_TEARDOWN', 'TEARDOWN'];
      assert.deepEqual(client.told, end);
      assert.deepEqual(server.told, ['NEW_CONNECTION', ...end]);
      assert.deepEqual(heard, ['there of the client', 'of the server']);
    });

    test('are rejected with words, redirected, or refused where nobody listens', async (net) => {
      const third = net.sim.host('third');
      const rejecting = new End(net, net.server, {
        onNewSession: (session) => xioReject(session, XioStatus.XIO_E_NO_USER_BUFS, Uint8Array.of(0, 255)),
      });
      const server = await rejecting.bind();
      const client = new End(net, net.client);
      client.connect();
      await net.until(client.has('TEARDOWN'));
      await net.until(rejecting.has('TEARDOWN'));
      assert.deepEqual(client.told.splice(0), ['REJECT', 'CONNECTION_TEARDOWN', 'TEARDOWN']);
      const [rejection] = client.events;
      assert.equal(rejection.reason, XioStatus.XIO_E_NO_USER_BUFS);
      assert.deepEqual(rejection.privateData, Uint8Array.of(0, 255));
      assert.match(rejection.message, /no user bufs/);
      assert.deepEqual(rejecting.told, ['TEARDOWN']);
      xioUnbind(server);
      assert.throws(() => xioUnbind(server), STATE);
      client.connect();
      await net.until(client.has('TEARDOWN'));
      assert.deepEqual(client.told.splice(0), ['CONNECTION_REFUSED', 'CONNECTION_TEARDOWN', 'TEARDOWN']);
      const sending = new End(net, net.server, {
        onNewSession: (session) => xioRedirect(session, [net.urlOf(third)]),
      });
      await sending.bind();
      const taking = new End(net, third, { onNewSession: (session) => xioAccept(session) });
      await xioBind(taking.ctx, taking.ops, net.urlOf(third));
      client.connect();
      await net.until(client.has('CONNECTION_ESTABLISHED'));
      await net.until(taking.has('CONNECTION_ESTABLISHED'));
      assert.deepEqual(sending.told, ['TEARDOWN']);
    });

    test('are sent on by servers that have accepted them, with requests under way', async (net) => {
      const third = net.sim.host('third');
      const first = new End(net, net.server, { onNewSession: (session) => xioAccept(session) });
      await first.bind();
      const second = new End(net, third, {
        onNewSession: (session) => xioAccept(session),
        onMsg: (_, request) => xioSendResponse({ request, out: { header: 'second' } }),
      });
      await xioBind(second.ctx, second.ops, net.urlOf(third));
      const client = new End(net, net.client);
      const { conn } = client.connect();
      xioSendRequest(conn, { userContext: 'before' });
      await net.until(() => first.got.length === 1);
      const session = first.conn?.session;
      assert.ok(session !== undefined);
      xioRedirect(session, [net.urlOf(third)]);
      assert.throws(() => xioRedirect(session, [net.urlOf(third)]), STATE);
      assert.throws(() => xioAccept(session), STATE);
      await net.sim.sleep(1000);
      xioSendRequest(conn, { userContext: 'after' });
      await net.sim.sleep(1000);
      assert.equal(client.got.length, 0);
      xioSendResponse({ request: first.got[0], out: { header: 'first' } });
      await net.until(() => client.got.length === 2);
      assert.deepEqual(client.got.map(headerOf), ['first', 'second']);
      await net.until(first.has('TEARDOWN'));
      const closed = ['CONNECTION_CLOSED', 'CONNECTION_TEARDOWN', 'TEARDOWN'];
      assert.deepEqual(first.told.slice(-3), closed);
      assert.deepEqual(client.told, ['CONNECTION_ESTABLISHED', 'CONNECTION_RECONNECTING', 'CONNECTION_RECONNECTED']);
      assert.equal(client.events[1].reason, XioStatus.XIO_E_SESSION_REDIRECTED);
    });

    test('go on when their connection is lost, and say so', async (net) => {
      const server = new End(net, net.server, {
        onNewSession: (session) => xioAccept(session),
        onMsg: (_, request) => xioSendResponse({ request }),
      });
      await server.bind();
      const client = new End(net, net.client);
      const { conn } = client.connect();
      await net.until(client.has('CONNECTION_ESTABLISHED'));
      net.cut();
      xioSendRequest(conn, {});
      await net.until(() => client.got.length === 1);
      const lost = ['CONNECTION_ESTABLISHED', 'CONNECTION_RECONNECTING', 'CONNECTION_RECONNECTED'];
      assert.deepEqual(client.told, lost);
      assert.equal(client.events[1].reason, XioStatus.XIO_E_SESSION_DISCONNECTED);
    });

    test('that are lost fail what is on its way before they are torn down', async (net) => {
      const server = new End(net, net.server, { onNewSession: (session) => xioAccept(session) });
      await server.bind();
      const client = new End(net, net.client, {}, { reconnectMs: 0 });
      const { conn } = client.connect();
      xioSendRequest(conn, { userContext: 'it' });
      await net.until(() => server.got.length === 1);
      net.cut();
      await net.until(client.has('TEARDOWN'));
      const [, disconnected, , ...rest] = client.told;
      const failed = client.told.find((line) => line.startsWith('error')) ?? '';
      assert.match(failed, / 0 it$/);
      assert.ok(client.told.indexOf(failed) < client.told.indexOf('CONNECTION_TEARDOWN'));
      assert.ok([disconnected, client.told[2]].includes('CONNECTION_DISCONNECTED'), client.told.join());
      assert.deepEqual(rest, ['CONNECTION_TEARDOWN', 'TEARDOWN']);
    });

    test('have further links, that go to portals', async (net) => {
      const portal = net.sim.host('portal');
      const asked: string[] = [];
      const serve = async (end: End, host: Net['server'], portals: string[]): Promise<void> => {
        const onNewSession: XioSessionOps['onNewSession'] = (session) => xioAccept(session, portals);
        const onMsg: XioSessionOps['onMsg'] = (_, request) => {
          asked.push(host.name);
          xioSendResponse({ request });
        };
        await xioBind(end.ctx, { ...end.ops, onNewSession, onMsg }, net.urlOf(host));
      };
      const further = new End(net, portal);
      await serve(further, portal, []);
      await serve(new End(net, net.server), net.server, [net.urlOf(portal)]);
      const client = new End(net, net.client);
      const { conn } = client.connect(undefined, { connections: 2 });
      await net.until(further.has('CONNECTION_ESTABLISHED'));
      await net.sim.sleep(10_000);
      for (let i = 0; i < 4; i += 1) xioSendRequest(conn, {});
      await net.until(() => client.got.length === 4);
      assert.deepEqual(asked.sort(), ['portal', 'portal', 'server', 'server']);
      xioDisconnect(conn);
      await net.until(client.has('TEARDOWN'));
      await net.until(further.has('TEARDOWN'));
    });

    test('are disconnected before there is a connection, with what waits for it', async (net) => {
      const client = new End(net, net.client);
      const { conn } = client.connect();
      xioSendRequest(conn, { userContext: 'it' });
      xioDisconnect(conn);
      await net.until(client.has('TEARDOWN'));
      const error = `error ${XioStatus.XIO_E_MSG_FLUSHED} 0 it`;
      assert.deepEqual(client.told, ['CONNECTION_CLOSED', error, 'CONNECTION_TEARDOWN', 'TEARDOWN']);
    });
  });
}

describe('sessions in the names of libxio.h', () => {
  const test = (title: string, scene: (net: Net) => Promise<void>): void => void it(title, () => NETS.rdma(scene));

  test('and what belongs to them are destroyed when they are torn down, once', async (net) => {
    const server = new End(net, net.server, { onNewSession: (session) => xioAccept(session) });
    await server.bind();
    const client = new End(net, net.client);
    client.isTidy = false;
    const { session, conn } = client.connect();
    for (const when of ['CONNECTION_ESTABLISHED', 'CONNECTION_TEARDOWN']) {
      assert.throws(() => xioSessionDestroy(session), STATE);
      assert.throws(() => xioConnectionDestroy(conn), STATE);
      assert.throws(() => xioContextDestroy(client.ctx), STATE);
      await net.until(client.has(when));
      if (when === 'CONNECTION_ESTABLISHED') xioDisconnect(conn);
    }
    // The session waits for its connection.
    await net.sim.sleep(10_000);
    assert.equal(client.has('TEARDOWN')(), false);
    assert.throws(() => xioSessionDestroy(session), STATE);
    assert.throws(() => xioDisconnect(conn), STATE);
    xioConnectionDestroy(conn);
    assert.throws(() => xioConnectionDestroy(conn), STATE);
    assert.throws(() => xioSendMsg(conn, {}), STATE);
    await net.until(client.has('TEARDOWN'));
    xioSessionDestroy(session);
    assert.throws(() => xioSessionDestroy(session), STATE);
    assert.throws(() => xioConnect({ session, ctx: client.ctx }), STATE);
    xioContextDestroy(client.ctx);
    assert.throws(() => xioContextDestroy(client.ctx), STATE);
    assert.throws(() => xioContextStopLoop(client.ctx), STATE);
  });

  test('are connected once, and answered once, each by its own side', async (net) => {
    const server = new End(net, net.server, {
      onNewSession: (session) => {
        server.sessions.push(session);
        assert.throws(() => xioConnect({ session, ctx: server.ctx }), STATE);
        xioAccept(session);
        for (const call of [xioAccept, xioReject]) assert.throws(() => call(session), STATE);
        server.told.push('asked');
      },
    });
    await server.bind();
    const client = new End(net, net.client);
    const { session } = client.connect();
    assert.throws(() => xioConnect({ session, ctx: client.ctx }), STATE);
    for (const call of [xioAccept, xioReject]) assert.throws(() => call(session), STATE);
    await net.until(server.has('asked'));
    await net.until(client.has('CONNECTION_ESTABLISHED'));
    const unused = xioSessionCreate({ sesOps: {}, uri: net.urlOf(net.server) });
    xioSessionDestroy(unused);
  });

  test('whose clients go before they are answered are torn down, and may be answered in vain', async (net) => {
    const server = new End(net, net.server, { onNewSession: (session) => void server.sessions.push(session) });
    server.isTidy = false;
    await server.bind();
    const client = new End(net, net.client);
    const { conn } = client.connect();
    await net.until(() => server.sessions.length === 1);
    xioDisconnect(conn);
    await net.until(server.has('TEARDOWN'));
    const [session] = server.sessions;
    xioAccept(session);
    xioSessionDestroy(session);
    assert.throws(() => xioAccept(session), STATE);
    assert.deepEqual(server.told, ['TEARDOWN']);
  });

  test('that have ended take answers in vain until they are torn down', async (net) => {
    const server = new End(net, net.server, { onNewSession: (session) => xioAccept(session) });
    await server.bind();
    const client = new End(net, net.client);
    const { conn } = client.connect();
    const requests: XioMsg[] = [{}, {}];
    for (const request of requests) xioSendRequest(conn, request);
    await net.until(() => server.got.length === 2);
    let answered = 0;
    server.onEvent = (event) => {
      if (event !== 'CONNECTION_ERROR') return;
      xioSendResponse({ request: server.got[1] });
      answered += 1;
    };
    xioDisconnect(conn, 100);
    await net.until(client.has('TEARDOWN'));
    assert.ok(client.has('CONNECTION_ERROR')(), client.told.join());
    await net.until(server.has('TEARDOWN'));
    assert.equal(answered, 1, server.told.join());
    assert.throws(() => xioSendResponse({ request: server.got[0] }), STATE);
  });

  test('that have ended leave what was not released to the program, who may release it', async (net) => {
    const server = new End(net, net.server, { onNewSession: (session) => xioAccept(session) });
    await server.bind();
    const client = new End(net, net.client, { onMsg: (_, message) => void client.got.push(message) });
    const { conn } = client.connect();
    const request: XioMsg = {};
    xioSendMsg(conn, { out: { dataIov: ['kept'] } });
    xioSendRequest(conn, request);
    await net.until(() => server.got.length === 2);
    xioSendResponse({ request: server.got[1], out: { dataIov: ['kept too'] } });
    await net.until(() => client.got.length === 1);
    xioDisconnect(conn);
    await net.until(client.has('TEARDOWN'));
    await net.until(server.has('TEARDOWN'));
    assert.equal(text(server.got[0].in?.dataIov?.[0]), 'kept');
    assert.equal(text(request.in?.dataIov?.[0]), 'kept too');
    xioReleaseMsg(server.got[0]);
    xioReleaseResponse(request);
  });

  test('whose callbacks throw go on, with a warning', async (net) => {
    const warnings = mock.method(runtime(), 'warn', () => undefined);
    try {
      const server = new End(net, net.server, {
        onNewSession: (session) => xioAccept(session),
        onMsg: (_, request) => {
          xioSendResponse({ request });
          throw new Error('of the program');
        },
      });
      await server.bind();
      const client = new End(net, net.client);
      const { conn } = client.connect();
      for (let i = 1; i <= 2; i += 1) {
        xioSendRequest(conn, {});
        await net.until(() => client.got.length === i);
      }
      assert.equal(warnings.mock.callCount(), 2);
    } finally {
      warnings.mock.restore();
    }
  });

  test('take callbacks and parameters that there are', async (net) => {
    const uri = net.urlOf(net.server);
    const ctx = xioContextCreate({ context: net.client.context });
    const create = (params: unknown): unknown => Reflect.apply(xioSessionCreate, undefined, [params]);
    assert.throws(() => create({ sesOps: { onMsg: 7 }, uri }), { code: 'EINVAL' });
    assert.throws(() => create({ sesOps: { onMessage: () => 0 }, uri }), { code: 'EINVAL' });
    assert.throws(() => create({ sesOps: {}, uri: 'nowhere' }), { code: 'EINVAL' });
    assert.throws(() => create({ sesOps: {}, uri, connections: 0 }), { code: 'EINVAL' });
    assert.throws(() => xioContextCreate({ queueMessages: 1 }), { code: 'EINVAL' });
    await assert.rejects(xioBind(ctx, {}, uri), { code: 'EINVAL' });
    for (const call of [
      xioConnectionDestroy,
      xioSessionDestroy,
      xioDisconnect,
      xioAccept,
      xioUnbind,
      xioContextDestroy,
    ])
      assert.throws(() => Reflect.apply(call, undefined, [{}]), { code: 'EINVAL' });
    xioContextDestroy(ctx);
    await assert.rejects(xioBind(ctx, { onNewSession: () => undefined }, uri), STATE);
  });

  test('have a loop that runs until it is stopped, or its time is over', async (net) => {
    const ctx = xioContextCreate({ context: net.client.context });
    xioContextStopLoop(ctx);
    const run = xioContextRunLoop(ctx);
    await assert.rejects(xioContextRunLoop(ctx), STATE);
    assert.throws(() => xioContextDestroy(ctx), STATE);
    xioContextStopLoop(ctx);
    await run;
    let isOver = false;
    const timed = xioContextRunLoop(ctx, 250).then(() => (isOver = true));
    await net.sim.sleep(200_000);
    assert.equal(isOver, false);
    await net.settled(timed);
    xioContextDestroy(ctx);
  });

  test('that others have bound fail at once, and any free port is told', async (net) => {
    const onNewSession = (): void => undefined;
    const ctx = xioContextCreate({ context: net.server.context });
    const server = await xioBind(ctx, { onNewSession }, `rdma://${net.server.address}:0`);
    assert.ok(server.port > 0);
    await assert.rejects(xioBind(ctx, { onNewSession }, server.uri), { code: 'XIO_E_BIND_FAILED' });
    assert.throws(() => xioContextDestroy(ctx), STATE);
    xioUnbind(server);
    xioContextDestroy(ctx);
  });
});

describe('words of libxio.h', () => {
  it('say what statuses and events are', () => {
    assert.equal(xioStrerror(XioStatus.XIO_E_SUCCESS), 'success');
    assert.equal(xioStrerror(XioStatus.XIO_E_TX_QUEUE_OVERFLOW), 'send queue overflow');
    assert.equal(xioStrerror(XioStatus.XIO_E_MSG_CANCELED), 'message canceled');
    assert.equal(xioStrerror(7), 'unknown status 7');
    assert.equal(xioSessionEventStr(5), 'XIO_SESSION_CONNECTION_CLOSED_EVENT');
    assert.equal(xioSessionEventStr(99), 'unknown event 99');
  });
});
