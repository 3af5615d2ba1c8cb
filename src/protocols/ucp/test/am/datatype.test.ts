import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { simulate } from '../../../../entry/sim.js';
import type { AmMessage } from '../../am/am-message.js';
import type { UcpEndpoint } from '../../worker/endpoint.js';
import { UcsStatus } from '../../wire/index.js';
import { BAD_RECEIVES, BAD_SENDS, filled, memoryOf, MOST, NO, one, strided, typed } from '../support/datatypes.js';
import { cut, pattern, until } from '../support/transports.js';
import { ALL_WAYS, type Workers } from '../support/workers.js';

type Message = AmMessage<UcpEndpoint>;

const HEADER = pattern(13, 5);
const PROTOCOLS = ['eager', 'rendezvous'] as const;
/** On both sides of what is short, of what is packed in one piece, of several pieces, and of the usual rendezvous. */
const LENGTHS = [0, 1, 226, 227, 4114, 4115, 4144, 4152, 8185, 32_767, 32_768, 50_000];

/** Takes messages to an id, and keeps them all. */
function keeping({ server }: Pick<Workers, 'server'>, id: number): Message[] {
  const got: Message[] = [];
  server.setAmHandler(id, (message) => got.push(message.keep()));
  return got;
}

for (const [way, made] of Object.entries(ALL_WAYS))
  for (const rndvScheme of ['get_zcopy', 'put_zcopy', 'am'] as const)
    describe(`active messages of a program’s datatype on ${way}, with rendezvous by ${rndvScheme}`, () => {
      for (const protocol of [undefined, ...PROTOCOLS])
        it(`are packed and unpacked on both sides of every threshold, ${protocol ?? 'as they go'}`, () =>
          simulate(async (sim) => {
            const workers = await made(sim, { thresholds: { rndvScheme } });
            const got = keeping(workers, 1);
            for (const [i, length] of LENGTHS.entries()) {
              const [from, into] = [filled(pattern(length, i)), memoryOf(length + 1)];
              const sending = workers.there.amSend(1, HEADER, strided.of(from), { protocol });
              // It has been packed, and may change again.
              assert.equal(from.calls.at(-1), 'finish');
              const sent = from.memory.slice();
              from.memory.fill(0xee);
              await until(sim, () => got.length === 1);
              const [message] = got.splice(0);
              assert.deepEqual([message.header, message.length], [HEADER, length]);
              assert.equal(await message.receive(strided.of(into)), length);
              await sending;
              assert.deepEqual(into.memory.subarray(0, 2 * length), sent);
              assert.deepEqual(from.calls, [
                ...Array.from({ length: Math.ceil(length / MOST) }, () => 'pack'),
                'finish',
              ]);
              assert.deepEqual(into.calls, [`unpack ${length}`, 'finish']);
            }
            assert.equal(workers.server.amBytes, 0);
            await workers.close();
          }));

      it('may come in pieces, and go to others', () =>
        simulate(async (sim) => {
          const workers = await made(sim, { thresholds: { rndvScheme } });
          const got = keeping(workers, 1);
          for (const length of [0, 1, 300, 9000, 50_000]) {
            const sending = workers.there.amSend(1, HEADER, cut(pattern(length, 1)));
            await until(sim, () => got.length === 1);
            const pieces = cut(new Uint8Array(length + 7));
            assert.equal(await got.splice(0)[0].receive(pieces), length);
            await sending;
            const [all, sent] = [Buffer.concat(pieces), Buffer.from(pattern(length, 1))];
            assert.deepEqual([all.subarray(0, length), all.subarray(length)], [sent, Buffer.alloc(7)]);
          }
          await workers.close();
        }));
    });

