import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { simulate } from '../../../entry/sim.js';
import { Engine } from '../../core/index.js';
import { connected, pattern, text, words } from './support/pair.js';

describe('a connection of messages', () => {
  it('brings a message there and another back', () =>
    simulate(async (sim) => {
      const { atServer, atClient } = await connected(sim);
      await atClient.send(text('hello'));
      assert.equal(words(await atServer.receive()), 'hello');
      await atServer.send(text('how are you?'));
      assert.equal(words(await atClient.receive()), 'how are you?');
    }));

  it('brings messages of all lengths, in order and whole', () =>
    simulate(async (sim) => {
      const { atServer, atClient, server, client } = await connected(sim);
      const lengths = [0, 1, 256, 257, 4095, 4096, 4097, 8192, 100_000, 3, 1_000_000];
      const sent = Promise.all(lengths.map((length, i) => atClient.send(pattern(length, i))));
      for (const [i, length] of lengths.entries()) assert.deepEqual(await atServer.receive(), pattern(length, i));
      await sent;
      for (const host of [server, client]) assert.equal(host.counters()['rcvd_rnr_err'] ?? 0, 0);
    }));

  it('is looped over until the peer closes it', () =>
    simulate(async (sim) => {
      const { atServer, atClient } = await connected(sim);
      const got: (string | undefined)[] = [];
      const read = (async () => {
        for await (const message of atServer.messages()) got.push(words(message));
      })();
      for (const word of ['a', 'b', 'c']) await atClient.send(text(word));
      await atClient.close();
      await read;
      assert.deepEqual(got, ['a', 'b', 'c']);
      assert.equal(atServer.failure, undefined);
      await atServer.close();
    }));

  it('gives back every buffer when both ends have closed it', () =>
    simulate(async (sim) => {
      const { atServer, atClient, server, client, listener } = await connected(sim);
      await Promise.all([atClient.send(pattern(50_000)), atServer.receive()]);
      await atClient.close();
      await atServer.close();
      listener.close();
      for (const { context } of [server, client]) {
        const engine = Engine.of(context);
        assert.deepEqual(engine.pool.leases(), []);
        assert.equal(engine.statistics.outstanding.size, 0);
      }
    }));

  it('lends messages where they lie, until the next step', () =>
    simulate(async (sim) => {
      const { atServer, atClient, server } = await connected(sim);
      const sending = Promise.all(Array.from({ length: 20 }, (_, i) => atClient.send(pattern(3000, i))));
      let count = 0;
      for await (const lease of atServer.messages({ lease: true })) {
        assert.deepEqual(lease.bytes, pattern(3000, count));
        if (count % 3 === 0) lease.release();
        if (++count === 20) break;
      }
      await sending;
      await atClient.close();
      await atServer.close();
      assert.equal(Engine.of(server.context).pool.leased, 0);
    }));
});
