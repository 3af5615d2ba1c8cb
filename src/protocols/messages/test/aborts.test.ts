import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { simulate } from '../../../entry/sim.js';
import { Engine } from '../../core/index.js';
import { connect, listen } from '../index.js';
import { connected, pattern, PORT, text, words } from './support/pair.js';

const rejection = async (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'resolved',
    (error: unknown) => error,
  );

describe('a send that is given up', () => {
  it('rejects with the reason, never arrives when it had not begun, and the connection lives on', () =>
    simulate(async (sim) => {
      const { atServer, atClient } = await connected(sim, { window: 4 });
      const reason = new Error('enough');
      const controller = new AbortController();
      const before = Array.from({ length: 10 }, (_, i) => atClient.send(text(`before ${i}`)));
      const given = rejection(atClient.send(text('given up'), { signal: controller.signal }));
      const after = atClient.send(text('after'));
      controller.abort(reason);
      assert.equal(await given, reason);
      for (let i = 0; i < 10; i += 1) assert.equal(words(await atServer.receive()), `before ${i}`);
      assert.equal(words(await atServer.receive()), 'after');
      await Promise.all([...before, after]);
    }));

  it('leaves nothing of a message whose fragments had gone in part', () =>
    simulate(async (sim) => {
      const { atServer, atClient } = await connected(sim, { window: 4 });
      const controller = new AbortController();
      const blocking = atClient.send(text('first'));
      const given = rejection(atClient.send(pattern(1_000_000), { signal: controller.signal }));
      const after = atClient.send(text('after'));
      await sim.sleep(10_000);
      controller.abort();
      assert.equal(((await given) as Error).name, 'AbortError');
      assert.equal(words(await atServer.receive()), 'first');
      assert.equal(words(await atServer.receive()), 'after');
      await Promise.all([blocking, after]);
    }));

  it('is not begun when its signal was aborted before', () =>
    simulate(async (sim) => {
      const { atServer, atClient } = await connected(sim);
      const reason = new Error('before');
      assert.equal(await rejection(atClient.send(text('x'), { signal: AbortSignal.abort(reason) })), reason);
      await atClient.send(text('y'));
      assert.equal(words(await atServer.receive()), 'y');
    }));

  it('can have a time limit, which counts on the device’s clock', () =>
    simulate(async (sim) => {
      const { atServer, atClient } = await connected(sim, { window: 4 });
      const sends = Array.from({ length: 4 }, (_, i) => rejection(atClient.send(text(String(i)), { timeoutMs: 50 })));
      const from = sim.nowUs;
      const results = await Promise.all(sends);
      assert.equal(sim.nowUs - from, 50_000);
      const errors = results.filter((result) => result !== 'resolved') as { errno?: string; call?: string }[];
      assert.deepEqual(
        errors.map(({ errno, call }) => [errno, call]),
        [
          ['ETIMEDOUT', 'send'],
          ['ETIMEDOUT', 'send'],
        ],
      );
      assert.equal(words(await atServer.receive()), '0');
      const more = atClient.send(text('more'));
      assert.equal(words(await atServer.receive()), '1');
      assert.equal(words(await atServer.receive()), 'more');
      await more;
    }));

  it('is never looked at again: what the program writes there afterwards does not arrive', () =>
    simulate(async (sim) => {
      const { atServer, atClient } = await connected(sim);
      const bytes = pattern(3 * 4096, 1);
      const sent = atClient.send(bytes);
      await sent;
      bytes.fill(0xee);
      assert.deepEqual(await atServer.receive(), pattern(3 * 4096, 1));
    }));
});

describe('a receive that is given up', () => {
  it('leaves the message to the next', () =>
    simulate(async (sim) => {
      const { atServer, atClient } = await connected(sim);
      const controller = new AbortController();
      const reason = new Error('enough');
      const first = rejection(atServer.receive({ signal: controller.signal }));
      const late = rejection(atServer.receive({ timeoutMs: 5 }));
      controller.abort(reason);
      assert.equal(await first, reason);
      assert.match(String(await late), /receive: not done within 5 ms \(ETIMEDOUT\)/);
      await atClient.send(text('hello'));
      assert.equal(words(await atServer.receive({ timeoutMs: 1000 })), 'hello');
    }));
});

describe('a connect that is given up', () => {
  it('leaves nothing behind, on either side', () =>
    simulate(async (sim) => {
      const [server, client] = [sim.host('server'), sim.host('client')];
      const listener = listen({ port: PORT, context: server.context });
      const served = listener.serve((connection) => connection.closed);
      const controller = new AbortController();
      sim.when({ opcode: 'UD_SEND_ONLY', from: server, nth: 1 }, () => controller.abort(new Error('enough')));
      const { signal } = controller;
      const connecting = client.run(() => connect({ host: 'server', port: PORT, signal }));
      await assert.rejects(connecting, /enough/);
      await sim.sleep(20_000_000);
      listener.close();
      await served;
      for (const { context } of [server, client]) assert.equal(Engine.of(context).pool.leased, 0);
    }));
});
