import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gidFromIp, Mtu } from '../../../device/ibta/index.js';
import { type CmId, connect as connectByCm, type Connection } from '../../../entry/index.js';
import { Engine } from '../../core/index.js';
import { Datagrams } from '../transport/datagrams.js';
import type { ClientLink } from '../transport/link.js';
import { CLIENT_TRANSPORTS } from '../client/transports.js';
import {
  decodeWelcome,
  encodeOffer,
  encodeRequest,
  encodeResponse,
  NO_SESSION,
  OFFER_BYTES,
  Operation,
  requestBytes,
  Status,
  type Welcome,
} from '../wire/index.js';
import { simulate, type Sim, type SimHost } from '../../../entry/sim.js';
import { hostOf, PORT, served, text } from './support/served.js';

const NO_BYTES = new Uint8Array(0);
const DEL = {
  operation: Operation.DEL,
  key: Uint8Array.of(97),
  value: NO_BYTES,
  remote: undefined,
  ttlMs: 0,
  operand: 0n,
};

/** Somebody who has connected as a client does, and says what he likes. */
interface Liar {
  readonly engine: Engine;
  readonly link: ClientLink;
  readonly welcome: Welcome;
  readonly connection: Connection;
  /** A DEL of the key "a", as an honest client would ask. */
  readonly request: Uint8Array;
}

async function lie(
  host: SimHost,
  name: 'uc' | 'ud' = 'uc',
  about: (welcome: Welcome) => Welcome = (welcome) => welcome,
): Promise<Liar> {
  const { number: transport, link: Link } = CLIENT_TRANSPORTS[name];
  const engine = Engine.of(host.context);
  const privateData = new Uint8Array(OFFER_BYTES);
  const links: ClientLink[] = [];
  const createQp = (id: CmId): void => {
    const link = new Link(engine, id, { window: 4, slotBytes: 4096 });
    links.push(link);
    const { pairs } = link;
    privateData.set(encodeOffer({ transport, window: 4, session: NO_SESSION, epoch: 0, pairs }));
  };
  const connection = await host.run(() => connectByCm({ host: 'server', port: PORT, createQp, privateData }));
  const welcome = decodeWelcome(connection.privateData);
  assert.ok(typeof welcome !== 'string');
  const [link] = links;
  link.begin(connection.qp.query().attr, about(welcome));
  const request = new Uint8Array(requestBytes(DEL));
  encodeRequest(request, { session: welcome.session, epoch: welcome.epoch, slot: 0, sequence: 1 }, DEL);
  return { engine, link, welcome, connection, request };
}

async function settled(sim: Sim, { link, connection }: Liar): Promise<void> {
  await sim.sleep(1000);
  connection[Symbol.dispose]();
  link.destroyed();
}

