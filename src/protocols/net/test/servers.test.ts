import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { describe, it } from 'node:test';
import { Server, type Socket } from '../index.js';
import { loopback } from '../../../../test/support/loopback.js';
import { closeOf, codeOf, connected, ended, failureOf, listening, NETS, placeOf } from './support/nets.js';

type Anything = (...args: readonly unknown[]) => Server;

for (const [where, net] of NETS) {
  describe(`a server, over ${where}`, () => {
    it('listens however it is told to', async () => {
      const ways: readonly (readonly unknown[])[] = [
        [],
        [0],
        ['0'],
        [0, 'localhost'],
        [0, 'localhost', 10],
        [0, 10],
        [null],
        [undefined],
        [{ port: 0 }],
        [{ port: '0' }],
        [{ port: undefined }],
        [{ port: null }],
        [{ port: 0, host: 'localhost', backlog: 5 }],
      ];
      for (const way of ways) {
        const server = net.createServer();
        await new Promise<void>((resolve) => (server.listen as Anything).call(server, ...way, resolve));
        assert.ok(placeOf(server).port > 0, JSON.stringify(way));
        await ended(server);
      }
    });

    it('refuses what says no place to listen', () => {
      const refused: readonly (readonly [unknown, string])[] = [
        [{}, 'ERR_INVALID_ARG_VALUE'],
        [{ host: 'localhost' }, 'ERR_INVALID_ARG_VALUE'],
        [{ port: true }, 'ERR_INVALID_ARG_VALUE'],
        [{ port: { a: 1 } }, 'ERR_INVALID_ARG_VALUE'],
        [{ port: -1 }, 'ERR_SOCKET_BAD_PORT'],
        [{ port: 65_536 }, 'ERR_SOCKET_BAD_PORT'],
        [{ port: NaN }, 'ERR_SOCKET_BAD_PORT'],
        [{ port: 1e99 }, 'ERR_SOCKET_BAD_PORT'],
        [{ port: '' }, 'ERR_SOCKET_BAD_PORT'],
        [-1, 'ERR_SOCKET_BAD_PORT'],
        [65_536, 'ERR_SOCKET_BAD_PORT'],
        [1.5, 'ERR_SOCKET_BAD_PORT'],
        [{ port: 0, signal: 'INVALID_SIGNAL' }, 'ERR_INVALID_ARG_TYPE'],
        [{ path: '/tmp/socket' }, 'ENOTSUP'],
        ['/tmp/socket', 'ENOTSUP'],
        [{ fd: 1 }, 'ENOTSUP'],
      ];
      for (const [given, code] of refused) {
        const server = net.createServer();
        assert.throws(() => (server.listen as Anything).call(server, given), { code }, JSON.stringify(given));
      }
    });

    it('refuses options that are none', () => {
      for (const options of ['path', 1, true, null])
        assert.throws(() => Reflect.construct(Server, [options]), { code: 'ERR_INVALID_ARG_TYPE' });
    });

    it("says where it listens, once 'listening' has come", async () => {
      const server = net.createServer();
      assert.deepEqual([server.listening, server.address()], [false, null]);
      server.listen(0);
      await once(server, 'listening');
      assert.equal(server.listening, true);
      const { address, family, port } = server.address() ?? {};
      assert.match(address ?? '', /^127\./);
      assert.deepEqual([family, typeof port], ['IPv4', 'number']);
      await ended(server);
      assert.deepEqual([server.listening, server.address()], [false, null]);
    });

    it('refuses to listen while it listens, and listens again when it is closed', async () => {
      const server = net.createServer().listen(0);
      const again = { code: 'ERR_SERVER_ALREADY_LISTEN', name: 'Error' };
      assert.throws(() => server.listen(0), again);
      await once(server, 'listening');
      assert.throws(() => server.listen(0), again);
      await new Promise((resolve) => server.close(resolve));
      server.listen(0);
      await once(server, 'listening');
      await ended(server);
    });

    it('says EADDRINUSE when another listens there, and can try elsewhere', async () => {
      const first = await listening(net);
      const second = net.createServer();
      second.on('listening', () => assert.ok(second.listening));
      second.listen(placeOf(first));
      const [error] = (await once(second, 'error')) as [NodeJS.ErrnoException];
      const { code, syscall, errno } = error;
      assert.deepEqual({ code, syscall, errno }, { code: 'EADDRINUSE', syscall: 'listen', errno: -98 });
      assert.match(error.message, /^listen EADDRINUSE.* 127\./);
      assert.equal(second.listening, false);
      second.listen(0);
      await once(second, 'listening');
      await ended(first);
      await ended(second);
    });

    it('calls back once, and not again when it listens again', async () => {
      const server = net.createServer();
      let count = 0;
      server.listen(0, () => (count += 1));
      await once(server, 'listening');
      assert.equal(server.listenerCount('listening'), 0);
      await new Promise((resolve) => server.close(resolve));
      server.listen(0);
      await once(server, 'listening');
      await ended(server);
      assert.equal(count, 1);
    });

    it('lets a callback of listen be taken back', async () => {
      const server = net.createServer();
      const never = (): void => assert.fail('it was taken back');
      server.listen(0, never);
      server.removeListener('listening', never);
      await once(server, 'listening');
      await ended(server);
    });

    it('never listens when it is closed at once, or while a name is looked up', async () => {
      // Not 127.0.0.1: another process may have a NIC there.
      for (const host of [loopback(1), 'localhost', 'nowhere-then-here']) {
        const server = net.createServer();
        server.on('listening', () => assert.fail('it was closed before'));
        server.listen({ port: 0, host });
        await new Promise((resolve) => server.close(resolve));
        await new Promise((resolve) => setImmediate(resolve));
      }
    });

    it('says ERR_SERVER_NOT_RUNNING to whoever closes one that does not listen', async () => {
      const server = net.createServer();
      assert.equal(codeOf(await new Promise((resolve) => server.close(resolve))), 'ERR_SERVER_NOT_RUNNING');
      server.listen(0);
      await once(server, 'listening');
      assert.equal(await new Promise((resolve) => server.close(resolve)), undefined);
      assert.equal(codeOf(await new Promise((resolve) => server.close(resolve))), 'ERR_SERVER_NOT_RUNNING');
    });

    it('refuses what is no callback of close by ignoring it', async () => {
      const server = await listening(net);
      (server.close as Anything).call(server, 'bad argument');
      await once(server, 'close');
    });

    it('destroys the socket whose listener rejects, with what it rejects with, when rejections are captured', async () => {
      const kept = EventEmitter.captureRejections;
      EventEmitter.captureRejections = true;
      try {
        const server = net.createServer();
        // Its promise is what is captured.
        server.on('connection', (socket): unknown =>
          once(socket, 'data').then(() => Promise.reject(new Error('rejected'))),
        );
        server.listen(0);
        await once(server, 'listening');
        const accepted = once(server, 'connection') as Promise<[Socket]>;
        const client = net.connect(placeOf(server));
        client.on('error', () => {}).write('x');
        const [socket] = await accepted;
        const error = await failureOf(socket);
        assert.equal(error.message, 'rejected');
        await ended(server, client);
      } finally {
        EventEmitter.captureRejections = kept;
      }
    });

    it('closes when its last connection has ended', async () => {
      await using ends = await connected(net);
      const { server, client } = ends;
      const order: string[] = [];
      client.on('close', () => order.push('client'));
      const closed = new Promise((resolve) => server.close(resolve));
      void closed.then(() => order.push('server'));
      assert.equal(server.listening, false);
      setImmediate(() => client.resume().end());
      await Promise.all([closed, closeOf(client), closeOf(ends.atServer.resume())]);
      assert.equal(order.length, 2);
    });

    it('takes no connection when it is closed', async () => {
      await using ends = await connected(net);
      const place = placeOf(ends.server);
      ends.server.close();
      const socket = net.connect(place);
      const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException];
      assert.equal(error.code, 'ECONNREFUSED');
    });

    it('is disposed of by closing it, when it listens and when it does not', async () => {
      const server = net.createServer();
      await server[Symbol.asyncDispose]();
      server.listen(0);
      await once(server, 'listening');
      const closed = once(server, 'close');
      await server[Symbol.asyncDispose]();
      await closed;
      assert.equal(server.listening, false);
    });

    it('is closed by a signal, given before or later', async () => {
      const early = net.createServer();
      early.on('listening', () => assert.fail('it was aborted before'));
      early.listen({ port: 0, signal: AbortSignal.abort() });
      await once(early, 'close');
      const controller = new AbortController();
      const server = net.createServer().listen({ port: 0, signal: controller.signal });
      await once(server, 'listening');
      controller.abort();
      await once(server, 'close');
      assert.equal(server.listening, false);
    });

    it('counts its connections', async () => {
      await using ends = await connected(net);
      const count = (): Promise<number> =>
        new Promise((resolve) => ends.server.getConnections((_error, number) => resolve(number)));
      assert.equal(await count(), 1);
      ends.client.destroy();
      await closeOf(ends.atServer.resume());
      assert.equal(await count(), 0);
    });

    it("turns away whoever comes beyond maxConnections, and tells by 'drop'", async () => {
      await using ends = await connected(net);
      ends.server.maxConnections = 1;
      const dropped = once(ends.server, 'drop');
      const second = net.connect(placeOf(ends.server));
      second.on('error', () => {});
      const [data] = (await dropped) as [Record<string, unknown>];
      const { localAddress, localPort, localFamily, remoteAddress, remoteFamily } = data;
      const { host, port } = placeOf(ends.server);
      assert.deepEqual(
        { localAddress, localPort, localFamily },
        { localAddress: host, localPort: port, localFamily: 'IPv4' },
      );
      assert.deepEqual([typeof remoteAddress, remoteFamily], ['string', 'IPv4']);
      await closeOf(second.resume());
      ends.client.destroy();
      await closeOf(ends.atServer.resume());
      const [[third]] = await Promise.all([
        once(ends.server, 'connection') as Promise<[Socket]>,
        once(net.connect(placeOf(ends.server)), 'connect'),
      ]);
      third.destroy();
    });

    it('turns everybody away when it takes none', async () => {
      const server = await listening(net, () => assert.fail('it takes none'));
      server.maxConnections = 0;
      const dropped = once(server, 'drop');
      const socket = net.connect(placeOf(server));
      socket.on('error', () => {});
      await Promise.all([dropped, closeOf(socket.resume())]);
      await ended(server);
    });

    it('gives sockets that are paused when it is told to', async () => {
      await using ends = await connected(net, { pauseOnConnect: true });
      ends.client.write('hello');
      let isResumed = false;
      ends.atServer.on('data', () => assert.ok(isResumed));
      await new Promise((resolve) => setImmediate(resolve));
      await new Promise((resolve) => setImmediate(resolve));
      assert.deepEqual([ends.atServer.isPaused(), ends.atServer.bytesRead], [true, 0]);
      isResumed = true;
      ends.atServer.resume();
      const [data] = (await once(ends.atServer, 'data')) as [Buffer];
      assert.equal(String(data)[0], 'h');
    });

    it('gives sockets that know both addresses, and keep them when they are closed', async () => {
      await using ends = await connected(net);
      const { atServer, client } = ends;
      const { host, port } = placeOf(ends.server);
      const check = (): void => {
        assert.deepEqual([client.remoteAddress, client.remotePort, client.remoteFamily], [host, port, 'IPv4']);
        assert.deepEqual([atServer.localAddress, atServer.localPort, atServer.localFamily], [host, port, 'IPv4']);
        assert.deepEqual([atServer.remoteAddress, atServer.remotePort], [client.localAddress, client.localPort]);
        assert.deepEqual(atServer.address(), { address: host, family: 'IPv4', port });
      };
      check();
      client.resume().end();
      atServer.resume();
      await closeOf(client);
      check();
    });

    it('has the sockets know it', async () => {
      await using ends = await connected(net);
      assert.equal(ends.atServer.server, ends.server);
    });

    it('lives on when a listener of its throws, whose exception is uncaught as any other', async () => {
      const server = await listening(net);
      const thrown = new Error('thrown by a listener');
      server.once('connection', () => {
        throw thrown;
      });
      const caught = new Promise<unknown>((resolve) => process.setUncaughtExceptionCaptureCallback(resolve));
      const first = net.connect(placeOf(server));
      assert.equal(await caught, thrown);
      process.setUncaughtExceptionCaptureCallback(null);
      server.once('connection', (socket: Socket) => socket.end());
      const second = net.connect(placeOf(server)).resume();
      await closeOf(second);
      first.destroy();
      await server[Symbol.asyncDispose]().catch(() => undefined);
    });
  });
}
