import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Sim, simulate } from '../../../entry/sim.js';
import type { UcpEndpoint } from '../worker/endpoint.js';
import { UcsStatus } from '../wire/index.js';
import { pattern, until } from './support/transports.js';

import { connected, onSelf } from './support/workers.js';
import { shareOf } from '../../../../test/support/share.js';

const ANY_TAG = { mask: 0 };

const WAYS = {
  'to another': (sim: Sim) => connected(sim),
  'to itself': (sim: Sim) => Promise.resolve(onSelf(sim)),
} as const;

for (const [way, made] of Object.entries(WAYS))
  describe(`a worker that sends ${way}`, () => {
    it('brings messages of all lengths on both sides of every threshold, expected or not', () =>
      simulate(async (sim) => {
        const { server, there, close } = await made(sim);
        const lengths = [0, 1, 247, 248, 4096, 4151, 4152, 8184, 8185, 32_767, 32_768, 50_000];
        for (const isExpected of [true, false])
          for (const length of lengths) {
            const buffer = new Uint8Array(length + 3);
            const receiving = isExpected ? server.tagReceive(buffer, 7n) : undefined;
            const sending = there.tagSend(pattern(length), 7n);
            if (!isExpected) {
              await there.flush();
              await until(sim, () => server.tagProbe(7n)?.length === length);
            }
            const got = await (receiving ?? server.tagReceive(buffer, 7));
            assert.deepEqual(got, { tag: 7n, length });
            assert.deepEqual(buffer.subarray(0, length), pattern(length));
            await sending;
          }
        assert.equal(server.unexpectedBytes, 0);
        close();
      }));

    it('brings messages in the order in which they were sent, short between long ones', () =>
      simulate(async (sim) => {
        const { server, there, close } = await made(sim);
        const lengths = Array.from({ length: 40 }, (_, i) => (i % 3 === 0 ? 40_000 + i : 10 + i));
        const buffers = lengths.map((length) => new Uint8Array(length));
        const receives = buffers.map((buffer) => server.tagReceive(buffer, 0, ANY_TAG));
        await Promise.all(lengths.map((length, i) => there.tagSend(pattern(length, i), i)));
        const got = await Promise.all(receives);
        assert.deepEqual(
          got,
          lengths.map((length, i) => ({ tag: BigInt(i), length })),
        );
        for (const [i, buffer] of buffers.entries()) assert.deepEqual(buffer, pattern(lengths[i], i));
        close();
      }));

    it('says how long a message was that a buffer is too short for', () =>
      simulate(async (sim) => {
        const { server, there, close } = await made(sim);
        const buffer = new Uint8Array(10).fill(0xee);
        const receiving = server.tagReceive(buffer, 1);
        await there.tagSend(pattern(11), 1);
        await assert.rejects(receiving, {
          name: 'UcpError',
          status: UcsStatus.UCS_ERR_MESSAGE_TRUNCATED,
          errno: 'EMSGSIZE',
          message: /the message has 11 bytes, and the buffer 10 \(UCS_ERR_MESSAGE_TRUNCATED\)/,
        });
        assert.deepEqual(buffer, new Uint8Array(10).fill(0xee));
        close();
      }));

    it('tells which protocol a message takes', () =>
      simulate(async (sim) => {
        const { there, close } = await made(sim);
        assert.match(there.explain(100), /^100 bytes go by eager short, as 0 to \d+ bytes do/);
        assert.match(there.explain(100_000), /^100000 bytes go by rendezvous get zcopy, as 32768 bytes and more do/);
        close();
      }));
  });

