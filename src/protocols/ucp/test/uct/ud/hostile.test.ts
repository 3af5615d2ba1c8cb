import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { simulate, type Sim } from '../../../../../entry/sim.js';
import { gidFromIp } from '../../../../../device/ibta/index.js';
import { Engine } from '../../../../core/index.js';
import { MemoryDomain, type UdDrop, type UdEndpoint, UdInterface, type UdOptions } from '../../../uct/index.js';
import {
  amWord,
  decodeUdControl,
  NO_UD_ENDPOINT,
  UcsStatus,
  UD_HEADER_BYTES,
  UdControlType,
  UdFlags,
} from '../../../wire/index.js';
import { controlBytes, datagram, Stranger } from '../../support/stranger.js';
import { connectedByUd, flushed } from '../../support/transports.js';

const NONE = new Uint8Array(0);
const FAR = 0x7000;

/** An interface that anybody may connect to, and somebody who knows where it is. */
function exposed(sim: Sim, options: UdOptions = {}) {
  const host = sim.host('host');
  const domain = new MemoryDomain(new Engine(host.context, { name: 'a test' }));
  const own = new UdInterface(domain, options);
  const endpoints: UdEndpoint[] = [];
  const got: number[] = [];
  own.onEndpoint = (endpoint) => {
    endpoints.push(endpoint);
    endpoint.handlers.set(1, ([first]) => got.push(first));
  };
  const stranger = new Stranger(sim, 'stranger', own.address);
  const close = async (): Promise<void> => {
    await own.close();
    domain.engine.close();
    await stranger.close();
  };
  return { own, stranger, endpoints, got, close };
}

/** A stranger's own connection. @returns the number of the endpoint that it leads to */
async function connected({ stranger }: ReturnType<typeof exposed>): Promise<number> {
  await stranger.send(stranger.request());
  const reply = decodeUdControl(stranger.got[0].subarray(UD_HEADER_BYTES));
  assert.ok(typeof reply !== 'string' && reply.type === UdControlType.CREP);
  await stranger.send(datagram(reply.endpoint, 1, 1));
  return reply.endpoint;
}

/** What a packet brings, between BTH and DETH, and pad and ICRC. */
function payloadOf(packet: Uint8Array): Uint8Array {
  return packet.slice(20, packet.length - 4 - ((packet[1] >> 4) & 3));
}

function counted(own: UdInterface): Partial<Record<UdDrop, number>> {
  return Object.fromEntries(Object.entries(own.statistics.dropped).filter(([, count]) => count > 0));
}

