import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { XioRequest, XioSession } from '../../index.js';
import { NETS } from '../support/nets.js';
import { codeOf, rejection } from '../support/scenes.js';

const echo = (session: XioSession): void => void session.on('request', ({ body }) => ({ body }));

for (const [name, play] of Object.entries(NETS))
  describe(`connections of a session by ${name}`, () => {
    it('to one server are one session there, and say how they stand', () =>
      play(async (net) => {
        await net.listen((session) => session.accept(), { queueMessages: 4 });
        const session = await net.connect({ connections: 3 });
        await net.until(() => session.connections.filter(({ isConnected }) => isConnected).length === 3);
        await net.sim.sleep(1000);
        assert.equal(net.served.length, 1);
        const [served] = net.served;
        assert.deepEqual(
          served.connections.map(({ isLeading, isConnected }) => [isLeading, isConnected]),
          [true, false, false].map((isLeading) => [isLeading, true]),
        );
        for (let i = 0; i < 18; i += 1) session.send('12345').catch(() => undefined);
        assert.deepEqual(
          session.connections.map(({ queuedMessages, queuedBytes }) => [queuedMessages, queuedBytes]),
          [2, 2, 2].map((messages) => [messages, 5 * messages]),
        );
        const [{ scheme, remoteAddress }] = session.connections;
        assert.deepEqual([scheme, remoteAddress?.host], [name, net.server.address]);
        net.cut();
        await net.until(() => !session.connections[0].isConnected);
        session.abort();
      }));

    it('that never were get no requests, though the others are lost', () =>
      play(async (net) => {
        const gone = net.sim.host('gone');
        net.crash(gone);
        await net.listen((session) => session.accept({ portals: [net.urlOf(gone)] }));
        const session = await net.connect({ connections: 3 });
        net.crash(net.server);
        net.cut();
        await net.until(() => session.state === 'reconnecting');
        const asked = [1, 2, 3].map(() => codeOf(session.request('', '', { deadlineMs: 100 })));
        assert.deepEqual(
          await net.settled(Promise.all(asked)),
          [1, 2, 3].map(() => 'XIO_E_TIMEOUT'),
        );
        session.abort();
      }));

    it('are closed while they are made', () =>
      play(async (net) => {
        const server = await net.listen(echo);
        const session = await net.connect({ connections: 64 });
        const answer = session.request('', 'x');
        await net.settled(session.close());
        assert.equal((await answer).body.length, 1);
        assert.equal(session.failure, undefined);
        await net.until(() => server.sessions === 0);
      }));

    it('are closed by the server while they are made', () =>
      play(async (net) => {
        const server = await net.listen((session) => session.accept());
        const session = await net.connect({ connections: 8 });
        await net.settled(net.served[0].close());
        await net.settled(session.closed);
        assert.equal(session.failure, undefined);
        await net.until(() => server.sessions === 0);
      }));

    it('that are not to be made do not keep the session from being closed', () =>
      play(async (net) => {
        const gone = net.sim.host('gone');
        net.crash(gone);
        await net.listen((session) => session.accept({ portals: [net.urlOf(gone)] }));
        const session = await net.connect({ connections: 2, connectTimeoutMs: 100 });
        await net.settled(session.close());
      }));

    for (let messages = 1; messages <= 6; messages += 1)
      it(`are lost when they are done, after message ${messages} of that, and the others go on`, () =>
        play(async (net) => {
          const requests: XioRequest[] = [];
          await net.listen((session) => void session.on('request', (request) => void requests.push(request)));
          const session = await net.connect({ connections: 2 });
          await net.until(() => net.watched.links.length === 4);
          await net.sim.sleep(10);
          const answer = rejection(session.request('', 'x'));
          await net.until(() => requests.length === 1);
          const { sent } = net.watched;
          net.watched.onSent = (number, link) => {
            if (number === sent + messages) link.abort();
          };
          let isClosing = true;
          const closing = session.close().finally(() => (isClosing = false));
          await net.sim.sleep(100);
          assert.equal(isClosing, true);
          await requests[0].reply('', 'y');
          const answered = await net.settled(answer);
          assert.ok(!(answered instanceof Error), String(answered));
          await net.settled(closing);
        }));
  });
