import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SeededRandom } from '../../../device/link/index.js';
import { Socket } from '../index.js';
import { allOf, closeOf } from './support/nets.js';
import { failure, streamPair, UNKIND } from './support/stream-pair.js';

const SEEDS = 25;
const FIRST = Number(process.env['VERBENA_SEED'] ?? 1);

/** Bytes that differ from place to place. */
function pattern(length: number, at: number): Buffer {
  return Buffer.from(Uint8Array.from({ length }, (_, i) => ((at + i) * 31 + ((at + i) >> 8)) & 0xff));
}

/** Writes in pieces of all lengths, corked or not, waiting for drain or not, and ends. */
async function writeAll(socket: Socket, random: SeededRandom): Promise<number> {
  let written = 0;
  const pieces = random.between(1, 30);
  for (let i = 0; i < pieces; i += 1) {
    const length = random.chance(0.2) ? random.below(30_000) : random.below(200);
    if (random.chance(0.2)) socket.cork();
    const isTaken = socket.write(pattern(length, written));
    written += length;
    if (random.chance(0.3)) for (let level = socket.writableCorked; level > 0; level -= 1) socket.uncork();
    if (!isTaken && random.chance(0.5) && socket.writableCorked === 0 && !socket.destroyed)
      await new Promise<void>((resolve) => {
        const done = (): void => {
          socket.off('drain', done).off('close', done);
          resolve();
        };
        socket.once('drain', done).once('close', done);
      });
  }
  socket.end();
  return written;
}

/** Reads as a program does that now and then has no time. */
function dawdle(socket: Socket, random: SeededRandom): void {
  socket.on('data', () => {
    if (!random.chance(0.2)) return;
    socket.pause();
    setImmediate(() => socket.resume());
  });
}

describe('sockets over streams that are unkind', () => {
  for (let seed = FIRST; seed < FIRST + SEEDS; seed += 1)
    it(`bring every byte once and in order, both ways: seed ${seed}`, async () => {
      const random = new SeededRandom(seed);
      const [a, b] = streamPair(seed, { ...UNKIND, mostTaken: random.between(1, 3000) }).map(
        (stream) => new Socket({ stream, allowHalfOpen: true }),
      );
      const closed = [closeOf(a), closeOf(b)];
      const received = [allOf(a), allOf(b)];
      dawdle(a, random);
      dawdle(b, random);
      const [fromA, fromB] = await Promise.all([writeAll(a, random), writeAll(b, random)]);
      const [atA, atB] = await Promise.all(received);
      assert.ok(atA.equals(pattern(fromB, 0)));
      assert.ok(atB.equals(pattern(fromA, 0)));
      assert.deepEqual(await Promise.all(closed), [false, false]);
      assert.deepEqual([a.bytesRead, a.bytesWritten, b.bytesRead, b.bytesWritten], [fromB, fromA, fromA, fromB]);
    });

  for (let seed = FIRST; seed < FIRST + SEEDS; seed += 1)
    it(`end with one error at each end when the connection is lost, and tell every write: seed ${seed}`, async () => {
      const random = new SeededRandom(seed);
      const streams = streamPair(seed);
      const sockets = streams.map((stream) => new Socket({ stream, allowHalfOpen: true }));
      const ends = sockets.map(async (socket) => {
        const errors: (string | undefined)[] = [];
        let told = 0;
        socket.on('error', (error: NodeJS.ErrnoException) => errors.push(error.code));
        socket.on('data', () => {});
        for (let i = 0; i < 20; i += 1) socket.write(pattern(2000, 0), () => (told += 1));
        assert.equal(await closeOf(socket), true);
        await new Promise((resolve) => setImmediate(resolve));
        assert.deepEqual({ errors, told }, { errors: ['ETIMEDOUT'], told: 20 });
      });
      for (let turns = random.below(20); turns > 0; turns -= 1) await new Promise((resolve) => setImmediate(resolve));
      for (const stream of streams) stream.fail(failure('ETIMEDOUT'));
      await Promise.all(ends);
    });
});
