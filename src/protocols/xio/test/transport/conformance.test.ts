import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TOKEN_BYTES, XioError } from '../../transport/index.js';
import type { Body } from '../../wire/index.js';
import { type Pair, paired, pattern, type World, WORLDS } from '../support/worlds.js';
import { LinkEnd } from '../support/link-end.js';

const NONE = new Uint8Array(0);
const KIB = 1024;
const MIB = KIB * KIB;
const LENGTHS = [0, 1, 255, 8191, 8192, 8193, 65_535, MIB];

function headOf(number: number): Uint8Array {
  return pattern(12, number);
}

function onePiece(body: Body): Uint8Array {
  assert.ok(body instanceof Uint8Array);
  return body;
}

/** No bytes of a body may lie in memory that was not given for it. */
function untouched(bytes: Uint8Array, value = 0): boolean {
  return bytes.every((byte) => byte === value);
}

for (const [name, play] of Object.entries(WORLDS))
  describe(`links over ${name}`, () => {
    const test = (what: string, scene: (pair: Pair, world: World) => Promise<void>): void => {
      it(what, () =>
        play(async (world) => {
          const pair = await paired(world);
          await scene(pair, world);
          assert.deepEqual([...pair.here.wrongs, ...pair.there.wrongs], []);
        }),
      );
    };

    test('bring heads and bodies of every length, in the order of sending', async ({ here, there }, world) => {
      const messages = LENGTHS.map((length, i) => [headOf(i), pattern(length, i)] as const);
      await here.sendAll(world.until, messages);
      await world.until(() => there.got.length === messages.length);
      for (const [i, { head, body }] of there.got.entries()) {
        assert.deepEqual(head, messages[i][0]);
        assert.deepEqual(body, messages[i][1]);
      }
    });

    test('bring both directions at a time', async ({ here, there }, world) => {
      const messages = Array.from({ length: 40 }, (_, i) => [headOf(i), pattern(i * 500, i)] as const);
      await Promise.all([here.sendAll(world.until, messages), there.sendAll(world.until, messages)]);
      await world.until(() => here.got.length === 40 && there.got.length === 40);
      for (const { got } of [here, there])
        assert.ok(got.every(({ body }, i) => Buffer.compare(body, messages[i][1]) === 0));
    });

    test('bring heads of no bytes and of the greatest length', async ({ here, there }, world) => {
      const heads = [NONE, pattern(here.link.maxHeadBytes, 1), pattern(here.link.maxHeadBytes, 2)];
      await here.sendAll(world.until, [
        [heads[0], NONE],
        [heads[1], NONE],
        [heads[2], pattern(8193, 2)],
      ]);
      await world.until(() => there.got.length === 3);
      assert.deepEqual(
        there.got.map(({ head }) => head),
        heads,
      );
    });

    test('have long bodies land where the receiver says, with nothing beside them', async ({ here, there }, world) => {
      const around = new Uint8Array(20_000);
      let head: Uint8Array | undefined;
      there.onLanding = (given, bodyBytes) => {
        head = Uint8Array.from(given);
        return around.subarray(100, 100 + bodyBytes);
      };
      await here.send(world.until, headOf(1), pattern(10_000, 1));
      await world.until(() => there.got.length === 1);
      assert.deepEqual(head, headOf(1));
      assert.equal(there.only.isLanded, true);
      assert.equal(onePiece(there.only.given).buffer, around.buffer);
      assert.deepEqual(around.subarray(100, 10_100), pattern(10_000, 1));
      assert.ok(untouched(around.subarray(0, 100)) && untouched(around.subarray(10_100)));
    });

    test('have long bodies lie in memory of their own where the receiver says nothing', async (pair, world) => {
      const { here, there } = pair;
      await here.sendAll(
        world.until,
        [1, 2].map((i) => [headOf(i), pattern(9000, i)] as const),
      );
      await world.until(() => there.got.length === 2);
      assert.deepEqual(there.announced, [9000, 9000]);
      // It stays as it is, whatever comes later.
      assert.deepEqual(there.got[0].given, pattern(9000, 1));
      assert.notEqual(onePiece(there.got[0].given).buffer, onePiece(there.got[1].given).buffer);
    });

    test('do not ask where short bodies are to lie', async ({ here, there }, world) => {
      await here.sendAll(
        world.until,
        [0, 1, 8192].map((length) => [headOf(length), pattern(length)] as const),
      );
      await world.until(() => there.got.length === 3);
      assert.deepEqual(there.announced, []);
      assert.deepEqual(
        there.got.map(({ isLanded }) => isLanded),
        [false, false, false],
      );
    });

    it('have bodies land that are longer than what their sender sends along', () =>
      play(async (world) => {
        const { here, there } = await paired(world, { inlineBytes: 100 });
        await here.sendAll(
          world.until,
          [0, 100, 101].map((length) => [headOf(length), pattern(length, 3)] as const),
        );
        await world.until(() => there.got.length === 3);
        assert.deepEqual(there.announced, [101]);
        assert.deepEqual(
          there.got.map(({ body }) => body),
          [0, 100, 101].map((length) => pattern(length, 3)),
        );
      }));

    test('deliver a message only when the body of the one before is there', async ({ here, there }, world) => {
      await here.sendAll(world.until, [
        [headOf(1), pattern(MIB, 1)],
        [headOf(2), NONE],
        [headOf(3), pattern(50_000, 3)],
        [headOf(4), pattern(10, 4)],
      ]);
      await world.until(() => there.got.length === 4);
      assert.deepEqual(
        there.got.map(({ head }) => head),
        [1, 2, 3, 4].map(headOf),
      );
      assert.deepEqual(there.got[0].body, pattern(MIB, 1));
    });

    test('copy heads and short bodies before send returns', async ({ here, there }, world) => {
      const [head, body] = [headOf(1), pattern(8192, 1)];
      assert.equal(await here.send(world.until, head, body), undefined);
      head.fill(0);
      body.fill(0);
      const long = pattern(20_000, 2);
      const other = headOf(2);
      await here.send(world.until, other, long);
      other.fill(0);
      await world.until(() => there.got.length === 2);
      assert.deepEqual(there.got[0].head, headOf(1));
      assert.deepEqual(there.got[0].body, pattern(8192, 1));
      assert.deepEqual(there.got[1].head, headOf(2));
    });

    test('send a body as it was, when it is taken back at once', async ({ here, there }, world) => {
      const body = pattern(MIB, 1);
      const held = await here.send(world.until, headOf(1), body);
      here.call(() => held?.takeBack());
      here.call(() => held?.takeBack());
      body.fill(0xee);
      await world.until(() => there.got.length === 1);
      assert.deepEqual(there.only.body, pattern(MIB, 1));
      here.call(() => held?.release());
      here.call(() => held?.release());
      here.call(() => held?.takeBack());
      await here.send(world.until, headOf(2), NONE);
      await world.until(() => there.got.length === 2);
    });

    test('send a body as it was, when it is taken back in the midst', async ({ here, there }, world) => {
      const body = pattern(4 * MIB, 1);
      const held = await here.send(world.until, headOf(1), body);
      await world.until(() => there.announced.length === 1);
      assert.equal(there.got.length, 0);
      here.call(() => held?.takeBack());
      body.fill(0xee);
      await world.until(() => there.got.length === 1);
      assert.deepEqual(there.only.body, pattern(4 * MIB, 1));
      held?.release();
    });

    test('take memory of every kind', async ({ here, there }, world) => {
      const kinds = [
        new Uint8Array(9000),
        new Uint8Array(new SharedArrayBuffer(9000)),
        Buffer.alloc(9000),
        new Uint8Array(new ArrayBuffer(20_000), 7, 9000),
      ];
      const landings = kinds.map((bytes) => Uint8Array.from(bytes));
      there.onLanding = () => landings[there.announced.length - 1];
      await here.sendAll(
        world.until,
        kinds.map((bytes, i) => {
          bytes.set(pattern(9000, i));
          return [headOf(i), bytes] as const;
        }),
      );
      await world.until(() => there.got.length === kinds.length);
      for (const i of kinds.keys()) assert.deepEqual(landings[i], pattern(9000, i));
    });

    test('write nothing to memory that was redirected', async ({ here, there }, world) => {
      const landing = new Uint8Array(4 * MIB);
      there.onLanding = (_, bodyBytes) => (bodyBytes === landing.length ? landing : undefined);
      await here.send(world.until, headOf(1), pattern(landing.length, 1));
      await world.until(() => there.announced.length === 1);
      assert.equal(there.got.length, 0);
      there.call((link) => link.redirect(landing));
      landing.fill(0xee);
      await here.send(world.until, headOf(2), pattern(9000, 2));
      await world.until(() => there.got.length === 2);
      assert.ok(untouched(landing, 0xee));
      // The message comes all the same, in its turn; of its body nothing is said.
      assert.deepEqual(there.got[0].head, headOf(1));
      assert.equal(there.got[0].given.length, landing.length);
      assert.deepEqual(there.got[1].body, pattern(9000, 2));
    });

    test('take no notice when memory is redirected where nothing comes', async ({ here, there }, world) => {
      const landing = new Uint8Array(9000);
      there.call((link) => link.redirect(landing));
      there.onLanding = () => landing;
      await here.send(world.until, headOf(1), pattern(9000, 1));
      await world.until(() => there.got.length === 1);
      assert.deepEqual(landing, pattern(9000, 1));
      there.call((link) => link.redirect(landing));
      await here.send(world.until, headOf(2), pattern(9000, 2));
      await world.until(() => there.got.length === 2);
      assert.deepEqual(there.got[1].body, pattern(9000, 2));
    });

    it('keep what comes until somebody wants it', () =>
      play(async (world) => {
        const [one, other] = await world.unopened();
        const here = new LinkEnd(one);
        one.open(here);
        await here.sendAll(world.until, [
          [headOf(1), pattern(10, 1)],
          [headOf(2), pattern(20_000, 2)],
          [headOf(3), NONE],
        ]);
        const there = new LinkEnd(other);
        there.call((link) => link.open(there));
        await world.until(() => there.got.length === 3);
        assert.deepEqual(
          there.got.map(({ head, body }) => [head, body.length]),
          [
            [headOf(1), 10],
            [headOf(2), 20_000],
            [headOf(3), 0],
          ],
        );
      }));

    it('tell an end that is opened late that the peer has gone', () =>
      play(async (world) => {
        const [one, other] = await world.unopened();
        const here = new LinkEnd(one);
        one.open(here);
        here.call((link) => link.abort());
        await world.until(() => here.ends.length === 1);
        const there = new LinkEnd(other);
        there.call((link) => link.open(there));
        await world.until(() => there.ends.length === 1);
        assert.deepEqual([...here.wrongs, ...there.wrongs], []);
        assert.equal(other.canSend, false);
      }));

    test('hold a sender back, and tell it when there is room', async ({ here, there }, world) => {
      let sent = 0;
      const send = (): void => {
        while (here.link.canSend && sent < 500) {
          here.link.send(headOf(sent), pattern(20_000, sent), undefined);
          sent += 1;
        }
      };
      here.onRoom = () => {
        here.rooms += 1;
        send();
      };
      send();
      assert.ok(sent < 500, 'not everything is taken at once');
      await world.until(() => there.got.length === 500);
      assert.ok(here.rooms > 0);
      assert.ok(there.got.every(({ body }, i) => body[0] === pattern(1, i)[0]));
    });

    test('deliver what was sent before they are closed', async ({ here, there }, world) => {
      const messages = [100, 8192, 5000, 20].map((length, i) => [headOf(i), pattern(length, i)] as const);
      await here.sendAll(world.until, messages);
      here.call((link) => link.close());
      here.call((link) => link.close());
      assert.equal(here.link.canSend, false);
      await world.until(() => here.ends.length === 1 && there.ends.length === 1);
      assert.deepEqual(
        there.got.map(({ body }) => body),
        messages.map(([, body]) => body),
      );
      assert.deepEqual([here.ends, there.ends], [[undefined], [undefined]]);
      assert.equal(there.link.canSend, false);
    });

    test('deliver nothing to an end that has closed them', async ({ here, there }, world) => {
      await here.send(world.until, headOf(1), pattern(MIB, 1));
      there.call((link) => link.close());
      await world.until(() => here.ends.length === 1 && there.ends.length === 1);
      assert.deepEqual(there.got, []);
    });

    test('can be closed by both ends at a time', async ({ here, there }, world) => {
      here.call((link) => link.close());
      there.call((link) => link.close());
      await world.until(() => here.ends.length === 1 && there.ends.length === 1);
      assert.deepEqual([here.ends, there.ends], [[undefined], [undefined]]);
    });

    test('end at once when they are aborted, and touch no memory after that', async ({ here, there }, world) => {
      const landing = new Uint8Array(4 * MIB);
      there.onLanding = () => landing;
      const held = await here.send(world.until, headOf(1), pattern(4 * MIB, 1));
      await world.until(() => there.announced.length === 1);
      there.call((link) => link.abort());
      there.call((link) => link.abort());
      there.call((link) => link.close());
      await world.until(() => there.ends.length === 1);
      const before = Uint8Array.from(landing);
      await world.until(() => here.ends.length === 1);
      held?.takeBack();
      held?.release();
      assert.deepEqual(landing, before);
      assert.deepEqual(there.got, []);
      assert.deepEqual(there.ends, [undefined]);
      for (const { link } of [here, there]) assert.equal(link.canSend, false);
    });

    test('can be aborted while they are being closed', async ({ here, there }, world) => {
      await here.send(world.until, headOf(1), pattern(MIB, 1));
      here.call((link) => link.close());
      here.call((link) => link.abort());
      await world.until(() => here.ends.length === 1 && there.ends.length === 1);
      assert.deepEqual(here.ends, [undefined]);
    });

    test('can be closed from within what they tell', async ({ here, there }, world) => {
      there.onGot = () => there.link.close();
      await here.sendAll(world.until, [
        [headOf(1), NONE],
        [headOf(2), NONE],
      ]);
      await world.until(() => here.ends.length === 1 && there.ends.length === 1);
      assert.equal(there.got.length, 1);
    });

    test('can be aborted while somebody says where a body is to land', async ({ here, there }, world) => {
      there.onLanding = () => {
        there.link.abort();
        return undefined;
      };
      await here.send(world.until, headOf(1), pattern(100_000, 1));
      await world.until(() => here.ends.length === 1 && there.ends.length === 1);
      assert.deepEqual(there.got, []);
    });

    test('can be sent by from within what they tell', async ({ here, there }, world) => {
      there.onGot = ({ head, body }) => {
        if (there.link.canSend) there.link.send(head, body, undefined);
      };
      const messages = Array.from({ length: 10 }, (_, i) => [headOf(i), pattern(1000 * i, i)] as const);
      await here.sendAll(world.until, messages);
      await world.until(() => here.got.length === 10);
      assert.deepEqual(
        here.got.map(({ body }) => body),
        messages.map(([, body]) => body),
      );
    });

    test('hear the peer when it is asked', async ({ here, there }, world) => {
      const before = here.link.heard;
      here.call((link) => link.probe());
      here.call((link) => link.probe());
      await world.until(() => here.link.heard > before);
      assert.deepEqual([here.got, there.got], [[], []]);
      const after = here.link.heard;
      here.call((link) => link.probe());
      await world.until(() => here.link.heard > after);
    });

    test('know both ends', ({ here, there }) => {
      assert.deepEqual(here.link.localAddress, there.link.remoteAddress);
      assert.deepEqual(here.link.remoteAddress, there.link.localAddress);
      return Promise.resolve();
    });

    test('have a clock', async ({ here }, world) => {
      const { clock } = here.link;
      const begunUs = clock.nowUs();
      let told = 0;
      const takeBack = clock.timer(1, () => assert.fail('it was taken back'));
      clock.timer(2, () => (told += 1));
      clock.chore(2, () => (told += 1));
      takeBack();
      await world.until(() => told === 2);
      assert.ok(clock.nowUs() > begunUs);
    });

    test('can be let go of by a process that ends, and taken up again', async ({ here, there }, world) => {
      for (const { link } of [here, there]) {
        link.unref();
        link.unref();
        link.ref();
        link.ref();
      }
      await here.send(world.until, headOf(1), NONE);
      await world.until(() => there.got.length === 1);
    });

    // Short ones by memory of the link's, long ones where they lie.
    for (const memoryBytes of [20_000, 200_000])
      test(`write bodies into ${memoryBytes} bytes of the peer, if they can`, async ({ here, there }, world) => {
        const memory = new Uint8Array(memoryBytes);
        const exposed = there.link.expose(memory);
        assert.equal(exposed !== undefined, there.link.hasRemoteMemory);
        assert.equal(there.link.hasRemoteMemory, world.scheme === 'rdma');
        if (exposed === undefined) return;
        assert.equal(exposed.token.length, TOKEN_BYTES);
        await world.until(() => here.link.canSend);
        await here.send(world.until, headOf(1), pattern(10_000, 1), exposed.token);
        await world.until(() => there.got.length === 1);
        assert.deepEqual([there.only.body.length, there.only.writtenBytes], [0, 10_000]);
        exposed.land(10_000);
        assert.deepEqual(memory.subarray(0, 10_000), pattern(10_000, 1));
        assert.ok(untouched(memory.subarray(10_000)));
        exposed.takeBack();
        await here.send(world.until, headOf(2), pattern(10_000, 2), exposed.token);
        await world.until(() => there.got.length === 2);
        exposed.land(10_000);
        assert.deepEqual(memory.subarray(0, 10_000), pattern(10_000, 1));
        exposed.release();
        exposed.release();
      });

    test('end where a body is to be written into memory that the peer has not exposed', async (pair, world) => {
      const { here, there } = pair;
      const memory = pattern(20_000, 5);
      const token = new Uint8Array(TOKEN_BYTES).fill(0x7f);
      await here.send(world.until, headOf(1), pattern(10_000, 1), token);
      await world.until(() => here.ends.length === 1 && there.ends.length === 1);
      assert.ok(here.ends[0] instanceof XioError);
      assert.deepEqual(there.got, []);
      assert.deepEqual(memory, pattern(20_000, 5));
    });

    test('send short bodies along, wherever they might be written', async ({ here, there }, world) => {
      const token = new Uint8Array(TOKEN_BYTES).fill(0x7f);
      await here.send(world.until, headOf(1), pattern(100, 1), token);
      await world.until(() => there.got.length === 1);
      assert.deepEqual(there.only.body, pattern(100, 1));
      assert.equal(there.only.writtenBytes, 0);
    });

    it('end where a body is longer than its receiver takes', () =>
      play(async (world) => {
        const { here, there } = await paired(world, {}, { maxBodyBytes: 10_000 });
        await here.send(world.until, headOf(1), pattern(10_000, 1));
        await world.until(() => there.got.length === 1);
        await here.send(world.until, headOf(2), pattern(10_001, 2));
        await world.until(() => here.ends.length === 1 && there.ends.length === 1);
        assert.ok([...here.ends, ...there.ends].some((failure) => failure instanceof XioError));
        assert.equal(there.got.length, 1);
      }));
  });
