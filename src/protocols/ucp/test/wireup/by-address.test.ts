import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { simulate } from '../../../../entry/sim.js';
import { UcsStatus } from '../../wire/index.js';
import { type Member, members, streamed } from '../support/by-address.js';
import { pattern, until } from '../support/transports.js';

const counts = ({ worker }: Member) => [worker.query().endpoints, worker.query().unclaimedEndpoints];

for (const transport of ['rc', 'ud'] as const)
  describe(`an endpoint by the address of a worker, by ${transport}`, () => {
    it('brings messages before the other end has asked for it, which then has the other end of it', () =>
      simulate(async (sim) => {
        const { all, close } = members(sim, 2, { transport });
        const [one, other] = all;
        const there = await one.ask(other);
        await there.tagSend(pattern(100), 1);
        await there.streamSend(pattern(50));
        const buffer = new Uint8Array(100);
        await other.worker.tagReceive(buffer, 1);
        assert.deepEqual(buffer, pattern(100));
        await until(sim, () => counts(other)[1] === 1);
        const back = await other.ask(one);
        assert.deepEqual(
          [counts(one), counts(other)],
          [
            [1, 0],
            [1, 0],
          ],
        );
        assert.equal(await back.streamReceive(buffer), 50);
        assert.deepEqual(await streamed(back, there, pattern(7)), pattern(7));
        assert.deepEqual(await close(), []);
      }));

    it('can be answered before the other end has asked for it', () =>
      simulate(async (sim) => {
        const { all, close } = members(sim, 2, { transport });
        const [one, other] = all;
        other.worker.setAmHandler(1, ({ replyEndpoint }) => void replyEndpoint?.amSend(2, pattern(3), pattern(0)));
        const answered = new Promise<void>((resolve) => one.worker.setAmHandler(2, () => resolve()));
        await (await one.ask(other)).amSend(1, pattern(3), pattern(0), { reply: true });
        await answered;
        assert.deepEqual(await close(), []);
      }));

    it('is one, whenever the other end asks as well', async () => {
      for (let delayUs = 0; delayUs < 40; delayUs += 1)
        await simulate(async (sim) => {
          const { all, close } = members(sim, 2, { transport });
          const [one, other] = delayUs % 2 === 0 ? all : [...all].reverse();
          // The other end has to listen before it is asked.
          assert.equal(other.worker.address.length, 28);
          const asking = one.ask(other);
          await sim.sleep(delayUs);
          const [there, back] = await Promise.all([asking, other.ask(one)]);
          await sim.sleep(100_000);
          assert.deepEqual(
            [counts(one), counts(other)],
            [
              [1, 0],
              [1, 0],
            ],
            `after ${delayUs} µs`,
          );
          assert.deepEqual(await streamed(there, back, pattern(9)), pattern(9));
          assert.deepEqual(await streamed(back, there, pattern(8)), pattern(8));
          assert.deepEqual(await close(), []);
        });
    });

    it('is one for each pair of calls, on a bad network as well', () =>
      simulate({ seeds: 8 }, async (sim) => {
        const { all, close } = members(sim, 2, { transport });
        const [one, other] = all;
        sim.setConditions({ loss: 0.1, duplication: 0.05, reordering: 0.1 });
        const asked = await Promise.all([0, 1, 2].flatMap(() => [one.ask(other), other.ask(one)]));
        sim.setConditions({ loss: 0, duplication: 0, reordering: 0 });
        await sim.sleep(5_000_000);
        for (const member of all) assert.equal(counts(member)[1], 0);
        const [ones, others] = [0, 1].map((end) => asked.filter((_, i) => i % 2 === end));
        for (const [i, endpoint] of ones.entries()) await endpoint.streamSend(Uint8Array.of(i));
        const got = await Promise.all(
          others.map(async (endpoint) => {
            const buffer = new Uint8Array(1);
            await endpoint.streamReceive(buffer, { timeoutMs: 60_000 });
            return buffer[0];
          }),
        );
        assert.deepEqual(got.sort(), [0, 1, 2]);
        assert.deepEqual(await close(), []);
      }));

    it('can be had again after it was closed at either end, or at both', () =>
      simulate(async (sim) => {
        const { all, close } = members(sim, 2, { transport });
        const [one, other] = all;
        for (let round = 0; round < 6; round += 1) {
          const [there, back] = await Promise.all([one.ask(other), other.ask(one)]);
          assert.deepEqual(await streamed(there, back, pattern(5, round)), pattern(5, round));
          if (round % 3 !== 1) there.close();
          if (round % 3 !== 0) back.close();
          await until(sim, () => there.failure !== undefined && back.failure !== undefined);
          there.close();
          back.close();
        }
        assert.deepEqual(await close(), []);
      }));

    it('goes where its peer has gone that nobody has asked for', () =>
      simulate(async (sim) => {
        const { all, close } = members(sim, 2, { transport });
        const [one, other] = all;
        const there = await one.ask(other);
        await until(sim, () => counts(other)[1] === 1);
        there.close();
        await until(sim, () => counts(other)[0] === 0);
        assert.deepEqual(counts(other), [0, 0]);
        assert.deepEqual(await close(), []);
      }));

    it('is refused where too many are there that nobody has asked for, until one is asked for', () =>
      simulate(async (sim) => {
        const { all, close } = members(sim, 4, { transport, unclaimedEndpoints: 2 });
        const [hub, ...others] = all;
        await others[0].ask(hub);
        await others[1].ask(hub);
        await until(sim, () => counts(hub)[1] === 2);
        await assert.rejects(others[2].ask(hub), { status: UcsStatus.UCS_ERR_EXCEEDS_LIMIT });
        await hub.ask(others[0]);
        await others[2].ask(hub);
        assert.deepEqual(await close(), []);
      }));

    it('is there between all of many that ask for each other at once', () =>
      simulate(async (sim) => {
        const { all, close } = members(sim, 5, { transport });
        for (const { worker } of all) assert.ok(worker.address.length > 0);
        const pairs = all.flatMap((one) => all.map((other) => [one, other] as const));
        const endpoints = await Promise.all(pairs.map(([one, other]) => one.ask(other)));
        await Promise.all(endpoints.map((endpoint, i) => endpoint.tagSend(pattern(20, i), i)));
        for (const [i, [, other]] of pairs.entries()) {
          const buffer = new Uint8Array(20);
          await other.worker.tagReceive(buffer, i, { timeoutMs: 5000 });
          assert.deepEqual(buffer, pattern(20, i));
        }
        for (const member of all) assert.deepEqual(counts(member), [5, 0]);
        assert.deepEqual(await close(), []);
      }));

    it('that is given up at any moment leaves nothing at either end', async () => {
      for (let delayUs = 0; delayUs < 60; delayUs += 3)
        for (const isBoth of [false, true])
          await simulate(async (sim) => {
            const { all, close } = members(sim, 2, { transport });
            const [one, other] = all;
            assert.ok(one.worker.address.length > 0);
            const controller = new AbortController();
            const asking = one.ask(other, { signal: controller.signal });
            const asked = isBoth ? other.ask(one, { timeoutMs: 3000 }) : undefined;
            const ended = Promise.allSettled([asking, asked]);
            await sim.sleep(delayUs);
            controller.abort(new Error('no more'));
            const [first] = await ended;
            if (first.status === 'rejected') assert.match(String(first.reason), /no more/);
            await sim.sleep(20_000_000);
            assert.ok(counts(one)[0] <= 1);
            assert.deepEqual(await close(), [], `after ${delayUs} µs`);
          });
    });

    it('is not waited for any more when the worker is closed', () =>
      simulate(async (sim) => {
        const { all, close } = members(sim, 2, { transport });
        const [one, other] = all;
        const asking = one.ask(other);
        const refused = assert.rejects(asking, { status: UcsStatus.UCS_ERR_CANCELED });
        one.worker.close();
        await refused;
        await assert.rejects(one.ask(other), { status: UcsStatus.UCS_ERR_CANCELED });
        assert.deepEqual(await close(), []);
      }));

    it('leads back where the address is one’s own', () =>
      simulate(async (sim) => {
        const { all, close } = members(sim, 1, { transport });
        const endpoint = await all[0].ask(all[0]);
        assert.equal(endpoint.query().transport, 'self');
        assert.deepEqual(await close(), []);
      }));
  });
