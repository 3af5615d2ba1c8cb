import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type XioAssignment,
  xioAccept,
  xioCancel,
  xioCancelRequest,
  type XioMsg,
  XioMsgFlag,
  xioReleaseMsg,
  xioReleaseResponse,
  xioSendMsg,
  xioSendRequest,
  xioSendResponse,
  type XioSessionOps,
  XioStatus,
} from '../../../../entry/xio.js';
import { type Net, NETS } from '../support/nets.js';
import { pattern } from '../support/worlds.js';
import { End, headerOf, text } from './support.js';

const { XIO_MSG_FLAG_REQUEST_READ_RECEIPT: RECEIPT } = XioMsgFlag;

async function connected(net: Net, atServer: XioSessionOps = {}, atClient: XioSessionOps = {}): Promise<[End, End]> {
  const server = new End(net, net.server, { onNewSession: (session) => xioAccept(session), ...atServer });
  const client = new End(net, net.client, atClient);
  await server.bind();
  client.connect();
  await net.until(client.has('CONNECTION_ESTABLISHED'));
  await net.until(server.has('CONNECTION_ESTABLISHED'));
  return [client, server];
}

function connOf({ conn }: End): NonNullable<End['conn']> {
  assert.ok(conn !== undefined, 'it has a connection');
  return conn;
}