describe('a client by uc that lies', () => {
  it('about its requests is counted, and disturbs nobody', () =>
    simulate(async (sim) => {
      const { server, client: connected } = served(sim, {}, { transport: 'uc' });
      using honest = await connected('honest');
      await honest.set('a', '1');
      const { requests } = server.statistics;
      const liar = await lie(sim.host('liar'));
      const { request } = liar;
      const lies = [
        request.subarray(0, 7),
        new Uint8Array(5000),
        request.with(18, 77),
        request.with(0, request[0] ^ 1),
        request.with(17, 200),
      ];
      for (const bytes of lies) {
        liar.link.send(bytes, 0);
        await sim.sleep(100);
      }
      await settled(sim, liar);
      const { malformed, forged, requests: after } = server.statistics;
      assert.deepEqual([malformed, forged, after], [3, 2, requests]);
      assert.equal(text(await honest.get('a')), '1');
    }));

  it('by writing over a request before it is read has the later one carried out, and no mixture', () =>
    simulate(async (sim) => {
      const { server } = served(sim);
      const liar = await lie(sim.host('liar'));
      const later = liar.request.with(15, 2).with(40, 98);
      liar.link.send(liar.request, 0);
      liar.link.send(later, 0);
      await settled(sim, liar);
      const { malformed, requests, repeats } = server.statistics;
      assert.deepEqual([malformed, requests, repeats], [1, 1, 0]);
    }));

  it('about its slots is counted', () =>
    simulate(async (sim) => {
      const { server } = served(sim);
      const liar = await lie(sim.host('liar'), 'uc', (welcome) => ({ ...welcome, window: 100, slotBytes: 64 }));
      liar.link.send(liar.request, 0);
      liar.link.send(liar.request, 77);
      await settled(sim, liar);
      const { malformed, requests } = server.statistics;
      assert.deepEqual([malformed, requests], [1, 1]);
    }));

  it('cannot write into the slots of another, though it knows address, key and session', () =>
    simulate(async (sim) => {
      const { server, client: connected } = served(sim, {}, { transport: 'uc', window: 1 });
      using honest = await connected('honest');
      await honest.set('a', '1');
      const written = sim.packets({ opcode: 'UC_WRITE_ONLY_IMM' })[0];
      const [addr, rkey] = [written.remoteAddr, written.rkey];
      assert.ok(addr !== undefined && rkey !== undefined);
      const before = server.statistics;
      const liar = await lie(sim.host('liar'), 'uc', (welcome) => ({ ...welcome, addr, rkey }));
      liar.link.send(liar.request, 0);
      await settled(sim, liar);
      assert.deepEqual({ ...server.statistics, clients: 1 }, { ...before, clients: 1 });
      assert.equal(text(await honest.get('a')), '1');
    }));

  it('about answers is not believed by others', () =>
    simulate(async (sim) => {
      const { client: connected, host } = served(sim, {}, { transport: 'uc', window: 1 });
      using honest = await connected('honest');
      await honest.set('a', '1');
      const [answered] = sim.packets({ opcode: 'UD_SEND_ONLY', to: 'honest' }).slice(-1);
      const liar = await lie(sim.host('liar'));
      const { engine, welcome } = liar;
      const nobody = { onDatagram: () => undefined, onRoom: () => undefined, onLost: () => undefined };
      const datagrams = new Datagrams(engine, { sends: 8, receives: 0, bytes: 0 }, nobody);
      datagrams.begin(welcome.pairs.udQkey);
      const ahAttr = { isGlobal: true, grh: { dgid: gidFromIp(hostOf(sim, 'honest').address) } };
      const victim = datagrams.addressee({ ahAttr, pathMtu: Mtu.MTU_1024 }, answered.qpn);
      host.pause();
      const asking = honest.get('a');
      const forged = new Uint8Array(64);
      const { session, epoch } = welcome;
      const value = new TextEncoder().encode('2');
      const answer = { status: Status.OK, version: 9n, value, valueBytes: 1 };
      const bytes = encodeResponse(forged, { session, epoch, slot: 0, sequence: 2 }, answer);
      // What an eavesdropper saw: behind the headers of the packet, up to its checksum.
      const replayed = answered.bytes.subarray(20, -4);
      for (const datagram of [forged.subarray(0, bytes), forged.subarray(0, 9), NO_BYTES, replayed]) {
        datagrams.send(datagram, victim);
        await sim.sleep(100);
      }
      assert.deepEqual([honest.statistics.foreign, honest.statistics.unmatchedResponses], [3, 1]);
      host.resume();
      assert.equal(text(await asking), '1');
      victim.end();
      datagrams.end();
      await settled(sim, liar);
    }));
});

describe('a client by ud that lies', () => {
  it('about its requests, or repeats those of others, is counted, and disturbs nobody', () =>
    simulate(async (sim) => {
      const { server, client: connected } = served(sim, {}, { transport: 'ud', window: 1 });
      using honest = await connected('honest');
      await honest.set('a', '1');
      await honest.incr('a');
      const [asked] = sim.packets({ opcode: 'UD_SEND_ONLY', from: 'honest' }).slice(-1);
      const { requests } = server.statistics;
      const liar = await lie(sim.host('liar'), 'ud');
      const { request } = liar;
      // What an eavesdropper saw: behind the headers of the packet, without what fills it up.
      const replayed = asked.bytes.subarray(20, 20 + request.length);
      const lies = [
        NO_BYTES,
        request.subarray(0, 7),
        request.with(18, 77),
        request.with(0, request[0] ^ 1),
        request.with(7, request[7] ^ 1),
        request.with(17, 200),
        replayed,
      ];
      for (const bytes of lies) {
        liar.link.send(bytes, 0);
        await sim.sleep(100);
      }
      const { malformed, forged, requests: after, repeats, old } = server.statistics;
      assert.deepEqual([malformed, forged, after, repeats, old], [3, 4, requests, 0, 0]);
      assert.equal(text(await honest.get('a')), '2');
      await settled(sim, liar);
    }));

  it('or says too much leaves others their turn', () =>
    simulate(async (sim) => {
      const { server, client: connected } = served(sim, {}, { transport: 'ud' });
      using honest = await connected('honest');
      const liar = await lie(sim.host('liar'), 'ud');
      for (let i = 0; i < 2000; i += 1) {
        liar.link.send(liar.request.with(0, i), 0);
        if (i % 8 === 0) await sim.sleep(3);
        if (i % 100 === 0) assert.equal(await honest.incr('n'), BigInt(i / 100 + 1));
      }
      assert.ok(server.statistics.forged > 1000);
      await settled(sim, liar);
    }));
});
