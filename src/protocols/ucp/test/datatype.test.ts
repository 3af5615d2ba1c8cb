import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { simulate } from '../../../entry/sim.js';
import { UcpDatatype } from '../worker/datatype.js';
import { UcsStatus } from '../wire/index.js';
import { BAD_RECEIVES, BAD_SENDS, filled, memoryOf, MOST, NO, one, strided, typed } from './support/datatypes.js';
import { pattern, until } from './support/transports.js';
import { ALL_WAYS } from './support/workers.js';

for (const [way, made] of Object.entries(ALL_WAYS))
  for (const rndvScheme of ['get_zcopy', 'put_zcopy', 'am'] as const)
    describe(`data of a program’s datatype on ${way}, with rendezvous by ${rndvScheme}`, () => {
      it('is packed and unpacked on both sides of every threshold, expected or not, sync or not', () =>
        simulate(async (sim) => {
          const { server, there, close } = await made(sim, { thresholds: { rndvScheme } });
          const lengths = [0, 1, 240, 248, 4072, 4152, 8185, 32_767, 32_768, 50_000];
          for (const [i, length] of lengths.entries())
            for (const isExpected of [true, false]) {
              const [from, into] = [filled(pattern(length, i)), memoryOf(length + 1)];
              const receiving = isExpected ? server.tagReceive(strided.of(into), 7) : undefined;
              const sending = isExpected ? there.tagSend(strided.of(from), 7) : there.tagSendSync(strided.of(from), 7);
              if (!isExpected) await until(sim, () => server.tagProbe(7)?.length === length);
              assert.deepEqual(await (receiving ?? server.tagReceive(strided.of(into), 7)), { tag: 7n, length });
              await sending;
              assert.deepEqual(into.memory.subarray(0, 2 * length), from.memory);
              assert.deepEqual(from.calls, [
                ...Array.from({ length: Math.ceil(length / MOST) }, () => 'pack'),
                'finish',
              ]);
              assert.deepEqual(into.calls, [`unpack ${length}`, 'finish']);
            }
          await close();
        }));
    });

for (const [way, made] of Object.entries(ALL_WAYS))
  describe(`a receive of a program’s datatype on ${way}`, () => {
    for (const length of [100, 10_000, 50_000])
      it(`unpacks nothing of a message of ${length} bytes that is too long, and is over`, () =>
        simulate(async (sim) => {
          const { server, there, close } = await made(sim);
          const into = memoryOf(length - 1);
          const receiving = assert.rejects(server.tagReceive(strided.of(into), 1), {
            status: UcsStatus.UCS_ERR_MESSAGE_TRUNCATED,
          });
          await there.tagSend(pattern(length), 1);
          await receiving;
          assert.deepEqual(into.calls, ['finish']);
          await close();
        }));

    it('unpacks nothing once it was given up, at any moment', async () => {
      for (const length of [10, 10_000, 50_000])
        for (let delayUs = 0; delayUs < 30; delayUs += 6)
          await simulate(async (sim) => {
            const { server, there, close } = await made(sim);
            const controller = new AbortController();
            const into = memoryOf(length);
            const receiving = server.tagReceive(strided.of(into), 1, { signal: controller.signal });
            const ended = receiving.then(
              () => `unpack ${length},finish`,
              () => 'finish',
            );
            const sending = there.tagSend(strided.of(filled(pattern(length))), 1).catch(() => undefined);
            await sim.sleep(delayUs);
            controller.abort(new Error('no more'));
            const how = await ended;
            await sim.sleep(1000);
            assert.equal(into.calls.join(), how, `${length} bytes, after ${delayUs} µs`);
            there.close();
            await sending;
            await close();
          });
    });

    it('may take a message that was taken before, once', () =>
      simulate(async (sim) => {
        const { server, there, close } = await made(sim);
        await there.tagSend(pattern(20), 1);
        await until(sim, () => server.tagProbe(1) !== undefined);
        const taken = server.tagProbeRemove(1);
        assert.ok(taken !== undefined);
        const into = memoryOf(20);
        assert.equal((await server.tagMessageReceive(taken, strided.of(into))).length, 20);
        await assert.rejects(server.tagMessageReceive(taken, strided.of(into)), { errno: 'EINVAL' });
        assert.deepEqual(into.calls, ['unpack 20', 'finish', 'finish']);
        await close();
      }));

    it('of which its peer sends a part and goes is over, and nothing was unpacked', () =>
      simulate(async (sim) => {
        const { server, there, back, close } = await made(sim, { window: 1, thresholds: { rndv: Infinity } });
        if (there === back) return close();
        const into = memoryOf(100_000);
        const receiving = assert.rejects(server.tagReceive(strided.of(into), 1));
        const sending = assert.rejects(there.tagSend(pattern(100_000), 1));
        await until(sim, () => server.unexpectedBytes === 0);
        there.close();
        await Promise.all([receiving, sending]);
        assert.deepEqual(into.calls, ['finish']);
        return close();
      }));
  });

