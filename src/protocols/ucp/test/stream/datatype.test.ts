import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { simulate } from '../../../../entry/sim.js';
import { UcsStatus } from '../../wire/index.js';
import { BAD_RECEIVES, BAD_SENDS, filled, memoryOf, MOST, NO, one, strided, typed } from '../support/datatypes.js';
import { cut, pattern, until } from '../support/transports.js';
import { ALL_WAYS } from '../support/workers.js';

const ALL = { waitAll: true };

for (const [way, made] of Object.entries(ALL_WAYS))
  describe(`a program’s datatype in a stream on ${way}`, () => {
    it('is packed and unpacked on both sides of every threshold, expected or not', () =>
      simulate(async (sim) => {
        const { server, there, back, close } = await made(sim);
        for (const [i, length] of [0, 1, 246, 247, 248, 4151, 4152, 8184, 8185, 50_000].entries())
          for (const isExpected of [true, false]) {
            const [from, into] = [filled(pattern(length, i)), memoryOf(length)];
            const receiving = isExpected ? back.streamReceive(strided.of(into), ALL) : undefined;
            const sending = there.streamSend(strided.of(from));
            assert.equal(from.calls.at(-1), 'finish');
            const sent = from.memory.slice();
            // It has been packed, and may change again.
            from.memory.fill(0xee);
            await sending;
            if (!isExpected) await until(sim, () => server.streamBytes >= length);
            assert.equal(await (receiving ?? back.streamReceive(strided.of(into), ALL)), length);
            assert.deepEqual(into.memory, sent);
            assert.deepEqual(from.calls, [...Array.from({ length: Math.ceil(length / MOST) }, () => 'pack'), 'finish']);
            assert.deepEqual(into.calls, [`unpack ${length}`, 'finish']);
          }
        await close();
      }));

    it('gets what there is, in whole elements, where it does not want all', () =>
      simulate(async (sim) => {
        const { server, there, back, close } = await made(sim);
        await there.streamSend(pattern(10));
        await until(sim, () => server.streamBytes >= 10);
        const into = memoryOf(100);
        assert.equal(await back.streamReceive(strided.of(into), { elementBytes: 4 }), 8);
        assert.deepEqual(into.calls, ['unpack 8', 'finish']);
        const rest = new Uint8Array(10);
        assert.equal(await back.streamReceive(rest), 2);
        assert.deepEqual(rest.subarray(0, 2), pattern(10).subarray(8));
        await close();
      }));

    it('is unpacked in the order of the receives, others between them', () =>
      simulate(async (sim) => {
        const { there, back, close } = await made(sim);
        const [first, second, last] = [memoryOf(300), new Uint8Array(20), memoryOf(40)];
        const order: string[] = [];
        const receives = [
          back.streamReceive(strided.of(first), ALL).then(() => order.push('first')),
          back.streamReceive(second, ALL).then(() => order.push('second')),
          back.streamReceive(strided.of(last), ALL).then(() => order.push('last')),
        ];
        await there.streamSend(pattern(360));
        await Promise.all(receives);
        const whole = filled(pattern(360)).memory;
        assert.deepEqual(first.memory, whole.subarray(0, 600));
        assert.deepEqual(second, pattern(360).subarray(300, 320));
        assert.deepEqual(last.memory, whole.subarray(640));
        assert.ok(order.indexOf('first') < order.indexOf('last'));
        await close();
      }));

    it('is not unpacked once its receive was given up, and what has come is for the next', () =>
      simulate(async (sim) => {
        const { server, there, back, close } = await made(sim);
        const controller = new AbortController();
        const into = memoryOf(100);
        const receiving = back.streamReceive(strided.of(into), { ...ALL, signal: controller.signal });
        const failing = assert.rejects(receiving, NO);
        await there.streamSend(pattern(60, 1));
        await there.flush();
        await sim.sleep(1000);
        controller.abort(NO);
        await failing;
        assert.deepEqual(into.calls, ['finish']);
        assert.ok(server.streamBytes >= 60);
        const next = memoryOf(60);
        assert.equal(await back.streamReceive(strided.of(next), ALL), 60);
        assert.deepEqual(next.memory, filled(pattern(60, 1)).memory);
        await close();
      }));

    it('is not unpacked when its peer goes before all has come', () =>
      simulate(async (sim) => {
        const { there, back, close } = await made(sim);
        if (there !== back) {
          const into = memoryOf(101);
          await there.streamSend(pattern(100));
          await there.flush();
          const receiving = assert.rejects(back.streamReceive(strided.of(into), ALL), {
            status: UcsStatus.UCS_ERR_CONNECTION_RESET,
          });
          there.close();
          await receiving;
          assert.deepEqual(into.calls, ['finish']);
          const rest = memoryOf(100);
          assert.equal(await back.streamReceive(strided.of(rest), ALL), 100);
          assert.deepEqual(rest.calls, ['unpack 100', 'finish']);
        }
        await close();
      }));

    for (const [what, [callbacks, error]] of Object.entries(BAD_RECEIVES))
      it(`whose callbacks ${what} costs what it has received, and nothing else`, () =>
        simulate(async (sim) => {
          const { server, there, back, close } = await made(sim);
          const failing = assert.rejects(back.streamReceive(typed(callbacks), ALL), error);
          const next = new Uint8Array(2);
          const receiving = back.streamReceive(next, ALL);
          await there.streamSend(Uint8Array.of(1, 2, 3));
          await Promise.all([failing, receiving]);
          const hasReceived = what.includes('unpack') || what === 'throw at the end';
          assert.deepEqual(next, hasReceived ? Uint8Array.of(2, 3) : Uint8Array.of(1, 2));
          if (!hasReceived) assert.equal(await back.streamReceive(next), 1);
          assert.deepEqual([there.failure, server.streamBytes], [undefined, 0]);
          await close();
        }));

    for (const [what, [callbacks, error]] of Object.entries(BAD_SENDS))
      it(`whose callbacks ${what} sends nothing`, () =>
        simulate(async (sim) => {
          const { there, back, close } = await made(sim);
          await assert.rejects(there.streamSend(typed(callbacks)), error);
          await there.streamSend(Uint8Array.of(7));
          const buffer = new Uint8Array(9);
          assert.equal(await back.streamReceive(buffer), 1);
          assert.equal(buffer[0], 7);
          await close();
        }));

    it('refuses to get parts of elements', () =>
      simulate(async (sim) => {
        const { back, close } = await made(sim);
        const into = memoryOf(7);
        await assert.rejects(back.streamReceive(strided.of(into), { elementBytes: 8 }), { errno: 'EINVAL' });
        assert.deepEqual(into.calls, ['finish']);
        await close();
      }));
  });

