import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gather } from '../../wire/index.js';
import { type Pair, paired, pattern, type World, WORLDS } from '../support/worlds.js';

const MIB = 1 << 20;

function headOf(number: number): Uint8Array {
  return pattern(12, number);
}

function untouched(bytes: Uint8Array, value: number): boolean {
  return bytes.every((byte) => byte === value);
}

for (const [name, play] of Object.entries(WORLDS))
  describe(`bodies in pieces on links over ${name}`, () => {
    const test = (what: string, scene: (pair: Pair, world: World) => Promise<void>): void => {
      it(what, () =>
        play(async (world) => {
          const pair = await paired(world);
          await scene(pair, world);
          assert.deepEqual([...pair.here.wrongs, ...pair.there.wrongs], []);
        }),
      );
    };

    test('bring bodies in several pieces, which land in others', async ({ here, there }, world) => {
      const whole = pattern(100_000, 3);
      const pieces = [0, 1, 9000, 9001, 60_000, 99_999].map((at, i, all) => whole.slice(at, all.at(i + 1)));
      const landing = [50, 70_000, 1, 1, 29_948].map((length) => new Uint8Array(length));
      there.onLanding = () => landing;
      await here.send(world.until, headOf(1), pieces);
      await here.send(
        world.until,
        headOf(2),
        pieces.slice(0, 2).map((piece) => piece.subarray(0, 10)),
      );
      await world.until(() => there.got.length === 2);
      assert.equal(there.got[0].given, landing);
      assert.deepEqual(gather(landing), whole);
      assert.deepEqual(there.got[1].body, Uint8Array.from([...pieces[0], ...pieces[1].subarray(0, 10)]));
    });

    test('send pieces as they were, when they are taken back', async ({ here, there }, world) => {
      const pieces = [1, 2, 3].map((number) => pattern(MIB, number));
      const held = await here.send(world.until, headOf(1), pieces);
      await world.until(() => there.announced.length === 1);
      here.call(() => held?.takeBack());
      for (const piece of pieces) piece.fill(0xee);
      await world.until(() => there.got.length === 1);
      assert.deepEqual(there.only.body, gather([1, 2, 3].map((number) => pattern(MIB, number))));
      held?.release();
    });

    test('write nothing to pieces that were redirected', async ({ here, there }, world) => {
      const landing = [new Uint8Array(MIB), new Uint8Array(3 * MIB)];
      there.onLanding = () => landing;
      await here.send(world.until, headOf(1), pattern(4 * MIB, 1));
      await world.until(() => there.announced.length === 1);
      there.call((link) => link.redirect(landing));
      for (const piece of landing) piece.fill(0xee);
      await world.until(() => there.got.length === 1);
      assert.ok(landing.every((piece) => untouched(piece, 0xee)));
    });

    test('have short bodies land that are to go apart from their heads', async ({ here, there }, world) => {
      for (const length of [0, 1, 100]) await here.send(world.until, headOf(length), pattern(length), undefined, true);
      await world.until(() => there.got.length === 3);
      assert.deepEqual(there.announced, [1, 100]);
      assert.deepEqual(
        there.got.map(({ body }) => body.length),
        [0, 1, 100],
      );
    });
  });
