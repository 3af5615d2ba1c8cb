import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { simulate } from '../../../entry/sim.js';
import { Engine } from '../../core/index.js';
import { RsocketError } from '../index.js';
import { connected, expectPattern, pattern } from './support/streams.js';

describe('a stream', () => {
  it('carries every byte once and in order, both ways at once', () =>
    simulate(async (sim) => {
      const { atServer, atClient, listener } = await connected(sim);
      expectPattern(atServer);
      expectPattern(atClient);
      const total = 1_000_000;
      atClient.send(pattern(0, total));
      atServer.send(pattern(0, total));
      await Promise.all([atServer.until(total), atClient.until(total)]);
      assert.equal(atClient.stream.bytesWritten, total);
      assert.equal(atServer.stream.bytesRead, total);
      atClient.stream.close();
      atServer.stream.close();
      await Promise.all([atServer.closed, atClient.closed]);
      assert.equal(atServer.error, undefined);
      assert.equal(atClient.error, undefined);
      listener.close();
    }));

  it('sends across the end of its send buffer, wherever that is', () =>
    simulate(async (sim) => {
      const { atServer, atClient, listener } = await connected(sim, {}, { sendBufferBytes: 4096 });
      expectPattern(atServer);
      const lengths = [3000, 1080, 2000, 90, 4096, 65, 64, 63, 2049];
      let total = 0;
      for (let i = 0; i < 200; i += 1) {
        const length = lengths[i % lengths.length];
        atClient.send(pattern(total, length));
        total += length;
      }
      await atServer.until(total);
      assert.ok(Engine.of(sim.hosts[0].context).statistics.completions < 800);
      listener.close();
      atClient.stream.close();
    }));

  it('sends long messages for as long as more is written than the network takes', () =>
    simulate(async (sim) => {
      const { atServer, atClient, listener } = await connected(sim);
      expectPattern(atServer);
      const total = 4_000_000;
      const piece = 65_536;
      let written = 0;
      const more = (): void => {
        if (written >= total) return;
        const length = Math.min(piece, total - written);
        const bytes = pattern(written, length);
        written += length;
        atClient.send(bytes, more);
      };
      more();
      await atServer.until(total);
      const messages = Engine.of(sim.hosts[1].context).statistics.completions;
      assert.ok(total / messages > 16_384, `${messages} messages and acknowledgements`);
      listener.close();
      atClient.stream.close();
    }));

  it('goes on where messages of one byte wrap the credits', () =>
    simulate(async (sim) => {
      const { atServer, atClient, listener } = await connected(sim);
      expectPattern(atServer);
      const total = 70_000;
      const bytes = pattern(0, total);
      for (let at = 0; at < total;) {
        const taken = atClient.stream.write(bytes.subarray(at, at + 1));
        at += taken;
        if (taken === 0) {
          const told = atServer.received;
          await atServer.until(() => atServer.received > told);
        }
      }
      await atServer.until(total);
      atClient.stream.close();
      atServer.stream.close();
      await Promise.all([atServer.closed, atClient.closed]);
      listener.close();
    }));

  it('gives one byte at a time to who reads one at a time, and stalls who writes meanwhile', () =>
    simulate(async (sim) => {
      const { atServer, atClient, listener } = await connected(sim, { receiveBufferBytes: 4096 });
      atServer.reads = false;
      const total = 20_000;
      atClient.send(pattern(0, total));
      await atServer.until('readable');
      await new Promise<void>((resolve) => Engine.of(sim.hosts[0].context).timer(100, resolve));
      assert.equal(atServer.stream.readableBytes, 4096);
      assert.match(atClient.stream.explainStall() ?? '', /named no buffer/);
      const one = new Uint8Array(1);
      const expected = pattern(0, total);
      for (let at = 0; at < total;) {
        if (atServer.stream.read(one) === 0) {
          await atServer.until(() => atServer.stream.readableBytes > 0);
          continue;
        }
        assert.equal(one[0], expected[at]);
        at += 1;
      }
      assert.equal(atServer.stream.read(one), 0);
      atClient.stream.close();
      atServer.stream.close();
      await Promise.all([atServer.closed, atClient.closed]);
      listener.close();
    }));

  for (const order of ['the client first', 'the server first', 'both at once'])
    it(`ends one direction after the other: ${order}`, () =>
      simulate(async (sim) => {
        const { atServer, atClient, listener } = await connected(sim);
        const [first, second] = order === 'the server first' ? [atServer, atClient] : [atClient, atServer];
        first.send(pattern(0, 300_000), () => first.stream.shutdown('write'));
        if (order === 'both at once') second.send(pattern(0, 300_000), () => second.stream.shutdown('write'));
        await second.until(() => second.stream.isReadEnded && second.received === 300_000);
        assert.equal(first.stream.isWriteEnded, true);
        if (order !== 'both at once') {
          assert.equal(second.stream.isWriteEnded, false);
          assert.throws(() => first.stream.write(pattern(0, 1)), { name: 'RsocketError', errno: 'EPIPE' });
          second.send(pattern(0, 300_000), () => second.stream.shutdown('write'));
        }
        await first.until(300_000);
        await Promise.all([first.closed, second.closed]);
        assert.equal(first.error, undefined);
        assert.equal(second.error, undefined);
        listener.close();
      }));

  it('gives what had come after the peer has closed', () =>
    simulate(async (sim) => {
      const { atServer, atClient, listener } = await connected(sim);
      atServer.reads = false;
      atClient.send(pattern(0, 1000));
      atClient.stream.close();
      await atServer.closed;
      assert.equal(atServer.error, undefined);
      assert.equal(atServer.stream.isReadEnded, true);
      expectPattern(atServer);
      atServer.readAll();
      assert.equal(atServer.received, 1000);
      assert.throws(() => atServer.stream.write(pattern(0, 1)), { errno: 'ECONNRESET' });
      listener.close();
    }));

  it('leaves nothing behind', () =>
    simulate(async (sim) => {
      const { atServer, atClient, listener, server, client } = await connected(sim);
      atClient.send(pattern(0, 1000));
      atClient.stream.close();
      await Promise.all([atServer.closed, atClient.closed]);
      await new Promise<void>((resolve) => Engine.of(server.context).timer(10_000, resolve));
      for (const host of [server, client]) {
        const { outstanding } = Engine.of(host.context).statistics;
        assert.deepEqual([...outstanding], []);
      }
      listener.close();
    }));

  it('ends with ECONNRESET where the peer is gone without a word', () =>
    simulate(async (sim) => {
      const { atServer, atClient, listener } = await connected(sim);
      atClient.stream.close(0);
      await Promise.all([atServer.closed, atClient.closed]);
      assert.equal(atClient.error, undefined);
      assert.ok(atServer.error instanceof RsocketError);
      assert.equal(atServer.error.errno, 'ECONNRESET');
      listener.close();
    }));
});
