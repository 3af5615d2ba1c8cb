import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { XioSession } from '../../index.js';
import { type Net, NETS } from '../support/nets.js';
import { pattern } from '../support/worlds.js';

const HEADER = pattern(16, 9);
const LONG = 20_000;

/** A server whose program notes what it is asked, and answers with that. */
async function echoing(net: Net, host = net.server): Promise<number[]> {
  const executed: number[] = [];
  await net.listen(
    (session) =>
      session.on('request', ({ header, body }) => {
        executed.push(header[0]);
        return { header, body };
      }),
    {},
    host,
  );
  return executed;
}

for (const [name, play] of Object.entries(NETS)) {
  const test = (what: string, scene: (net: Net) => Promise<void>): void => void it(what, () => play(scene));

  describe(`a session over ${name} whose connection is lost`, () => {
    test('goes on by another one, of which the program is told', async (net) => {
      await echoing(net);
      const session = await net.connect();
      const told: string[] = [];
      session.on('reconnecting', ({ code }) => told.push(code)).on('reconnected', () => told.push('reconnected'));
      await session.request(HEADER);
      net.cut();
      const { body } = await session.request(HEADER, pattern(LONG, 1));
      assert.deepEqual(body, pattern(LONG, 1));
      assert.deepEqual(told, ['XIO_E_SESSION_DISCONNECTED', 'reconnected']);
      assert.equal(session.statistics.reconnects, 1);
      assert.equal(net.served.length, 1);
    });

    // Each message of the conversation is the last that its link has sent, and either comes or does not.
    for (const when of ['before', 'after'] as const)
      test(`${when} any message has come, executes each request once, and answers it`, async (net) => {
        const executed = await echoing(net);
        for (let cutAt = 1; ; cutAt += 1) {
          const begun = executed.length;
          const session = await net.connect();
          const first = net.watched.sent;
          net.watched.onSent = (sent, link) => {
            if (sent !== first + cutAt) return;
            if (when === 'before') queueMicrotask(() => link.abort());
            else link.clock.chore(0.1, () => link.abort());
          };
          const into = new Uint8Array(LONG);
          const answers = await Promise.all([
            session.request(Uint8Array.of(1), pattern(10, 1)),
            session.request(Uint8Array.of(2), pattern(LONG, 2)),
            session.request(Uint8Array.of(3), pattern(LONG, 3), { into }),
          ]);
          assert.deepEqual(
            answers.map(({ header, body }) => [header[0], body]),
            [
              [1, pattern(10, 1)],
              [2, pattern(LONG, 2)],
              [3, pattern(LONG, 3)],
            ],
          );
          await session.close();
          net.watched.onSent = undefined;
          assert.deepEqual(executed.slice(begun).sort(), [1, 2, 3], `cut at ${cutAt}`);
          if (net.watched.sent < first + cutAt) {
            assert.ok(cutAt > 6, 'all messages were tried');
            return;
          }
        }
      });

    test('again and again, loses and repeats nothing', async (net) => {
      const executed = await echoing(net);
      const session = await net.connect();
      let [sent, cuts] = [0, 0];
      net.watched.onSent = (_, link) => {
        sent += 1;
        if (sent % 20 !== 0) return;
        cuts += 1;
        // Later each time: whoever has too little time for one message never has it.
        link.clock.chore(0.01 * cuts, () => link.abort());
      };
      const answers = Array.from({ length: 60 }, (_, i) =>
        session.request(Uint8Array.of(i), pattern(i % 3 === 0 ? LONG : 100, i)),
      );
      for (const [i, answer] of (await Promise.all(answers)).entries())
        assert.deepEqual(answer.body, pattern(i % 3 === 0 ? LONG : 100, i));
      assert.deepEqual(
        executed.sort((a, b) => a - b),
        Array.from({ length: 60 }, (_, i) => i),
      );
      assert.ok(session.statistics.reconnects > 1);
    });

    test('brings messages once, and in order', async (net) => {
      const got: number[] = [];
      await net.listen((session) => {
        const take = async (): Promise<void> => {
          for await (const { header } of session.messages()) got.push(header[0]);
        };
        void take();
      });
      const session = await net.connect();
      const sent: Promise<void>[] = [];
      for (let i = 0; i < 30; i += 1) {
        sent.push(
          session.send({ header: Uint8Array.of(i), body: pattern(i % 2 === 0 ? LONG : 10, i) }, { receipt: true }),
        );
        if (i % 10 === 9) {
          await net.sim.sleep(50);
          net.cut();
        }
      }
      await Promise.all(sent);
      assert.deepEqual(
        got,
        Array.from({ length: 30 }, (_, i) => i),
      );
    });

    test('goes to another server, when its own does not come back', async (net) => {
      const other = net.sim.host('other');
      const first = await echoing(net);
      const second = await echoing(net, other);
      const session = await net.connect({
        url: [net.urlOf(net.server), net.urlOf(other)],
        keepAliveMs: 100,
        keepAliveIntervalMs: 50,
        connectTimeoutMs: 500,
      });
      await session.request(Uint8Array.of(1));
      net.crash(net.server);
      const { header } = await net.settled(session.request(Uint8Array.of(2), pattern(LONG, 2), { idempotent: true }));
      assert.deepEqual(header, Uint8Array.of(2));
      assert.deepEqual([first, second], [[1], [2]]);
    });

    test('fails what may have been executed, when the server has begun anew', async (net) => {
      const { server } = net;
      const asked: number[] = [];
      await net.listen((session) => session.on('request', ({ header }) => void asked.push(header[0])));
      const session = await net.connect({ keepAliveMs: 100, keepAliveIntervalMs: 50, connectTimeoutMs: 500 });
      const [lost, again] = [
        session.request(Uint8Array.of(1)),
        session.request(Uint8Array.of(2), '', { idempotent: true }),
      ];
      const failed = assert.rejects(lost, { code: 'XIO_E_PEER_RESTARTED', mayHaveRun: true });
      await net.until(() => asked.length === 2);
      net.crash(server);
      server.restart();
      const executed = await echoing(net);
      await net.settled(failed);
      assert.deepEqual((await net.settled(again)).header, Uint8Array.of(2));
      assert.deepEqual(executed, [2]);
    });

    test('finds its server no later than that was away, when it returns', async (net) => {
      await echoing(net);
      const session = await net.connect({ keepAliveMs: 100, keepAliveIntervalMs: 50 });
      await session.request(HEADER);
      net.crash(net.server);
      const asked = session.request(HEADER, '', { idempotent: true });
      await net.sim.sleep(1e6);
      net.server.restart();
      await echoing(net);
      const backUs = net.sim.nowUs;
      await net.settled(asked);
      const tookUs = net.sim.nowUs - backUs;
      assert.ok(tookUs <= 1e6, `${tookUs} µs after it was back`);
    });

    test('ends when nobody is to be reached again in time', async (net) => {
      await echoing(net);
      const session = await net.connect({
        reconnectMs: 2000,
        connectTimeoutMs: 500,
        keepAliveMs: 100,
        keepAliveIntervalMs: 50,
      });
      await session.request(HEADER);
      net.crash(net.server);
      await assert.rejects(net.settled(session.request(HEADER)), { code: 'XIO_E_SESSION_DISCONNECTED' });
      await session.closed;
      assert.equal(session.state, 'closed');
      assert.equal(session.failure?.code, 'XIO_E_SESSION_DISCONNECTED');
    });

    test('ends with it, when it is not to survive', async (net) => {
      await echoing(net);
      const session = await net.connect({ reconnectMs: 0 });
      await session.request(HEADER);
      net.cut();
      await session.closed;
      assert.equal(session.failure?.code, 'XIO_E_SESSION_DISCONNECTED');
    });
  });
}

