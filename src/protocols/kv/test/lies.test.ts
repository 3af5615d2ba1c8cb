import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { simulate } from '../../../entry/sim.js';
import { connect as connectByCm, SendFlags } from '../../../entry/index.js';
import {
  decodeWelcome,
  encodeOffer,
  encodeRequest,
  NO_QUEUE_PAIRS,
  NO_SESSION,
  Operation,
  requestBytes,
  Transport,
} from '../wire/index.js';
import { PORT, served, text } from './support/served.js';

const OFFER = { transport: Transport.RC, window: 4, session: NO_SESSION, epoch: 0, pairs: NO_QUEUE_PAIRS };
const NO_BYTES = new Uint8Array(0);

describe('a client that lies', () => {
  it('is counted, and disturbs nobody', () =>
    simulate(async (sim) => {
      const { server, client: connected } = served(sim);
      using honest = await connected('honest');
      await honest.set('a', '1');
      const liar = await sim
        .host('liar')
        .run(() => connectByCm({ host: 'server', port: PORT, privateData: encodeOffer(OFFER) }));
      const welcome = decodeWelcome(liar.privateData);
      assert.ok(typeof welcome !== 'string');
      const { session, epoch } = welcome;
      const del = {
        operation: Operation.DEL,
        key: Uint8Array.of(97),
        value: NO_BYTES,
        remote: undefined,
        ttlMs: 0,
        operand: 0n,
      };
      const request = new Uint8Array(requestBytes(del));
      encodeRequest(request, { session, epoch, slot: 0, sequence: 1 }, del);
      const before = server.statistics;
      const lies = [
        request.subarray(0, 7),
        request.with(18, 77),
        request.with(0, request[0] ^ 1),
        request.with(17, 200),
      ];
      for (const lie of lies) {
        const region = liar.pd.regMr(lie.slice(), 0);
        liar.postSend(1, region.sge(0, lie.length), SendFlags.SIGNALED);
        await liar.sendComp();
      }
      await sim.sleep(1000);
      const { malformed, forged, requests } = server.statistics;
      assert.deepEqual([malformed, forged, requests], [2, 2, before.requests]);
      assert.equal(text(await honest.get('a')), '1');
      liar[Symbol.dispose]();
    }));

  it('about memory loses its connection, and disturbs nobody', () =>
    simulate(async (sim) => {
      const { server, client: connected } = served(sim);
      using honest = await connected('honest');
      await honest.set('a', 'v'.repeat(9000));
      const lies = [
        { operation: Operation.SET, remote: { addr: 0x1000n, rkey: 0x1234, length: 5000 } },
        { operation: Operation.GET, remote: { addr: 2n ** 64n - 1n, rkey: 0xffff_ffff, length: 2 ** 32 - 1 } },
      ];
      for (const [i, lie] of lies.entries()) {
        const liar = await sim
          .host(`liar ${i}`)
          .run(() => connectByCm({ host: 'server', port: PORT, privateData: encodeOffer(OFFER) }));
        const welcome = decodeWelcome(liar.privateData);
        assert.ok(typeof welcome !== 'string');
        const asked = { ...lie, key: Uint8Array.of(97), value: NO_BYTES, ttlMs: 0, operand: 0n };
        const request = new Uint8Array(requestBytes(asked));
        const { session, epoch } = welcome;
        encodeRequest(request, { session, epoch, slot: 0, sequence: 1 }, asked);
        const region = liar.pd.regMr(request, 0);
        liar.postSend(1, region.sge(0, request.length), SendFlags.SIGNALED);
        await liar.sendComp();
        await liar.closed;
        liar[Symbol.dispose]();
      }
      assert.deepEqual([server.statistics.brokenTransfers, server.statistics.transfers], [2, 1]);
      assert.equal((await honest.get('a'))?.length, 9000);
    }));

  it('about what it wants is refused', () =>
    simulate(async (sim) => {
      const { server } = served(sim);
      const host = sim.host('liar');
      const refused = (privateData: Uint8Array): Promise<void> =>
        assert.rejects(
          host.run(() => connectByCm({ host: 'server', port: PORT, privateData })),
          { code: 'ECONNREFUSED' },
        );
      await refused(NO_BYTES);
      await refused(encodeOffer(OFFER).with(4, 9));
      await refused(encodeOffer(OFFER).with(5, 3));
      await refused(encodeOffer({ ...OFFER, session: { high: 1, low: 2 }, epoch: server.epoch }));
      await refused(encodeOffer({ ...OFFER, session: { high: 1, low: 2 }, epoch: server.epoch ^ 1 }));
      assert.equal(server.statistics.clients, 0);
    }));
});
