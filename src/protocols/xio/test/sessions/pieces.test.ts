import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { alloc } from '../../../../entry/index.js';
import { gather } from '../../wire/index.js';
import { type Net, NETS } from '../support/nets.js';
import { pattern } from '../support/worlds.js';

const KIB = 1024;
const MIB = KIB * KIB;
const LENGTHS = [0, 1, 8191, 8192, 8193, MIB];
const HEADER = pattern(16, 9);

const unshared = (length: number): Uint8Array => new Uint8Array(length);
const shared = (length: number): Uint8Array => (length === 0 ? unshared(0) : alloc(length));

/** Cuts bytes into so many pieces, of which some may be empty, each in memory of its own. */
function cut(bytes: Uint8Array, count: number, make: (length: number) => Uint8Array = unshared): Uint8Array[] {
  const each = Math.floor(bytes.length / count);
  return Array.from({ length: count }, (_, i) => {
    const piece = bytes.subarray(i * each, i === count - 1 ? undefined : (i + 1) * each);
    const memory = make(piece.length);
    memory.set(piece);
    return memory;
  });
}

for (const [name, play] of Object.entries(NETS)) {
  const test = (what: string, scene: (net: Net) => Promise<void>): void => void it(what, () => play(scene));

  describe(`bodies in several pieces over ${name}`, () => {
    for (const count of [2, 4, 5, 256])
      test(`come as one, of ${count} pieces and every length`, async (net) => {
        await net.listen((session) => session.on('request', ({ body }) => ({ body: cut(body, count) })));
        const session = await net.connect();
        for (const length of LENGTHS) {
          const { body } = await session.request(HEADER, cut(pattern(length, length), count));
          assert.deepEqual(body, pattern(length, length));
        }
      });

    for (const make of [shared, unshared])
      test(`come into the pieces that were named for them, ${make === shared ? 'shared' : 'unshared'}`, async (net) => {
        await net.listen((session) => session.on('request', ({ body }) => ({ body: cut(body, 3, make) })));
        const session = await net.connect();
        for (const length of LENGTHS) {
          const into = [make(1), make(0), make(length + 7).fill(0xee), make(9).fill(0xee)];
          const { body, pieces } = await session.request(HEADER, pattern(length, length), { into });
          assert.deepEqual(body, pattern(length, length));
          assert.deepEqual(gather(pieces), pattern(length, length));
          assert.ok(pieces.every(({ buffer }) => into.some((memory) => memory.buffer === buffer)));
          const after = gather(into).subarray(Math.max(1, length));
          assert.ok(after.every((byte) => byte === 0xee));
        }
      });

    test('land in the pieces that the receiver names', async (net) => {
      const given: Uint8Array[][] = [];
      const onBody = (bodyBytes: number): Uint8Array[] => {
        given.push(cut(new Uint8Array(bodyBytes), 3));
        return given[given.length - 1];
      };
      const got: Uint8Array[] = [];
      const take = ({ body, pieces }: { body: Uint8Array; pieces: readonly Uint8Array[] }): void => {
        assert.deepEqual(gather(pieces), body);
        if (body.length > 8192) assert.deepEqual(pieces, given[given.length - 1]);
        got.push(body);
      };
      await net.listen(
        (session) => {
          session.on('request', (request) => {
            take(request);
            return {};
          });
          const takeAll = async (): Promise<void> => {
            for await (const message of session.messages()) take(message);
          };
          void takeAll();
        },
        { onBody },
      );
      const session = await net.connect();
      const bodies = [8192, 8193, MIB].map((length) => pattern(length, length));
      for (const body of bodies) await session.request(HEADER, cut(body, 5));
      for (const body of bodies) await session.send(cut(body, 4), { receipt: true });
      assert.deepEqual(got, [...bodies, ...bodies]);
    });

    test('come whole when a link is lost in the midst', async (net) => {
      await net.listen((session) => session.on('request', ({ body }) => ({ body: cut(body, 3) })));
      const session = await net.connect();
      for (let at = 1; at <= 8; at += 1) {
        net.watched.sent = 0;
        net.watched.onSent = (sent) => {
          if (sent === at) net.cut();
        };
        const into = cut(new Uint8Array(50_000), 6);
        const { body } = await net.settled(session.request(HEADER, cut(pattern(50_000, at), 5), { into }));
        assert.deepEqual(body, pattern(50_000, at));
        assert.deepEqual(gather(into), pattern(50_000, at));
      }
      assert.ok(session.statistics.reconnects > 0);
    });

    test('are neither read nor written once their request was given up', async (net) => {
      await net.listen((session) => session.on('request', ({ body }) => ({ body: cut(body, 2) })));
      const session = await net.connect();
      for (let sent = 1; sent <= 4; sent += 1) {
        const controller = new AbortController();
        net.watched.sent = 0;
        net.watched.onSent = (count) => {
          if (count === sent) controller.abort(new Error('enough'));
        };
        const into = cut(new Uint8Array(4 * MIB), 3);
        const body = cut(pattern(4 * MIB, 1), 3);
        const request = session.request(HEADER, body, { into, signal: controller.signal });
        const outcome = await net.settled(
          request.then(
            () => 'answered',
            () => 'given up',
          ),
        );
        if (outcome === 'answered') continue;
        for (const piece of [...into, ...body]) piece.fill(0xee);
        await session.request('another');
        assert.ok(gather(into).every((byte) => byte === 0xee));
      }
    });

    test('have 256 at most', async (net) => {
      await net.listen((session) => session.accept());
      const session = await net.connect();
      const many = Array.from({ length: 257 }, () => new Uint8Array(1));
      await assert.rejects(session.request(HEADER, many), { code: 'EINVAL' });
      await assert.rejects(session.send(many), { code: 'EINVAL' });
      await assert.rejects(session.request(HEADER, '', { into: many }), { code: 'EINVAL' });
      const wrong: unknown = Reflect.apply(session.request.bind(session), undefined, ['', [7]]);
      await assert.rejects(Promise.resolve(wrong), { code: 'EINVAL' });
    });
  });

  describe(`placement over ${name}`, () => {
    /** How each body has gone that had bytes: apart from its head, or along with it. */
    const looked = (net: Net): string[] => {
      const ways: string[] = [];
      for (const link of net.watched.links) {
        const send = link.send.bind(link);
        link.send = (head, body, target, isApart) => {
          if (gather(body).length > 0)
            ways.push(`${isApart === true ? 'apart' : 'along'}${target ? ' to its place' : ''}`);
          return send(head, body, target, isApart);
        };
      }
      return ways;
    };

    test('has one request go by RDMA, and others along with their heads', async (net) => {
      const asked: number[] = [];
      const onBody = (bodyBytes: number): Uint8Array => {
        asked.push(bodyBytes);
        return new Uint8Array(bodyBytes);
      };
      await net.listen((session) => session.on('request', ({ body }) => ({ header: String(body.length) })), { onBody });
      const session = await net.connect();
      for (const length of [0, 1, 100, 8192]) {
        for (const placement of ['auto', 'rdma'] as const)
          assert.deepEqual(
            new TextDecoder().decode((await session.request(HEADER, pattern(length), { placement })).header),
            String(length),
          );
      }
      assert.deepEqual(asked, [1, 100, 8192]);
    });

    test('has one message go so', async (net) => {
      const asked: number[] = [];
      const onBody = (bodyBytes: number): undefined => void asked.push(bodyBytes);
      const got: Uint8Array[] = [];
      const take = async (session: Net['served'][number]): Promise<void> => {
        for await (const { body } of session.messages()) got.push(Uint8Array.from(body));
      };
      await net.listen((session) => void take(session), { onBody });
      const session = await net.connect();
      await session.send(pattern(10, 1), { placement: 'rdma', receipt: true });
      await session.send(pattern(11, 2), { receipt: true });
      await session.send(pattern(12, 3), { placement: 'rdma' });
      await net.until(() => got.length === 3);
      assert.deepEqual(asked, [10, 12]);
      assert.deepEqual(got, [pattern(10, 1), pattern(11, 2), pattern(12, 3)]);
    });

    test('has an answer go so, into its place', async (net) => {
      await net.listen((session) => session.on('request', () => ({ body: pattern(50, 4) })));
      const session = await net.connect();
      const ways = looked(net);
      const into = new Uint8Array(60);
      for (const responsePlacement of ['auto', 'rdma'] as const) {
        const { body } = await session.request(HEADER, '', { into: into.fill(0), responsePlacement });
        assert.equal(body.buffer, into.buffer);
        assert.deepEqual(body, pattern(50, 4));
      }
      const { body } = await session.request(HEADER, '', {
        into: [into.subarray(0, 20), into.subarray(20)],
        responsePlacement: 'rdma',
      });
      assert.deepEqual(body, pattern(50, 4));
      assert.deepEqual((await session.request(HEADER, '', { responsePlacement: 'rdma' })).body, pattern(50, 4));
      assert.deepEqual(ways, ['along', name === 'rdma' ? 'apart to its place' : 'apart', 'apart', 'apart']);
    });

    test('is one of two', async (net) => {
      await net.listen((session) => session.accept());
      const session = await net.connect();
      for (const option of ['placement', 'responsePlacement'])
        await assert.rejects(Reflect.apply(session.request.bind(session), undefined, ['', '', { [option]: 'send' }]), {
          code: 'EINVAL',
        });
    });
  });
}
