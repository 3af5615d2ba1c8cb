import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { XioMessage, XioRequest, XioSession } from '../../../../entry/xio.js';
import { type Net, NETS } from '../support/nets.js';
import { pattern } from '../support/worlds.js';

const HEADER = pattern(16, 9);
const LONG = 300_000;

/** A server whose program answers when a test says so. */
async function patient(net: Net, options = {}): Promise<XioRequest[]> {
  const requests: XioRequest[] = [];
  await net.listen((session) => session.on('request', (request) => void requests.push(request)), options);
  return requests;
}

for (const [name, play] of Object.entries(NETS)) {
  const test = (what: string, scene: (net: Net) => Promise<void>): void => void it(what, () => play(scene));

  describe(`a request over ${name} that is given up`, () => {
    test('before it was sent, is never executed', async (net) => {
      const requests = await patient(net, { queueMessages: 4 });
      const session = await net.connect();
      const first = Array.from({ length: 4 }, () => session.request(HEADER));
      const controller = new AbortController();
      const late = session.request(HEADER, pattern(LONG, 1), { signal: controller.signal });
      await net.until(() => requests.length === 4);
      const reason = new Error('no more');
      controller.abort(reason);
      await assert.rejects(late, reason);
      for (const request of requests) void request.reply();
      await Promise.all(first);
      await session.close();
      assert.equal(requests.length, 4);
    });

    // In steps that are shorter than anything takes.
    test('at any moment, has its memory back at once, and harms nothing', async (net) => {
      const bodies: Uint8Array[] = [];
      await net.listen((session) =>
        session.on('request', ({ body, header }) => {
          bodies.push(Uint8Array.from(body));
          return { header, body };
        }),
      );
      const session = await net.connect();
      let answered = 0;
      for (let atUs = 0; answered < 3; atUs += 4) {
        assert.ok(atUs < 4000, 'it is answered at some time');
        const controller = new AbortController();
        const [body, into] = [pattern(LONG, 1), new Uint8Array(LONG)];
        const options = { signal: controller.signal, into };
        const call = session.request(HEADER, body, options).then(
          () => 'answered',
          () => 'given up',
        );
        await net.sim.sleep(atUs);
        controller.abort();
        body.fill(0xee);
        const after = Uint8Array.from(into);
        if ((await call) === 'answered') {
          answered += 1;
          assert.deepEqual(into, pattern(LONG, 1));
        }
        // Whoever comes next is served, and what was given up is written to by nobody.
        const { body: echoed } = await session.request(HEADER, pattern(LONG, 2));
        assert.deepEqual(echoed, pattern(LONG, 2));
        assert.deepEqual(into, after);
      }
      for (const body of bodies)
        assert.ok(Buffer.compare(body, pattern(LONG, 1)) === 0 || Buffer.compare(body, pattern(LONG, 2)) === 0);
      await session.close();
    });

    test('while the server deals with it, is told to the server, whose answer goes nowhere', async (net) => {
      const requests = await patient(net);
      const session = await net.connect();
      const controller = new AbortController();
      const into = new Uint8Array(LONG).fill(7);
      const call = assert.rejects(session.request(HEADER, '', { signal: controller.signal, into }), {
        name: 'AbortError',
      });
      await net.until(() => requests.length === 1);
      assert.equal(requests[0].signal.aborted, false);
      controller.abort();
      await call;
      await net.until(() => requests[0].signal.aborted);
      void requests[0].reply(HEADER, pattern(LONG, 1));
      await net.sim.sleep(5000);
      assert.ok(into.every((byte) => byte === 7));
      const next = session.request(HEADER);
      await net.until(() => requests.length === 2);
      void requests[1].reply('fine');
      assert.equal(new TextDecoder().decode((await next).header), 'fine');
    });

    test('by its deadline, says whether it may have been executed', async (net) => {
      const requests = await patient(net, { queueMessages: 4 });
      const session = await net.connect();
      const calls = Array.from({ length: 5 }, (_, i) =>
        assert.rejects(session.request(HEADER, '', { deadlineMs: 1 }), {
          code: 'XIO_E_TIMEOUT',
          mayHaveRun: i < 4,
        }),
      );
      await Promise.all(calls);
      assert.equal(requests.length, 4);
    });

    test('stays given up when the connection is lost', async (net) => {
      const requests = await patient(net);
      const session = await net.connect();
      const controller = new AbortController();
      const call = assert.rejects(session.request(HEADER, pattern(LONG, 1), { signal: controller.signal }));
      await net.sim.sleep(30);
      net.cut();
      controller.abort();
      await call;
      const next = session.request('next');
      await net.until(() => requests.some(({ header }) => header.length === 4));
      for (const request of requests) void request.reply();
      await next;
      assert.ok(requests.length <= 2);
      await session.close();
    });
  });

  describe(`flow of a session over ${name}`, () => {
    test('stops when the receiver has as many messages as it takes, and goes on when one is let go of', async (net) => {
      await net.listen((session) => session.accept(), { queueMessages: 4 });
      const session = await net.connect();
      await net.until(() => net.served.length === 1);
      const messages = net.served[0].messages();
      const sent = Array.from({ length: 8 }, (_, i) => session.send(pattern(10, i), { receipt: true }));
      const got: XioMessage[] = [];
      const take = async (): Promise<void> => {
        const { value } = await messages.next();
        if (value !== undefined) got.push(value);
      };
      let done = 0;
      for (const each of sent) void each.then(() => (done += 1));
      await net.sim.sleep(10_000);
      assert.equal(net.served[0].statistics.messagesReceived, 4);
      assert.equal(done, 0);
      await take();
      await net.sim.sleep(10_000);
      assert.equal(net.served[0].statistics.messagesReceived, 4);
      // The next step of the loop lets go of the message before.
      await take();
      await net.until(() => net.served[0].statistics.messagesReceived === 5);
      assert.equal(done, 1);
      for (let i = 2; i < 8; i += 1) await take();
      got[7].release();
      await Promise.all(sent);
    });

    test('stops when the receiver has as many bytes as it takes', async (net) => {
      const requests = await patient(net, { maxBodyBytes: 10_000, queueBytes: 25_000 });
      const session = await net.connect();
      const calls = Array.from({ length: 5 }, (_, i) => session.request(HEADER, pattern(10_000, i)));
      await net.sim.sleep(10_000);
      assert.equal(requests.length, 2);
      void requests[0].reply();
      await net.until(() => requests.length === 3);
      for (let i = 1; i < 5; i += 1) {
        await net.until(() => requests.length > i);
        assert.deepEqual(requests[i].body, pattern(10_000, i));
        void requests[i].reply();
      }
      await Promise.all(calls);
    });

    test('of a slow receiver slows nobody else', async (net) => {
      const requests = await patient(net, { queueMessages: 4 });
      const [slow, quick] = [await net.connect(), await net.connect()];
      const stuck = Array.from({ length: 8 }, () => slow.request('slow'));
      for (const each of stuck) each.catch(() => undefined);
      await net.until(() => requests.length === 4);
      for (let i = 0; i < 20; i += 1) {
        const call = quick.request('quick');
        await net.until(() => requests.length === 5 + i);
        void requests[4 + i].reply();
        await call;
      }
      slow.abort();
      await Promise.allSettled(stuck);
    });

    test('refuses more than its queue takes', async (net) => {
      const requests = await patient(net, { queueMessages: 4 });
      const session = await net.connect({ queueMessages: 4 });
      const calls = Array.from({ length: 8 }, () => session.request(HEADER));
      await assert.rejects(session.request(HEADER), { code: 'XIO_E_TX_QUEUE_OVERFLOW' });
      for (let i = 0; i < 8; i += 1) {
        await net.until(() => requests.length > i);
        void requests[i].reply();
      }
      await Promise.all(calls);
    });
  });

  describe(`the life of a session over ${name}`, () => {
    test('begins at the server that the first has sent it on to', async (net) => {
      const [second, third] = [net.sim.host('second'), net.sim.host('third')];
      await net.listen((session) => session.redirect([net.urlOf(second)]));
      await net.listen((session) => session.redirect([net.urlOf(third)]), {}, second);
      await net.listen((session) => session.on('request', () => ({ header: 'third' })), {}, third);
      const session = await net.connect({ privateData: 'who' });
      assert.equal(new TextDecoder().decode((await session.request()).header), 'third');
      assert.deepEqual(
        net.served.map(({ privateData }) => new TextDecoder().decode(privateData)),
        ['who', 'who', 'who'],
      );
      await session.close();
    });

    test('ends where servers send it round in a circle', async (net) => {
      const second = net.sim.host('second');
      await net.listen((session) => session.redirect([net.urlOf(second)]));
      await net.listen((session) => session.redirect([net.urlOf(net.server)]), {}, second);
      await assert.rejects(net.connect({ maxRedirects: 5 }), { code: 'XIO_E_SESSION_REDIRECTED' });
      assert.equal(net.served.length, 6);
    });

    test('does not begin where the server rejects it, who says why', async (net) => {
      await net.listen((session) => session.reject('not today'));
      await assert.rejects(net.connect(), { code: 'XIO_E_SESSION_REJECTED', message: /not today/ });
    });

    test('does not begin where nobody listens, or the server has no room', async (net) => {
      await assert.rejects(net.connect(), { code: 'XIO_E_SESSION_REFUSED' });
      await net.listen((session) => session.accept(), { maxSessions: 1 });
      await net.connect();
      await assert.rejects(net.connect(), { code: 'XIO_E_SESSION_REFUSED' });
    });

    test('goes by several connections, each to the next of the portals', async (net) => {
      const portals = [net.sim.host('one'), net.sim.host('two')];
      const asked: string[] = [];
      const serve = (host: typeof net.server, options = {}): Promise<unknown> =>
        net.listen(
          (session) => {
            session.accept(options).on('request', () => {
              asked.push(host.name);
              return {};
            });
          },
          {},
          host,
        );
      await serve(net.server, { portals: portals.map((host) => net.urlOf(host)) });
      for (const host of portals) await serve(host);
      const session = await net.connect({ connections: 3 });
      await net.until(() => net.served.length === 3);
      await net.sim.sleep(1000);
      for (let i = 0; i < 6; i += 1) await session.request();
      assert.deepEqual(asked.sort(), ['one', 'one', 'server', 'server', 'two', 'two']);
      await session.close();
    });

    test('ends when both ends are done with what they have begun, whoever says so first', async (net) => {
      for (const who of ['client', 'server', 'both']) {
        net.served.length = 0;
        for (const server of net.servers.splice(0)) server.close();
        await net.listen((session) =>
          session.on('request', async ({ body }) => {
            await net.sim.sleep(500);
            return { body };
          }),
        );
        const session = await net.connect();
        await net.until(() => net.served.length === 1);
        const call = session.request(HEADER, pattern(LONG, 1));
        await net.sim.sleep(100);
        const closing = [session, ...net.served].filter((_, i) => who === 'both' || i === (who === 'client' ? 0 : 1));
        await Promise.all([...closing.map((each) => each.close()), call]);
        await Promise.all([session.closed, net.served[0].closed]);
        assert.deepEqual((await call).body, pattern(LONG, 1));
        assert.deepEqual([session.failure, net.served[0].failure], [undefined, undefined]);
      }
    });

    test('ends when the last messages are sent that had to wait for a slow reader', async (net) => {
      let read = 0;
      const onSession = async (session: XioSession): Promise<void> => {
        for await (const message of session.messages()) {
          await net.sim.sleep(1000);
          read += message.body.length;
        }
      };
      await net.listen((session) => void onSession(session), { queueMessages: 4 });
      const session = await net.connect();
      const sent = Array.from({ length: 20 }, () => session.send('x'));
      await net.settled(session.close({ timeoutMs: 1000 }));
      await Promise.all(sent);
      await net.until(() => read === 20);
    });

    test('ends in time where the peer never answers', async (net) => {
      await patient(net);
      const session = await net.connect();
      const call = assert.rejects(session.request(HEADER), { code: 'XIO_E_TIMEOUT' });
      await assert.rejects(session.close({ timeoutMs: 100 }), { code: 'XIO_E_TIMEOUT' });
      await call;
      assert.equal(session.state, 'closed');
    });

    test('goes on in silence, where the peer is there', async (net) => {
      await net.listen((session) => session.on('request', () => ({})));
      const options = { keepAliveMs: 10, keepAliveIntervalMs: 10, keepAliveProbes: 1 };
      const session = await net.connect(options);
      let lost = 0;
      session.on('reconnecting', () => (lost += 1));
      // Step by step: what ends do in microtasks is not done within one.
      for (let i = 0; i < 200; i += 1) await net.sim.sleep(1000);
      await session.request();
      assert.equal(lost, 0);
    });

    test('is noticed to have ended where the client has vanished', async (net) => {
      await net.listen((session) => session.accept(), {
        keepAliveMs: 100,
        keepAliveIntervalMs: 50,
        reconnectMs: 500,
      });
      await net.connect();
      await net.until(() => net.served.length === 1);
      net.crash(net.client);
      await net.settled(net.served[0].closed);
      assert.equal(net.served[0].failure?.code, 'XIO_E_SESSION_DISCONNECTED');
      assert.equal(net.servers[0].sessions, 0);
    });
  });
}
