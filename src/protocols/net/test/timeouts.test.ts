import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { Socket } from '../index.js';
import type { InnerOptions, SocketOptions } from '../socket-options.js';
import { closeOf, connected, ended, listening, NETS, placeOf } from './support/nets.js';
import { KIND, streamPair } from './support/stream-pair.js';

describe('what a socket hands on to its stream', () => {
  it('is silence before the peer is asked, in seconds that are rounded up', () => {
    const [stream, other] = streamPair(1, KIND);
    const socket = new Socket({ stream });
    const told: number[] = [];
    const tell = (...args: readonly [boolean?, number?]): void => {
      assert.equal(socket.setKeepAlive(...args), socket);
      told.push(stream.keepAliveSeconds);
    };
    tell(true, 1500);
    tell(false);
    tell(true);
    tell(true, 1e9);
    tell();
    assert.deepEqual(told, [2, 0, 7200, 32_767, 0]);
    socket.destroy();
    other.close(0);
  });

  it('is kept until there is one', async () => {
    const [stream, other] = streamPair(1, KIND);
    const transport = {
      resolve: () => Promise.resolve([]),
      connect: () => Promise.resolve(stream),
      listen: () => assert.fail('nobody listens'),
    };
    const options: SocketOptions & InnerOptions = { transport };
    const socket = new Socket(options).setKeepAlive(true, 3000);
    socket.connect({ port: 1, host: '127.0.0.1' });
    await once(socket, 'connect');
    assert.equal(stream.keepAliveSeconds, 3);
    socket.destroy();
    other.close(0);
  });

  it('is why it cannot send', async () => {
    const [stream, other] = streamPair(1, { ...KIND, roomBytes: 10 });
    const socket = new Socket({ stream });
    assert.equal(socket.explainStall(), undefined);
    socket.write(Buffer.alloc(100));
    await new Promise((resolve) => setImmediate(resolve));
    assert.match(socket.explainStall() ?? '', /has not read/);
    socket.destroy();
    other.close(0);
  });
});

for (const [where, net] of NETS) {
  describe(`the patience of a socket, over ${where}`, () => {
    it("ends in 'timeout' when nothing happens, and the socket lives on", async () => {
      await using ends = await connected(net);
      assert.equal(ends.client.setTimeout(1), ends.client);
      assert.equal(ends.client.timeout, 1);
      await once(ends.client, 'timeout');
      assert.equal(ends.client.destroyed, false);
      const received = once(ends.atServer, 'data');
      ends.client.write('still there');
      await received;
    });

    it('calls back once, and not when it is taken back', async () => {
      await using ends = await connected(net);
      await new Promise<void>((resolve) => ends.client.setTimeout(1, resolve));
      assert.equal(ends.client.listenerCount('timeout'), 0);
      const never = (): void => assert.fail('it was taken back');
      ends.client.setTimeout(1, never);
      ends.client.setTimeout(0, never);
      assert.equal(ends.client.listenerCount('timeout'), 0);
    });

    it('can be set anew in its own callback', async () => {
      await using ends = await connected(net);
      await new Promise<void>((resolve) => {
        ends.client.setTimeout(1, () => ends.client.setTimeout(1, resolve));
      });
    });

    it('is an option of connect, and begins before it is connected', async () => {
      const server = await listening(net, (socket) => socket.on('error', () => {}));
      const socket = net.connect({ ...placeOf(server), timeout: 1 });
      await once(socket, 'timeout');
      socket.destroy();
      await closeOf(socket);
      await ended(server);
    });

    it('may be told to a socket that is not connected', async () => {
      const socket = net.socket();
      // Its timer keeps no process alive, and nothing else is there.
      const life = setInterval(() => {}, 1000);
      await once(socket.setTimeout(1), 'timeout');
      clearInterval(life);
      socket.destroy();
    });

    it('ends with the socket', async () => {
      await using ends = await connected(net);
      ends.client.setTimeout(1, () => assert.fail('it is destroyed'));
      ends.client.destroy();
      await closeOf(ends.client);
      await new Promise((resolve) => setImmediate(resolve));
    });

    it('is a number from 0 on, and a function', () => {
      const socket = net.socket();
      const tell = (timeout: unknown, callback?: unknown): unknown =>
        socket.setTimeout(timeout as number, callback as () => void);
      for (const timeout of ['', '100', true, {}, [], null, undefined, () => 1])
        assert.throws(() => tell(timeout), { code: 'ERR_INVALID_ARG_TYPE' });
      for (const timeout of [-0.001, -1, Infinity, -Infinity, NaN])
        assert.throws(() => tell(timeout), { code: 'ERR_OUT_OF_RANGE' });
      for (const callback of ['', 1, true, {}, [], null])
        assert.throws(() => tell(1, callback), { code: 'ERR_INVALID_ARG_TYPE' });
      for (const timeout of [0, 0.001, 1, 1e6, 2 ** 31]) assert.equal(tell(timeout), socket);
      socket.destroy();
    });

    it('has calls that change nothing return the socket, before and after it is connected', async () => {
      const server = await listening(net);
      const socket = net.socket();
      const check = (): void => {
        assert.equal(socket.setNoDelay(true).setNoDelay(false).setNoDelay(), socket);
        assert.equal(socket.setKeepAlive(true, 1000).setKeepAlive(false), socket);
        assert.equal(socket.unref().ref(), socket);
      };
      check();
      socket.connect(placeOf(server));
      check();
      await once(socket, 'connect');
      check();
      await ended(server, socket);
    });

    it('lets a server and its sockets be told to keep quiet about the process', async () => {
      const server = net.createServer({ keepAlive: true, keepAliveInitialDelay: 1000, noDelay: true });
      assert.equal(server.unref(), server);
      server.listen(0);
      server.ref();
      await once(server, 'listening');
      assert.equal(server.unref().ref(), server);
      const socket = net.connect({ ...placeOf(server), keepAlive: true, noDelay: true });
      const [[accepted]] = await Promise.all([
        once(server, 'connection') as Promise<[Socket]>,
        once(socket, 'connect'),
      ]);
      await ended(server, socket, accepted);
    });
  });
}
