import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listen, RequestError } from 'verbena/messages';
import { type Sim, type SimHost, simulate } from 'verbena/sim';
import { Client, serve } from './service.js';

/** A server on a simulated host, and what its handlers threw. */
function started(sim: Sim): { server: SimHost; errors: unknown[] } {
  const server = sim.host('server');
  const errors: unknown[] = [];
  void server.run(() => serve(listen({ port: 7174 }), (error) => errors.push(error)));
  return { server, errors };
}

test('several clients are served at a time', () =>
  simulate(async (sim) => {
    started(sim);
    const programs = ['a', 'b', 'c'].map((name, i) =>
      sim.host(name).run(async () => {
        await using client = await Client.connect('server', 7174);
        return await client.sum([i, 10]);
      }),
    );
    assert.deepEqual(await Promise.all(programs), [10, 11, 12]);

    const last = sim.host('d');
    await last.run(async () => {
      await using client = await Client.connect('server', 7174);
      assert.equal(await client.answered(), 3n);
    });
  }));

test('a client that sends nonsense loses its connection, and others do not', () =>
  simulate(async (sim) => {
    const { errors } = started(sim);
    const [good, bad] = [sim.host('good'), sim.host('bad')];
    await good.run(async () => {
      await using client = await Client.connect('server', 7174);
      await bad.run(async () => {
        const nonsense = await Client.connect('server', 7174);
        await assert.rejects(nonsense.sum(null as never), /the peer's program has failed/);
      });
      assert.equal(await client.sum([1, 2]), 3);
    });
    assert.match(String(errors[0]), /TypeError/);
  }));

test('a caller that cancels a call can continue', () =>
  simulate(async (sim) => {
    const { server } = started(sim);
    await sim.host('client').run(async () => {
      await using client = await Client.connect('server', 7174);
      server.pause();
      const controller = new AbortController();
      const waiting = client.answered({ signal: controller.signal });
      controller.abort(new Error('never mind'));
      await assert.rejects(waiting, /never mind/);
      await assert.rejects(client.answered({ timeoutMs: 20 }), { code: 'ETIMEDOUT' });
      await assert.rejects(client.sum([1, 1], { timeoutMs: 20 }), { code: 'ETIMEDOUT' });
      server.resume();
      assert.equal(await client.sum([3, 4]), 7);
    });
  }));

test('a client notices a server that dies', () =>
  simulate(async (sim) => {
    const { server } = started(sim);
    await sim.host('client').run(async () => {
      const client = await Client.connect('server', 7174);
      server.crash();
      await assert.rejects(client.sum([1]), (error) => error instanceof RequestError && error.code === 'ETIMEDOUT');
    });
  }));
