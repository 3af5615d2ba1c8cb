import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Held, Link } from '../../transport/index.js';
import { codeOf, echo, type Scene, SCENES } from '../support/scenes.js';
import { pattern } from '../support/worlds.js';

function withSend(link: Link, send: Link['send']): Link {
  return new Proxy(link, {
    get: (of, name) => {
      if (name === 'send') return send;
      const value: unknown = Reflect.get(of, name, of);
      return typeof value === 'function' ? (value.bind(of) as unknown) : value;
    },
  });
}

/** A link whose end is silent after so many messages, though it is there. */
function mute(link: Link, messages: number): Link {
  let sent = 0;
  const send: Link['send'] = (head, body, target) => {
    sent += 1;
    return sent > messages ? undefined : link.send(head, body, target);
  };
  return withSend(link, send);
}

/** A link that is gone after so many messages of its end. */
function endingAfter(link: Link, messages: number): Link {
  let sent = 0;
  const send = (head: Uint8Array, body: Uint8Array, target: Uint8Array | undefined): Held | undefined => {
    const held = link.send(head, body, target);
    sent += 1;
    if (sent === messages) link.abort();
    return held;
  };
  return withSend(link, send);
}

/** A conversation of all kinds, whose links end as the scene says. */
async function converse({ listen, connect }: Scene): Promise<void> {
  const executed = new Map<string, number>();
  const server = await listen();
  const received: string[] = [];
  void (async () => {
    for await (const session of server) {
      session.on('request', ({ header, body }) => {
        const name = new TextDecoder().decode(header);
        executed.set(name, (executed.get(name) ?? 0) + 1);
        return { header, body };
      });
      void (async () => {
        for await (const { body } of session.messages()) received.push(new TextDecoder().decode(body));
      })().catch(() => undefined);
    }
  })();
  const session = await connect(server.url);
  const sizes = [0, 10, 8192, 20_000, 5, 100_000, 1];
  const requests = sizes.map((size, i) =>
    session.request(`request ${i}`, pattern(size, i), i % 2 === 0 ? {} : { into: new Uint8Array(size) }),
  );
  const messages = ['a', 'b', 'c'].map((text) => session.send(text, { receipt: true }));
  const answers = await Promise.all(requests);
  answers.forEach(({ body }, i) => assert.deepEqual(body, pattern(sizes[i], i)));
  await Promise.all(messages);
  await session.request('last', '');
  await session.close();
  assert.deepEqual(received, ['a', 'b', 'c']);
  assert.deepEqual(
    [...executed.values()],
    Array.from({ length: sizes.length + 1 }, () => 1),
  );
}

const MOST_MESSAGES = 16;

for (const [name, play] of Object.entries(SCENES))
  describe(`sessions by ${name} go on`, () => {
    for (const end of ['client', 'server'] as const)
      it(`when the first link is gone after any message of the ${end}'s`, async () => {
        for (let messages = 1; messages <= MOST_MESSAGES; messages += 1)
          await play(async (scene) => {
            let isFirst = true;
            scene.around = (link, of) => {
              if (of !== end || !isFirst) return link;
              isFirst = false;
              return endingAfter(link, messages);
            };
            await converse(scene);
          });
      });

    it('and tell their program of it, and what was sent again', () =>
      play(async ({ listen, connect, made, until }) => {
        const server = await listen();
        echo(server);
        const session = await connect(server.url);
        const told: string[] = [];
        session.on('reconnecting', ({ code }) => told.push(code)).on('reconnected', () => told.push('reconnected'));
        await session.request('', 'x');
        made[0].abort();
        assert.equal((await session.request('', 'y')).body.length, 1);
        assert.deepEqual(told, ['XIO_E_SESSION_DISCONNECTED', 'reconnected']);
        assert.equal(session.statistics.reconnects, 1);
        assert.equal(server.sessions, 1);
        await session.close();
        await until(() => server.sessions === 0);
      }));

    it('at another address when the server is gone, and say what may have been executed', () =>
      play(async ({ listen, connect, until }) => {
        const [first, second] = [await listen(), await listen()];
        let asked = 0;
        void (async () => {
          for await (const session of first) session.on('request', () => void (asked += 1));
        })();
        echo(second);
        const session = await connect([first.url, second.url]);
        const lost = codeOf(session.request('', 'not idempotent'));
        const again = session.request('', 'idempotent', { idempotent: true });
        await until(() => asked === 2);
        // As a process that dies: nobody is told.
        await first.stop({ timeoutMs: 0 }).catch(() => undefined);
        assert.match(String(await lost), /XIO_E_/);
        await again.catch(() => undefined);
      }));

    it('when the server says nothing any more, though it is asked whether it is there', () =>
      play(async (scene) => {
        const { listen, connect, made } = scene;
        scene.around = (link, end) => (end === 'server' && made.length <= 1 ? mute(link, 3) : link);
        const server = await listen();
        echo(server);
        const session = await connect(server.url, { keepAliveMs: 5, keepAliveIntervalMs: 5, keepAliveProbes: 2 });
        const answers = await Promise.all(
          ['a', 'b', 'c'].map((text) => session.request('', text, { deadlineMs: 60_000 })),
        );
        assert.deepEqual(
          answers.map(({ body }) => new TextDecoder().decode(body)),
          ['a', 'b', 'c'],
        );
        assert.equal(session.statistics.reconnects, 1);
      }));

    it('not for longer than their program allows', () =>
      play(async ({ listen, connect, made, taken, until }) => {
        const server = await listen({ reconnectMs: 0 });
        const sessions = echo(server);
        const session = await connect(server.url, { reconnectMs: 0 });
        await session.request('', 'x');
        made[0].abort();
        await session.closed;
        assert.equal(session.failure?.code, 'XIO_E_SESSION_DISCONNECTED');
        await until(() => sessions[0].state === 'closed' && taken.length === 1);
        assert.equal(sessions[0].failure?.code, 'XIO_E_SESSION_DISCONNECTED');
      }));
  });