describe('ud among strangers', () => {
  const crep = controlBytes({ type: UdControlType.CREP, endpoint: 5, segmentBytes: 4096, qkey: 0 });
  const CTL = NO_UD_ENDPOINT | UdFlags.CTL;
  const asking: Record<string, readonly [bytes: (stranger: Stranger) => Uint8Array, why: UdDrop]> = {
    'nothing at all': [() => NONE, 'malformed'],
    'less than a header': [() => new Uint8Array(7), 'malformed'],
    'what is for an endpoint that there is not': [() => datagram(5, 1, 0), 'unknownEndpoint'],
    'an active message for nobody': [() => datagram(amWord(NO_UD_ENDPOINT, 1, 0), 1, 0), 'malformed'],
    'an answer to nobody': [() => datagram(CTL, 1, 0, crep), 'malformed'],
    'a request without its body': [() => datagram(CTL, 1, 0), 'malformed'],
    'a request with another PSN': [(stranger) => datagram(CTL, 2, 0, stranger.request().subarray(8)), 'malformed'],
    'a request as bytes for memory': [
      (stranger) => datagram(NO_UD_ENDPOINT | UdFlags.PUT, 1, 0, stranger.request().subarray(8)),
      'malformed',
    ],
    'a request in the name of another address': [
      (stranger) => stranger.request({ gid: gidFromIp('10.0.0.77') }),
      'foreignSender',
    ],
    'a request in the name of another queue pair': [
      (stranger) => stranger.request({ qpn: stranger.address.qpn ^ 1 }),
      'foreignSender',
    ],
  };
  for (const [what, [bytes, why]] of Object.entries(asking))
    it(`drops ${what}, and answers nothing`, () =>
      simulate(async (sim) => {
        const { own, stranger, close } = exposed(sim);
        await stranger.send(bytes(stranger));
        assert.deepEqual(counted(own), { [why]: 1 });
        assert.deepEqual([own.endpoints, stranger.got.length], [0, 0]);
        await close();
      }));

  it('takes nothing for an endpoint from anybody but its peer, also what that has sent before', () =>
    simulate(async (sim) => {
      const { here, there, close } = await connectedByUd(sim);
      const sent: Uint8Array[] = [];
      sim.when({ opcode: 'UD_SEND_ONLY' }, (packet) => {
        if (packet.from === 'here') sent.push(payloadOf(packet.bytes));
      });
      const got: number[] = [];
      there.handlers.set(1, ([first]) => got.push(first));
      here.endpoint.amShort(1, NONE, Uint8Array.of(7));
      await flushed(sim, here.endpoint);
      const stranger = new Stranger(sim, 'stranger', there.interface.address);
      const { id } = there.endpoint;
      const gone = controlBytes({ type: UdControlType.GONE, endpoint: here.endpoint.id });
      const forged = [
        datagram(amWord(id, 1, UdFlags.ACK_REQ), 3, 1, Uint8Array.of(9)),
        datagram(id | UdFlags.ACK_REQ, 2, 1),
        datagram(id | UdFlags.CTL, 2, 1, gone),
        ...sent,
      ];
      await stranger.send(...forged);
      assert.ok(sent.length > 0);
      assert.deepEqual(got, [7]);
      assert.equal(there.interface.statistics.dropped.foreignSender, forged.length);
      assert.deepEqual([there.endpoint.failure, stranger.got.length], [undefined, 0]);
      await stranger.close();
      await close();
    }));

  const lies: Record<string, readonly [bytes: (id: number) => Uint8Array, why: UdDrop]> = {
    'acknowledges what was never sent': [(id) => datagram(id, 1, 2), 'wrongAcknowledgement'],
    'acknowledges what will not be sent for long': [(id) => datagram(id, 1, FAR), 'wrongAcknowledgement'],
    'sends what is beyond any window': [(id) => datagram(amWord(id, 1, 0), FAR, 1), 'wrongPsn'],
    'says that it has sent more than any window': [(id) => datagram(id, FAR, 1), 'wrongPsn'],
    'sends again what has come': [(id) => datagram(amWord(id, 1, 0), 1, 1), 'repeated'],
    'has bytes behind what brings none': [(id) => datagram(id, 1, 1, Uint8Array.of(1)), 'malformed'],
    'puts bytes into memory': [(id) => datagram(id | UdFlags.PUT, 2, 1, new Uint8Array(16)), 'malformed'],
    'uses flags that there are not': [(id) => datagram(id | (1 << 30), 2, 1), 'malformed'],
    'goes on with a handshake that is over': [(id) => datagram(id | UdFlags.CTL, 2, 1, crep), 'malformed'],
    'sends a message of the handshake that is none': [
      (id) => datagram(id | UdFlags.CTL, 2, 1, new Uint8Array(40)),
      'malformed',
    ],
    'says that another endpoint has ended': [
      (id) => datagram(id | UdFlags.CTL, 1, 1, controlBytes({ type: UdControlType.GONE, endpoint: 99 })),
      'unknownEndpoint',
    ],
  };
  for (const [what, [bytes, why]] of Object.entries(lies))
    it(`drops what a peer says that ${what}, and takes what it says rightly`, () =>
      simulate(async (sim) => {
        const scene = exposed(sim);
        const { own, stranger, endpoints, got, close } = scene;
        const id = await connected(scene);
        await stranger.send(bytes(id), datagram(amWord(id, 1, 0), 2, 1, Uint8Array.of(5)));
        assert.deepEqual(counted(own), { [why]: 1 });
        assert.deepEqual([got, endpoints.length, endpoints[0].failure], [[5], 1, undefined]);
        await close();
      }));

  it('connects nobody who has not seen the answer, and forgets them', () =>
    simulate(async (sim) => {
      const { own, stranger, endpoints, close } = exposed(sim);
      await stranger.send(stranger.request());
      assert.deepEqual([own.endpoints, endpoints.length], [1, 0]);
      await sim.sleep(4_000_000);
      assert.deepEqual([own.endpoints, endpoints.length, own.statistics.halfOpenLost], [0, 0, 1]);
      await close();
    }));

  it('has the oldest of those give way that have not been seen to be there, however many ask, and serves others', () =>
    simulate(async (sim) => {
      const scene = exposed(sim, { maxHalfOpen: 8 });
      const { own, stranger, endpoints, close } = scene;
      for (let endpoint = 100; endpoint < 200; endpoint += 1) {
        await stranger.send(stranger.request({ endpoint }));
        assert.ok(own.endpoints <= 8);
      }
      assert.equal(own.statistics.halfOpenLost, 92);
      stranger.got.length = 0;
      await sim.sleep(4_000_000);
      stranger.got.length = 0;
      await connected(scene);
      assert.equal(endpoints.length, 1);
      await close();
    }));

  it('makes one endpoint of a request that comes again, and none of one that says another connection', () =>
    simulate(async (sim) => {
      const scene = exposed(sim);
      const { own, stranger, endpoints, close } = scene;
      await connected(scene);
      await stranger.send(stranger.request(), stranger.request(), stranger.request({ connection: 2 }));
      assert.deepEqual(counted(own), { repeated: 2, refused: 1 });
      assert.deepEqual([own.endpoints, endpoints.length], [1, 1]);
      await close();
    }));

  it('keeps no more early datagrams than it may', () =>
    simulate(async (sim) => {
      const scene = exposed(sim);
      const { own, stranger, got, close } = scene;
      const id = await connected(scene);
      const early = Array.from({ length: 300 }, (_, i) => datagram(amWord(id, 1, 0), 3 + i, 1, Uint8Array.of(i)));
      await stranger.send(...early);
      assert.deepEqual([own.early, own.statistics.dropped.tooEarly, got.length], [256, 44, 0]);
      await stranger.send(datagram(amWord(id, 1, 0), 2, 1, Uint8Array.of(255)));
      assert.deepEqual([own.early, got.length], [0, 257]);
      await close();
    }));

  it('forgets what came early with its endpoint', () =>
    simulate(async (sim) => {
      const scene = exposed(sim);
      const { own, stranger, endpoints, close } = scene;
      const id = await connected(scene);
      await stranger.send(datagram(amWord(id, 1, 0), 5, 1), datagram(amWord(id, 1, 0), 6, 1));
      assert.equal(own.early, 2);
      await stranger.send(datagram(id | UdFlags.CTL, 1, 1, controlBytes({ type: UdControlType.GONE, endpoint: 1 })));
      assert.deepEqual([own.early, own.endpoints], [0, 0]);
      assert.equal(endpoints[0].failure, UcsStatus.UCS_ERR_CONNECTION_RESET);
      await close();
    }));

  it('survives any bytes, for nobody and for its endpoints', () =>
    simulate(async (sim) => {
      const scene = exposed(sim);
      const { own, stranger, endpoints, close } = scene;
      const id = await connected(scene);
      const body = fc.uint8Array({ maxLength: 90 });
      const word = fc.tuple(fc.constantFrom(id, NO_UD_ENDPOINT), fc.nat(255));
      const all = fc.sample(fc.tuple(word, fc.nat(0xffff), fc.nat(0xffff), body), { numRuns: 2000, seed: sim.seed });
      for (const [[endpoint, flags], psn, ackPsn, bytes] of all)
        await stranger.send(datagram(endpoint | (flags << 24), psn & (psn & 1 ? 7 : 0xffff), ackPsn & 1, bytes));
      assert.ok(endpoints.length >= 1 && own.endpoints <= 70);
      await close();
    }));
});
