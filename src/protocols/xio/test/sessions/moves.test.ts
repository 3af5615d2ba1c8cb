import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { XioRequest, XioSession } from '../../../../entry/xio.js';
import type { SimHost } from '../../../../entry/sim.js';
import { type Net, NETS } from '../support/nets.js';
import { codeOf, rejection } from '../support/scenes.js';
import { pattern } from '../support/worlds.js';

const LONG = 20_000;
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** A server whose program says its name, and notes what it was asked. */
async function named(net: Net, host: SimHost, reconnectMs = 60_000): Promise<string[]> {
  const asked: string[] = [];
  const onSession = (session: XioSession): void => {
    session.accept({ privateData: host.name }).on('request', ({ header, body }) => {
      asked.push(text(header));
      return { header: host.name, body };
    });
  };
  await net.listen(onSession, { reconnectMs }, host);
  return asked;
}

/** A server whose program keeps requests until the test answers them. */
async function keeping(net: Net): Promise<XioRequest[]> {
  const requests: XioRequest[] = [];
  await net.listen((session) => session.on('request', (request) => void requests.push(request)));
  return requests;
}

for (const [name, play] of Object.entries(NETS)) {
  const test = (what: string, scene: (net: Net) => Promise<void>): void => void it(what, () => play(scene));

  describe(`a session over ${name} that its server sends on`, () => {
    test('has what was asked answered there, and asks the other from then on', async (net) => {
      const other = net.sim.host('other');
      const requests = await keeping(net);
      const asked = await named(net, other);
      const session = await net.connect();
      const told: string[] = [];
      session.on('redirected', (url) => told.push(url)).on('reconnected', () => told.push('reconnected'));
      session.on('reconnecting', () => told.push('reconnecting'));
      const before = session.request('before', pattern(LONG, 1));
      await net.until(() => requests.length === 1);
      const [served] = net.served;
      served.redirect([net.urlOf(other)]);
      assert.equal(served.state, 'closing');
      assert.equal(await codeOf(served.request()), 'XIO_E_SESSION_CLOSED');
      await net.sim.sleep(1000);
      const after = session.request('after', pattern(LONG, 2));
      await net.sim.sleep(1000);
      assert.deepEqual(asked, []);
      await requests[0].reply('server', requests[0].body);
      assert.deepEqual((await before).body, pattern(LONG, 1));
      const { header, body } = await net.settled(after);
      assert.deepEqual([text(header), asked], ['other', ['after']]);
      assert.deepEqual(body, pattern(LONG, 2));
      assert.deepEqual(told, [net.urlOf(other), 'reconnected']);
      assert.equal(text(session.privateData), 'other');
      await net.settled(served.closed);
      assert.equal(served.failure, undefined);
      assert.equal(requests.length, 1);
      await net.settled(session.close());
      await net.until(() => net.servers.every(({ sessions }) => sessions === 0));
    });

    test('asks each once, wherever the link is lost', async (net) => {
      const hosts = [net.server, net.sim.host('other')];
      // Whoever comes no more is not waited for very long.
      const asked = [await named(net, hosts[0], 1000), await named(net, hosts[1], 1000)];
      for (let cutAt = 1; ; cutAt += 1) {
        for (const list of asked) list.length = 0;
        const session = await net.connect();
        await net.until(() => net.served.length > 0);
        const served = net.served.splice(0);
        const first = net.watched.sent;
        net.watched.onSent = (sent, link) => {
          if (sent === first + cutAt) queueMicrotask(() => link.abort());
        };
        const one = session.request('one', pattern(LONG, 1));
        const message = session.send(pattern(LONG, 3));
        served[0].redirect([net.urlOf(hosts[1])]);
        const two = session.request('two', pattern(LONG, 2));
        for (const { header, body } of await net.settled(Promise.all([one, two]))) {
          assert.ok(hosts.some((host) => host.name === text(header)));
          assert.equal(body.length, LONG);
        }
        await net.settled(message);
        await net.until(() => net.served.length > 0);
        await net.settled(session.close());
        net.watched.onSent = undefined;
        assert.deepEqual(asked.flat().sort(), ['one', 'two'], `cut at ${cutAt}`);
        await net.until(() => net.servers.every(({ sessions }) => sessions === 0));
        net.served.length = 0;
        if (net.watched.sent < first + cutAt) {
          assert.ok(cutAt > 10, 'all messages were tried');
          return;
        }
      }
    });

    for (const when of ['before', 'after'] as const)
      test(`knows that its last message has come, wherever the link is lost ${when} a message has`, async (net) => {
        const other = net.sim.host('other');
        let read = 0;
        const take = async (session: XioSession): Promise<void> => {
          for await (const { body } of session.messages()) read += body.length;
        };
        await net.listen((session) => void rejection(take(session)), { reconnectMs: 1000 });
        await named(net, other, 1000);
        for (let cutAt = 1; ; cutAt += 1) {
          const begun = read;
          const session = await net.connect();
          await net.until(() => net.served.length > 0);
          const [served] = net.served.splice(0);
          const first = net.watched.sent;
          net.watched.onSent = (sent, link) => {
            if (sent !== first + cutAt) return;
            if (when === 'before') queueMicrotask(() => link.abort());
            else link.clock.chore(0.1, () => link.abort());
          };
          const message = session.send(pattern(LONG, 3));
          served.redirect([net.urlOf(other)]);
          await net.settled(message);
          await net.settled(served.closed);
          await net.until(() => read === begun + LONG);
          net.watched.onSent = undefined;
          session.abort();
          await net.until(() => net.servers.every(({ sessions }) => sessions === 0));
          net.served.length = 0;
          if (net.watched.sent < first + cutAt) return;
        }
      });

    test('brings the answers that its server waits for', async (net) => {
      const other = net.sim.host('other');
      await named(net, other);
      let answer = (): void => undefined;
      await net.listen((session) => session.accept());
      const session = await net.connect();
      session.on('request', async () => {
        await new Promise<void>((resolve) => (answer = resolve));
        return { header: 'of the client' };
      });
      await net.until(() => net.served.length === 1);
      const [served] = net.served;
      const asked = served.request();
      await net.sim.sleep(1000);
      served.redirect([net.urlOf(other)]);
      await net.sim.sleep(10_000);
      assert.equal(net.served.length, 1);
      answer();
      assert.equal(text((await net.settled(asked)).header), 'of the client');
      await net.until(() => net.served.length === 2);
      await net.settled(served.closed);
      session.abort();
    });

    test('is closed where it is when nothing waits, and goes on when something does', async (net) => {
      const other = net.sim.host('other');
      const requests = await keeping(net);
      const asked = await named(net, other);
      const session = await net.connect();
      const first = session.request('first');
      await net.until(() => requests.length === 1);
      net.served[0].redirect([net.urlOf(other)]);
      await net.sim.sleep(1000);
      const second = session.request('second');
      const closing = session.close();
      await requests[0].reply();
      await net.settled(Promise.all([first, second, closing]));
      assert.deepEqual(asked, ['second']);
      const next = await net.connect();
      await net.until(() => net.served.length === 3);
      net.served[2].redirect([net.urlOf(other)]);
      await net.settled(next.close());
      assert.equal(next.failure, undefined);
      await net.sim.sleep(10_000);
      assert.equal(net.served.length, 3);
    });

    test('leaves a server that ends it meanwhile, and says what may have been executed there', async (net) => {
      const other = net.sim.host('other');
      const requests = await keeping(net);
      await named(net, other);
      const session = await net.connect();
      const lost = rejection(session.request('lost'));
      const again = session.request('again', '', { idempotent: true });
      await net.until(() => requests.length === 2);
      const [served] = net.served;
      served.redirect([net.urlOf(other)]);
      assert.equal(await codeOf(net.settled(served.close({ timeoutMs: 500 }))), 'XIO_E_TIMEOUT');
      const error = await net.settled(lost);
      assert.ok(error instanceof Error && 'code' in error && 'mayHaveRun' in error);
      assert.deepEqual([error.code, error.mayHaveRun], ['XIO_E_PEER_RESTARTED', true]);
      assert.equal(text((await net.settled(again)).header), 'other');
      session.abort();
    });

    test('fails to no other where that is not there, and stays with what it has', async (net) => {
      const gone = net.sim.host('gone');
      const asked = await named(net, net.server);
      net.crash(gone);
      const session = await net.connect({ connectTimeoutMs: 100 });
      await net.until(() => net.served.length === 1);
      net.served[0].redirect([net.urlOf(gone)]);
      // It goes back to where it began.
      assert.equal(text((await net.settled(session.request('again'))).header), 'server');
      assert.deepEqual(asked, ['again']);
      session.abort();
    });

    test('goes with all its connections, and is one session there', async (net) => {
      const other = net.sim.host('other');
      const asked = await named(net, net.server);
      const further = await named(net, other);
      const session = await net.connect({ connections: 3 });
      await net.until(() => net.watched.links.length === 6);
      await net.sim.sleep(1000);
      for (let i = 0; i < 3; i += 1) await session.request(`${i}`);
      assert.deepEqual([asked.length, net.served.length], [3, 1]);
      net.served[0].redirect([net.urlOf(other)]);
      await net.sim.sleep(100_000);
      const answers = [1, 2, 3, 4, 5, 6].map((i) => session.request(`moved ${i}`));
      await net.settled(Promise.all(answers));
      assert.deepEqual([asked.length, further.length, net.served.length], [3, 6, 2]);
      await net.settled(session.close());
      await net.until(() => net.servers.every(({ sessions }) => sessions === 0));
    });

    test('is sent on no more often than it allows, and again when it has stayed', async (net) => {
      const other = net.sim.host('other');
      const hosts = [net.server, other];
      let moves = 0;
      for (const [i, host] of hosts.entries())
        await net.listen(
          (session) => {
            session.accept().redirect([net.urlOf(hosts[1 - i])]);
            moves += 1;
          },
          {},
          host,
        );
      const session = await net.connect({ maxRedirects: 3 });
      await net.settled(session.closed);
      assert.equal(session.failure?.code, 'XIO_E_SESSION_REDIRECTED');
      assert.equal(moves, 4);
      await net.sim.sleep(100_000);
      assert.ok(net.servers.every(({ sessions }) => sessions === 0));
      const fourth = net.sim.host('fourth');
      const fifth = net.sim.host('fifth');
      const stay = [await named(net, fourth), await named(net, fifth)];
      net.served.length = 0;
      const settled = await net.connect({ url: net.urlOf(fourth), maxRedirects: 1 });
      for (const [i, host] of [fifth, fourth, fifth].entries()) {
        await net.until(() => net.served.length === i + 1);
        await net.sim.sleep(61e6);
        net.served[i].redirect([net.urlOf(host)]);
      }
      await net.sim.sleep(1000);
      await net.settled(settled.request('at the end'));
      assert.deepEqual(stay, [[], ['at the end']]);
      settled.abort();
    });

    test('is sent on once by each server, to as many as can be said', async (net) => {
      await net.listen((session) => session.accept());
      const session = await net.connect();
      await net.until(() => net.served.length === 1);
      const [served] = net.served;
      assert.throws(() => session.redirect(['tcp://a:1']), { code: 'XIO_E_STATE' });
      const long = (length: number): string => `tcp://a:1/${'p'.repeat(length - 10)}`;
      const tooMany = Array.from({ length: 65 }, () => 'tcp://a:1');
      for (const urls of [[], tooMany, ['nowhere'], [long(1025)], Array.from({ length: 6 }, () => long(1024))])
        assert.throws(() => served.redirect(urls), { code: 'EINVAL' });
      assert.throws(() => served.accept({ portals: Array.from({ length: 6 }, () => long(1024)) }), { code: 'EINVAL' });
      served.redirect([...Array.from({ length: 5 }, () => long(1024)), net.urlOf(net.server)]);
      assert.throws(() => served.redirect([net.urlOf(net.server)]), { code: 'XIO_E_STATE' });
      await net.until(() => net.served.length === 2);
      session.abort();
    });
  });
}