for (const [way, made] of Object.entries(ALL_WAYS))
  describe(`pieces in a stream on ${way}`, () => {
    it('are filled one after the other, as far as there is something', () =>
      simulate(async (sim) => {
        const { server, there, back, close } = await made(sim);
        for (const length of [0, 1, 300, 9000, 50_000]) {
          const pieces = cut(new Uint8Array(length));
          const receiving = back.streamReceive(pieces, ALL);
          await there.streamSend(cut(pattern(length, 1)));
          assert.equal(await receiving, length);
          assert.deepEqual(Buffer.concat(pieces), Buffer.from(pattern(length, 1)));
        }
        await there.streamSend([pattern(3), pattern(2, 1)]);
        await until(sim, () => server.streamBytes >= 5);
        const pieces = [new Uint8Array(2), new Uint8Array(9)];
        assert.equal(await back.streamReceive(pieces), 5);
        assert.deepEqual(Buffer.concat(pieces), Buffer.from([...pattern(3), ...pattern(2, 1), 0, 0, 0, 0, 0, 0]));
        await close();
      }));

    it('are left alone when their receive was given up', () =>
      simulate(async (sim) => {
        const { there, back, close } = await made(sim);
        const pieces = cut(new Uint8Array(20));
        const failing = assert.rejects(back.streamReceive(pieces, { ...ALL, timeoutMs: 5 }), { errno: 'ETIMEDOUT' });
        await there.streamSend(pattern(19));
        await failing;
        assert.ok(Buffer.concat(pieces).every((byte) => byte === 0));
        assert.equal(await back.streamReceive(new Uint8Array(20)), 19);
        await close();
      }));
  });

describe('callbacks of a datatype in a stream', () => {
  it('may close the endpoint, or give up the call', () =>
    simulate(async (sim) => {
      const { there, back, close } = await ALL_WAYS['rc'](sim);
      const givingUp = (controller: AbortController) => typed(() => (controller.abort(NO), one({})));
      const [sending, receiving] = [new AbortController(), new AbortController()];
      await assert.rejects(there.streamSend(givingUp(sending), { signal: sending.signal }), NO);
      await assert.rejects(back.streamReceive(givingUp(receiving), { signal: receiving.signal }), NO);
      await there.streamSend(Uint8Array.of(5));
      assert.equal(await back.streamReceive(new Uint8Array(2)), 1);
      const closing = typed(() => one({ pack: () => (there.close(), 1) }));
      await assert.rejects(there.streamSend(closing), { status: UcsStatus.UCS_ERR_CANCELED });
      await close();
    }));

  it('may receive by themselves, before their own receive', () =>
    simulate(async (sim) => {
      const { there, back, close } = await ALL_WAYS['rc'](sim);
      const inner = new Uint8Array(2);
      let receiving: Promise<number> | undefined;
      const got: number[] = [];
      const nested = typed(() => {
        receiving = back.streamReceive(inner, ALL);
        return one({ unpack: (bytes: Uint8Array) => void got.push(...bytes) });
      });
      const outer = back.streamReceive(nested);
      await there.streamSend(Uint8Array.of(1, 2, 3));
      assert.deepEqual([await receiving, await outer], [2, 1]);
      assert.deepEqual([[...inner], got], [[1, 2], [3]]);
      await close();
    }));
});
