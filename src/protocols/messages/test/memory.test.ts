import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { WcStatus } from '../../../entry/index.js';
import { simulate } from '../../../entry/sim.js';
import { decodeRemoteBuffer, RequestError } from '../index.js';
import { connected, pattern, text, words } from './support/pair.js';

const LENGTHS = [1, 300, 65_536, 65_537, 1_000_000];

describe('memory that a peer shares', () => {
  it('is read and written, at any length', () =>
    simulate(async (sim) => {
      const { atServer, atClient } = await connected(sim);
      const memory = new Uint8Array(1_000_000);
      using shared = atServer.share(memory, { write: true });
      for (const [i, length] of LENGTHS.entries()) {
        await atClient.write(shared.remote, pattern(length, i));
        assert.deepEqual(memory.subarray(0, length), pattern(length, i));
        assert.deepEqual(await atClient.read(shared.remote, length), pattern(length, i));
      }
    }));

  it('is told to the peer in a message', () =>
    simulate(async (sim) => {
      const { atServer, atClient } = await connected(sim);
      using shared = atServer.share(text('what I share'));
      await atServer.send(shared.encode());
      const remote = decodeRemoteBuffer((await atClient.receive()) ?? new Uint8Array(0));
      assert.deepEqual(remote, shared.remote);
      assert.equal(words(await atClient.read(remote, remote.length)), 'what I share');
    }));

  it('is no more than the bytes named, though their buffer is larger', () =>
    simulate(async (sim) => {
      const { atServer, atClient } = await connected(sim);
      const buffer = pattern(100);
      using shared = atServer.share(buffer.subarray(10, 20));
      const further = { ...shared.remote, length: 11 };
      const refused = atClient.read(further, 11);
      await assert.rejects(refused, (error) => {
        assert.ok(error instanceof RequestError);
        assert.equal(error.status, WcStatus.REM_ACCESS_ERR);
        assert.equal(error.errno, 'EACCES');
        return true;
      });
    }));

  it('is read at an offset, into memory of the program’s', () =>
    simulate(async (sim) => {
      const { atServer, atClient } = await connected(sim);
      using shared = atServer.share(pattern(100));
      const into = new Uint8Array(20);
      assert.equal(await atClient.read(shared.remote, into.subarray(5, 15), { offset: 90 }).then((r) => r.length), 10);
      assert.deepEqual(into.subarray(5, 15), pattern(100).subarray(90));
      assert.deepEqual(into.subarray(0, 5), new Uint8Array(5));
    }));

  it('is not asked for beyond its end', () =>
    simulate(async (sim) => {
      const { atServer, atClient } = await connected(sim);
      using shared = atServer.share(pattern(100), { write: true });
      const { remote } = shared;
      await assert.rejects(atClient.read(remote, 101), /101 bytes at offset 0 are not within the 100 bytes/);
      await assert.rejects(atClient.write(remote, pattern(11), { offset: 90 }), { errno: 'EINVAL' });
      await assert.rejects(atClient.read({ ...remote, key: -1 }, 1), /remote.key is -1/);
      await assert.rejects(atClient.read(remote, 1, { ofset: 1 } as never), /there is no 'ofset'/);
      assert.equal(atClient.failure, undefined);
    }));

  it('is changed at once by atomics, which tell what was there', () =>
    simulate(async (sim) => {
      const { atServer, atClient } = await connected(sim);
      const words = new BigUint64Array(2);
      using shared = atServer.share(new Uint8Array(words.buffer), { atomic: true });
      assert.equal(await atClient.fetchAdd(shared.remote, 5, { offset: 8 }), 0n);
      assert.equal(await atClient.fetchAdd(shared.remote, 2n ** 64n - 1n, { offset: 8 }), 5n);
      assert.equal(words[1], 4n);
      assert.equal(await atClient.compareAndSwap(shared.remote, 4, 9, { offset: 8 }), 4n);
      assert.equal(await atClient.compareAndSwap(shared.remote, 4, 7, { offset: 8 }), 9n);
      assert.deepEqual([...words], [0n, 9n]);
      await assert.rejects(atClient.fetchAdd(shared.remote, 1, { offset: 4 }), /multiple of 8/);
      await assert.rejects(atClient.fetchAdd(shared.remote, -1), /BigInt.asUintN/);
    }));

  it('is written before a message that was sent afterwards arrives', () =>
    simulate(async (sim) => {
      const { atServer, atClient } = await connected(sim);
      const memory = new Uint8Array(300_000);
      using shared = atServer.share(memory, { write: true });
      void atClient.write(shared.remote, pattern(300_000, 3));
      void atClient.send(text('written'));
      assert.equal(words(await atServer.receive()), 'written');
      assert.deepEqual(memory, pattern(300_000, 3));
    }));

  it('is reached while messages wait for a slow program', () =>
    simulate(async (sim) => {
      const { atServer, atClient } = await connected(sim, { window: 4 });
      using shared = atServer.share(pattern(8));
      const sends = Promise.all(Array.from({ length: 10 }, () => atClient.send(text('x'))));
      assert.deepEqual(await atClient.read(shared.remote, 8), pattern(8));
      for (let i = 0; i < 10; i += 1) await atServer.receive();
      await sends;
    }));

  it('is closed to everybody once it was disposed of', () =>
    simulate(async (sim) => {
      const { atServer, atClient } = await connected(sim);
      const shared = atServer.share(pattern(8));
      shared[Symbol.dispose]();
      await assert.rejects(atClient.read(shared.remote, 8), /REM_ACCESS_ERR: remote access error/);
      assert.ok(atClient.failure instanceof RequestError);
      await assert.rejects(atClient.send(text('x')), /send: the connection has ended: .*REM_ACCESS_ERR/);
    }));

  for (const length of [1000, 1_000_000])
    it(`is not read into memory whose program has given up (${length} bytes)`, () =>
      simulate(async (sim) => {
        const { atServer, atClient } = await connected(sim);
        using shared = atServer.share(pattern(1_000_000));
        const reason = new Error('enough');
        const into = new Uint8Array(length);
        const controller = new AbortController();
        let untouched: Uint8Array | undefined;
        const reading = atClient.read(shared.remote, into, { signal: controller.signal });
        sim.when({ opcode: length > 4096 ? 'RC_READ_RESP_MIDDLE' : 'RC_READ_RESP_ONLY', nth: 1 }, () => {
          controller.abort(reason);
          untouched = into.slice();
        });
        await assert.rejects(reading, reason);
        await sim.sleep(1_000_000);
        assert.deepEqual(into, untouched);
        assert.deepEqual(await atClient.read(shared.remote, 10), pattern(10), 'the connection lives on');
      }));

  it('gets no byte that a program put where it had given up to write from', () =>
    simulate(async (sim) => {
      const { atServer, atClient } = await connected(sim);
      const memory = new Uint8Array(1_000_000);
      using shared = atServer.share(memory, { write: true });
      const bytes = new Uint8Array(1_000_000).fill(1);
      const controller = new AbortController();
      const writing = atClient.write(shared.remote, bytes, { signal: controller.signal });
      sim.when({ opcode: 'RC_WRITE_MIDDLE', nth: 20 }, () => {
        controller.abort();
        bytes.fill(0xee);
      });
      await assert.rejects(writing, { name: 'AbortError' });
      await atClient.send(text('now'));
      await atServer.receive();
      assert.ok(memory.includes(1));
      assert.ok(!memory.includes(0xee));
    }));
});
