import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { allOf, closeOf, codeOf, connected, ended, failureOf, listening, NETS, placeOf } from './support/nets.js';

const pattern = (length: number): Buffer =>
  Buffer.from(Uint8Array.from({ length }, (_, i) => (i * 7 + (i >> 8)) & 0xff));

for (const [where, net] of NETS) {
  describe(`writing to a socket, over ${where}`, () => {
    it('keeps what is written before it is connected, and counts it', async () => {
      const received: Promise<Buffer>[] = [];
      const server = await listening(net, (socket) => received.push(allOf(socket)));
      const socket = net.connect(placeOf(server));
      assert.equal(socket.connecting, true);
      let isThrough = false;
      assert.equal(
        socket.write('Hello ', () => (isThrough = true)),
        true,
      );
      socket.write('d29ybGQ=', 'base64');
      assert.deepEqual([socket.bytesWritten, isThrough], [11, false]);
      await once(socket, 'connect');
      socket.end('!');
      await once(socket, 'close');
      assert.deepEqual([String(await received[0]), socket.bytesWritten, isThrough], ['Hello world!', 12, true]);
      await ended(server);
    });

    it('keeps the order of what was written before, in and after the connection', async () => {
      const received: Promise<Buffer>[] = [];
      const server = await listening(net, (socket) => received.push(allOf(socket)));
      const socket = net.connect(placeOf(server), () => socket.write('b'));
      socket.write('a');
      await once(socket, 'ready');
      socket.end('c');
      await once(socket, 'close');
      assert.equal(String(await received[0]), 'abc');
      await ended(server);
    });

    it('refuses what is neither bytes nor text', async () => {
      await using ends = await connected(net);
      const write = (chunk: unknown): unknown => ends.client.write(chunk);
      assert.throws(() => write(null), { code: 'ERR_STREAM_NULL_VALUES' });
      for (const chunk of [true, false, undefined, 1, 1.0, Infinity, [], {}])
        assert.throws(() => write(chunk), { code: 'ERR_INVALID_ARG_TYPE' });
      assert.throws(() => ends.client.write('a', 'no such encoding' as BufferEncoding), {
        code: 'ERR_UNKNOWN_ENCODING',
      });
    });

    it('carries every byte value, text of every encoding and chunks of no length', async () => {
      await using ends = await connected(net);
      const all = allOf(ends.atServer);
      const everyByte = Buffer.from(Uint8Array.from({ length: 256 }, (_, i) => i));
      const written = [
        everyByte,
        Buffer.alloc(0),
        Buffer.from('žluťoučký', 'utf8'),
        Buffer.from('ab', 'utf16le'),
        Buffer.from('0102ff', 'hex'),
        Buffer.from('ÿ', 'latin1'),
      ];
      ends.client.write(everyByte.toString('latin1'), 'latin1');
      ends.client.write('');
      ends.client.write(new Uint8Array(0));
      ends.client.write('žluťoučký');
      ends.client.write('ab', 'utf16le');
      ends.client.write('0102ff', 'hex');
      ends.client.end('ÿ', 'latin1');
      assert.deepEqual(await all, Buffer.concat(written));
    });

    it('bounces messages, one at a time and several at once', async () => {
      const server = await listening(net, (socket) => socket.on('data', (data) => socket.write(data)));
      const socket = net.connect(placeOf(server)).setEncoding('utf8');
      let received = '';
      socket.on('data', (text: string) => (received += text));
      for (let i = 1; i <= 20; i += 1) {
        socket.write('PING');
        while (received.length < 4 * i) await once(socket, 'data');
      }
      for (let i = 0; i < 100; i += 1) socket.write('PING');
      while (received.length < 4 * 120) await once(socket, 'data');
      assert.equal(received, 'PING'.repeat(120));
      await ended(server, socket);
    });

    it('brings a large buffer and a large string whole, and counts both', async () => {
      await using ends = await connected(net);
      const all = allOf(ends.atServer);
      const bytes = pattern(300_000);
      const text = 'ä'.repeat(40_000);
      ends.client.write(bytes);
      ends.client.end(text);
      assert.equal(ends.client.bytesWritten, 380_000);
      assert.ok((await all).equals(Buffer.concat([bytes, Buffer.from(text)])));
      assert.deepEqual([ends.atServer.bytesRead, ends.client.bytesWritten], [380_000, 380_000]);
    });

    it('writes what was corked in one go, and in order', async () => {
      await using ends = await connected(net);
      const all = allOf(ends.atServer);
      ends.client.cork();
      ends.client.write('one');
      ends.client.write(pattern(20_000));
      ends.client.write(new Uint8Array([1, 2, 3]));
      ends.client.write('twö', 'latin1');
      assert.equal(ends.client.bytesWritten, 20_009);
      ends.client.uncork();
      ends.client.end();
      assert.equal(ends.client.bytesWritten, 20_009);
      const expected = [Buffer.from('one'), pattern(20_000), Buffer.from([1, 2, 3]), Buffer.from('twö', 'latin1')];
      assert.deepEqual(await all, Buffer.concat(expected));
    });

    it('asks for patience when the peer does not read, and tells by drain when it has', async () => {
      await using ends = await connected(net);
      ends.atServer.pause();
      const chunk = pattern(64 * 1024);
      let written = 0;
      let isTaken = true;
      while (isTaken && written < 100) {
        isTaken = ends.client.write(chunk);
        written += 1;
        await new Promise((resolve) => setImmediate(resolve));
      }
      assert.equal(isTaken, false);
      assert.ok(ends.client.bufferSize > 0);
      assert.equal(ends.client.bufferSize, ends.client.writableLength);
      assert.equal(ends.client.writableNeedDrain, true);
      let received = 0;
      ends.atServer.on('data', (data: Buffer) => (received += data.length)).resume();
      await once(ends.client, 'drain');
      ends.client.end();
      await once(ends.atServer, 'end');
      assert.equal(received, written * chunk.length);
      assert.equal(ends.client.bufferSize, 0);
    });

    it('tells each write when it is through, in order, and end after all', async () => {
      await using ends = await connected(net);
      ends.atServer.resume();
      const told: string[] = [];
      for (const name of ['a', 'b', 'c']) ends.client.write(name, () => told.push(name));
      await new Promise<void>((resolve) => ends.client.end('d', resolve));
      assert.deepEqual(told, ['a', 'b', 'c']);
    });

    it('stops a reader that pauses, and goes on when it resumes', async () => {
      await using ends = await connected(net);
      const bytes = pattern(200_000);
      ends.client.end(bytes);
      const chunks: Buffer[] = [];
      ends.atServer.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        ends.atServer.pause();
        setImmediate(() => ends.atServer.resume());
      });
      await once(ends.atServer, 'end');
      assert.ok(Buffer.concat(chunks).equals(bytes));
    });

    it('is written to by end, once it is connected or before', async () => {
      await using ends = await connected(net);
      const all = allOf(ends.atServer);
      const called = new Promise<void>((resolve) => ends.client.end('goodbye', 'latin1', resolve));
      assert.equal(String(await all), 'goodbye');
      await called;
    });

    it('refuses to write after end, by error and callback', async () => {
      await using ends = await connected(net, { allowHalfOpen: true });
      ends.client.end();
      const [error, told] = await Promise.all([
        failureOf(ends.client),
        new Promise<unknown>((resolve) => ends.client.write('too late', resolve)),
      ]);
      assert.equal(error.code, 'ERR_STREAM_WRITE_AFTER_END');
      assert.equal(codeOf(told), 'ERR_STREAM_WRITE_AFTER_END');
    });

    it('refuses to write after the peer has ended and it has followed, with EPIPE', async () => {
      await using ends = await connected(net);
      ends.client.on('error', () => {}).resume();
      ends.atServer.end();
      const told = await new Promise<unknown>((resolve) =>
        ends.client.on('end', () => ends.client.end().write('too late', resolve)),
      );
      assert.equal(codeOf(told), 'EPIPE');
    });

    it('refuses to write when it is destroyed, and tells only those who ask', async () => {
      await using ends = await connected(net);
      ends.client.destroy();
      const told = await new Promise<unknown>((resolve) => ends.client.write('too late', resolve));
      assert.equal(codeOf(told), 'ERR_STREAM_DESTROYED');
      assert.equal(ends.client.writable, false);
    });

    it('refuses to write when it is reset', async () => {
      await using ends = await connected(net);
      ends.atServer.on('error', () => {});
      ends.client.resetAndDestroy();
      const told = await new Promise<unknown>((resolve) => ends.client.write('too late', resolve));
      assert.equal(codeOf(told), 'ERR_STREAM_DESTROYED');
    });

    it('tells a write that waited for a connection that it never comes', async () => {
      const server = await listening(net);
      const socket = net.connect(placeOf(server));
      const told = new Promise<unknown>((resolve) => socket.write('never', resolve));
      socket.destroy();
      assert.equal(codeOf(await told), 'ERR_SOCKET_CLOSED_BEFORE_CONNECTION');
      await ended(server);
    });

    it('tells a write that nobody ever connected that it is closed', async () => {
      const socket = net.socket();
      const [error] = await Promise.all([failureOf(socket), closeOf(socket), Promise.resolve(socket.write('a'))]);
      assert.equal(error.code, 'ERR_SOCKET_CLOSED');
    });

    it('tells every write that is under way when it is destroyed', async () => {
      await using ends = await connected(net);
      ends.atServer.pause();
      const told = Array.from(
        { length: 10 },
        () => new Promise<unknown>((resolve) => ends.client.write(pattern(100_000), resolve)),
      );
      ends.client.destroy();
      const codes = (await Promise.all(told)).map(codeOf);
      assert.equal(codes.at(-1), 'ERR_SOCKET_CLOSED');
      // Where the peer's credits have arrived, the transport has taken the first writes: they are done.
      const underWay = codes.slice(codes.findIndex((code) => code !== undefined));
      assert.ok(underWay.every((code) => code !== undefined));
    });
  });
}
