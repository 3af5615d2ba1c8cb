import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { loopback } from '../../../../test/support/loopback.js';
import { run, Tool } from '../tool.js';
import { freePort } from '../../../../test/support/ports.js';
import { ended, eventsOf, startPair } from './proxies.js';

/** A TCP server that does that to each connection. @returns its port */
async function serving(serve: (socket: Socket) => void): Promise<{ readonly server: Server; readonly port: number }> {
  const port = await freePort();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => undefined);
    serve(socket);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return { server, port };
}

/** All that comes, until the peer ends its direction: this end's stays open, which `stream/consumers` would not leave so. */
async function allOf(socket: Socket): Promise<Buffer> {
  const pieces: Buffer[] = [];
  socket.on('data', (piece: Buffer) => pieces.push(piece));
  await once(socket, 'end');
  return Buffer.concat(pieces);
}

/** Its end, also after a failure. */
function gone(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.on('error', () => undefined).once('close', resolve));
}

function dial(port: number): Socket {
  return connect({ port, host: '127.0.0.1', allowHalfOpen: true });
}

describe('rproxy', () => {
  it('carries half closes, and counts what went each way', async () => {
    // Answers once the client has ended its direction.
    const { server, port } = await serving((socket) => {
      void allOf(socket).then((bytes) => socket.end(bytes.toString().toUpperCase()));
    });
    const pair = await startPair(0, port, ['--json']);
    const sockets = Array.from({ length: 10 }, () => dial(pair.port));
    const answers = sockets.map((socket, at) => {
      socket.end(`hello ${at}`);
      return allOf(socket);
    });
    assert.deepEqual(
      (await Promise.all(answers)).map(String),
      sockets.map((_, at) => `HELLO ${at}`),
    );
    const { near, far } = await pair.end();
    server.close();
    ended(near);
    ended(far);
    const totals = { connections: 10, failed: 0, refused: 0, toRdmaBytes: 70, fromRdmaBytes: 70 };
    for (const side of [near, far]) {
      const events = eventsOf(side);
      const { seconds, ...rest } = events.at(-1) ?? {};
      assert.equal(typeof seconds, 'number');
      assert.deepEqual(rest, { event: 'end', ...totals });
      assert.equal(events.filter(({ event }) => event === 'open').length, 10);
      assert.equal(events.filter(({ event }) => event === 'close').length, 10);
    }
  });

  it('carries what takes long to be taken, also after the reader has ended its own direction', async () => {
    const { server, port } = await serving((socket) => socket.end());
    const pair = await startPair(1, port, ['--buffer', '64']);
    const reader = once(server, 'connection').then(([socket]) => (socket as Socket).pause());
    const socket = dial(pair.port);
    await once(socket.resume(), 'end');
    const sent = Buffer.alloc(32 << 20, 'verbena ');
    socket.end(sent);
    const [received] = await Promise.all([reader.then((one) => allOf(one.resume())), once(socket, 'close')]);
    assert.ok(received.equals(sent), `${received.length} bytes of ${sent.length}`);
    await pair.end();
    server.close();
  });

  it('tells the client of a failure by a reset, not by an end', async () => {
    const pair = await startPair(2, await freePort(), ['--json']);
    const socket = dial(pair.port);
    const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException];
    assert.equal(error.code, 'ECONNRESET');
    const { far } = await pair.end();
    const close = eventsOf(far).find(({ event }) => event === 'close');
    assert.match(String(close?.['error']), /ECONNREFUSED/);
  });

  it('says why when nobody listens at the other side, and goes on', async () => {
    const port = await freePort();
    const here = loopback(21);
    const tool = new Tool(['rproxy', '--listen', `tcp:${port}`, '--to', `rdma:${here}:7471`, '--addr', here]);
    await tool.printed('listening');
    for (let i = 0; i < 2; i += 1) await gone(dial(port));
    tool.child.kill('SIGINT');
    const { stderr, stdout } = await tool.ended;
    assert.match(stderr, /^1: failed: .*\n2: failed: .*\n$/);
    assert.match(stdout, /2 connections, 2 failed, 0 turned away/);
  });

  it('turns connections away beyond as many as it was told', async () => {
    const { server, port } = await serving((socket) => socket.pipe(socket));
    const pair = await startPair(3, port, ['--max-connections', '1']);
    const first = dial(pair.port);
    first.write('a');
    await once(first, 'data');
    await gone(dial(pair.port));
    first.end();
    await gone(first);
    const { near } = await pair.end();
    assert.match(near.stdout, /1 connection, 0 failed, 1 turned away/);
    server.close();
  });

  it('lets a connection end by itself after Ctrl-C, and then ends', async () => {
    const { server, port } = await serving((socket) => socket.pipe(socket));
    const pair = await startPair(4, port, ['--drain', '600']);
    const socket = dial(pair.port);
    socket.write('a');
    await once(socket, 'data');
    pair.near.child.kill('SIGINT');
    await once(pair.near.child.stderr, 'data');
    socket.write('b');
    assert.equal(String((await once(socket, 'data'))[0]), 'b');
    socket.end();
    const { code, stderr, stdout } = await pair.near.ended;
    assert.equal(code, 130);
    assert.match(stderr, /1 connection may go on for 600 s/);
    assert.match(stdout, /1 connection, 0 failed/);
    await pair.end();
    server.close();
  });

  it('ends connections that do not end by themselves, once the time is over', async () => {
    const { server, port } = await serving((socket) => socket.pipe(socket));
    const pair = await startPair(5, port, ['--drain', '0']);
    const socket = dial(pair.port);
    socket.write('a');
    await once(socket, 'data');
    const over = once(socket, 'end');
    const { near } = await pair.end();
    assert.equal(near.code, 130);
    await over;
    socket.destroy();
    server.close();
  });
});

describe('rproxy refuses, with a sentence', () => {
  const cases: readonly (readonly [string, readonly string[], RegExp])[] = [
    ['two of a kind', ['--listen', 'tcp:1', '--to', 'tcp:2'], /Neither is rdma: one of --listen and --to/],
    ['a target without a host', ['--listen', 'tcp:0', '--to', 'rdma:7471'], /--to rdma:7471 has no host/],
    ['what is no place', ['--listen', 'udp:1', '--to', 'tcp:2'], /Give rdma:HOST:PORT, tcp:HOST:PORT or unix:PATH/],
    ['an address of somebody else', ['--listen', 'tcp:192.0.2.1:1', '--to', 'rdma:a:1'], /this machine has no such/],
  ];
  for (const [what, args, says] of cases)
    it(what, async () => {
      const { code, stdout, stderr } = await run(['rproxy', ...args]);
      assert.deepEqual({ code, stdout }, { code: 1, stdout: '' });
      assert.match(stderr, says);
    });
});
