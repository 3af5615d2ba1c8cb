import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RefusedError } from '../../../entry/index.js';
import { simulate } from '../../../entry/sim.js';
import { Engine } from '../../core/index.js';
import { connectStream, listenStreams, RsocketError } from '../index.js';
import { Control, Operation } from '../wire/message.js';
import { type Span, SPAN_BYTES, writeSpan } from '../wire/connection-data.js';
import { type Claims, RawPeer } from './support/raw-peer.js';
import { nextStream, Owner, pattern, PORT } from './support/streams.js';

const ENTRY = new Uint8Array(24);

function span(named: Span): Uint8Array {
  const bytes = new Uint8Array(SPAN_BYTES);
  writeSpan(new DataView(bytes.buffer), 0, named, 'little');
  return bytes;
}

function name(peer: RawPeer, entry: number, named: Partial<Span>, limit = 64): void {
  const own: Span = { addr: peer.buffer.addr, key: peer.buffer.rkey, length: 4096 };
  peer.say(Operation.SGL, limit, span({ ...own, ...named }), peer.peer.targets, entry * SPAN_BYTES);
}

const otherKey = (key: number): number => (key ^ 1) >>> 0;

type Act = (peer: RawPeer, stream: Owner) => void;

const LIES: Readonly<Record<string, readonly [Act, RegExp]>> = {
  'an operation that nobody sends': [(peer) => peer.say(1, 0), /there is no operation 1/],
  'the mark of the C library': [(peer) => peer.say(2, 0), /there is no operation 2/],
  'a word that nobody says': [(peer) => peer.say(Operation.CTRL, 3), /CTRL with value 3/],
  'a word with bytes': [(peer) => peer.say(Operation.CTRL, 1, pattern(0, 4), peer.peer.data), /CTRL with 4 bytes/],
  'more data than it has written': [
    (peer) => peer.say(Operation.DATA, 200, pattern(0, 100), peer.peer.data),
    /DATA of 200 bytes, with 100 written/,
  ],
  'data of no bytes': [(peer) => peer.say(Operation.DATA, 0), /DATA of no bytes/],
  'data across the end of a half': [
    (peer) => {
      peer.data(pattern(0, 65_000));
      peer.say(Operation.DATA, 1000, pattern(0, 1000), peer.peer.data);
    },
    /DATA of 1000 bytes, where its buffer has room for 536/,
  ],
  'data where both halves are full': [
    (peer, { stream }) => {
      stream.events = { ...stream.events, readable: () => {} };
      peer.data(pattern(0, 65_536));
      peer.data(pattern(0, 65_536));
      peer.say(Operation.DATA, 1, pattern(0, 1), peer.peer.data);
    },
    /DATA of 1 bytes, where its buffer has room for 0/,
  ],
  'more messages than it has credit for': [
    (peer, { stream }) => {
      stream.events = { ...stream.events, readable: () => {} };
      for (let i = 0; i < 17; i += 1) peer.data(pattern(i, 1));
    },
    /message 16, where it has no credit left/,
  ],
  'data after it has ended that direction': [
    (peer) => {
      peer.say(Operation.CTRL, Control.SHUTDOWN);
      peer.data(pattern(0, 1));
    },
    /DATA after it has ended that direction/,
  ],
  'more credit than it has receives': [
    (peer) => peer.say(Operation.SGL, 65),
    /it allows 1 more messages, with 64 of 64 left/,
  ],
  'credit of long ago': [(peer) => peer.say(Operation.SGL, 63), /it allows 65535 more messages/],
  'a third buffer': [
    (peer) => {
      name(peer, 1, {});
      name(peer, 0, {});
    },
    /a third buffer/,
  ],
  'a buffer of no bytes': [(peer) => name(peer, 1, { length: 0 }), /a buffer of no bytes/],
  'a buffer beyond the address space': [
    (peer) => name(peer, 1, { addr: 2n ** 64n - 100n }),
    /ends beyond the address space/,
  ],
  'half a buffer': [(peer) => peer.say(Operation.SGL, 64, pattern(0, 8), peer.peer.targets), /SGL with 8 bytes/],
  'an entry of a table that is not there': [
    (peer) => peer.say(Operation.IOMAP_SGL, 0, ENTRY, peer.peer.data),
    /IOMAP_SGL with index 0 of a table of 0/,
  ],
  'a message to where it may not write': [
    (peer) => peer.say(Operation.DATA, 5, pattern(0, 5), { ...peer.peer.data, key: otherKey(peer.peer.data.key) }),
    /it wrote to where it may not/,
  ],
  'data beyond its buffer': [
    (peer) => peer.say(Operation.DATA, 10, pattern(0, 10), peer.peer.data, 2 * 65_536 - 5),
    /it wrote to where it may not/,
  ],
  'a SEND': [(peer) => peer.send(new Uint8Array(0)), /came by a SEND/],
  'a SEND with bytes': [(peer) => peer.send(pattern(0, 5)), /came by a SEND/],
};

