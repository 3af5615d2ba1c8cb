import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { simulate } from '../../../entry/sim.js';
import { UcsStatus } from '../wire/index.js';
import { pattern, until } from './support/transports.js';
import { WAYS } from './support/workers.js';

for (const [way, made] of Object.entries(WAYS))
  describe(`a message that was probed on ${way}`, () => {
    for (const [kind, length] of [
      ['eager', 100],
      ['several eager parts', 8100],
      ['a rendezvous', 50_000],
    ] as const) {
      it(`is for whoever has taken it, and comes whole, by ${kind}`, () =>
        simulate(async (sim) => {
          const { server, there, close } = await made(sim);
          const sending = Promise.all([there.tagSend(pattern(length), 7), there.tagSend(pattern(length, 1), 7)]);
          await until(sim, () => server.tagProbe(7) !== undefined);
          const taken = server.tagProbeRemove(7, 0xf);
          assert.ok(taken !== undefined);
          assert.deepEqual([taken.tag, taken.length], [7n, length]);
          const [first, second] = [new Uint8Array(length), new Uint8Array(length)];
          await server.tagReceive(second, 7);
          assert.deepEqual(await server.tagMessageReceive(taken, first), { tag: 7n, length });
          assert.deepEqual([first, second], [pattern(length), pattern(length, 1)]);
          await sending;
          await assert.rejects(server.tagMessageReceive(taken, first), { errno: 'EINVAL' });
          assert.equal(server.tagProbeRemove(7), undefined);
          assert.equal(server.unexpectedBytes, 0);
          close();
        }));

      it(`is lost when its holder has too short a buffer, by ${kind}`, () =>
        simulate(async (sim) => {
          const { server, there, close } = await made(sim);
          const sending = there.tagSend(pattern(length), 7);
          await until(sim, () => server.tagProbe(7) !== undefined);
          const taken = server.tagProbeRemove(7);
          assert.ok(taken !== undefined);
          const receiving = server.tagMessageReceive(taken, new Uint8Array(length - 1));
          await assert.rejects(receiving, { status: UcsStatus.UCS_ERR_MESSAGE_TRUNCATED, call: 'tagMessageReceive' });
          await sending;
          assert.equal(server.unexpectedBytes, 0);
          close();
        }));
    }

    it('is withdrawn under its holder when its sender gives it up', () =>
      simulate(async (sim) => {
        const { server, there, close } = await made(sim);
        const abort = new AbortController();
        const sending = there.tagSend(pattern(50_000), 7, { signal: abort.signal });
        await until(sim, () => server.tagProbe(7) !== undefined);
        const taken = server.tagProbeRemove(7);
        assert.ok(taken !== undefined);
        abort.abort(new Error('no more'));
        await assert.rejects(sending, /no more/);
        await sim.sleep(1000);
        const receiving = server.tagMessageReceive(taken, new Uint8Array(50_000));
        await assert.rejects(receiving, { status: UcsStatus.UCS_ERR_CANCELED });
        assert.equal(server.unexpectedBytes, 0);
        close();
      }));
  });
