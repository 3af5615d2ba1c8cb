import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { alloc } from '../../../entry/index.js';
import { simulate } from '../../../entry/sim.js';
import { listenStreams, RsocketError } from '../index.js';
import { encodeIomapEntry, type IomapEntry, Operation } from '../wire/message.js';
import { RawPeer } from './support/raw-peer.js';
import { connected, nextStream, Owner, pattern, PORT } from './support/streams.js';

describe('memory that is mapped', () => {
  it('holds what the peer writes there before the message that says so comes', () =>
    simulate(async (sim) => {
      const { atServer, atClient, listener } = await connected(sim, {}, { iomapSize: 2 });
      const memory = alloc(300_000);
      assert.equal(atServer.stream.riomap(memory, 1000), 1000n);
      const address = atServer.stream.riomap(alloc(10), -1);
      assert.ok(address > 0n);
      atServer.send(pattern(0, 1));
      await atClient.until(1);
      const { stream } = atClient;
      assert.equal(stream.mappedBytes(1000), 300_000);
      assert.equal(stream.mappedBytes(299_999 + 1000), 1);
      assert.equal(stream.mappedBytes(301_000), 0);
      assert.equal(stream.mappedBytes(address + 9n), 1);
      assert.equal(stream.riowrite(pattern(0, 10), 999), 0);
      const bytes = pattern(0, 300_000);
      for (let at = 0; at < bytes.length;) {
        const taken = stream.riowrite(bytes.subarray(at), 1000 + at);
        at += taken;
        atClient.told.length = 0;
        if (at < bytes.length) await atClient.until('writable');
      }
      assert.equal(stream.riowrite(pattern(0, 20), 1000 + 299_990), 10, 'as far as it is mapped');
      atClient.send(pattern(0, 1));
      await atServer.until(1);
      assert.deepEqual(memory.subarray(0, 299_990), bytes.subarray(0, 299_990));
      assert.deepEqual(memory.subarray(299_990), pattern(0, 10));
      atClient.stream.close();
      await Promise.all([atServer.closed, atClient.closed]);
      assert.equal(atServer.error, undefined);
      listener.close();
    }));

  it('may lie in several buffers side by side', () =>
    simulate(async (sim) => {
      const { atServer, atClient, listener } = await connected(sim, {}, { iomapSize: 2 });
      const [low, high] = [alloc(100), alloc(100)];
      atServer.stream.riomap(high, 100);
      atServer.stream.riomap(low, 0);
      atServer.send(pattern(0, 1));
      await atClient.until(1);
      assert.equal(atClient.stream.riowrite(pattern(0, 300), 10), 190);
      atClient.send(pattern(0, 1));
      await atServer.until(1);
      assert.deepEqual(low.subarray(10), pattern(0, 90));
      assert.deepEqual(high, pattern(90, 100));
      atServer.stream.close();
      listener.close();
    }));

  it('can be mapped as often as it is unmapped, and no message is lost for it', () =>
    simulate(async (sim) => {
      const { atServer, atClient, listener } = await connected(sim, { rqSize: 16 }, { iomapSize: 1, rqSize: 16 });
      const memory = alloc(10);
      for (let i = 1; i <= 100; i += 1) {
        atServer.stream.riomap(memory, i);
        atServer.send(pattern(0, 1));
        await atClient.until(2 * i - 1);
        assert.equal(atClient.stream.mappedBytes(i), 10);
        atServer.stream.riounmap(memory);
        atServer.send(pattern(0, 1));
        await atClient.until(2 * i);
        assert.equal(atClient.stream.mappedBytes(i), 0);
      }
      assert.throws(() => atServer.stream.riounmap(memory), { name: 'RsocketError', errno: 'EINVAL' });
      atServer.stream.close();
      listener.close();
    }));

  it('needs an entry of the peer', () =>
    simulate(async (sim) => {
      const { atServer, atClient, listener } = await connected(sim, {}, { iomapSize: 1 });
      atServer.stream.riomap(alloc(10), 0);
      assert.throws(() => atServer.stream.riomap(alloc(10), 100), { name: 'RsocketError', errno: 'ENOMEM' });
      assert.throws(() => atClient.stream.riomap(alloc(10), 100), { name: 'RsocketError', errno: 'ENOMEM' });
      assert.throws(() => atServer.stream.riomap(alloc(10), -2), { errno: 'EINVAL' });
      assert.throws(() => atServer.stream.riowrite(alloc(10), 0.5), { errno: 'EINVAL' });
      atServer.stream.close(0);
      listener.close();
    }));

  const LIES: Readonly<Record<string, readonly [IomapEntry, RegExp]>> = {
    'memory beyond the address space': [
      { offset: 0n, span: { addr: 2n ** 64n - 1n, key: 1, length: 2 } },
      /ends beyond the address space/,
    ],
    'offsets beyond 64 bits': [
      { offset: 2n ** 64n - 1n, span: { addr: 0n, key: 1, length: 2 } },
      /offsets beyond 64 bits/,
    ],
  };
  for (const [what, [entry, sentence]] of Object.entries(LIES))
    it(`is not believed where the peer maps ${what}`, () =>
      simulate(async (sim) => {
        const [server, bad] = [sim.host('server'), sim.host('bad')];
        const listener = listenStreams({ port: PORT, context: server.context, iomapSize: 1 });
        const next = nextStream(listener);
        const liar = await RawPeer.connect(bad);
        const victim = new Owner(await next);
        liar.say(Operation.IOMAP_SGL, 0, encodeIomapEntry(entry, 'little'), liar.peer.targets, 32);
        await victim.closed;
        assert.ok(victim.error instanceof RsocketError);
        assert.match(victim.error.message, sentence);
        listener.close();
      }));

  it('is named to a host of the other byte order in that order', () =>
    simulate(async (sim) => {
      const [server, other] = [sim.host('server'), sim.host('other')];
      const listener = listenStreams({ port: PORT, context: server.context });
      const next = nextStream(listener);
      const peer = await RawPeer.connect(other, (truth) => ({ ...truth, byteOrder: 'big' }));
      const owner = new Owner(await next);
      owner.stream.riomap(alloc(100), 7);
      await peer.next();
      const { immData, byteLen } = await peer.next();
      assert.equal(immData, 0xc000_0000);
      assert.equal(byteLen, 24);
      const view = new DataView(peer.table.bytes.buffer, peer.table.bytes.byteOffset);
      assert.equal(view.getBigUint64(32), 7n);
      assert.equal(view.getUint32(32 + 20), 100);
      owner.stream.close(0);
      listener.close();
    }));
});
