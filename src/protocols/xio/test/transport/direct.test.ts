import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type MoveOutcome, PLACE_BYTES } from '../../wire/index.js';
import { type Pair, paired, pattern, type World, WORLDS } from '../support/worlds.js';

const BOTH = { read: true, write: true };

for (const [name, play] of Object.entries(WORLDS))
  describe(`memory that is granted on links over ${name}`, () => {
    const test = (what: string, scene: (pair: Pair, world: World) => Promise<void>): void => {
      it(what, () =>
        play(async (world) => {
          const pair = await paired(world);
          await scene(pair, world);
          assert.deepEqual([...pair.here.wrongs, ...pair.there.wrongs], []);
        }),
      );
    };

    const moved = async (
      { here }: Pair,
      world: World,
      move: Parameters<Pair['here']['link']['move']>[0],
    ): Promise<MoveOutcome | undefined> => {
      const outcomes: MoveOutcome[] = [];
      here.call((link) => link.move(move, (outcome) => outcomes.push(outcome)));
      await world.until(() => outcomes.length > 0);
      return outcomes.at(0);
    };

    if (name !== 'rdma') {
      test('is none: it goes by messages', ({ here, there }) => {
        assert.equal(there.link.grant(new Uint8Array(10), BOTH), undefined);
        const place = new Uint8Array(PLACE_BYTES);
        const move = { isRead: true, place, offset: 0, memory: new Uint8Array(1) };
        assert.equal(
          here.link.move(move, () => assert.fail('nothing is told')),
          undefined,
        );
        return Promise.resolve();
      });
      return;
    }

    test('is read and written without a message, and nothing beside it', async (pair, world) => {
      const around = new Uint8Array(1000).fill(5);
      const granted = pair.there.link.grant(around.subarray(100, 900), BOTH);
      assert.ok(granted !== undefined);
      const { place } = granted;
      assert.equal(place.length, PLACE_BYTES);
      const write = { isRead: false, place, offset: 10, memory: [pattern(300, 1), pattern(10, 2)] };
      assert.equal(await moved(pair, world, write), 'done');
      assert.deepEqual(around.subarray(110, 420), Uint8Array.from([...pattern(300, 1), ...pattern(10, 2)]));
      assert.ok([...around.subarray(0, 110), ...around.subarray(420)].every((byte) => byte === 5));
      const into = new Uint8Array(310);
      assert.equal(await moved(pair, world, { isRead: true, place, offset: 10, memory: into }), 'done');
      assert.deepEqual(into, around.subarray(110, 420));
      assert.deepEqual(pair.there.got, []);
    });

    test('is not reached any more once it was revoked, and the link goes on', async (pair, world) => {
      const memory = pattern(5000, 1);
      const granted = pair.there.link.grant(memory, BOTH);
      assert.ok(granted !== undefined);
      const { place } = granted;
      granted.revoke();
      granted.revoke();
      memory.fill(0xee);
      const write = { isRead: false, place, offset: 0, memory: pattern(5000, 2) };
      assert.equal(await moved(pair, world, write), 'revoked');
      assert.equal(await moved(pair, world, { ...write, isRead: true, memory: new Uint8Array(10) }), 'revoked');
      assert.ok(memory.every((byte) => byte === 0xee));
      const next = pair.there.link.grant(memory, BOTH);
      assert.ok(next !== undefined);
      assert.equal(await moved(pair, world, { ...write, place: next.place }), 'done');
      assert.deepEqual(memory, pattern(5000, 2));
      granted.release();
      granted.release();
      assert.deepEqual(pair.here.ends, []);
    });

    const misuses: Readonly<Record<string, (place: Uint8Array) => object>> = {
      'writes what may be read': () => ({ isRead: false }),
      'goes beyond its end': () => ({ offset: 4999 }),
      'goes far beyond its end': () => ({ offset: 2 ** 52 }),
      'makes a place up': (place) => ({ place: place.fill(0xff) }),
      'has no place': (place) => ({ place: place.fill(0) }),
      'guesses a key': (place) => ({ place: place.fill(0x5a, 16, 20) }),
    };
    for (const [what, misuse] of Object.entries(misuses))
      test(`ends the link of whoever ${what}, and is not touched`, async (pair, world) => {
        const memory = pattern(5000, 1);
        const granted = pair.there.link.grant(memory, { read: true, write: false });
        assert.ok(granted !== undefined);
        const place = Uint8Array.from(granted.place);
        const move = { isRead: true, place, offset: 0, memory: new Uint8Array(10), ...misuse(place) };
        assert.equal(await moved(pair, world, move), 'refused');
        await world.until(() => pair.here.ends.length === 1 && pair.there.ends.length === 1);
        assert.deepEqual(memory, pattern(5000, 1));
        assert.equal(
          pair.here.link.move(move, () => assert.fail('nothing is told')),
          undefined,
        );
        assert.equal(pair.there.link.grant(memory, BOTH), undefined);
        granted.revoke();
        granted.release();
      });

    test('is lost with its link, and tells so once', async (pair, world) => {
      const granted = pair.there.link.grant(new Uint8Array(1 << 20), BOTH);
      assert.ok(granted !== undefined);
      const outcomes: MoveOutcome[] = [];
      for (const isRead of [true, false]) {
        const move = { isRead, place: granted.place, offset: 0, memory: new Uint8Array(1 << 20) };
        pair.here.call((link) => link.move(move, (outcome) => outcomes.push(outcome)));
      }
      pair.there.link.abort();
      await world.until(() => pair.here.ends.length === 1);
      assert.deepEqual(outcomes, ['lost', 'lost']);
    });
  });
