import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { Socket } from '../index.js';
import type { LookupFunction } from 'node:net';
import { closeOf, connected, ended, events, failureOf, listening, NETS, placeOf } from './support/nets.js';

for (const [where, net] of NETS) {
  describe(`a socket that connects, over ${where}`, () => {
    it('takes a port, a port and a host, and options, and a port as a string', async () => {
      const server = await listening(net, (socket) => socket.end());
      const { host, port } = placeOf(server);
      const sockets = [
        net.connect(port),
        net.connect(port, host),
        net.connect(String(port), host),
        net.connect({ port }),
        net.connect({ port: String(port), host }),
        net.socket().connect(port),
        net.socket().connect(port, host),
        net.socket().connect({ port, host }),
      ];
      await Promise.all(sockets.map((socket) => once(socket, 'connect')));
      await ended(server, ...sockets);
    });

    it('calls back when it is connected, however it is called', async () => {
      const server = await listening(net, (socket) => socket.end());
      const { host, port } = placeOf(server);
      const called = [
        new Promise<void>((resolve) => net.connect(port, resolve)),
        new Promise<void>((resolve) => net.connect(port, host, resolve)),
        new Promise<void>((resolve) => net.connect({ port, host }, resolve)),
        new Promise<void>((resolve) => net.socket().connect(port, host, resolve)),
      ];
      await Promise.all(called);
      await ended(server);
    });

    it("emits 'connect', then 'ready', and says in between what it is", async () => {
      const server = await listening(net, (socket) => socket.resume());
      const socket = net.socket();
      assert.deepEqual([socket.connecting, socket.pending, socket.readyState], [false, true, 'open']);
      assert.deepEqual(socket.address(), {});
      socket.connect(placeOf(server));
      assert.deepEqual([socket.connecting, socket.pending, socket.readyState], [true, true, 'opening']);
      const seen: string[] = [];
      for (const name of ['connect', 'ready']) socket.on(name, () => seen.push(`${name} ${socket.readyState}`));
      await once(socket, 'ready');
      assert.deepEqual(seen, ['connect open', 'ready open']);
      assert.deepEqual([socket.connecting, socket.pending], [false, false]);
      await ended(server, socket);
    });

    it('says by code, call, address and port that nobody listens', async () => {
      const server = await listening(net);
      const place = placeOf(server);
      await ended(server);
      const socket = net.connect(place);
      const [error, hadError] = await Promise.all([failureOf(socket), closeOf(socket)]);
      assert.equal(hadError, true);
      const { code, syscall, message } = error;
      assert.deepEqual({ code, syscall }, { code: 'ECONNREFUSED', syscall: 'connect' });
      assert.equal(message, `connect ECONNREFUSED ${place.host}:${place.port}`);
      assert.equal(error.errno, -111);
      assert.deepEqual(
        { ...error, cause: undefined },
        { ...error, address: place.host, port: place.port, cause: undefined },
      );
    });

    it("looks a name up, and tells by 'lookup'", async () => {
      const server = await listening(net, (socket) => socket.end());
      const socket = net.connect(placeOf(server).port, 'localhost');
      const [error, address, family, host] = (await once(socket, 'lookup')) as unknown[];
      assert.deepEqual([error, address, family, host], [null, placeOf(server).host, 4, 'localhost']);
      await once(socket, 'connect');
      await ended(server, socket);
    });

    it('looks no address up', async () => {
      const server = await listening(net, (socket) => socket.end());
      const socket = net.connect(placeOf(server));
      socket.on('lookup', () => assert.fail('an address needs no looking up'));
      await once(socket, 'connect');
      await ended(server, socket);
    });

    it('has a function of the program find the address', async () => {
      const server = await listening(net, (socket) => socket.end());
      const { host, port } = placeOf(server);
      const asked: unknown[] = [];
      const socket = net.connect({
        port,
        host: 'made-up',
        family: 4,
        lookup: (name, question, callback) => {
          asked.push(name, question.family);
          callback(null, host, 4);
        },
      });
      await once(socket, 'connect');
      assert.deepEqual(asked, ['made-up', 4]);
      await ended(server, socket);
    });

    it('fails with what the function that looks up finds wrong, or answers wrongly', async () => {
      const unknown = Object.assign(new Error('unknown'), { code: 'ENOTFOUND' });
      const answers: readonly (readonly [Parameters<Parameters<LookupFunction>[2]>, string])[] = [
        [[unknown, ''], 'ENOTFOUND'],
        [[null, 'no address', 4], 'ERR_INVALID_IP_ADDRESS'],
        [[null, '127.0.0.1', 100], 'ERR_INVALID_ADDRESS_FAMILY'],
        [[null, []], 'ERR_INVALID_ARG_VALUE'],
      ];
      for (const [answer, code] of answers) {
        const socket = net.connect({ port: 1, host: 'made-up', lookup: (_name, _question, told) => told(...answer) });
        const [error] = await Promise.all([failureOf(socket), closeOf(socket)]);
        assert.equal(error.code, code);
      }
    });

    it("says by 'lookup' and 'error' that there is no such name", async () => {
      // With an empty label, for which no resolver asks another machine.
      const socket = net.connect(1, 'no-such-host..invalid');
      const lookup = once(socket, 'lookup') as Promise<unknown[]>;
      const [[looked], error] = await Promise.all([lookup, failureOf(socket)]);
      assert.ok(looked instanceof Error);
      assert.ok(error instanceof Error);
      assert.equal(socket.destroyed, true);
    });

    it('refuses at once what is no port, no lookup, no address', () => {
      const refused: readonly (readonly [Record<string, unknown>, string])[] = [
        [{}, 'ERR_MISSING_ARGS'],
        [{ host: 'localhost' }, 'ERR_MISSING_ARGS'],
        [{ port: true }, 'ERR_INVALID_ARG_TYPE'],
        [{ port: [] }, 'ERR_INVALID_ARG_TYPE'],
        [{ port: {} }, 'ERR_INVALID_ARG_TYPE'],
        [{ port: '' }, 'ERR_SOCKET_BAD_PORT'],
        [{ port: ' ' }, 'ERR_SOCKET_BAD_PORT'],
        [{ port: '0x' }, 'ERR_SOCKET_BAD_PORT'],
        [{ port: '-0x1' }, 'ERR_SOCKET_BAD_PORT'],
        [{ port: NaN }, 'ERR_SOCKET_BAD_PORT'],
        [{ port: Infinity }, 'ERR_SOCKET_BAD_PORT'],
        [{ port: -1 }, 'ERR_SOCKET_BAD_PORT'],
        [{ port: 65_536 }, 'ERR_SOCKET_BAD_PORT'],
        [{ port: 1, lookup: 'foobar' }, 'ERR_INVALID_ARG_TYPE'],
        [{ port: 1, lookup: 1 }, 'ERR_INVALID_ARG_TYPE'],
        [{ port: 1, lookup: {} }, 'ERR_INVALID_ARG_TYPE'],
        [{ port: 1, hints: '' }, 'ERR_INVALID_ARG_TYPE'],
        [{ port: 1, host: 7 }, 'ERR_INVALID_ARG_TYPE'],
        [{ port: 1, localAddress: 'foobar' }, 'ERR_INVALID_IP_ADDRESS'],
        [{ port: 1, localPort: 'foobar' }, 'ERR_INVALID_ARG_TYPE'],
        [{ port: 1, timeout: -1 }, 'ERR_OUT_OF_RANGE'],
        [{ port: 1, objectMode: true }, 'ERR_INVALID_ARG_VALUE'],
        [{ port: 1, readableObjectMode: true }, 'ERR_INVALID_ARG_VALUE'],
        [{ port: 1, writableObjectMode: true }, 'ERR_INVALID_ARG_VALUE'],
        [{ port: 1, signal: 'INVALID_SIGNAL' }, 'ERR_INVALID_ARG_TYPE'],
      ];
      const connect = net.connect as (...args: readonly unknown[]) => Socket;
      for (const [options, code] of refused) assert.throws(() => connect(options), { code }, JSON.stringify(options));
      assert.throws(() => connect(), { code: 'ERR_MISSING_ARGS' });
      assert.throws(() => (new Socket().connect as () => unknown).call(net.socket()), { code: 'ERR_MISSING_ARGS' });
    });

    it('says what to use instead for what only the system has: paths, descriptors, handles', () => {
      const connect = net.connect as (...args: readonly unknown[]) => Socket;
      for (const given of ['/tmp/socket', { path: '/tmp/socket' }, { port: 1, fd: 1 }, { port: 1, handle: {} }])
        assert.throws(() => connect(given), { code: 'ENOTSUP', message: /node:net/ });
    });

    it('connects from the port that it is told, while nobody else has it', async () => {
      const localPort = 4711;
      await using ends = await connected(net, {}, { localPort });
      assert.equal(ends.client.localPort, localPort);
      assert.equal(ends.atServer.remotePort, localPort);
      const second = net.connect({ ...placeOf(ends.server), localPort });
      assert.equal((await failureOf(second)).code, 'EADDRINUSE');
    });

    it('closes without connecting when it is destroyed at once', async () => {
      const server = await listening(net);
      const socket = net.connect(placeOf(server));
      socket.on('connect', () => assert.fail('it was destroyed before'));
      socket.destroy();
      assert.equal(await closeOf(socket), false);
      await ended(server);
    });

    it('closes when it is destroyed as it connects, or while its name is looked up', async () => {
      const server = await listening(net);
      const first = net.connect(placeOf(server), () => first.destroy());
      await once(first, 'close');
      const second = net.connect(placeOf(server).port, 'localhost');
      second.once('lookup', () => second.destroy());
      second.on('connect', () => assert.fail('it was destroyed before'));
      await once(second, 'close');
      await ended(server);
    });

    it('ends well when it is ended before it is connected', async () => {
      const server = await listening(net, (socket) => socket.resume());
      const socket = net.connect(placeOf(server));
      assert.equal(socket.connecting, true);
      socket.end();
      socket.resume();
      assert.deepEqual(await events(socket, 'connect', 'finish', 'end', 'error'), ['connect', 'finish', 'end']);
      await ended(server);
    });

    it('can be ended and destroyed though it was never connected', async () => {
      const socket = net.socket();
      await new Promise<void>((resolve) => socket.end(resolve));
      socket.destroy();
      await once(socket, 'close');
    });

    it('connects again after it has closed, as often as it is told to', async () => {
      const server = await listening(net, (socket) => socket.resume().end('hello\r\n'));
      const socket = net.socket();
      for (let round = 0; round < 5; round += 1) {
        let received = '';
        socket.connect(placeOf(server));
        socket.setEncoding('utf8').once('connect', () => assert.equal(socket.destroyed, false));
        const onData = (text: string): unknown => (received += text);
        socket.on('data', onData);
        const hadError = await closeOf(socket);
        socket.removeListener('data', onData);
        assert.deepEqual([hadError, received, socket.bytesRead], [false, 'hello\r\n', 7]);
      }
      await ended(server);
    });

    it('fails with EISCONN when it is connected already', async () => {
      await using ends = await connected(net);
      ends.client.connect(placeOf(ends.server));
      assert.equal((await failureOf(ends.client)).code, 'EISCONN');
    });

    it('fails with AbortError when its signal is aborted: before, while and after it connects', async () => {
      // What the server sees of it is a reset, or nothing.
      const server = await listening(net, (socket) => socket.on('error', () => {}));
      const early = net.connect({ ...placeOf(server), signal: AbortSignal.abort() });
      assert.equal((await failureOf(early)).name, 'AbortError');
      const during = new AbortController();
      const connecting = net.connect({ ...placeOf(server), signal: during.signal });
      queueMicrotask(() => during.abort());
      assert.equal((await failureOf(connecting)).name, 'AbortError');
      const after = new AbortController();
      const there = net.connect({ ...placeOf(server), signal: after.signal });
      await once(there, 'connect');
      setImmediate(() => after.abort());
      assert.equal((await failureOf(there)).name, 'AbortError');
      await ended(server);
    });

    it('pauses and resumes while it connects', async () => {
      const server = await listening(net, (socket) => socket.end('hello'));
      const paused = net.connect(placeOf(server)).pause();
      paused.on('data', () => assert.fail('it is paused'));
      await once(paused, 'connect');
      paused.removeAllListeners('data');
      const resumed = net.connect(placeOf(server)).pause().resume();
      const [data] = (await once(resumed, 'data')) as [Buffer];
      assert.equal(String(data)[0], 'h');
      await ended(server, paused, resumed);
    });

    it(
      'tries the next address of a name when nobody listens at the first',
      { skip: where === 'rsockets' },
      async () => {
        const server = await listening(net, (socket) => socket.end());
        const socket = net.connect(placeOf(server).port, 'nowhere-then-here');
        await once(socket, 'connect');
        assert.equal(socket.remoteAddress, '127.0.0.1');
        await ended(server, socket);
      },
    );
  });
}
