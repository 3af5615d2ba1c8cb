import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { alloc } from '../../../../entry/index.js';
import type { XioSession } from '../../index.js';
import { type Net, NETS } from '../support/nets.js';
import { pattern } from '../support/worlds.js';

const KIB = 1024;
const MIB = KIB * KIB;
const LENGTHS = [0, 1, 8191, 8192, 8193, MIB];

/** Memory that NICs reach, with that in it. */
function shared(bytes: Uint8Array): Uint8Array {
  const memory = alloc(bytes.length);
  memory.set(bytes);
  return memory;
}

async function pair(net: Net, options = {}): Promise<{ readonly client: XioSession; readonly server: XioSession }> {
  await net.listen((session) => session.accept(), options);
  const client = await net.connect(options);
  await net.until(() => net.served.length === 1);
  return { client, server: net.served[0] };
}

function outcomeOf(promise: Promise<void>): Promise<string> {
  return promise.then(
    () => 'done',
    (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : String(error)),
  );
}

for (const [name, play] of Object.entries(NETS)) {
  const test = (what: string, scene: (net: Net) => Promise<void>): void => void it(what, () => play(scene));

  describe(`memory that the peer has shared over ${name}`, () => {
    for (const [kind, make] of [
      ['that NICs reach', shared],
      ['of every kind', (bytes: Uint8Array) => Uint8Array.from(bytes)],
    ] as const)
      test(`is read and written, of every length, in memory ${kind}`, async (net) => {
        const { client, server } = await pair(net);
        const memory = make(pattern(MIB + 10, 1));
        const { token } = server.share(memory, { access: 'read-write' });
        for (const length of LENGTHS) {
          const into = make(new Uint8Array(length + 1)).subarray(0, length);
          await client.read(token, 5, into);
          assert.deepEqual(into, memory.subarray(5, 5 + length));
          await client.write(token, 5, make(pattern(length + 1, length)).subarray(0, length));
          assert.deepEqual(memory.subarray(5, 5 + length), pattern(length, length));
        }
        assert.deepEqual(memory.subarray(0, 5), pattern(5, 1));
        assert.deepEqual(memory.subarray(MIB + 5), pattern(MIB + 10, 1).subarray(MIB + 5));
      });

    test('is used without its program, from its last byte to its first, and from both ends', async (net) => {
      const { client, server } = await pair(net);
      const [atServer, atClient] = [shared(pattern(100, 1)), shared(pattern(100, 2))];
      const [toClient, toServer] = [server.share(atServer), client.share(atClient, { access: 'write' })];
      const into = new Uint8Array(1);
      await client.read(toClient.token, 99, into);
      assert.deepEqual(into, pattern(100, 1).subarray(99));
      await server.write(toServer.token, 0, pattern(100, 3));
      assert.deepEqual(atClient, pattern(100, 3));
      const { requestsReceived, messagesReceived } = server.statistics;
      assert.deepEqual([requestsReceived, messagesReceived], [0, 0]);
    });

    test('is used without a message, where a link can do that', async (net) => {
      const { client, server } = await pair(net);
      const { token } = server.share(shared(pattern(MIB, 1)), { access: 'read-write' });
      await client.read(token, 0, new Uint8Array(1));
      await net.sim.sleep(100);
      net.watched.sent = 0;
      for (const length of [1, 8193, MIB]) {
        await client.read(token, 0, shared(new Uint8Array(length)));
        await client.write(token, 0, shared(new Uint8Array(length)));
      }
      if (name === 'rdma') assert.equal(net.watched.sent, 0);
      else assert.ok(net.watched.sent > 0);
    });

    test('is read into several pieces, and written from several', async (net) => {
      const { client, server } = await pair(net);
      const memory = shared(pattern(30_000, 1));
      const { token } = server.share(memory, { access: 'read-write' });
      const pieces = [1, 0, 9999, 100, 5, 6, 7, 19_000].map((length) => new Uint8Array(length));
      await client.read(token, 2, pieces);
      assert.deepEqual(Buffer.concat(pieces), Buffer.from(pattern(30_000, 1).subarray(2, 29_120)));
      for (const piece of pieces) piece.fill(7);
      await client.write(token, 2, pieces);
      assert.ok(memory.subarray(2, 29_120).every((byte) => byte === 7));
      assert.deepEqual(memory.subarray(29_120), pattern(30_000, 1).subarray(29_120));
    });

    test('is used as it is granted, and not otherwise', async (net) => {
      const { client, server } = await pair(net);
      const memory = shared(pattern(20_000, 1));
      const [reading, writing] = [server.share(memory), server.share(memory, { access: 'write' })];
      for (const length of [10, 20_000]) {
        const bytes = new Uint8Array(length);
        assert.equal(await outcomeOf(client.write(reading.token, 0, bytes)), 'XIO_E_WRITE_FAILED');
        assert.equal(await outcomeOf(client.read(writing.token, 0, bytes)), 'XIO_E_READ_FAILED');
        assert.equal(await outcomeOf(client.read(reading.token, 0, bytes)), 'done');
      }
      assert.deepEqual(memory, pattern(20_000, 1));
      assert.equal(client.statistics.reconnects, 0);
    });

    test('is not reached by tokens that are made up, changed, or another session’s', async (net) => {
      const { client, server } = await pair(net);
      const other = await net.connect();
      const memory = shared(pattern(10_000, 1));
      const { token } = server.share(memory, { access: 'read-write' });
      const forged = (at: number, value: number): Uint8Array => {
        const bytes = Uint8Array.from(token);
        bytes[at] = value;
        return bytes;
      };
      const bytes = new Uint8Array(9000).fill(9);
      for (const session of [other, client])
        for (const fake of [
          forged(0, token[0] ^ 1),
          new Uint8Array(32).fill(0xff, 0, 16),
          session === other ? token : undefined,
        ]) {
          if (fake === undefined) continue;
          fake[20] = 0xff;
          fake[24] = 3;
          assert.equal(await outcomeOf(session.write(fake, 0, bytes)), 'XIO_E_USER_OBJ_NOT_FOUND');
          assert.equal(await outcomeOf(session.read(fake, 0, new Uint8Array(9000))), 'XIO_E_USER_OBJ_NOT_FOUND');
        }
      assert.equal(await outcomeOf(client.write(forged(20, 0xff), 5000, bytes)), 'XIO_E_REM_USER_BUF_OVERFLOW');
      assert.equal(await outcomeOf(client.read(forged(20, 0xff), 2 ** 40, bytes)), 'EINVAL');
      assert.deepEqual(memory, pattern(10_000, 1));
      assert.equal(client.statistics.reconnects + other.statistics.reconnects, 0);
    });

    test('is reached no more once it is revoked, and everything else goes on', async (net) => {
      const { client, server } = await pair(net);
      const memory = shared(pattern(50_000, 1));
      const share = server.share(memory, { access: 'read-write' });
      const kept = server.share(memory);
      await client.write(share.token, 0, pattern(50_000, 2));
      assert.equal(share.isRevoked, false);
      share.revoke();
      share[Symbol.dispose]();
      assert.equal(share.isRevoked, true);
      memory.fill(0xee);
      assert.equal(await outcomeOf(client.write(share.token, 0, pattern(50_000, 3))), 'XIO_E_USER_OBJ_NOT_FOUND');
      assert.equal(await outcomeOf(client.read(share.token, 0, new Uint8Array(10))), 'XIO_E_USER_OBJ_NOT_FOUND');
      assert.ok(memory.every((byte) => byte === 0xee));
      const into = new Uint8Array(50_000);
      await client.read(kept.token, 0, into);
      assert.deepEqual(into, Uint8Array.from(memory));
      assert.equal(client.statistics.reconnects, 0);
    });

    test('is not touched any more from the moment in which it is revoked, whatever is under way', async (net) => {
      const { client, server } = await pair(net);
      const outcomes = new Set<string>();
      for (let step = 0; step < 40; step += 1) {
        const memory = shared(new Uint8Array(MIB));
        const share = server.share(memory, { access: 'read-write' });
        // What is asked first is known from then on.
        if (step % 2 === 1) await client.read(share.token, 0, new Uint8Array(1));
        const accesses = [
          client.write(share.token, 0, shared(pattern(MIB, step))),
          client.read(share.token, 0, shared(new Uint8Array(MIB))),
          client.write(share.token, 100, pattern(5000, step)),
        ].map(outcomeOf);
        await net.sim.sleep(step * 7);
        share.revoke();
        const before = Uint8Array.from(memory);
        for (const outcome of await net.settled(Promise.all(accesses))) outcomes.add(outcome);
        await net.sim.sleep(1000);
        assert.deepEqual(memory, before, `step ${step}`);
      }
      assert.deepEqual([...outcomes].sort(), ['XIO_E_USER_OBJ_NOT_FOUND', 'done']);
      assert.equal(client.statistics.reconnects, 0);
    });

    test('holds what was written when the promise resolves, and what was read is from before it was revoked', async (net) => {
      const { client, server } = await pair(net);
      for (let step = 0; step < 30; step += 1) {
        const memory = shared(new Uint8Array(200_000).fill(1));
        const share = server.share(memory, { access: 'read-write' });
        const into = shared(new Uint8Array(200_000));
        let written = '';
        const write = outcomeOf(client.write(share.token, 0, shared(new Uint8Array(200_000).fill(2)))).then(
          (outcome) => {
            written = outcome;
            // Nobody has taken it away by then, so it is there.
            if (outcome === 'done' && !share.isRevoked) assert.ok(memory.every((byte) => byte === 2));
          },
        );
        await net.sim.sleep(step * 9);
        share.revoke();
        const isWhole = memory.every((byte) => byte === 2);
        memory.fill(3);
        const read = outcomeOf(client.read(share.token, 0, into));
        await net.settled(Promise.all([write, read]));
        assert.ok(written !== 'done' || isWhole, `step ${step}`);
        assert.ok(into.every((byte) => byte !== 3));
      }
    });

    test('stays within reach when the connection is lost, at each step', async (net) => {
      const { client, server } = await pair(net);
      const memory = shared(new Uint8Array(300_000));
      const { token } = server.share(memory, { access: 'read-write' });
      for (let step = 0; step < 30; step += 1) {
        const wanted = pattern(300_000, step);
        const write = client.write(token, 0, shared(wanted));
        await net.sim.sleep(step * 5);
        net.cut();
        await net.settled(write);
        assert.deepEqual(Uint8Array.from(memory), wanted);
        const into = shared(new Uint8Array(300_000));
        const read = client.read(token, 0, into);
        await net.sim.sleep(step * 5);
        net.cut();
        await net.settled(read);
        assert.deepEqual(Uint8Array.from(into), wanted);
      }
      assert.ok(client.statistics.reconnects > 20);
    });

    test('is neither written from nor read into memory of accesses that were given up', async (net) => {
      const { client, server } = await pair(net);
      const memory = shared(new Uint8Array(MIB));
      const { token } = server.share(memory, { access: 'read-write' });
      for (let step = 0; step < 20; step += 1) {
        const controller = new AbortController();
        const { signal } = controller;
        const [into, from] = [shared(new Uint8Array(MIB)), shared(new Uint8Array(MIB).fill(5))];
        const accesses = [
          outcomeOf(client.write(token, 0, from, { signal })),
          outcomeOf(client.read(token, 0, into, { signal })),
        ];
        await net.sim.sleep(step * 10);
        controller.abort(new Error('enough'));
        const before = Uint8Array.from(into);
        from.fill(0xbb);
        const [written, read] = await net.settled(Promise.all(accesses));
        await net.sim.sleep(2000);
        if (read !== 'done') assert.deepEqual(Uint8Array.from(into), before);
        if (written !== 'done') assert.ok(memory.every((byte) => byte !== 0xbb));
      }
    });

    test('fails in its deadline, and with its session', async (net) => {
      const { client, server } = await pair(net);
      const share = server.share(shared(pattern(100)));
      net.crash(net.server);
      const late = client.read(share.token, 0, new Uint8Array(10), { deadlineMs: 50 });
      assert.equal(await net.settled(outcomeOf(late)), 'XIO_E_TIMEOUT');
      const lost = outcomeOf(client.read(share.token, 0, new Uint8Array(10)));
      client.abort();
      assert.equal(await net.settled(lost), 'XIO_E_SESSION_CLOSED');
      assert.equal(await outcomeOf(client.read(share.token, 0, new Uint8Array(10))), 'XIO_E_SESSION_CLOSED');
      server.abort();
      assert.equal(share.isRevoked, true);
    });

    test('is done with before a session is closed', async (net) => {
      const { client, server } = await pair(net);
      const memory = shared(new Uint8Array(MIB));
      const { token } = server.share(memory, { access: 'write' });
      const write = outcomeOf(client.write(token, 0, shared(new Uint8Array(MIB).fill(4))));
      const closed = Promise.all([client.close(), server.close()]);
      await net.settled(closed);
      assert.equal(await write, 'done');
      assert.ok(memory.every((byte) => byte === 4));
    });

    test('is not what a server that has begun anew has shared', async (net) => {
      const { client, server } = await pair(net, { reconnectMs: 20 });
      const share = server.share(shared(pattern(10_000)), { access: 'read-write' });
      await client.read(share.token, 0, new Uint8Array(10));
      server.abort();
      assert.match(
        await net.settled(outcomeOf(client.read(share.token, 0, new Uint8Array(10)))),
        /XIO_E_SESSION_ABORTED/,
      );
    });

    test('is reached by the connection that leads to it, where a session has several to several servers', async (net) => {
      const portal = net.sim.host('portal');
      await net.listen((session) => session.accept(), {}, portal);
      await net.listen((session) => session.accept({ portals: [net.urlOf(portal)] }));
      const client = await net.connect({ connections: 3 });
      await net.until(() => net.served.length === 2);
      for (let i = 0; i < 8; i += 1)
        for (const [number, session] of net.served.entries()) {
          const memory = shared(pattern(9000, number));
          const share = session.share(memory, { access: 'read-write' });
          const into = new Uint8Array(9000);
          await client.read(share.token, 0, into);
          assert.deepEqual(into, pattern(9000, number));
          await client.write(share.token, 0, pattern(9000, 7));
          assert.deepEqual(Uint8Array.from(memory), pattern(9000, 7));
          const own = client.share(shared(pattern(100, i)));
          await session.read(own.token, 0, into.subarray(0, 100));
          assert.deepEqual(into.subarray(0, 100), pattern(100, i));
          share.revoke();
          assert.equal(await outcomeOf(client.read(share.token, 0, into)), 'XIO_E_USER_OBJ_NOT_FOUND');
        }
    });

    test('is given up in time where the connection that leads to it is still being made', async (net) => {
      const portal = net.sim.host('portal');
      net.crash(portal);
      await net.listen((session) => session.accept({ portals: [net.urlOf(portal)] }));
      const client = await net.connect({ connections: 2 });
      const { token } = net.served[0].share(shared(pattern(100)));
      // The second connection.
      const beyond = Uint8Array.from(token).fill(0, 30).fill(1, 31);
      const begunUs = net.sim.nowUs;
      const read = client.read(beyond, 0, new Uint8Array(1), { deadlineMs: 50 });
      assert.equal(await net.settled(outcomeOf(read)), 'XIO_E_TIMEOUT');
      assert.ok(net.sim.nowUs - begunUs < 1e6);
    });

    test('has bounds: 4096 at a time, and as many accesses as messages', async (net) => {
      const { client, server } = await pair(net, { queueMessages: 4 });
      const memory = shared(pattern(100));
      const shares = Array.from({ length: 4096 }, () => server.share(memory));
      assert.throws(() => server.share(memory), { code: 'XIO_E_NO_BUFS' });
      const accesses = shares.slice(0, 5).map(({ token }) => outcomeOf(client.read(token, 0, new Uint8Array(1))));
      assert.deepEqual(await Promise.all(accesses), ['done', 'done', 'done', 'done', 'XIO_E_TX_QUEUE_OVERFLOW']);
      for (const { token } of shares.slice(0, 700)) await client.read(token, 0, new Uint8Array(1));
      for (const share of shares) share.revoke();
      assert.equal(await outcomeOf(client.read(server.share(memory).token, 0, new Uint8Array(1))), 'done');
      assert.equal(client.statistics.reconnects, 0);
    });

    test('is asked for with arguments that can be', async (net) => {
      const { client, server } = await pair(net);
      const { token } = server.share(shared(pattern(100)));
      const wrong: readonly (readonly unknown[])[] = [
        ['token', 0, new Uint8Array(1)],
        [new Uint8Array(31), 0, new Uint8Array(1)],
        [token, -1, new Uint8Array(1)],
        [token, 100, new Uint8Array(1)],
        [token, 0, 'text'],
        [token, 0, new Uint8Array(1), { depth: 1 }],
      ];
      for (const args of wrong) {
        const promise: unknown = Reflect.apply(client.read.bind(client), undefined, args);
        await assert.rejects(Promise.resolve(promise), { code: 'EINVAL' });
      }
      assert.throws(() => server.share(new Uint8Array(0)), { code: 'EINVAL' });
      assert.throws(
        () => void Reflect.apply(server.share.bind(server), undefined, [new Uint8Array(1), { access: 'all' }]),
        {
          code: 'EINVAL',
        },
      );
    });
  });
}
