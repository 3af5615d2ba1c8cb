import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { describe, it } from 'node:test';
// Timers are those of Node.
import '../../../../entry/xio.js';
import { realClock } from '../../transport/tcp/connecting.js';

/** A socket to which its peer has written a byte, before the event loop was blocked until timers are due. */
async function unread(order: string[]): Promise<Disposable & { socket: Socket }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const socket = connect(address.port, '127.0.0.1');
  const [[peer]] = (await Promise.all([once(server, 'connection'), once(socket, 'ready')])) as [[Socket], unknown];
  socket.on('data', () => order.push('data'));
  peer.write('x');
  return {
    socket,
    [Symbol.dispose]: () => {
      socket.destroy();
      peer.destroy();
      server.close();
    },
  };
}

function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

describe('the clock of links by TCP', () => {
  for (const kind of ['timer', 'chore'] as const) {
    it(`has what waits in sockets read before a ${kind} that is due`, async () => {
      const order: string[] = [];
      using pair = await unread(order);
      const due = new Promise<void>((resolve) => {
        realClock[kind](1, () => {
          order.push(kind);
          resolve();
        });
      });
      block(20);
      await due;
      assert.equal(pair.socket.bytesRead, 1);
      assert.deepEqual(order, ['data', kind]);
    });

    it(`calls no ${kind} that was cancelled by what was read`, async () => {
      const order: string[] = [];
      using pair = await unread(order);
      const cancel = realClock[kind](1, () => order.push(kind));
      pair.socket.once('data', cancel);
      block(20);
      await once(pair.socket, 'data');
      await new Promise(setImmediate);
      await new Promise(setImmediate);
      await new Promise(setImmediate);
      assert.deepEqual(order, ['data']);
    });
  }
});