describe('a server over rdma that is cut off', () => {
  /** Of the reconnect policy nothing is to be seen here. */
  const ONCE = { reconnectMs: 0 } as const;
  const PROBED_MS = 8000;

  const waits: Readonly<Record<string, (net: Net, session: XioSession) => Promise<unknown>>> = {
    'that has a request': (_, session) => session.request(HEADER),
    'that has a message': (_, session) => session.send({ header: HEADER }, { receipt: true }),
    'that has a request, and is to close its session': (_, session) => {
      session.request(HEADER).catch(() => undefined);
      return session.close();
    },
  };
  for (const [what, wait] of Object.entries(waits))
    it(`${what} is noticed in seconds, and not by keep-alive`, () =>
      NETS.rdma(async (net) => {
        // It answers nothing, and takes nothing.
        await net.listen((session) => void session.on('request', () => undefined));
        const session = await net.connect(ONCE);
        const call = wait(net, session);
        call.catch(() => undefined);
        await net.sim.sleep(200_000);
        net.sim.partition(net.server);
        const sinceUs = net.sim.nowUs;
        await net.settled(session.closed);
        assert.ok(net.sim.nowUs - sinceUs < PROBED_MS * 1000, `${net.sim.nowUs - sinceUs} µs`);
        assert.equal(session.failure?.code, 'XIO_E_SESSION_DISCONNECTED');
      }));

  it('before it takes a session is noticed in seconds, by a client that looks for it once more', () =>
    NETS.rdma(async (net) => {
      await net.listen(() => undefined);
      const connecting = net.connect({ connectTimeoutMs: 60_000, reconnectMs: 0 });
      connecting.catch(() => undefined);
      await net.until(() => net.served.length === 1);
      net.sim.partition(net.server);
      const sinceUs = net.sim.nowUs;
      await assert.rejects(net.settled(connecting));
      assert.ok(net.sim.nowUs - sinceUs < 2 * PROBED_MS * 1000, `${net.sim.nowUs - sinceUs} µs`);
    }));

  it('is not probed by a session that waits for nothing', () =>
    NETS.rdma(async (net) => {
      await net.listen((session) => session.on('request', ({ header }) => ({ header })));
      const session = await net.connect({ keepAliveMs: Infinity });
      await session.request(HEADER);
      await session.send(HEADER);
      await net.sim.sleep(1_000_000);
      const before = net.sim.packets({ opcode: 'RC_WRITE_ONLY' }).length;
      await net.sim.sleep(60_000_000);
      assert.equal(net.sim.packets({ opcode: 'RC_WRITE_ONLY' }).length, before);
      session.abort();
    }));
});
