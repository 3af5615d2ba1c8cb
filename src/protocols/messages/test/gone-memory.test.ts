import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { alloc, WcStatus } from '../../../entry/index.js';
import { simulate } from '../../../entry/sim.js';
import { Engine } from '../../core/index.js';
import { connected, pattern, text, words } from './support/pair.js';

/** By the pool: longer transfers go straight. */
const COPIED = [10, 4096, 20_000];
const LONG = 300_000;
const GONE = { code: 'EINVAL', message: /the memory is gone/ };

function transfer({ buffer }: Uint8Array): void {
  assert.ok(buffer instanceof ArrayBuffer);
  structuredClone(buffer, { transfer: [buffer] });
}

describe('memory that a program transfers too early', () => {
  for (const bytes of [...COPIED, LONG])
    it(`of a message of ${bytes} bytes makes that fail which was not sent, and nothing else`, () =>
      simulate(async (sim) => {
        const { atServer, atClient } = await connected(sim);
        const received = (async () => {
          const all: Uint8Array[] = [];
          for await (const message of atServer.messages()) all.push(message);
          return all;
        })();
        const bodies = Array.from({ length: 40 }, () => pattern(bytes));
        const sent = bodies.map((body) => atClient.send(body));
        // The first are under way by now, and the last have no room yet.
        for (const body of bodies) transfer(body);
        const outcomes = await Promise.allSettled(sent);
        const lost = outcomes.filter(({ status }) => status === 'rejected');
        for (const outcome of lost) if (outcome.status === 'rejected') assert.throws(() => raise(outcome.reason), GONE);
        await atClient.send(text('still here'));
        await atClient.close();
        const messages = await received;
        assert.ok(lost.length > 0);
        assert.equal(messages.length, bodies.length - lost.length + 1);
        assert.equal(words(messages.pop()), 'still here');
        for (const message of messages) assert.deepEqual(message, pattern(bytes));
      }));

  for (const bytes of COPIED)
    it(`of a transfer of ${bytes} bytes makes that fail, and nothing else`, () =>
      simulate(async (sim) => {
        const { atServer, atClient, client } = await connected(sim);
        const memory = alloc(bytes);
        using shared = atServer.share(memory, { write: true });
        const { pool, registrations } = Engine.of(client.context);
        const before = [pool.leased, registrations.used];
        const source = pattern(bytes);
        const into = new Uint8Array(bytes);
        const waits = [atClient.read(shared.remote, into), atClient.write(shared.remote, source)];
        for (const view of [into, source]) transfer(view);
        const outcomes = await Promise.allSettled(waits);
        const [read] = outcomes;
        assert.throws(() => raise(read.status === 'rejected' ? read.reason : undefined), GONE);
        await atClient.write(shared.remote, pattern(bytes));
        assert.deepEqual(memory, pattern(bytes));
        assert.deepEqual([pool.leased, registrations.used], before);
      }));

  it('of a transfer that goes straight is what the adapter finds out, so that the connection ends', () =>
    simulate(async (sim) => {
      const { atServer, atClient } = await connected(sim);
      using shared = atServer.share(alloc(LONG), { write: true });
      const source = pattern(LONG);
      const writing = atClient.write(shared.remote, source);
      transfer(source);
      await assert.rejects(writing, { status: WcStatus.LOC_PROT_ERR });
      assert.ok(atClient.failure !== undefined);
    }));
});

function raise(reason: unknown): never {
  throw reason;
}
