import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gidFromIp, Mtu } from '../../../device/ibta/index.js';
import { Engine } from '../../core/index.js';
import { Datagrams } from '../transport/datagrams.js';
import { type SimHost, simulate } from '../../../entry/sim.js';
import { holdingsOf } from '../../../../test/support/holdings.js';
import { slotIn } from '../wire/index.js';
import { hostOf, served, text } from './support/served.js';

/** Bytes of headers that the largest packet has beside its payload. */
const HEADERS = 96;

/** How many objects a host has of those that links are made of. */
function objectsOf({ context }: SimHost) {
  const { pds, regions, qps, ahs, driverPairs, driverRegions, identifiers } = holdingsOf(context);
  return { pds, regions, qps, ahs, driverPairs, driverRegions, identifiers };
}

for (const transport of ['uc', 'ud'] as const)
  describe(`a client by ${transport}`, () => {
    it('has what fits into a packet in it, and moves the rest', () =>
      simulate(async (sim) => {
        sim.host('narrow', { maxPacketBytes: 1024 + HEADERS });
        const { client: connected, server } = served(sim);
        using client = await connected('narrow', { transport });
        using other = await connected('wide');
        const long = 'v'.repeat(1024 - 40 - 1);
        await client.set('k', long);
        assert.equal(text(await client.get('k')), long);
        assert.equal(server.statistics.transfers, 0);
        await client.set('k', `${long}.`);
        await other.set('k', 'v'.repeat(1024 - 32 + 1));
        assert.equal(server.statistics.transfers, 1);
        assert.equal((await client.get('k'))?.length, 1024 - 32 + 1);
        assert.equal(server.statistics.transfers, 2);
      }));

    it('is refused where a packet does not hold a request', () =>
      simulate(async (sim) => {
        sim.host('narrow', { maxPacketBytes: 256 + HEADERS });
        const { client: connected, server } = served(sim);
        await assert.rejects(connected('narrow', { transport }), { code: 'EPROTO' });
        assert.equal(server.statistics.clients, 0);
        using client = await connected('narrow');
        await client.set('k', 'v'.repeat(3000));
      }));

    it('has its counts right where a third of all packets is lost', () =>
      simulate(
        { seed: 7, conditions: { delayUs: 5, jitterUs: 20, duplication: 0.1, reordering: 0.1 } },
        async (sim) => {
          const { client: connected, server } = served(sim, {}, { transport });
          using client = await connected();
          sim.setConditions({ loss: 0.3 });
          const sums = await Promise.all(Array.from({ length: 200 }, () => client.incr('n')));
          assert.equal(new Set(sums).size, 200);
          assert.equal(await client.incr('n', 0), 200n);
          assert.ok(client.statistics.repeats > 0 && server.statistics.repeats > 0);
        },
      ));

    it('leaves nothing behind, at either end, however it goes', () =>
      simulate(async (sim) => {
        const { host, server, client: connected } = served(sim, {}, { transport });
        using first = await connected('a');
        await first.set('k', 'v'.repeat(500));
        // From then on the pools have what two clients need.
        const warming = await connected('a');
        await warming.get('k');
        warming.close();
        await sim.sleep(120e6);
        const before = [host, sim.hosts[1]].map(objectsOf);
        const [second, third, fourth] = [await connected('a'), await connected('b'), await connected('b')];
        for (const client of [second, third, fourth]) await client.get('k');
        second.close();
        third.close();
        hostOf(sim, 'b').crash();
        await sim.sleep(120e6);
        await sim.sleep(1);
        assert.equal(server.statistics.clients, 1);
        assert.deepEqual([host, sim.hosts[1]].map(objectsOf), before);
        assert.deepEqual(await first.get('k'), new TextEncoder().encode('v'.repeat(500)));
      }));
  });