for (const [name, play] of Object.entries(NETS)) {
  const test = (title: string, scene: (net: Net) => Promise<void>): void => void it(title, () => play(scene));

  describe(`requests in the names of libxio.h over ${name}`, () => {
    test('are answered in the message that they were sent with, of any length', async (net) => {
      const [client, server] = await connected(net);
      for (const length of [0, 1, 8193, 1 << 18]) {
        const into = new Uint8Array(length);
        const request: XioMsg = { out: { header: 'q', dataIov: [pattern(length)] }, in: { dataIov: [into] } };
        xioSendRequest(connOf(client), request);
        await net.until(() => server.got.length === 1);
        const [asked] = server.got.splice(0);
        assert.deepEqual(asked.in?.dataIov ?? [], length === 0 ? [] : [pattern(length)]);
        xioSendResponse({ request: asked, out: { header: 'a', dataIov: [pattern(length, 1)] }, userContext: length });
        await net.until(() => client.got.length === 1 && server.has(`sent ${length}`)());
        assert.equal(client.got.splice(0)[0], request);
        assert.equal(headerOf(request), 'a');
        assert.deepEqual(into, pattern(length, 1));
        xioReleaseResponse(request);
      }
    });

    test('go from the server to the client too', async (net) => {
      const [client, server] = await connected(net, {}, { onMsg: (_, request) => xioSendResponse({ request }) });
      xioSendRequest(connOf(server), { out: { header: 'of the server' } });
      await net.until(() => server.got.length === 1);
      assert.equal(client.told.includes('sent '), true);
    });

    test('with a receipt have it just before the response', async (net) => {
      const [client] = await connected(net, { onMsg: (_, request) => xioSendResponse({ request }) });
      const order: string[] = client.told;
      xioSendRequest(connOf(client), { out: {}, flags: RECEIPT, userContext: 'it' });
      await net.until(() => client.got.length === 1);
      assert.equal(order.at(-1), 'delivered it');
    });

    test('that are canceled are told to both ends, and may be sent anew', async (net) => {
      const [client, server] = await connected(net);
      const request: XioMsg = { out: { header: 'q' }, userContext: 'it' };
      xioSendRequest(connOf(client), request);
      await net.until(() => server.got.length === 1);
      xioCancelRequest(request);
      await net.until(client.has(`cancel ${XioStatus.XIO_E_MSG_CANCELED} it`));
      await net.until(server.has('cancel request q'));
      xioCancel(server.got[0]);
      xioSendRequest(connOf(client), request);
      await net.until(() => server.got.length === 2);
      xioSendResponse({ request: server.got[1] });
      await net.until(() => client.got.length === 1);
    });

    test('that the responder gives up fail with the status it says', async (net) => {
      const [client] = await connected(net, { onMsg: (_, msg) => xioCancel(msg, XioStatus.XIO_E_NO_USER_BUFS) });
      xioSendRequest(connOf(client), { userContext: 'it' });
      await net.until(client.has(`error ${XioStatus.XIO_E_NO_USER_BUFS} 0 it`));
    });

    test('have long bodies where the receiver names memory', async (net) => {
      const memory = new Uint8Array(10_000);
      const asked: string[] = [];
      const assignDataInBuf = (assignment: XioAssignment): void => {
        asked.push(`${text(assignment.header)} ${assignment.dataBytes}`);
        assignment.dataIov = [memory];
      };
      const [client, server] = await connected(net, { assignDataInBuf });
      xioSendRequest(connOf(client), { out: { header: 'long', dataIov: [pattern(4000), pattern(6000, 1)] } });
      await net.until(() => server.got.length === 1);
      assert.deepEqual(asked, ['long 10000']);
      assert.deepEqual([memory.subarray(0, 4000), memory.subarray(4000)], [pattern(4000), pattern(6000, 1)]);
      xioSendResponse({ request: server.got[0] });
    });

    test('are answered once, and by a body that the requester has room for', async (net) => {
      const [client, server] = await connected(net);
      const request: XioMsg = { in: { dataIov: [new Uint8Array(4)] } };
      xioSendRequest(connOf(client), request);
      await net.until(() => server.got.length === 1);
      const response: XioMsg = { request: server.got[0], out: { dataIov: [new Uint8Array(5)] } };
      assert.throws(() => xioSendResponse(response), { code: 'XIO_E_RSP_BUF_SIZE_MISMATCH' });
      response.out = { dataIov: ['four'] };
      xioSendResponse(response);
      assert.throws(() => xioSendResponse({ request: server.got[0] }), { code: 'XIO_E_STATE' });
      assert.throws(() => xioCancel(server.got[0]), { code: 'XIO_E_STATE' });
      await net.until(() => client.got.length === 1);
      assert.equal(text(request.in?.dataIov?.[0]), 'four');
    });
  });

  describe(`messages in the names of libxio.h over ${name}`, () => {
    test('come in their order, each held until it is released', async (net) => {
      const [client, server] = await connected(net);
      for (let i = 0; i < 6; i += 1) xioSendMsg(connOf(client), { out: { header: String(i) }, userContext: i });
      await net.until(() => server.got.length === 6);
      assert.deepEqual(server.got.map(headerOf), ['0', '1', '2', '3', '4', '5']);
      assert.deepEqual(
        server.got.map(({ sn }) => sn),
        [1, 2, 3, 4, 5, 6],
      );
      await net.until(client.has('sent 5'));
      // What to do instead stands in the error.
      assert.throws(() => xioSendResponse({ request: server.got[0] }), {
        code: 'XIO_E_STATE',
        message: /xioReleaseMsg/,
      });
      for (const message of server.got) xioReleaseMsg(message);
      assert.throws(() => xioReleaseMsg(server.got[0]), { code: 'XIO_E_STATE' });
    });

    test('and requests come in the order in which they were sent', async (net) => {
      const [client, server] = await connected(net);
      for (let i = 0; i < 8; i += 1) {
        const message: XioMsg = { out: { header: String(i), dataIov: i % 3 === 0 ? [pattern(9000)] : [] } };
        if (i % 2 === 0) xioSendMsg(connOf(client), message);
        else xioSendRequest(connOf(client), message);
      }
      await net.until(() => server.got.length === 8);
      assert.deepEqual(server.got.map(headerOf), ['0', '1', '2', '3', '4', '5', '6', '7']);
    });

    test('with a receipt have it when they are released, in whatever order', async (net) => {
      const [client, server] = await connected(net);
      for (const userContext of ['one', 'two']) xioSendMsg(connOf(client), { flags: RECEIPT, userContext });
      await net.until(() => server.got.length === 2);
      await net.sim.sleep(10_000);
      assert.equal(
        client.told.some((line) => line.startsWith('delivered')),
        false,
      );
      xioReleaseMsg(server.got[1]);
      await net.until(client.has('delivered two'));
      assert.equal(client.has('delivered one')(), false);
      xioReleaseMsg(server.got[0]);
      await net.until(client.has('delivered one'));
      assert.equal(
        client.told.some((line) => line.startsWith('sent')),
        false,
      );
    });

    test('that were sent before there is a connection wait for it', async (net) => {
      const server = new End(net, net.server, { onNewSession: (session) => xioAccept(session) });
      await server.bind();
      const client = new End(net, net.client, {}, { queueMessages: 4 });
      const { conn } = client.connect();
      for (let i = 0; i < 4; i += 1) xioSendMsg(conn, { out: { header: String(i) } });
      assert.throws(() => xioSendMsg(conn, {}), { code: 'XIO_E_TX_QUEUE_OVERFLOW' });
      await net.until(() => server.got.length === 4);
    });
  });
}

