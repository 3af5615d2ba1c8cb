import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect, type KvClient, serve } from 'verbena/kv';
import { simulate } from 'verbena/sim';

/** Whether one more visit is allowed: at most `limit` in each period. */
async function allow(store: KvClient, who: string, limit: number, periodMs: number): Promise<boolean> {
  await store.add(`visits:${who}`, '0', { ttlMs: periodMs });
  return (await store.incr(`visits:${who}`)) <= limit;
}

test('three visits a minute are allowed, whatever the network loses', () =>
  simulate({ conditions: { loss: 0.2 } }, async (sim) => {
    const [server, client] = [sim.host('server'), sim.host('client')];
    await server.run(() => serve({ port: 7175 }));
    const store = await client.run(() => connect({ host: 'server', port: 7175 }));

    const visits: boolean[] = [];
    for (let visit = 0; visit < 4; visit += 1) visits.push(await allow(store, 'ann', 3, 60_000));
    assert.deepEqual(visits, [true, true, true, false]);

    await sim.sleep(61_000_000); // microseconds: a minute that takes no time
    assert.equal(await allow(store, 'ann', 3, 60_000), true);
  }));
