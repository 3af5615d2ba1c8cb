import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { Incoming } from '../incoming.js';
import { connected, ended, listening, NETS, placeOf, closeOf } from './support/nets.js';

const MESSAGE = Buffer.from('hello world');

for (const [where, net] of NETS) {
  describe(`reading from a socket, over ${where}`, () => {
    it('brings every chunk in a buffer of its own, which stays as it is', async () => {
      await using ends = await connected(net);
      const chunks: Buffer[] = [];
      ends.client.on('data', (chunk: Buffer) => chunks.push(chunk));
      for (let i = 0; i < 50; i += 1) ends.atServer.write(Buffer.alloc(100, i));
      ends.atServer.end();
      await once(ends.client, 'end');
      assert.deepEqual(
        Buffer.concat(chunks),
        Buffer.concat(Array.from({ length: 50 }, (_, i) => Buffer.alloc(100, i))),
      );
    });

    it('reads into one buffer of the program, or one that is asked for each time', async () => {
      const server = await listening(net, (socket) => socket.end(MESSAGE));
      const own = Buffer.alloc(4);
      let asked = 0;
      const buffers: readonly (Buffer | (() => Buffer))[] = [own, () => Buffer.alloc((asked += 1) % 2 === 0 ? 3 : 5)];
      for (const buffer of buffers) {
        const received: Buffer[] = [];
        const socket = net.connect({
          ...placeOf(server),
          onread: {
            buffer,
            callback: (byteLength, bytes) => {
              if (buffer === own) assert.equal(bytes, own);
              received.push(Buffer.from(bytes.subarray(0, byteLength)));
              return true;
            },
          },
        });
        socket.on('data', () => assert.fail('it is read by onread'));
        await once(socket, 'end');
        assert.deepEqual(Buffer.concat(received), MESSAGE);
        await closeOf(socket);
      }
      assert.ok(asked > 0);
      await ended(server);
    });

    it('pauses when onread says so, and goes on when it is resumed', async () => {
      const server = await listening(net, (socket) => socket.end(MESSAGE));
      const received: Buffer[] = [];
      let isPaused = false;
      const socket = net.connect({
        ...placeOf(server),
        onread: {
          buffer: Buffer.alloc(1),
          callback: (byteLength, bytes) => {
            assert.equal(isPaused, false);
            received.push(Buffer.from(bytes.subarray(0, byteLength)));
            isPaused = true;
            setImmediate(() => {
              isPaused = false;
              socket.resume();
            });
            return false;
          },
        },
      });
      await once(socket, 'end');
      assert.deepEqual(Buffer.concat(received), MESSAGE);
      await ended(server, socket);
    });

    it('ignores an onread that is none', async () => {
      const server = await listening(net, (socket) => socket.end(MESSAGE));
      for (const onread of [null, 1, {}, { buffer: Buffer.alloc(1) }, { callback: () => true }]) {
        const socket = net.connect({ ...placeOf(server), onread: onread as never });
        await once(socket, 'data');
        await closeOf(socket.resume());
      }
      await ended(server);
    });

    it('counts what has come, also when nobody takes it', async () => {
      await using ends = await connected(net);
      ends.atServer.end('12345');
      await once(ends.client, 'readable');
      while (ends.client.bytesRead < 5) await once(ends.client, 'readable');
      assert.equal(ends.client.readableLength, 5);
      ends.client.resume();
      await once(ends.client, 'end');
      assert.equal(ends.client.bytesRead, 5);
    });

    it('takes no more of the peer than its high-water mark while nobody reads', async () => {
      await using ends = await connected(net, {}, { highWaterMark: 1000 });
      ends.atServer.write(Buffer.alloc(100_000));
      for (let i = 0; i < 50; i += 1) await new Promise((resolve) => setImmediate(resolve));
      assert.ok(ends.client.bytesRead < 1000 + 64 * 1024, `${ends.client.bytesRead}`);
      assert.equal(ends.client.readableHighWaterMark, 1000);
    });
  });
}

describe('what is read at once', () => {
  for (const [reader, isFlowing, most] of [
    ['a reader that flows', true, 256 * 1024],
    ['any other reader', false, 64 * 1024],
  ] as const)
    it(`has ${most} bytes at most, for ${reader}`, () => {
      let left = 1_000_000;
      const stream = {
        get readableBytes() {
          return left;
        },
        read: (into: Uint8Array) => {
          left -= into.length;
          return into.length;
        },
      };
      const chunks: number[] = [];
      const incoming = new Incoming((bytes) => chunks.push(bytes.length) > 0, undefined);
      incoming.isWanted = true;
      while (incoming.pull(stream, isFlowing));
      assert.equal(Math.max(...chunks), most);
      assert.equal(incoming.bytesRead, 1_000_000);
    });
});
