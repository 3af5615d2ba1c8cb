import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Sim, simulate } from '../../../entry/sim.js';
import type { Thresholds } from '../protocol/index.js';
import { UcsStatus } from '../wire/index.js';
import { pattern, until } from './support/transports.js';
import { connected, WAYS } from './support/workers.js';

const SCHEMES: Readonly<Record<string, Partial<Thresholds>>> = {
  'by READ': { rndv: 0 },
  'by WRITE': { rndv: 0, rndvScheme: 'put_zcopy' },
  'in parts': { rndv: 0, rndvScheme: 'am' },
};

function unregistrable(length: number): Uint8Array {
  return new Uint8Array(Reflect.construct(ArrayBuffer, [length, { maxByteLength: length }]) as ArrayBuffer);
}

const LONG = 60_000;

for (const [way, made] of Object.entries(WAYS))
  for (const [scheme, thresholds] of Object.entries(SCHEMES))
    describe(`a rendezvous ${scheme}, on ${way}`, () => {
      const on = (sim: Sim) => made(sim, { thresholds });

      it('brings messages of all lengths, expected or not', () =>
        simulate(async (sim) => {
          const { server, there, close } = await on(sim);
          for (const isExpected of [true, false])
            for (const length of [0, 1, 100, 4143, 4144, 10_000, LONG]) {
              const buffer = new Uint8Array(length + 3).fill(0xee);
              const receiving = isExpected ? server.tagReceive(buffer, 7) : undefined;
              const sending = there.tagSend(pattern(length), 7);
              if (!isExpected) await until(sim, () => server.tagProbe(7)?.length === length);
              assert.deepEqual(await (receiving ?? server.tagReceive(buffer, 7)), { tag: 7n, length });
              assert.deepEqual(buffer.subarray(0, length), pattern(length));
              assert.deepEqual(buffer.subarray(length), Uint8Array.of(0xee, 0xee, 0xee));
              await sending;
            }
          assert.equal(server.unexpectedBytes, 0);
          close();
        }));

      it('brings what cannot be registered, at either end', () =>
        simulate(async (sim) => {
          const { server, there, close } = await on(sim);
          for (const [from, into] of [
            [unregistrable(LONG), new Uint8Array(LONG)],
            [new Uint8Array(LONG), unregistrable(LONG)],
            [unregistrable(LONG), unregistrable(LONG)],
          ]) {
            from.set(pattern(LONG));
            const receiving = server.tagReceive(into, 7);
            await Promise.all([there.tagSend(from, 7), receiving]);
            assert.deepEqual(Uint8Array.from(into), pattern(LONG));
          }
          close();
        }));

      it('brings many at once, in the order in which they were sent', () =>
        simulate(async (sim) => {
          const { server, there, close } = await on(sim);
          const buffers = Array.from({ length: 100 }, () => new Uint8Array(9000));
          const receives = buffers.map((buffer) => server.tagReceive(buffer, 0, { mask: 0 }));
          await Promise.all(buffers.map((_, i) => there.tagSend(pattern(9000 - i, i), i)));
          for (const [i, receive] of receives.entries())
            assert.deepEqual(await receive, { tag: BigInt(i), length: 9000 - i });
          for (const [i, buffer] of buffers.entries())
            assert.deepEqual(buffer.subarray(0, 9000 - i), pattern(9000 - i, i));
          close();
        }));

      it('ends well for the sender of what the receiver has no room for', () =>
        simulate(async (sim) => {
          const { server, there, close } = await on(sim);
          const buffer = new Uint8Array(LONG - 1);
          const receiving = server.tagReceive(buffer, 7);
          const sending = there.tagSend(pattern(LONG), 7);
          await assert.rejects(receiving, { status: UcsStatus.UCS_ERR_MESSAGE_TRUNCATED });
          await sending;
          assert.deepEqual(buffer, new Uint8Array(LONG - 1));
          close();
        }));

      it('takes back a message that nobody has asked for', () =>
        simulate(async (sim) => {
          const { server, there, close } = await on(sim);
          const abort = new AbortController();
          const data = pattern(LONG);
          const sending = there.tagSend(data, 7, { signal: abort.signal });
          await until(sim, () => server.tagProbe(7) !== undefined);
          abort.abort(new Error('no more'));
          await assert.rejects(sending, /no more/);
          data.fill(0xdd);
          await until(sim, () => server.tagProbe(7) === undefined);
          assert.equal(server.unexpectedBytes, 0);
          const receiving = server.tagReceive(new Uint8Array(10), 7);
          await there.tagSend(pattern(10), 7);
          assert.equal((await receiving).length, 10);
          close();
        }));

      it('brings all or nothing of what the sender gives up at any moment, and reads it no more', () =>
        simulate(async (sim) => {
          const { server, there, close } = await on(sim);
          const ends = { whole: 0, canceled: 0 };
          for (let delayUs = 0; delayUs < 400; delayUs += 7) {
            const buffer = new Uint8Array(LONG);
            const ending = new AbortController();
            const receiving = server.tagReceive(buffer, 7, { signal: ending.signal });
            const abort = new AbortController();
            const data = pattern(LONG, delayUs);
            const sending = there.tagSend(data, 7, { signal: abort.signal }).then(
              () => true,
              () => false,
            );
            await sim.sleep(delayUs);
            abort.abort(new Error('no more'));
            if (!(await sending)) data.fill(0xdd);
            // One that was never announced is never received.
            const late = sim.sleep(5000).then(() => ending.abort(new Error('nothing came')));
            const got = await receiving.catch((error: unknown) => error);
            await late;
            if (got instanceof Error) ends.canceled += 1;
            else {
              ends.whole += 1;
              assert.deepEqual(buffer, pattern(LONG, delayUs));
            }
          }
          assert.ok(ends.whole > 0, 'some arrive');
          assert.equal(server.unexpectedBytes, 0);
          close();
        }));

      it('touches no buffer once its receive was given up, at any moment', () =>
        simulate(async (sim) => {
          const { server, there, close } = await on(sim);
          for (let delayUs = 0; delayUs < 400; delayUs += 7) {
            const buffer = new Uint8Array(LONG);
            const abort = new AbortController();
            const receiving = server.tagReceive(buffer, 7, { signal: abort.signal });
            const sending = there.tagSend(pattern(LONG, 1), 7).catch((error: unknown) => error);
            await sim.sleep(delayUs);
            abort.abort(new Error('no more'));
            const got = await receiving.catch((error: unknown) => error);
            if (got instanceof Error) {
              buffer.fill(0xdd);
              await sim.sleep(5000);
              assert.ok(buffer.every((byte) => byte === 0xdd));
              // Given up before the message came, which now waits.
              if (server.tagProbe(7) !== undefined) await server.tagReceive(new Uint8Array(LONG), 7);
            } else assert.deepEqual(buffer, pattern(LONG, 1));
            const sent = await sending;
            if (sent instanceof Error) assert.equal(Reflect.get(sent, 'status'), UcsStatus.UCS_ERR_CANCELED);
          }
          assert.equal(server.unexpectedBytes, 0);
          close();
        }));

      for (const closer of ['there', 'back'] as const)
        it(`ends at both ends when ${closer === 'there' ? 'the sender' : 'the receiver'} closes in the midst of it`, async () => {
          for (let delayUs = 0; delayUs < 400; delayUs += 23)
            await simulate(async (sim) => {
              const { server, close, ...ends } = await on(sim);
              const receiving = server.tagReceive(new Uint8Array(LONG), 7, { timeoutMs: 1000 });
              const sending = ends.there.tagSend(pattern(LONG), 7);
              const settled = Promise.allSettled([sending, receiving]);
              await sim.sleep(delayUs);
              ends[closer].close();
              for (const end of await settled)
                if (end.status === 'rejected') assert.ok(Reflect.get(end.reason as object, 'errno') !== undefined);
              assert.equal(server.unexpectedBytes, 0);
              close();
            });
        });
    });

describe('a rendezvous whose peer vanishes', () => {
  for (const [scheme, thresholds] of Object.entries(SCHEMES))
    for (const victim of [0, 1] as const)
      it(`ends at the other end, ${scheme}, when the host of the ${victim === 0 ? 'sender' : 'receiver'} crashes at any moment`, async () => {
        for (let delayUs = 0; delayUs < 150; delayUs += 11)
          await simulate(async (sim) => {
            const { hosts, server, there } = await connected(sim, { thresholds, keepAliveMs: 10 });
            const sending = there.tagSend(pattern(LONG), 7);
            await until(sim, () => server.tagProbe(7) !== undefined);
            const receiving = server.tagReceive(new Uint8Array(LONG), 7);
            const other = (victim === 0 ? receiving : sending).then(
              () => true,
              () => true,
            );
            // Those of a host that has crashed never settle, or fail.
            for (const lost of [receiving, sending]) lost.catch(() => undefined);
            await sim.sleep(delayUs);
            hosts[victim].crash();
            assert.ok(await Promise.race([other, sim.sleep(60_000_000)]), 'it has ended');
          });
      });
});