describe('messages in the names of libxio.h', () => {
  const test = (title: string, scene: (net: Net) => Promise<void>): void => void it(title, () => NETS.rdma(scene));

  test('are refused while they are not the program’s to send', async (net) => {
    const [client, server] = await connected(net);
    const [request, message]: XioMsg[] = [{}, { flags: RECEIPT }];
    xioSendRequest(connOf(client), request);
    xioSendMsg(connOf(client), message);
    for (const each of [request, message]) {
      assert.throws(() => xioSendRequest(connOf(client), each), { code: 'XIO_E_STATE' });
      assert.throws(() => xioSendMsg(connOf(client), each), { code: 'XIO_E_STATE' });
    }
    assert.throws(() => xioReleaseResponse(request), { code: 'XIO_E_STATE' });
    await net.until(() => server.got.length === 2);
    const [asked, told] = server.got;
    assert.throws(() => xioSendMsg(connOf(server), asked), { code: 'XIO_E_STATE' });
    assert.throws(() => xioReleaseMsg(asked), { code: 'XIO_E_STATE' });
    assert.throws(() => xioSendResponse({ request: told }), { code: 'XIO_E_STATE' });
    assert.throws(() => xioSendResponse({ request: {} }), { code: 'XIO_E_STATE' });
    xioSendResponse({ request: asked });
    await net.until(() => client.got.length === 1);
    assert.throws(() => xioSendRequest(connOf(client), request), { code: 'XIO_E_STATE' });
    xioReleaseResponse(request);
    assert.throws(() => xioReleaseResponse(request), { code: 'XIO_E_STATE' });
    xioSendRequest(connOf(client), request);
  });

  test('that wait for a connection are canceled once there is one, and never go', async (net) => {
    const server = new End(net, net.server, { onNewSession: (session) => xioAccept(session) });
    await server.bind();
    const client = new End(net, net.client);
    const { conn } = client.connect();
    const request: XioMsg = { userContext: 'it' };
    xioSendRequest(conn, request);
    xioCancelRequest(request);
    xioSendRequest(conn, { out: { header: 'after' } });
    await net.until(client.has(`cancel ${XioStatus.XIO_E_MSG_CANCELED} it`));
    await net.until(() => server.got.length === 1);
    assert.equal(headerOf(server.got[0]), 'after');
  });

  test('that are not on their way are not canceled', async (net) => {
    const [client] = await connected(net);
    assert.throws(() => xioCancelRequest({}), { code: 'XIO_E_MSG_NOT_FOUND' });
    const message: XioMsg = { flags: RECEIPT };
    xioSendMsg(connOf(client), message);
    assert.throws(() => xioCancelRequest(message), { code: 'XIO_E_MSG_NOT_FOUND' });
  });

  test('go in pieces, and come in those that were named', async (net) => {
    const [client, server] = await connected(net, {
      assignDataInBuf: (assignment) => {
        const { dataBytes } = assignment;
        assignment.dataIov = [new Uint8Array(1000), new Uint8Array(dataBytes - 1000)];
      },
    });
    const dataIov = [1, 2, 3].map((number) => pattern(4000, number));
    const pieces = [new Uint8Array(5000), new Uint8Array(9000)];
    xioSendRequest(connOf(client), { out: { header: 'pieces', dataIov }, in: { dataIov: pieces } });
    await net.until(() => server.got.length === 1);
    const [request] = server.got;
    const landed = request.in?.dataIov ?? [];
    assert.deepEqual(
      landed.map(({ length }) => length),
      [1000, 11_000],
    );
    assert.deepEqual(Buffer.concat(landed), Buffer.concat(dataIov));
    xioSendResponse({ request, out: { dataIov: landed } });
    await net.until(() => client.got.length === 1);
    const come: readonly Uint8Array[] = client.got[0].in?.dataIov ?? [];
    assert.deepEqual(
      come.map(({ buffer, length }) => [buffer, length]),
      [
        [pieces[0].buffer, 5000],
        [pieces[1].buffer, 7000],
      ],
    );
    assert.deepEqual(Buffer.concat(come), Buffer.concat(dataIov));
  });

  test('go by RDMA, however short they are, where their flags say so', async (net) => {
    const asked: number[] = [];
    const [client, server] = await connected(net, {
      assignDataInBuf: ({ dataBytes }) => void asked.push(dataBytes),
    });
    const conn = connOf(client);
    const { XIO_MSG_FLAG_PEER_READ_REQ: read, XIO_MSG_FLAG_PEER_WRITE_RSP: write } = XioMsgFlag;
    xioSendRequest(conn, { out: { dataIov: [pattern(10)] } });
    xioSendRequest(conn, { out: { dataIov: [pattern(11)] }, flags: read });
    xioSendMsg(conn, { out: { dataIov: [pattern(12)] }, flags: read });
    const into = new Uint8Array(20);
    xioSendRequest(conn, { in: { dataIov: [into] }, flags: write });
    await net.until(() => server.got.length === 4);
    assert.deepEqual(asked, [11, 12]);
    xioSendResponse({ request: server.got[3], out: { dataIov: [pattern(15, 2)] } });
    await net.until(() => client.got.length === 1);
    assert.deepEqual(into.subarray(0, 15), pattern(15, 2));
    assert.equal(client.got[0].in?.dataIov?.[0].buffer, into.buffer);
  });

  test('have flags that there are, and parts that are bytes', async (net) => {
    const [client] = await connected(net);
    const conn = connOf(client);
    const { XIO_MSG_FLAG_LAST_IN_BATCH: hint } = XioMsgFlag;
    assert.throws(() => xioSendRequest(conn, { flags: 0x20 }), { code: 'EINVAL' });
    xioSendMsg(conn, { flags: hint });
    const wrong: unknown = { out: { header: 7 } };
    assert.throws(() => Reflect.apply(xioSendMsg, undefined, [conn, wrong]), { code: 'EINVAL' });
    assert.throws(() => Reflect.apply(xioSendMsg, undefined, [conn, undefined]), { code: 'EINVAL' });
    const many = { in: { dataIov: Array.from({ length: 257 }, () => new Uint8Array(1)) } };
    assert.throws(() => xioSendRequest(conn, many), { code: 'EINVAL' });
  });

  test('that are too long for the peer fail, and nothing else does', async (net) => {
    const [client, server] = await connected(net);
    xioSendRequest(connOf(client), { out: { header: 'x'.repeat(257) }, userContext: 'long' });
    xioSendRequest(connOf(client), { out: { header: 'short' } });
    await net.until(client.has(`error ${XioStatus.XIO_E_MSG_SIZE} 0 long`));
    await net.until(() => server.got.length === 1);
  });
});
