import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NETS } from '../support/nets.js';

describe('a session whose programs block the event loop', () => {
  for (const when of [50, 99, 120, 149])
    it(`goes on where a message of the peer waits, sent ${when} ms before its end is due`, () =>
      NETS.rdma(async (net) => {
        let served = 0;
        await net.listen((session) =>
          session.on('request', ({ header }) => {
            served += 1;
            return { header, body: '' };
          }),
        );
        const settings = { keepAliveMs: 100, keepAliveIntervalMs: 50, keepAliveProbes: 1 };
        const session = await net.connect({ ...settings, reconnectMs: 0 });
        await session.request(Uint8Array.of(1));
        // It looks every 100 ms, asks where nothing has come, and ends the link 50 ms later.
        await net.sim.sleep((150 - when) * 1000);
        const answer = session.request(Uint8Array.of(2));
        while (served < 2) await new Promise(setImmediate);
        net.sim.run(net.sim.nowUs + when * 1000 + 10_000);
        assert.deepEqual((await net.settled(answer)).header, Uint8Array.of(2));
        assert.equal(session.state, 'connected');
        await session.close();
      }));
});
