import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { simulate } from '../../../entry/sim.js';
import { listen, RequestError } from '../index.js';
import { connected, text } from './support/pair.js';

const PROBE = { opcode: 'RC_WRITE_ONLY' } as const;
/** For what a NIC repeats before it gives up a peer. */
const REPEATS_US = 6_000_000;

describe('a connection that rests', () => {
  it('notices within its bound that its peer has gone', () =>
    simulate(async (sim) => {
      const { atServer, atClient, client } = await connected(sim, { keepAliveMs: 2000 }, { keepAliveMs: Infinity });
      await atClient.send(text('last'));
      await sim.sleep(20_000_000);
      assert.equal(atServer.failure, undefined);
      client.crash();
      const sinceUs = sim.nowUs;
      await sim.until(atServer.closed, { withinUs: 2_000_000 + REPEATS_US });
      assert.ok(sim.nowUs - sinceUs > 1_000_000);
      const { failure } = atServer;
      assert.ok((failure as unknown) instanceof RequestError);
      assert.match(String(failure), /RETRY_EXC_ERR/);
    }));

  it('notices it by default, too, and both ends do', () =>
    simulate(async (sim) => {
      const { atServer, atClient, server } = await connected(sim);
      sim.partition(server);
      await sim.until(Promise.all([atServer.closed, atClient.closed]), { withinUs: 30_000_000 + REPEATS_US });
    }));

  it('does not mind a peer whose program does nothing, or one that stands still for a moment', () =>
    simulate(async (sim) => {
      const { atServer, atClient, client } = await connected(sim, { keepAliveMs: 2000 });
      client.pause();
      await sim.sleep(3_000_000);
      client.resume();
      await sim.sleep(600_000_000);
      await atServer.send(text('still there?'));
      assert.ok(await atClient.receive());
    }));

  it('asks nothing while the peer is heard of anyway', () =>
    simulate(async (sim) => {
      const { atServer, atClient } = await connected(sim, { keepAliveMs: 1000 }, { keepAliveMs: Infinity });
      for (let i = 0; i < 100; i += 1) {
        await atClient.send(text('x'));
        await atServer.receive();
        await sim.sleep(300_000);
      }
      assert.equal(sim.packets(PROBE).length, 0);
      await sim.sleep(10_000_000);
      const probes = sim.packets(PROBE).length;
      assert.ok(probes >= 8 && probes <= 20, `${probes} in 10 s`);
    }));

  it('is left alone where that was asked for, and ends when it is closed', () =>
    simulate(async (sim) => {
      const never = { keepAliveMs: Infinity };
      const { atServer, client } = await connected(sim, never, never);
      await sim.sleep(3600_000_000);
      assert.equal(sim.packets(PROBE).length, 0);
      client.crash();
      await sim.sleep(3600_000_000);
      assert.equal(atServer.failure, undefined);
    }));

  it('has no time pass by itself, so that what never comes is found out', async () => {
    const waiting = simulate(async (sim) => {
      const { atClient } = await connected(sim);
      await atClient.receive();
    });
    await assert.rejects(waiting, /nothing is left to happen/);
  });

  for (const end of ['client', 'server'] as const)
    it(`whose program waits for a message notices in seconds that the ${end} has gone that it has asked for one`, () =>
      simulate(async (sim) => {
        const pair = await connected(sim);
        const asking = end === 'client' ? pair.atServer : pair.atClient;
        const answering = end === 'client' ? pair.atClient : pair.atServer;
        await asking.send(text('question'));
        await answering.receive();
        const answer = assert.rejects(asking.receive(), RequestError);
        pair[end].crash();
        await sim.until(answer, { withinUs: 500_000 + REPEATS_US });
      }));

  it('whose program waits for a message is probed ever more seldom while its peer is silent', () =>
    simulate(async (sim) => {
      const { atServer, atClient } = await connected(sim, {}, { keepAliveMs: Infinity });
      const waiting = atServer.receive();
      await sim.sleep(120_000_000);
      const probes = sim.packets(PROBE).length;
      assert.ok(probes >= 8 && probes <= 24, `${probes} in 120 s`);
      await atClient.send(text('at last'));
      assert.ok(await waiting);
    }));

  for (const keepAliveMs of [0, -1, NaN, 2 ** 31, '1'])
    it(`is not asked about every ${typeof keepAliveMs} ${keepAliveMs} ms`, () =>
      simulate((sim) => {
        const { context } = sim.host('server');
        assert.throws(() => listen({ context, keepAliveMs: keepAliveMs as number }), { code: 'EINVAL' });
      }));
});