for (const [way, made] of Object.entries(ALL_WAYS))
  describe(`an active message’s data that the program unpacks, on ${way}`, () => {
    for (const protocol of PROTOCOLS) {
      it(`is left alone where it is too long, ${protocol}, and its message is gone`, () =>
        simulate(async (sim) => {
          const workers = await made(sim);
          const got = keeping(workers, 1);
          const sending = workers.there.amSend(1, HEADER, pattern(9000), { protocol });
          await until(sim, () => got.length === 1);
          const into = memoryOf(8999);
          const [message] = got;
          const status = UcsStatus.UCS_ERR_MESSAGE_TRUNCATED;
          await assert.rejects(message.receive(strided.of(into)), { status });
          await assert.rejects(message.receive(strided.of(into)), { errno: 'EINVAL' });
          await sending;
          assert.deepEqual(into.calls, ['finish']);
          assert.equal(workers.server.amBytes, 0);
          await workers.close();
        }));

      for (const [what, [callbacks, error]] of Object.entries(BAD_RECEIVES))
        it(`by callbacks that ${what} is lost alone, ${protocol}`, () =>
          simulate(async (sim) => {
            const workers = await made(sim);
            const { there, server } = workers;
            const got = keeping(workers, 1);
            const sending = there.amSend(1, HEADER, pattern(1), { protocol });
            await until(sim, () => got.length === 1);
            const [message] = got.splice(0);
            await assert.rejects(message.receive(typed(callbacks)), error);
            // Where it has not come to anything, it may be tried again.
            const isThere = !what.includes('unpack') && what !== 'throw at the end';
            const again = message.receive(new Uint8Array(1));
            if (isThere) assert.equal(await again, 1);
            else await assert.rejects(again, { errno: 'EINVAL' });
            await sending;
            const next = there.amSend(1, HEADER, pattern(3), { protocol });
            await until(sim, () => got.length === 1);
            assert.equal(await got[0].receive(new Uint8Array(3)), 3);
            await next;
            assert.deepEqual([there.failure, server.amBytes], [undefined, 0]);
            await workers.close();
          }));
    }

    it('is not unpacked once its receive was given up, at any moment', async () => {
      for (const length of [10, 10_000, 50_000])
        for (let delayUs = 0; delayUs < 30; delayUs += 6)
          await simulate(async (sim) => {
            const workers = await made(sim);
            const got = keeping(workers, 1);
            const controller = new AbortController();
            const into = memoryOf(length);
            const data = strided.of(filled(pattern(length)));
            const sending = workers.there.amSend(1, HEADER, data, { protocol: 'rendezvous' }).catch(() => undefined);
            await until(sim, () => got.length === 1);
            const ended = got[0].receive(strided.of(into), { signal: controller.signal }).then(
              () => `unpack ${length},finish`,
              () => 'finish',
            );
            await sim.sleep(delayUs);
            controller.abort(NO);
            const how = await ended;
            await sim.sleep(1000);
            assert.equal(into.calls.join(), how, `${length} bytes, after ${delayUs} µs`);
            await sending;
            await workers.close();
          });
    });

    it('is not unpacked when its sender goes before all has come', () =>
      simulate(async (sim) => {
        const workers = await made(sim);
        const { there, back } = workers;
        if (there !== back) {
          const got = keeping(workers, 1);
          const sending = assert.rejects(there.amSend(1, HEADER, pattern(100_000), { protocol: 'rendezvous' }));
          await until(sim, () => got.length === 1);
          const into = memoryOf(100_000);
          const receiving = assert.rejects(got[0].receive(strided.of(into)), { name: 'UcpError' });
          there.close();
          await Promise.all([sending, receiving]);
          assert.deepEqual(into.calls, ['finish']);
        }
        await workers.close();
      }));

    it('may be let go by the program while it makes ready to unpack', () =>
      simulate(async (sim) => {
        const workers = await made(sim);
        const got = keeping(workers, 1);
        let finished = 0;
        const finish = (): number => (finished += 1);
        const sends = PROTOCOLS.map((protocol) => workers.there.amSend(1, HEADER, pattern(1), { protocol }));
        await until(sim, () => got.length === 2);
        for (const message of got) {
          const releasing = typed(() => (message.release(), one({ finish })));
          await assert.rejects(message.receive(releasing), { errno: 'EINVAL', message: /lasts no more/ });
        }
        await Promise.all(sends);
        assert.deepEqual([finished, workers.server.amBytes], [2, 0]);
        await workers.close();
      }));
  });

describe('callbacks of a datatype of active messages', () => {
  for (const [what, [callbacks, error]] of Object.entries(BAD_SENDS))
    for (const protocol of PROTOCOLS)
      it(`that ${what} end the send, ${protocol}, and nothing was sent`, () =>
        simulate(async (sim) => {
          const workers = await ALL_WAYS['rc'](sim);
          const got = keeping(workers, 1);
          await assert.rejects(workers.there.amSend(1, HEADER, typed(callbacks), { protocol }), error);
          await workers.there.amSend(1, HEADER, pattern(3));
          await until(sim, () => got.length === 1);
          assert.equal(await got[0].receive(new Uint8Array(3)), 3);
          await workers.close();
        }));

  it('may close the endpoint, or give up the call', () =>
    simulate(async (sim) => {
      const { there, close } = await ALL_WAYS['rc'](sim);
      const controller = new AbortController();
      const givingUp = typed(() => (controller.abort(NO), one({})));
      await assert.rejects(there.amSend(1, HEADER, givingUp, { signal: controller.signal }), NO);
      const closing = typed(() => one({ pack: () => (there.close(), 1) }));
      await assert.rejects(there.amSend(1, HEADER, closing), { status: UcsStatus.UCS_ERR_CANCELED });
      await close();
    }));

  it('may send before their own message, which goes behind', () =>
    simulate(async (sim) => {
      const workers = await ALL_WAYS['rc'](sim);
      const got = keeping(workers, 1);
      const { there } = workers;
      let inner: Promise<void> | undefined;
      const sending = typed(() => one({ pack: () => ((inner = there.amSend(1, Uint8Array.of(1), pattern(9))), 1) }));
      await there.amSend(1, Uint8Array.of(2), sending);
      await inner;
      await until(sim, () => got.length === 2);
      assert.deepEqual(
        got.map(({ header }) => header[0]),
        [1, 2],
      );
      for (const message of got) message.release();
      await workers.close();
    }));
});
