import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Engine, type Lease } from '../../../core/index.js';
import type { TransportName } from '../../index.js';
import { simulate, type SimHost } from '../../../../entry/sim.js';
import { type CmId, PortSpace } from '../../../../entry/index.js';
import { Datagrams } from '../../transport/datagrams.js';
import { UcClientLink } from '../../transport/uc-client-link.js';
import { UdClientLink } from '../../transport/ud-client-link.js';
import { hostOf, PORT, served, text } from '../support/served.js';

const MIB = 2 ** 20;

/** Takes all buffers that a host has for messages, but some. @returns gives them back */
function exhaust({ context }: SimHost, left = 0): () => void {
  const { pool } = Engine.of(context);
  const leases: Lease[] = [];
  for (const bytes of [pool.largest, 1, 4096])
    for (let lease = pool.tryLease(bytes, 'test'); lease !== undefined; lease = pool.tryLease(bytes, 'test'))
      leases.push(lease);
  for (const lease of leases.splice(leases.length - left)) lease.release();
  return () => {
    for (const lease of leases) lease.release();
  };
}

describe('buffers of clients and servers', () => {
  it('for datagrams are not much longer than those', () =>
    simulate(async (sim) => {
      const { host, client: connected } = served(sim);
      using client = await connected('client', { transport: 'ud', window: 64 });
      await client.set('a', '1');
      assert.ok(Engine.of(host.context).pool.bytes < 6 * MIB);
      assert.ok(Engine.of(hostOf(sim, 'client').context).pool.bytes < MIB);
    }));

  for (const transport of ['rc', 'uc', 'ud'] satisfies readonly TransportName[])
    it(`by ${transport}: a client that finds none is told, rather than never hear anything`, () =>
      simulate(async (sim) => {
        const { client: connected } = served(sim, {}, { transport });
        const giveBack = exhaust(hostOf(sim, 'client'));
        await assert.rejects(connected(), { code: 'ENOMEM' });
        giveBack();
        using client = await connected();
        await client.set('a', '1');
        assert.equal(text(await client.get('a')), '1');
      }));

  it('of a server that has none left are not promised to clients that come, and those before go on', () =>
    simulate(async (sim) => {
      const { server, host, client: connected } = served(sim);
      using early = await connected('early');
      const giveBack = exhaust(host);
      await assert.rejects(connected('late'), { code: 'ECONNREFUSED' });
      await early.set('a', '1');
      assert.deepEqual([server.statistics.clients, server.statistics.refused], [1, 1]);
      giveBack();
      using late = await connected('late');
      assert.equal(text(await late.get('a')), '1');
    }));

  it('of a server are left to answers, however many clients come', () =>
    simulate(async (sim) => {
      const { host, client: connected } = served(sim);
      using early = await connected('early');
      const giveBack = exhaust(host, 40);
      await assert.rejects(connected('late'), { code: 'ECONNREFUSED' });
      await early.set('a', 'long'.repeat(100));
      assert.equal(text(await early.get('a')), 'long'.repeat(100));
      giveBack();
    }));
});

describe('a queue pair for which the completion queue has no room', () => {
  const SIZES = { window: 8, slotBytes: 1024 };
  const makes = {
    'for datagrams': (engine) =>
      new Datagrams(
        engine,
        { sends: 64, receives: 8, bytes: 64 },
        { onDatagram: () => undefined, onRoom: () => undefined, onLost: () => undefined },
      ),
    'of a client by uc': (engine, id) => new UcClientLink(engine, id, SIZES),
    'of a client by ud': (engine, id) => new UdClientLink(engine, id, SIZES),
  } as const satisfies Record<string, (engine: Engine, id: CmId) => unknown>;
  for (const [what, make] of Object.entries(makes))
    it(`${what} is not left behind`, () =>
      simulate((sim) => {
        const host = sim.host('host');
        const engine = new Engine(host.context, { entries: 16, maxEntries: 16 });
        const channel = host.createEventChannel();
        const id = host.createId(channel, PortSpace.TCP);
        id.bindAddr({ port: PORT });
        assert.throws(() => make(engine, id), { errno: 'ENOMEM' });
        id[Symbol.dispose]();
        channel[Symbol.dispose]();
        engine.close();
      }));
});