describe('a stream', () => {
  for (const [what, [act, sentence]] of Object.entries(LIES))
    it(`ends with a sentence where the peer sends ${what}, and no other stream does`, () =>
      simulate(async (sim) => {
        const [server, good, bad] = [sim.host('server'), sim.host('good'), sim.host('bad')];
        const listener = listenStreams({ port: PORT, context: server.context, rqSize: 16 });
        const accepted = nextStream(listener);
        const honest = new Owner(await good.run(() => connectStream({ host: 'server', port: PORT })));
        const served = new Owner(await accepted);
        const next = nextStream(listener);
        const liar = await RawPeer.connect(bad);
        const victim = new Owner(await next);
        act(liar, victim);
        await victim.closed;
        assert.ok(victim.error instanceof RsocketError);
        assert.match(victim.error.message, sentence);
        assert.equal(victim.error.errno, 'EPROTO');
        await liar.connection.closed;
        honest.send(pattern(0, 1000));
        await served.until(1000);
        honest.stream.close();
        await Promise.all([honest.closed, served.closed]);
        await new Promise<void>((resolve) => Engine.of(server.context).timer(10_000, resolve));
        assert.deepEqual([...Engine.of(server.context).statistics.outstanding], []);
        listener.close();
      }));

  it('ends with a sentence where the peer names memory that it does not offer', () =>
    simulate(async (sim) => {
      const [server, bad] = [sim.host('server'), sim.host('bad')];
      const listener = listenStreams({ port: PORT, context: server.context });
      const next = nextStream(listener);
      await RawPeer.connect(bad, (truth) => ({ ...truth, data: { ...truth.data, key: otherKey(truth.data.key) } }));
      const victim = new Owner(await next);
      victim.send(pattern(0, 10));
      await victim.closed;
      assert.ok(victim.error instanceof RsocketError);
      assert.equal(victim.error.errno, 'EPROTO');
      assert.match(victim.error.message, /the buffer that it has named cannot be written to/);
      listener.close();
    }));

  it('ends where the peer writes without a word to where it may not', () =>
    simulate(async (sim) => {
      const [server, bad] = [sim.host('server'), sim.host('bad')];
      const listener = listenStreams({ port: PORT, context: server.context });
      const next = nextStream(listener);
      const liar = await RawPeer.connect(bad);
      const victim = new Owner(await next);
      liar.write(pattern(0, 5), { ...liar.peer.data, key: otherKey(liar.peer.data.key) });
      await victim.closed;
      assert.match(victim.error?.message ?? '', /refused its peer.*ECONNRESET/);
      listener.close();
    }));

  it('speaks to a host of the other byte order in that order', () =>
    simulate(async (sim) => {
      const [server, other] = [sim.host('server'), sim.host('other')];
      const listener = listenStreams({ port: PORT, context: server.context });
      const next = nextStream(listener);
      const peer = await RawPeer.connect(other, (truth) => ({ ...truth, byteOrder: 'big' }));
      const owner = new Owner(await next);
      const { immData, byteLen } = await peer.next();
      assert.equal(immData, 0x8000_0180);
      assert.equal(byteLen, SPAN_BYTES);
      const { addr, key, length } = peer.peer.data;
      assert.deepEqual(peer.named(1, 'big'), { addr: addr + 65_536n, key, length });
      peer.data(pattern(0, 100));
      await owner.until(100);
      owner.stream.close();
      listener.close();
    }));
});

const CLAIMS: Readonly<Record<string, readonly [Claims, RegExp, string]>> = {
  'another version': [(truth) => ({ ...truth, version: 2 }), /it speaks version 2/, 'EOPNOTSUPP'],
  'no credit': [(truth) => ({ ...truth, credits: 0 }), /it has room for 0 messages/, 'EPROTO'],
  'another number of entries': [
    (truth) => ({ ...truth, targets: { ...truth.targets, length: 3 } }),
    /of 3 buffers at a time/,
    'EPROTO',
  ],
  'a buffer of no bytes': [
    (truth) => ({ ...truth, data: { ...truth.data, length: 0 } }),
    /it names a buffer of no bytes/,
    'EPROTO',
  ],
  'a buffer beyond the address space': [
    (truth) => ({ ...truth, data: { ...truth.data, addr: 2n ** 64n - 1n } }),
    /ends beyond the address space/,
    'EPROTO',
  ],
};

