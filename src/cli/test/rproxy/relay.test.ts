import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { Relay } from '../../rproxy/relay.js';
import type { StreamSocket } from '../../../entry/rsocket.js';
import { failure, streamPair, UNKIND } from '../../../protocols/net/test/support/stream-pair.js';

/** Two ends of a TCP connection: a program's, and that of a relay. */
async function socketPair(): Promise<readonly [Socket, Socket]> {
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  const program = connect({ port: address.port, host: '127.0.0.1', allowHalfOpen: true });
  const [relayed] = (await once(server, 'connection')) as [Socket];
  server.close();
  return [program, relayed];
}

const BYTES = 200_000;

function pattern(seed: number): Buffer {
  return Buffer.from(Array.from({ length: BYTES }, (_, at) => (at * 31 + seed + (at >> 8)) & 0xff));
}

function writeAll(stream: StreamSocket, bytes: Uint8Array, events: Partial<StreamSocket['events']>): void {
  let rest = bytes;
  const go = (): void => {
    if (stream.isWriteEnded) return;
    rest = rest.subarray(stream.write(rest));
    if (rest.length === 0) stream.shutdown('write');
  };
  stream.events = {
    readable: () => undefined,
    drained: () => undefined,
    closed: () => undefined,
    ...events,
    writable: go,
  };
  go();
}

async function received(socket: Socket): Promise<Buffer> {
  const pieces: Buffer[] = [];
  socket.on('data', (piece: Buffer) => pieces.push(piece));
  await once(socket, 'end');
  return Buffer.concat(pieces);
}

describe('a relay between a socket and a stream', () => {
  for (let seed = 1; seed <= 5; seed += 1)
    it(`carries all bytes and both ends, whichever comes first and however little is taken at a time (seed ${seed})`, async () => {
      const [program, relayed] = await socketPair();
      const [near, far] = streamPair(seed, UNKIND);
      const relay = new Relay(relayed, near);
      const [there, back] = [pattern(seed), pattern(seed + 1)];
      const got: Buffer[] = [];
      const take = (): void => {
        while (far.readableBytes > 0) {
          const piece = far.peek();
          got.push(Buffer.from(piece));
          far.consume(piece.length);
        }
      };
      const closed = new Promise<Error | undefined>((resolve) => {
        writeAll(far, back, { readable: take, closed: resolve });
      });
      program.end(there);
      assert.ok((await received(program)).equals(back));
      assert.equal(await closed, undefined);
      take();
      assert.ok(Buffer.concat(got).equals(there));
      assert.deepEqual(await relay.done, { toStreamBytes: BYTES, toSocketBytes: BYTES });
    });

  it('reads no more from a socket than the stream has taken and one piece', async () => {
    const [program, relayed] = await socketPair();
    const [near, far] = streamPair(1, UNKIND);
    const relay = new Relay(relayed, near);
    program.write(Buffer.alloc(1 << 20));
    // Until the stream is full.
    await once(relayed, 'pause');
    const most = relayed.bytesRead;
    assert.ok(most < 1 << 18, `${most} bytes`);
    relay.destroy();
    program.on('error', () => undefined);
    far.close(0);
    await relay.done;
    assert.equal(relayed.bytesRead, most);
  });

  it('resets the socket when the stream fails', async () => {
    const [program, relayed] = await socketPair();
    const [near, far] = streamPair(1, UNKIND);
    const relay = new Relay(relayed, near);
    const failed = once(program, 'error');
    near.fail(failure('ETIMEDOUT'));
    const [error] = (await failed) as [NodeJS.ErrnoException];
    assert.equal(error.code, 'ECONNRESET');
    assert.match((await relay.done).error?.message ?? '', /ETIMEDOUT/);
    far.close(0);
  });
});
