import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { XioSession } from '../../index.js';
import { codeOf, echo, rejection, SCENES } from '../support/scenes.js';
import { pattern } from '../support/worlds.js';

for (const [name, play] of Object.entries(SCENES)) {
  describe(`sessions by ${name} begin`, () => {
    it('with a resource and private data both ways', () =>
      play(async ({ listen, connect }) => {
        const server = await listen();
        void (async () => {
          for await (const session of server) {
            assert.equal(session.resource, 'volume/7');
            assert.equal(new TextDecoder().decode(session.privateData), 'from the client');
            session.accept({ privateData: 'from the server' });
          }
        })();
        const session = await connect(`${server.url}/volume/7`, { privateData: 'from the client' });
        assert.equal(new TextDecoder().decode(session.privateData), 'from the server');
        assert.equal(session.state, 'connected');
      }));

    it('nowhere, when the server rejects them, with its reason', () =>
      play(async ({ listen, connect }) => {
        const server = await listen();
        void (async () => {
          for await (const session of server) session.reject('not today');
        })();
        const error = await rejection(connect(server.url));
        assert.match(String(error), /not today \(XIO_E_SESSION_REJECTED\)/);
      }));

    it('nowhere, when there is no room, or nobody listens', () =>
      play(async ({ listen, connect }) => {
        const server = await listen({ maxSessions: 1 });
        echo(server);
        await connect(server.url);
        assert.equal(await codeOf(connect(server.url)), 'XIO_E_SESSION_REFUSED');
        const { url } = server;
        await server.stop({ timeoutMs: 0 });
        assert.equal(await codeOf(connect(url)), 'XIO_E_SESSION_REFUSED');
      }));

    it('elsewhere, when the server sends them on, and not when they are sent on for ever', () =>
      play(async ({ listen, connect }) => {
        const [first, second] = [await listen(), await listen()];
        echo(second);
        void (async () => {
          for await (const session of first)
            session.redirect([session.resource === 'loop' ? `${first.url}/loop` : second.url]);
        })();
        const told: string[] = [];
        const session = await connect(first.url);
        session.on('redirected', (url) => told.push(url));
        assert.deepEqual((await session.request('', 'here')).body, new TextEncoder().encode('here'));
        assert.equal(second.sessions, 1);
        assert.equal(await codeOf(connect(`${first.url}/loop`, { maxRedirects: 3 })), 'XIO_E_SESSION_REDIRECTED');
      }));

    it('on several connections, which go to the server’s portals', () =>
      play(async ({ listen, connect, until, made }) => {
        const [door, portal] = [await listen(), await listen()];
        const atDoor: XioSession[] = [];
        void (async () => {
          for await (const session of door) {
            atDoor.push(session);
            session.accept({ portals: [portal.url] }).on('request', () => ({ body: 'door' }));
          }
        })();
        void (async () => {
          for await (const session of portal) session.on('request', () => ({ body: 'portal' }));
        })();
        const session = await connect(door.url, { connections: 3 });
        await until(() => portal.sessions > 0 && made.length === 3);
        const answers = new Set<string>();
        await until(() => {
          void session.request('', '').then(({ body }) => answers.add(new TextDecoder().decode(body)));
          return answers.size === 2;
        });
        assert.deepEqual([...answers].sort(), ['door', 'portal']);
        await session.close();
      }));
  });

  describe(`sessions by ${name} end`, () => {
    it('when the client closes them, after what was begun', () =>
      play(async ({ listen, connect, until }) => {
        const server = await listen();
        const sessions = echo(server);
        const session = await connect(server.url);
        const requests = Array.from({ length: 20 }, (_, i) => session.request('', pattern(1000 * i, i)));
        await session.close();
        (await Promise.all(requests)).forEach(({ body }, i) => assert.deepEqual(body, pattern(1000 * i, i)));
        assert.equal(session.state, 'closed');
        await until(() => sessions[0].state === 'closed');
        assert.equal(sessions[0].failure, undefined);
        assert.equal(server.sessions, 0);
        assert.equal(await codeOf(session.request('', '')), 'XIO_E_SESSION_CLOSED');
      }));

    it('when the server closes them, and when both do at once', () =>
      play(async ({ listen, connect }) => {
        const server = await listen();
        const sessions = echo(server);
        const first = await connect(server.url);
        await first.request('', 'x');
        await sessions[0].close();
        await first.closed;
        assert.equal(first.failure, undefined);
        const second = await connect(server.url);
        await second.request('', 'x');
        await Promise.all([second.close(), sessions[1].close()]);
        assert.equal(second.failure, undefined);
      }));

    it('at once when they are aborted, and the peer is told why', () =>
      play(async ({ listen, connect }) => {
        const server = await listen();
        void (async () => {
          for await (const session of server) session.on('request', () => undefined);
        })();
        const session = await connect(server.url);
        const waiting = codeOf(session.request('', 'x'));
        session.abort();
        assert.equal(await waiting, 'XIO_E_SESSION_CLOSED');
        await session.closed;
        assert.equal(session.failure, undefined);
      }));

    it('for clients of a server that stops', () =>
      play(async ({ listen, connect }) => {
        const server = await listen();
        echo(server);
        const session = await connect(server.url);
        const answer = session.request('', 'x');
        await server.stop();
        assert.equal((await answer).body.length, 1);
        await session.closed;
        assert.equal(session.failure, undefined);
      }));
  });
}