describe('a connection', () => {
  for (const [what, [claims, sentence, errno]] of Object.entries(CLAIMS)) {
    it(`is refused to who says ${what} of itself`, () =>
      simulate(async (sim) => {
        const [server, other] = [sim.host('server'), sim.host('other')];
        const listener = listenStreams({ port: PORT, context: server.context });
        listener.onStream = () => assert.fail('there is no stream');
        await assert.rejects(RawPeer.connect(other, claims), RefusedError);
        listener.close();
      }));

    it(`is not made to who says ${what} of itself`, () =>
      simulate(async (sim) => {
        const [server, client] = [sim.host('server'), sim.host('client')];
        const accepted = RawPeer.accept(server, claims);
        await assert.rejects(
          client.run(() => connectStream({ host: 'server', port: PORT })),
          (error) => {
            assert.ok(error instanceof RsocketError);
            assert.equal(error.errno, errno);
            assert.match(error.message, sentence);
            return true;
          },
        );
        await (
          await accepted
        ).connection.closed;
        assert.deepEqual([...Engine.of(client.context).statistics.outstanding], []);
      }));
  }

  it('waits beyond the backlog, and is not refused', () =>
    simulate(async (sim) => {
      const [server, client] = [sim.host('server'), sim.host('client')];
      const listener = listenStreams({ port: PORT, context: server.context, backlog: 2 });
      let connected = 0;
      const streams = Array.from({ length: 8 }, async () => {
        const stream = await client.run(() => connectStream({ host: 'server', port: PORT }));
        connected += 1;
        return stream;
      });
      const all = Promise.all(streams);
      await sim.sleep(1e6);
      assert.equal(connected, 2);
      const askedUs = sim.nowUs;
      const taken = [];
      for (let i = 0; i < 8; i += 1) taken.push(await nextStream(listener));
      const ports = (await all).map(({ localAddress }) => localAddress.port);
      assert.deepEqual(taken.map(({ remoteAddress }) => remoteAddress.port).sort(), ports.sort());
      assert.ok(sim.nowUs - askedUs < 1000);
      listener.close();
    }));

  it('finds room at another listener of the device, however many gave up at one that is full', () =>
    simulate(async (sim) => {
      const [server, client] = [sim.host('server'), sim.host('client')];
      const full = listenStreams({ port: PORT, context: server.context, backlog: 1 });
      const other = listenStreams({ port: PORT + 1, context: server.context });
      const connect = (port: number, timeoutMs: number) =>
        client.run(() => connectStream({ host: 'server', port, timeoutMs }));
      await connect(PORT, 10_000);
      for (let round = 0; round < 9; round += 1) {
        const impatient = Array.from({ length: 1000 }, () => assert.rejects(connect(PORT, 500)));
        await Promise.all(impatient);
      }
      const stream = await connect(PORT + 1, 20_000);
      stream.close();
      full.close();
      other.close();
    }));

  it('is made in time, however many strangers never complete theirs', () =>
    simulate(async (sim) => {
      const [server, evil, client] = [sim.host('server'), sim.host('evil'), sim.host('client')];
      const backlog = 8;
      const listener = listenStreams({ port: PORT, context: server.context, backlog });
      sim.drop({ from: 'evil', cm: 'RTU' });
      const asked = Array.from({ length: 4 * backlog }, () => RawPeer.connect(evil).catch(() => undefined));
      await sim.sleep(1000);
      const stream = await client.run(() => connectStream({ host: 'server', port: PORT, timeoutMs: 2000 }));
      stream.close();
      listener.close();
      await Promise.all(asked);
    }));

  it('is never refused where the listener closes meanwhile, but by that', () =>
    simulate(async (sim) => {
      const [server, client] = [sim.host('server'), sim.host('client')];
      const listener = listenStreams({ port: PORT, context: server.context, backlog: 1 });
      const connect = () => client.run(() => connectStream({ host: 'server', port: PORT }));
      await connect();
      const held = connect();
      const refused = assert.rejects(held, RefusedError);
      await sim.sleep(1000);
      listener.close();
      await refused;
    }));
});