describe('a client by uc', () => {
  it('writes each request into its slot in one packet, and is answered by one datagram', () =>
    simulate(async (sim) => {
      const { client: connected } = served(sim, {}, { transport: 'uc', window: 2 });
      using client = await connected();
      const before = sim.packets().length;
      await Promise.all([client.set('a', '1'), client.set('b', '2')]);
      assert.equal(text(await client.get('b')), '2');
      const packets = sim.packets().slice(before);
      const writes = packets.filter(({ opcode }) => opcode === 'UC_WRITE_ONLY_IMM');
      assert.deepEqual(
        writes.map(({ immData }) => immData && slotIn(immData)),
        [0, 1, 1],
      );
      assert.equal(writes[1].remoteAddr, (writes[0].remoteAddr ?? 0n) + 4096n);
      assert.equal(packets.filter(({ opcode }) => opcode === 'UD_SEND_ONLY').length, 3);
      assert.equal(packets.length, 6);
    }));

  it('takes another way when it hears nothing for a while, which no adapter tells', () =>
    simulate(async (sim) => {
      const { client: connected } = served(sim, {}, { transport: 'uc' });
      using client = await connected();
      await client.incr('n');
      const { qpn } = sim.packets({ opcode: 'UC_WRITE_ONLY_IMM' })[0];
      sim.drop({ opcode: 'UC_WRITE_ONLY_IMM', qpn });
      assert.equal(await client.incr('n'), 2n);
      assert.equal(client.statistics.resumptions, 1);
      assert.ok(sim.nowUs < 3e6);
    }));
});

describe('a client by ud', () => {
  it('sends each request as one datagram, and is answered by one', () =>
    simulate(async (sim) => {
      const { client: connected } = served(sim, {}, { transport: 'ud' });
      using client = await connected();
      const before = sim.packets().length;
      await client.set('a', '1');
      assert.equal(text(await client.get('a')), '1');
      const packets = sim.packets().slice(before);
      assert.deepEqual(
        packets.map(({ opcode, from }) => `${opcode} from ${from}`),
        ['client', 'server', 'client', 'server'].map((name) => `UD_SEND_ONLY from ${name}`),
      );
    }));

  it('goes on in its session where the server never hears that its connection is there', () =>
    simulate(async (sim) => {
      const { client: connected } = served(sim, {}, { transport: 'ud' });
      sim.drop({ cm: 'RTU' });
      using client = await connected();
      assert.equal(await client.incr('n'), 1n);
      await sim.sleep(15e6);
      assert.equal(client.failure, undefined);
      assert.equal(await client.incr('n'), 2n);
      assert.ok(client.statistics.resumptions > 0);
    }));
});

describe('a transport', () => {
  it('is one of those that there are', () =>
    simulate(async (sim) => {
      const { client: connected } = served(sim);
      // @ts-expect-error: what programs without types may do
      await assert.rejects(connected('client', { transport: 'toString' }), { code: 'EINVAL' });
    }));
});

describe('a queue pair for datagrams', () => {
  it('sends on to others when somebody has gone to whom a datagram is under way', () =>
    simulate(async (sim) => {
      const [here, there] = [sim.host('here'), sim.host('there')];
      const heard: number[] = [];
      const lost: Error[] = [];
      const listener = {
        onDatagram: ([byte]: Uint8Array) => heard.push(byte),
        onRoom: () => undefined,
        onLost: (error: Error) => lost.push(error),
      };
      const [from, to] = [here, there].map(
        ({ context }) => new Datagrams(Engine.of(context), { sends: 4, receives: 4, bytes: 64 }, listener),
      );
      const holds = [here, there].map(({ context }) => Engine.of(context).hold());
      to.take();
      for (const end of [from, to]) end.begin(7);
      const path = { ahAttr: { isGlobal: true, grh: { dgid: gidFromIp(there.address) } }, pathMtu: Mtu.MTU_1024 };
      const [going, staying] = [from.addressee(path, to.qpn), from.addressee(path, to.qpn)];
      from.send(Uint8Array.of(1), going);
      going.end();
      await sim.sleep(100);
      from.send(Uint8Array.of(2), staying);
      await sim.sleep(100);
      assert.deepEqual([heard, lost], [[1, 2], []]);
      staying.end();
      for (const end of [from, to]) end.end();
      for (const hold of holds) hold.release();
      assert.equal(objectsOf(here).ahs, 0);
    }));
});
