import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  xioAccept,
  xioBind,
  XioConnectionOptname,
  xioConnectionIoctl,
  xioContextCreate,
  xioContextDestroy,
  xioContextPollWait,
  xioDisconnect,
  xioModifyConnection,
  xioModifySession,
  type XioMsg,
  xioQueryConnection,
  xioQuerySession,
  xioReleaseMsg,
  xioSendMsg,
  xioSendRequest,
  xioSendResponse,
  type XioSessionOps,
} from '../../../../entry/xio.js';
import { type Net, NETS } from '../support/nets.js';
import { End, headerOf } from './support.js';

const { XIO_CONNECTION_FIONWRITE_BYTES, XIO_CONNECTION_FIONWRITE_MSGS, XIO_CONNECTION_LEADING_CONN } =
  XioConnectionOptname;

async function established(net: Net, more: XioSessionOps = {}, params = {}) {
  const server = new End(net, net.server, { onNewSession: (session) => xioAccept(session), ...more }, params);
  await server.bind();
  const client = new End(net, net.client);
  const { session, conn } = client.connect();
  await net.until(client.has('CONNECTION_ESTABLISHED'));
  await net.until(server.has('CONNECTION_ESTABLISHED'));
  return { server, client, session, conn };
}

for (const [name, play] of Object.entries(NETS)) {
  const test = (title: string, scene: (net: Net) => Promise<void>): void => void it(title, () => play(scene));

  describe(`in the names of libxio.h over ${name}`, () => {
    test('sessions and connections say what they have, and may be given something else', async (net) => {
      const { server, client, session, conn } = await established(net);
      const uri = net.urlOf(net.server);
      assert.deepEqual(xioQuerySession(session), { sesOps: client.ops, userContext: undefined, uri });
      assert.ok(server.conn !== undefined);
      assert.equal(xioQuerySession(server.conn.session).uri, undefined);
      const { ctx, proto, peerAddr, localAddr } = xioQueryConnection(conn);
      assert.deepEqual([ctx, proto, peerAddr?.host], [client.ctx, name, net.server.address]);
      assert.deepEqual(xioQueryConnection(server.conn).peerAddr?.port, localAddr?.port);
      xioModifyConnection(conn, { userContext: 7 });
      assert.equal(conn.userContext, 7);
      const got: string[] = [];
      xioModifySession(session, {
        userContext: 'mine',
        sesOps: {
          ...client.ops,
          onMsg: (_, message, context) => void got.push(`${headerOf(message)} ${String(context)}`),
        },
      });
      assert.equal(session.userContext, 'mine');
      xioSendMsg(server.conn, { out: { header: 'x' } });
      await net.until(() => got.length === 1);
      assert.deepEqual([got, client.got], [['x 7'], []]);
    });

    test('connections say what waits to be sent on them', async (net) => {
      const { conn, server } = await established(net, {}, { queueMessages: 4 });
      const queued = (): number[] =>
        [XIO_CONNECTION_FIONWRITE_MSGS, XIO_CONNECTION_FIONWRITE_BYTES].map((what) => xioConnectionIoctl(conn, what));
      assert.deepEqual(queued(), [0, 0]);
      for (let i = 0; i < 6; i += 1) xioSendMsg(conn, { out: { dataIov: ['12', '345'] } });
      assert.deepEqual(queued(), [2, 10]);
      await net.until(() => server.got.length === 4);
      for (const message of server.got.splice(0)) xioReleaseMsg(message);
      await net.until(() => server.got.length === 2);
      assert.deepEqual(queued(), [0, 0]);
    });

    test('connections say what waits for them, and whether they lead', async (net) => {
      const portal = net.sim.host('portal');
      const leading: string[] = [];
      const serve = async (host: Net['server'], portals: string[]): Promise<void> => {
        const end = new End(net, host, { onNewSession: (session) => xioAccept(session, portals) });
        end.onEvent = (event) => {
          if (event !== 'CONNECTION_ESTABLISHED' || end.conn === undefined) return;
          leading.push(`${host.name} ${xioConnectionIoctl(end.conn, XIO_CONNECTION_LEADING_CONN)}`);
        };
        await xioBind(end.ctx, end.ops, net.urlOf(host));
      };
      await serve(net.server, [net.urlOf(portal)]);
      await serve(portal, []);
      const client = new End(net, net.client);
      const { conn } = client.connect(undefined, { connections: 2 });
      xioSendMsg(conn, { out: { dataIov: ['123'] } });
      assert.equal(xioConnectionIoctl(conn, XIO_CONNECTION_FIONWRITE_MSGS), 1);
      assert.equal(xioConnectionIoctl(conn, XIO_CONNECTION_FIONWRITE_BYTES), 3);
      assert.equal(xioQueryConnection(conn).proto, undefined);
      await net.until(() => leading.length === 2);
      assert.deepEqual(leading.sort(), ['portal 0', 'server 1']);
      assert.equal(xioConnectionIoctl(conn, XIO_CONNECTION_LEADING_CONN), 1);
    });

    test('messages that are behind each other are sent by one call, and come in their order', async (net) => {
      const { server, client, conn } = await established(net);
      const last: XioMsg = { out: { header: 'c' } };
      const chain: XioMsg = { out: { header: 'a' }, next: { out: { header: 'b' }, next: last } };
      xioSendRequest(conn, chain);
      await net.until(() => server.got.length === 3);
      assert.deepEqual(server.got.map(headerOf), ['a', 'b', 'c']);
      const responses = server.got.map((request): XioMsg => ({ request, out: { header: `${headerOf(request)}!` } }));
      responses.forEach((response, i) => (response.next = responses.at(i + 1)));
      xioSendResponse(responses[0]);
      await net.until(() => client.got.length === 3);
      assert.deepEqual(client.got.map(headerOf), ['a!', 'b!', 'c!']);
      assert.equal(client.got.at(-1), last);
      xioSendMsg(conn, { out: { header: 'd' }, next: { out: { header: 'e' } } });
      await net.until(() => server.got.length === 5);
      assert.deepEqual(server.got.slice(3).map(headerOf), ['d', 'e']);
    });

    test('none of them is sent where one cannot be', async (net) => {
      const { server, conn } = await established(net);
      const circle: XioMsg = {};
      circle.next = { next: circle };
      assert.throws(() => xioSendRequest(conn, circle), { code: 'EINVAL' });
      assert.throws(() => xioSendRequest(conn, { next: Object(7) as XioMsg, flags: 0x1000 }), { code: 'EINVAL' });
      const wrong = { out: { header: 'wrong', dataIov: Object({}) as string[] } };
      assert.throws(() => xioSendMsg(conn, { out: { header: 'right' }, next: wrong }), { code: 'EINVAL' });
      const busy: XioMsg = { out: { header: 'sent' } };
      xioSendRequest(conn, busy);
      assert.throws(() => xioSendRequest(conn, { next: busy }), { code: 'XIO_E_STATE' });
      await net.until(() => server.got.length === 1);
      await net.sim.sleep(10_000);
      assert.deepEqual(server.got.map(headerOf), ['sent']);
    });

    test('programs hear which message is the last that has come', async (net) => {
      const heard: (readonly [string, boolean])[] = [];
      const { conn } = await established(net, {
        onMsg: (_, message, _context, lastInRxq) => void heard.push([headerOf(message), lastInRxq]),
      });
      xioSendMsg(conn, { out: { header: 'a' } });
      await net.until(() => heard.length === 1);
      assert.deepEqual(heard.splice(0), [['a', true]]);
      for (let i = 0; i < 20; i += 1) xioSendMsg(conn, { out: { header: 'b' } });
      await net.until(() => heard.length === 20);
      assert.equal(heard.at(-1)?.[1], true);
      assert.ok(heard.some(([, isLast]) => !isLast) || name === 'rdma', 'what comes together is not the last');
    });

    test('a program waits until something happens, or so long', async (net) => {
      const { client, server, conn } = await established(net);
      assert.equal(await net.settled(xioContextPollWait(client.ctx, 50)), 0);
      assert.ok(server.conn !== undefined);
      const waiting = xioContextPollWait(client.ctx);
      xioSendMsg(server.conn, { out: { header: 'x' } });
      assert.ok((await net.settled(waiting)) >= 1);
      assert.equal(client.got.length, 1);
      const both = [xioContextPollWait(client.ctx), xioContextPollWait(client.ctx)];
      xioDisconnect(conn);
      for (const count of await net.settled(Promise.all(both))) assert.ok(count >= 1);
      await net.until(client.has('TEARDOWN'));
      xioContextDestroy(client.ctx);
      await assert.rejects(xioContextPollWait(client.ctx), { code: 'XIO_E_STATE' });
    });
  });
}

describe('attributes in the names of libxio.h', () => {
  it('are those that there are, of what there is', () =>
    NETS.rdma(async (net) => {
      const { conn, session } = await established(net);
      const call = (action: unknown, ...args: unknown[]) => {
        assert.ok(typeof action === 'function');
        return () => Reflect.apply(action, undefined, args) as unknown;
      };
      for (const action of [
        call(xioQuerySession, {}),
        call(xioQueryConnection, session),
        call(xioModifySession, session, { uri: 'x' }),
        call(xioModifySession, session, { sesOps: { onMsg: 7 } }),
        call(xioModifyConnection, conn, { proto: 'tcp' }),
        call(xioConnectionIoctl, conn, 3),
        call(xioConnectionIoctl, session, 1),
      ])
        assert.throws(action, { code: 'EINVAL' });
      await assert.rejects(xioContextPollWait(xioContextCreate(), -1), { code: 'EINVAL' });
    }));
});