describe('a worker', () => {
  it('touches no buffer once its receive was given up', () =>
    simulate(async (sim) => {
      const { server, there, close } = await connected(sim);
      const abort = new AbortController();
      const [given, late] = [new Uint8Array(8), new Uint8Array(8)];
      const giving = server.tagReceive(given, 1, { signal: abort.signal });
      const waiting = server.tagReceive(late, 2, { timeoutMs: 5 });
      abort.abort(new Error('no more'));
      await assert.rejects(giving, /no more/);
      await assert.rejects(waiting, { errno: 'ETIMEDOUT' });
      await there.tagSend(pattern(8, 1), 1);
      await there.tagSend(pattern(8, 1), 2);
      const buffer = new Uint8Array(8);
      await server.tagReceive(buffer, 2);
      assert.deepEqual([given, late], [new Uint8Array(8), new Uint8Array(8)]);
      assert.equal(server.tagProbe(1)?.length, 8);
      close();
    }));

  it('ends the endpoint of a peer that sends more than it keeps, and no other', () =>
    simulate(async (sim) => {
      const { server, there, back, close } = await connected(sim, { unexpectedBytes: 20_000 });
      const own = server.connectToSelf();
      for (let i = 0; i < 30; i += 1) void there.tagSend(pattern(1000), 1).catch(() => undefined);
      await until(sim, () => back.failure !== undefined && there.failure !== undefined);
      assert.equal(back.failure?.status, UcsStatus.UCS_ERR_EXCEEDS_LIMIT);
      assert.match(back.failure.message, /nobody has asked for a message of 1000 bytes/);
      assert.ok(server.unexpectedBytes <= 20_000);
      await assert.rejects(back.tagSend(pattern(1), 1), { status: UcsStatus.UCS_ERR_EXCEEDS_LIMIT });
      await own.tagSend(pattern(1), 2);
      assert.equal((await server.tagReceive(new Uint8Array(1), 2)).length, 1);
      close();
    }));

  it('tells those whose message has come in part that its sender has gone', () =>
    simulate(async (sim) => {
      const { server, there, back, close } = await connected(sim, { window: 1, thresholds: { rndv: Infinity } });
      const receiving = server.tagReceive(new Uint8Array(100_000), 1);
      const other = server.tagReceive(new Uint8Array(8), 2, { timeoutMs: 100 });
      const sending = there.tagSend(pattern(100_000), 1);
      there.close();
      await assert.rejects(sending, { status: UcsStatus.UCS_ERR_CANCELED });
      await assert.rejects(receiving, { status: UcsStatus.UCS_ERR_CONNECTION_RESET, errno: 'ECONNRESET' });
      await assert.rejects(other, { errno: 'ETIMEDOUT' });
      assert.equal(back.failure?.status, UcsStatus.UCS_ERR_CONNECTION_RESET);
      close();
    }));

  it('refuses what is no tag, no mask and no memory', () =>
    simulate(async (sim) => {
      const { server, there, close } = onSelf(sim);
      const buffer = new Uint8Array(1);
      for (const tag of [-1, 0.5, 2 ** 53, -1n, 2n ** 64n]) {
        await assert.rejects(there.tagSend(buffer, tag), { errno: 'EINVAL' });
        await assert.rejects(server.tagReceive(buffer, tag), { errno: 'EINVAL' });
        await assert.rejects(server.tagReceive(buffer, 1, { mask: tag }), { errno: 'EINVAL' });
        assert.throws(() => server.tagProbe(tag), { errno: 'EINVAL' });
      }
      // @ts-expect-error what JavaScript allows
      await assert.rejects(there.tagSend('text', 1), { errno: 'EINVAL' });
      close();
    }));
});

describe('a worker whose peer vanishes', () => {
  const sends = {
    tags: (endpoint: UcpEndpoint) => endpoint.tagSend(pattern(10), 7),
    'active messages': (endpoint: UcpEndpoint) => endpoint.amSend(1, pattern(4), pattern(10)),
    streams: (endpoint: UcpEndpoint) => endpoint.streamSend(pattern(10)),
  };
  for (const [what, send] of Object.entries(sends))
    it(`ends all ${what} that wait for room there, when its host crashes at any moment`, async () => {
      for (const delayUs of shareOf(Array.from({ length: 30 }, (_, i) => 2 * i)))
        await simulate(async (sim) => {
          const { hosts, there } = await connected(sim, { window: 1, keepAliveMs: 10 });
          const ended = Promise.allSettled(Array.from({ length: 30 }, () => send(there))).then(() => true);
          await sim.sleep(delayUs);
          hosts[1].crash();
          assert.ok(await Promise.race([ended, sim.sleep(60_000_000)]), `a crash after ${delayUs} µs`);
        });
    });

  for (const [what, send] of Object.entries(sends))
    it(`ends ${what} that wait for room there, though all has been acknowledged that was sent, and nobody grants more`, () =>
      simulate(async (sim) => {
        const { hosts, server, there } = await connected(sim, { window: 1, keepAliveMs: 10 });
        // It has come, and is acknowledged; the grant goes behind the handler.
        server.setAmHandler(2, () => hosts[1].crash());
        await there.amSend(2, pattern(4), pattern(0));
        const ended = send(there).then(
          () => assert.fail('there was no room'),
          () => true,
        );
        await there.flush();
        assert.deepEqual([hosts[1].state, there.failure], ['down', undefined]);
        assert.ok(await Promise.race([ended, sim.sleep(60_000_000)]), 'somebody looks whether the peer is there');
      }));
});
