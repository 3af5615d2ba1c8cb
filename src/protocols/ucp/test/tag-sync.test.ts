import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { simulate } from '../../../entry/sim.js';
import { UcsStatus } from '../wire/index.js';
import { pattern, until } from './support/transports.js';
import { WAYS } from './support/workers.js';

const EAGER = { thresholds: { rndv: Infinity } };
const LENGTHS = [0, 1, 231, 232, 4000, 4135, 4136, 8160, 8161, 20_000];

for (const [way, made] of Object.entries(WAYS))
  describe(`a synchronous send on ${way}`, () => {
    it('ends when a receive was found for it, and not before', async () => {
      for (const options of [EAGER, {}])
        await simulate(async (sim) => {
          const { server, there, close } = await made(sim, options);
          for (const length of LENGTHS) {
            let hasEnded = false;
            const sending = there.tagSendSync(pattern(length), 7).then(() => (hasEnded = true));
            await until(sim, () => server.tagProbe(7)?.length === length);
            await sim.sleep(1000);
            assert.equal(hasEnded, false);
            const buffer = new Uint8Array(length);
            assert.deepEqual(await server.tagReceive(buffer, 7), { tag: 7n, length });
            assert.deepEqual(buffer, pattern(length));
            await sending;
          }
          close();
        });
    });

    it('ends well when the receive that was found has too short a buffer', () =>
      simulate(async (sim) => {
        const { server, there, close } = await made(sim, EAGER);
        for (const length of [10, 1000, 10_000]) {
          const receiving = server.tagReceive(new Uint8Array(length - 1), 7);
          const truncated = assert.rejects(receiving, { status: UcsStatus.UCS_ERR_MESSAGE_TRUNCATED });
          await there.tagSendSync(pattern(length), 7);
          await truncated;
        }
        close();
      }));

    it('can be given up, and leaves its data alone; what was sent may still be received', () =>
      simulate(async (sim) => {
        const { server, there, close } = await made(sim, { ...EAGER, window: 2 });
        for (const length of [10, 1000, 50_000]) {
          const data = pattern(length);
          await assert.rejects(there.tagSendSync(data, 7, { timeoutMs: 0.001 }), { errno: 'ETIMEDOUT' });
          data.fill(0xdd);
          await sim.sleep(1000);
          const buffer = new Uint8Array(length);
          if (server.tagProbe(7) !== undefined) {
            await server.tagReceive(buffer, 7);
            assert.deepEqual(buffer, pattern(length));
          }
          const receiving = server.tagReceive(buffer, 8);
          await there.tagSendSync(pattern(length, 1), 8);
          assert.equal((await receiving).length, length);
        }
        assert.equal(there.failure, undefined);
        close();
      }));

    it('ends no sooner than all of it was handed over, though it matches before', () =>
      simulate(async (sim) => {
        const { server, there, close } = await made(sim, { ...EAGER, window: 1 });
        const buffer = new Uint8Array(50_000);
        const receiving = server.tagReceive(buffer, 7);
        const data = pattern(50_000);
        await there.tagSendSync(data, 7);
        data.fill(0xdd);
        await receiving;
        assert.deepEqual(buffer, pattern(50_000));
        close();
      }));

    it('fails when its endpoint is closed', () =>
      simulate(async (sim) => {
        const { there, close } = await made(sim, EAGER);
        const sending = there.tagSendSync(pattern(10), 7);
        await sim.sleep(100);
        there.close();
        await assert.rejects(sending, { status: UcsStatus.UCS_ERR_CANCELED });
        close();
      }));
  });
