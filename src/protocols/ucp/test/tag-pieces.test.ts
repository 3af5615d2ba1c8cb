import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { simulate } from '../../../entry/sim.js';
import { UcsStatus } from '../wire/index.js';
import { cut, pattern } from './support/transports.js';
import { ALL_WAYS, onSelf, WAYS } from './support/workers.js';

for (const [way, made] of Object.entries(WAYS))
  describe(`a message in several pieces, on ${way}`, () => {
    it('is the same as one in one piece, at either end', () =>
      simulate(async (sim) => {
        const { server, there, close } = await made(sim);
        for (const length of [0, 1, 100, 4000, 8100, 50_000]) {
          const whole = pattern(length);
          const pieces = cut(new Uint8Array(length + 5));
          const receiving = server.tagReceive(pieces, 7);
          await there.tagSend(cut(whole), 7);
          assert.deepEqual(await receiving, { tag: 7n, length });
          assert.deepEqual(Buffer.concat(pieces).subarray(0, length), Buffer.from(whole));
          const one = new Uint8Array(length);
          const again = server.tagReceive(one, 7);
          await there.tagSendSync(cut(whole), 7);
          await again;
          assert.deepEqual(one, whole);
        }
        close();
      }));

    it('leaves the pieces as they were when it is too long for them, or when they were given up', () =>
      simulate(async (sim) => {
        const { server, there, close } = await made(sim);
        const pieces = cut(new Uint8Array(99));
        const receiving = server.tagReceive(pieces, 7);
        const truncated = assert.rejects(receiving, { status: UcsStatus.UCS_ERR_MESSAGE_TRUNCATED });
        await there.tagSend(pattern(100, 1), 7);
        await truncated;
        await assert.rejects(server.tagReceive(pieces, 7, { timeoutMs: 1 }), { errno: 'ETIMEDOUT' });
        assert.ok(Buffer.concat(pieces).every((byte) => byte === 0));
        close();
      }));
  });

describe('pieces of a message', () => {
  it('are refused where one is no memory', () =>
    simulate(async (sim) => {
      const { server, there, close } = onSelf(sim);
      // @ts-expect-error what JavaScript allows
      await assert.rejects(there.tagSend([new Uint8Array(1), 'text'], 1), { errno: 'EINVAL', message: /data\[1\]/ });
      // @ts-expect-error what JavaScript allows
      await assert.rejects(server.tagReceive([5], 1), { errno: 'EINVAL', message: /buffer\[0\]/ });
      close();
    }));

  it('are those of the call, though the program uses their array again', () =>
    simulate(async (sim) => {
      const made = await ALL_WAYS['rc'](sim);
      const [first, other] = [new Uint8Array(4), new Uint8Array(4)];
      const pieces = [first];
      const receiving = made.server.tagReceive(pieces, 1);
      pieces[0] = other;
      await made.there.tagSend(Uint8Array.of(1, 2, 3, 4), 1);
      await receiving;
      assert.deepEqual([...first, ...other], [1, 2, 3, 4, 0, 0, 0, 0]);
      await made.close();
    }));

  for (const [name, connect] of Object.entries(ALL_WAYS))
    it(`may overlap, be empty, or be none, by ${name}`, () =>
      simulate(async (sim) => {
        const made = await connect(sim);
        const memory = Uint8Array.of(1, 2, 3, 4);
        const into = new Uint8Array(6);
        const receiving = made.server.tagReceive([into, new Uint8Array(0)], 1);
        await made.there.tagSend([memory.subarray(0, 3), new Uint8Array(0), memory.subarray(1, 4)], 1);
        assert.equal((await receiving).length, 6);
        assert.deepEqual([...into], [1, 2, 3, 2, 3, 4]);
        // What overlaps is written in the order of the pieces.
        const twice = made.server.tagReceive([into.subarray(0, 4), into.subarray(2, 6)], 1);
        await made.there.tagSend(Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8), 1);
        assert.equal((await twice).length, 8);
        assert.deepEqual([...into], [1, 2, 5, 6, 7, 8]);
        const none = made.server.tagReceive([], 1);
        await made.there.tagSend([], 1);
        assert.equal((await none).length, 0);
        await made.close();
      }));
});
