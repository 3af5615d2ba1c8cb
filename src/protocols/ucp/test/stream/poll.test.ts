import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { simulate } from '../../../../entry/sim.js';
import { UcsStatus } from '../../wire/index.js';
import { members } from '../support/by-address.js';
import { pattern, until } from '../support/transports.js';
import { ALL_WAYS, onSelf } from '../support/workers.js';

for (const [way, made] of Object.entries(ALL_WAYS))
  describe(`a worker that is asked which streams have bytes, on ${way}`, () => {
    it('names those that nobody receives, until all was received', () =>
      simulate(async (sim) => {
        const { server, there, back, close } = await made(sim);
        assert.deepEqual(server.streamPoll(), []);
        await there.streamSend(pattern(10));
        await until(sim, () => server.streamPoll().length > 0);
        assert.deepEqual(server.streamPoll(), [back]);
        await back.streamReceive(new Uint8Array(4));
        assert.deepEqual(server.streamPoll(), [back]);
        await back.streamReceive(new Uint8Array(6));
        assert.deepEqual(server.streamPoll(), []);
        await close();
      }));

    it('names none whose bytes are for a receive, but those of a receive that was given up', () =>
      simulate(async (sim) => {
        const { server, there, back, close } = await made(sim);
        const controller = new AbortController();
        const receiving = back.streamReceive(new Uint8Array(20), { waitAll: true, signal: controller.signal });
        await there.streamSend(pattern(10));
        await there.flush();
        await sim.sleep(100);
        assert.deepEqual(server.streamPoll(), []);
        controller.abort(new Error('no more'));
        await assert.rejects(receiving, /no more/);
        assert.deepEqual(server.streamPoll(), [back]);
        await close();
      }));

    it('tells those who wait for the first', () =>
      simulate(async (sim) => {
        const { server, there, back, close } = await made(sim);
        const ready = [server.streamReady(), server.streamReady({ timeoutMs: 1000 })];
        await assert.rejects(server.streamReady({ timeoutMs: 1 }), { errno: 'ETIMEDOUT' });
        await there.streamSend(pattern(10));
        assert.deepEqual(await Promise.all(ready), [[back], [back]]);
        assert.deepEqual(await server.streamReady(), [back]);
        await close();
      }));

    it('names no endpoint that was closed, and ends those who wait when it is closed itself', () =>
      simulate(async (sim) => {
        const { server, there, back, close } = await made(sim);
        await there.streamSend(pattern(10));
        assert.deepEqual(await server.streamReady(), [back]);
        back.close();
        assert.deepEqual(server.streamPoll(), []);
        const waiting = assert.rejects(server.streamReady(), { status: UcsStatus.UCS_ERR_CANCELED });
        server.close();
        await waiting;
        await assert.rejects(server.streamReady(), { status: UcsStatus.UCS_ERR_CANCELED });
        await close();
      }));
  });

describe('a worker with several streams', () => {
  it('names all in turn to whoever asks for one', () =>
    simulate(async (sim) => {
      const { all, close } = members(sim, 4);
      const [hub, ...others] = all;
      for (const [i, other] of others.entries()) await (await other.ask(hub)).streamSend(pattern(i + 1));
      await until(sim, () => hub.worker.streamPoll().length === 3);
      const named = new Set([1, 2, 3].flatMap(() => hub.worker.streamPoll(1)));
      assert.equal(named.size, 3);
      assert.deepEqual(await close(), []);
    }));

  it('refuses what is no number', () =>
    simulate((sim) => {
      const { server, close } = onSelf(sim);
      for (const most of [0, -1, 0.5, NaN]) assert.throws(() => server.streamPoll(most), { errno: 'EINVAL' });
      close();
    }));
});