describe('callbacks of a datatype', () => {
  for (const [what, [made, error]] of Object.entries(BAD_SENDS))
    it(`that ${what} end the send, and nothing was sent`, () =>
      simulate(async (sim) => {
        const { server, there, close } = await ALL_WAYS['rc'](sim);
        let finished = 0;
        const counted = typed(() => {
          const all = made();
          if (all === undefined) return undefined;
          return { finish: () => (finished += 1), ...all };
        });
        await assert.rejects(there.tagSend(counted, 1), error);
        const isCounted = !['throw at first', 'give nothing', 'throw at the end'].includes(what);
        assert.equal(finished, isCounted ? 1 : 0);
        await there.tagSend(pattern(3), 1);
        assert.equal((await server.tagReceive(new Uint8Array(10), 1)).length, 3);
        await close();
      }));

  for (const [what, [made, error]] of Object.entries(BAD_RECEIVES))
    it(`that ${what} end the receive, and no other`, () =>
      simulate(async (sim) => {
        const { server, there, close } = await ALL_WAYS['rc'](sim);
        const receiving = assert.rejects(server.tagReceive(typed(made), 1), error);
        await there.tagSend(pattern(1), 1);
        await receiving;
        await there.tagSend(pattern(3), 2);
        assert.equal((await server.tagReceive(new Uint8Array(10), 2)).length, 3);
        assert.equal(there.failure, undefined);
        await close();
      }));

  it('may close the endpoint, and the send fails', () =>
    simulate(async (sim) => {
      const { there, close } = await ALL_WAYS['rc'](sim);
      const closing = typed(() => one({ pack: () => (there.close(), 1) }));
      await assert.rejects(there.tagSend(closing, 1), { status: UcsStatus.UCS_ERR_CANCELED });
      await close();
    }));

  it('may give up the call', () =>
    simulate(async (sim) => {
      const { server, there, close } = await ALL_WAYS['rc'](sim);
      const giving = (controller: AbortController) => {
        const giveUp = (): void => controller.abort(NO);
        return typed(() => (giveUp(), one({})));
      };
      const [sending, receiving] = [new AbortController(), new AbortController()];
      await assert.rejects(there.tagSend(giving(sending), 1, { signal: sending.signal }), NO);
      await assert.rejects(server.tagReceive(giving(receiving), 2, { signal: receiving.signal }), NO);
      await there.tagSend(pattern(2), 2);
      assert.equal((await server.tagReceive(new Uint8Array(10), 0, { mask: 0 })).length, 2);
      await close();
    }));

  it('are functions', () => {
    // @ts-expect-error what JavaScript allows
    assert.throws(() => new UcpDatatype(undefined), { errno: 'EINVAL' });
    // @ts-expect-error what JavaScript allows
    assert.throws(() => new UcpDatatype({ startPack: () => undefined }), { errno: 'EINVAL' });
  });
});
