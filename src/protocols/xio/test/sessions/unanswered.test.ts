import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { XioRejectedError, type XioSession } from '../../../../entry/xio.js';
import { Action } from '../../wire/index.js';
import { lyingServer } from '../support/lying-server.js';
import { type Net, NETS } from '../support/nets.js';
import { codeOf, rejection } from '../support/scenes.js';

const echo = (session: XioSession): void => void session.on('request', ({ body }) => ({ body }));

for (const [name, play] of Object.entries(NETS)) {
  const test = (what: string, scene: (net: Net) => Promise<void>): void => void it(what, () => play(scene));

  describe(`a server over ${name} that makes a link and does not answer`, () => {
    test('is given up in time', async (net) => {
      const links = await lyingServer(net);
      const connecting = codeOf(net.connect({ answerTimeoutMs: 2000 }));
      await net.sim.sleep(1.9e6);
      assert.equal(links[0].end.ends.length, 0);
      assert.equal(await net.settled(connecting), 'XIO_E_TIMEOUT');
      await net.until(() => links[0].end.ends.length === 1);
      assert.equal(links.length, 1);
    });

    test('is given up after half a minute where its client says nothing else', async (net) => {
      await lyingServer(net);
      const connecting = codeOf(net.connect());
      const begunUs = net.sim.nowUs;
      for (let i = 0; i < 40; i += 1) await net.sim.sleep(1e6);
      assert.equal(await connecting, 'XIO_E_TIMEOUT');
      assert.ok(net.sim.nowUs - begunUs >= 30e6);
    });

    test('is left for the next address', async (net) => {
      const other = net.sim.host('other');
      const links = await lyingServer(net);
      await net.listen(echo, {}, other);
      const url = [net.urlOf(net.server), net.urlOf(other)];
      const session = await net.settled(net.connect({ url, answerTimeoutMs: 500 }));
      assert.equal((await net.settled(session.request('', 'x'))).body.length, 1);
      assert.equal(links.length, 1);
      session.abort();
    });

    test('is left for the next address also by a session that is to go on', async (net) => {
      const other = net.sim.host('other');
      await net.listen(echo);
      await net.listen(echo, {}, other);
      const url = [net.urlOf(net.server), net.urlOf(other)];
      const session = await net.connect({ url, keepAliveMs: 100, keepAliveIntervalMs: 50 });
      net.crash(net.server);
      net.server.restart();
      const links = await lyingServer(net);
      const asked = session.request('', 'x', { idempotent: true });
      assert.equal((await net.settled(asked)).body.length, 1);
      assert.equal(links.length, 1);
      session.abort();
    });

    test('is waited for where its program takes its time, and the client has that', async (net) => {
      await net.listen((session) => void net.sim.sleep(3e6).then(() => session.accept()));
      assert.equal(await codeOf(net.settled(net.connect({ answerTimeoutMs: 1000 }))), 'XIO_E_TIMEOUT');
      const session = await net.settled(net.connect({ answerTimeoutMs: Infinity }));
      session.abort();
    });
  });

  describe(`a client over ${name} with two addresses`, () => {
    test('does not hurry from one to the other when both take it and let go of it at once', async (net) => {
      const other = net.sim.host('other');
      const url = [net.urlOf(net.server), net.urlOf(other)];
      const flap = (host: typeof other): ReturnType<typeof lyingServer> =>
        lyingServer(
          net,
          (heard) => {
            if (heard.asked.at(-1)?.isKnown === true) heard.answer({ action: Action.UNKNOWN });
            else {
              heard.answer({});
              heard.link.close();
            }
          },
          host,
        );
      const links = await Promise.all([flap(net.server), flap(other)]);
      const session = await net.settled(net.connect({ url, reconnectMs: 5000 }));
      for (let i = 0; i < 60; i += 1) await net.sim.sleep(100_000);
      assert.equal(session.failure?.code, 'XIO_E_SESSION_DISCONNECTED');
      const made = links.flat().length;
      // Every 250 ms for 5 s, and faster at first.
      assert.ok(made > 10 && made < 50, `${made} links`);
    });

    test('makes another link at once whenever one that was of use is lost', async (net) => {
      const requests: XioSession[] = [];
      await net.listen((session) => {
        requests.push(session);
        echo(session);
      });
      const session = await net.connect();
      for (let i = 0; i < 10; i += 1) {
        await session.request('', 'x');
        net.cut();
        const begunUs = net.sim.nowUs;
        await session.request('', 'y');
        assert.ok(net.sim.nowUs - begunUs < 1500, `${net.sim.nowUs - begunUs} µs`);
      }
      assert.deepEqual([requests.length, session.statistics.reconnects], [1, 10]);
    });
  });

  describe(`sessions over ${name} that no program takes`, () => {
    test('are so many, and further clients wait for room, and are never refused', async (net) => {
      const waiting: XioSession[] = [];
      await net.listen((session) => void waiting.push(session), { backlog: 2 });
      const connecting = Array.from({ length: 7 }, () => net.connect());
      await net.until(() => waiting.length === 2);
      for (let i = 0; i < 10; i += 1) await net.sim.sleep(1_000_000);
      assert.equal(waiting.length, 2);
      for (let i = 0; i < 7; i += 1) {
        await net.until(() => waiting.length > i);
        waiting[i].accept();
      }
      for (const each of await net.settled(Promise.all(connecting))) each.abort();
      assert.equal(waiting.length, 7);
    });

    test('leave their room to clients that wait, also where those before have gone or vanished', async (net) => {
      const waiting: XioSession[] = [];
      const server = await net.listen((session) => void waiting.push(session), { backlog: 1 });
      const first = net.connect();
      await net.until(() => waiting.length === 1);
      const leave = new AbortController();
      const gone = assert.rejects(net.connect({ signal: leave.signal }), { name: 'AbortError' });
      const ghost = net.sim.host('ghost');
      // Nothing tells an end of TCP that its peer has vanished.
      if (net.scheme === 'rdma') void net.connect({}, ghost).catch(() => undefined);
      await net.sim.sleep(1000);
      const last = net.connect();
      await net.sim.sleep(1000);
      net.crash(ghost);
      leave.abort();
      await gone;
      for (let i = 0; i < 8; i += 1) await net.sim.sleep(1_000_000);
      waiting[0].accept();
      await net.until(() => waiting.length === 2);
      waiting[1].accept();
      for (const each of await net.settled(Promise.all([first, last]))) each.abort();
      server.close();
    });

    test('keep clients waiting for room for so long, and no longer', async (net) => {
      await net.listen(() => undefined, { backlog: 1, answerTimeoutMs: 5000 });
      const codes: Promise<unknown>[] = [];
      for (let i = 0; i < 3; i += 1) {
        codes.push(codeOf(net.connect()));
        await net.sim.sleep(1000);
      }
      await net.settled(Promise.all(codes));
      assert.deepEqual(await Promise.all(codes), ['XIO_E_TIMEOUT', 'XIO_E_TIMEOUT', 'XIO_E_SESSION_REFUSED']);
    });

    test('are refused, with clients that wait for room, by a server that closes', async (net) => {
      const waiting: XioSession[] = [];
      const server = await net.listen((session) => void waiting.push(session), { backlog: 1 });
      const codes = [codeOf(net.connect()), codeOf(net.connect())];
      await net.until(() => waiting.length === 1);
      await net.sim.sleep(1000);
      server.close();
      waiting[0].abort();
      await net.settled(Promise.all(codes));
      assert.equal(await codes[1], 'XIO_E_SESSION_REFUSED');
    });

    test('and clients that wait for room are no more than there may be sessions', async (net) => {
      const waiting: XioSession[] = [];
      await net.listen((session) => void waiting.push(session), { backlog: 1, maxSessions: 3 });
      const first = [net.connect(), net.connect(), net.connect()];
      await net.until(() => waiting.length === 1);
      await net.sim.sleep(1000);
      assert.equal(await codeOf(net.settled(net.connect())), 'XIO_E_SESSION_REFUSED');
      for (let i = 0; i < 3; i += 1) {
        await net.until(() => waiting.length > i);
        waiting[i].accept();
      }
      for (const each of await net.settled(Promise.all(first))) each.abort();
    });

    test('are rejected in time, also those whose clients have vanished', async (net) => {
      const waiting: XioSession[] = [];
      const server = await net.listen((session) => void waiting.push(session), { answerTimeoutMs: 2000 });
      const connecting = rejection(net.connect());
      await net.until(() => waiting.length === 1);
      const error = await net.settled(connecting);
      assert.ok(error instanceof XioRejectedError, String(error));
      assert.equal(error.code, 'XIO_E_TIMEOUT');
      assert.match(error.message, /did not take the session within 2000 ms/);
      const ghost = codeOf(net.connect());
      await net.until(() => waiting.length === 2);
      net.crash(net.client);
      assert.equal(server.sessions, 1);
      for (let i = 0; i < 3; i += 1) await net.sim.sleep(1e6);
      assert.equal(server.sessions, 0);
      assert.deepEqual(
        waiting.map(({ state }) => state),
        ['closed', 'closed'],
      );
      // Nobody is told of a host that is gone.
      void ghost;
      waiting[1].accept();
      assert.equal(waiting[1].state, 'closed');
    });

    test('may be taken late, where the program has that', async (net) => {
      const waiting: XioSession[] = [];
      await net.listen((session) => void waiting.push(session), { answerTimeoutMs: Infinity });
      const connecting = net.connect({ answerTimeoutMs: Infinity });
      for (let i = 0; i < 100; i += 1) await net.sim.sleep(1e6);
      waiting[0].accept();
      (await net.settled(connecting)).abort();
    });
  });
}
