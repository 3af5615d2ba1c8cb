import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Engine } from '../../../core/index.js';
import type { Exposure } from '../../transport/index.js';
import { BodySlots } from '../../transport/rdma/body-slots.js';
import { simulate } from '../../../../entry/sim.js';
import { type Pair, paired, pattern, type World, WORLDS } from '../support/worlds.js';

const KIB = 1024;
const HEAD = pattern(12, 1);

function test(what: string, scene: (pair: Pair, world: World) => Promise<void>): void {
  it(what, () => WORLDS['rdma'](async (world) => scene(await paired(world), world)));
}

describe("a link's memory for bodies", () => {
  const expose = ({ there }: Pair, bytes: number): Exposure => {
    const exposure = there.link.expose(new Uint8Array(bytes));
    assert.ok(exposure !== undefined);
    return exposure;
  };
  const names = (exposures: readonly Exposure[]): Set<string> =>
    new Set(exposures.map(({ token }) => token.subarray(0, 12).join()));

  test('stays registered for the next body', async (pair) => {
    await Promise.resolve();
    const first = expose(pair, 64 * KIB);
    first.release();
    const second = expose(pair, 40_000);
    assert.equal(names([first, second]).size, 1);
    const meanwhile = expose(pair, 64 * KIB);
    assert.equal(names([second, meanwhile]).size, 2);
  });

  test("keeps the program's out of reach of what is written late", async ({ here, there }, world) => {
    const memory = new Uint8Array(64 * KIB);
    const exposure = there.link.expose(memory);
    assert.ok(exposure !== undefined);
    exposure.release();
    await here.send(world.until, HEAD, pattern(20_000, 2), exposure.token);
    await world.until(() => there.got.length === 1);
    exposure.land(20_000);
    assert.ok(memory.every((byte) => byte === 0));
    assert.deepEqual([...here.ends, ...there.ends], []);
  });

  test('has what was sent, whatever becomes of the body', async ({ here, there }, world) => {
    const body = pattern(50_000, 3);
    await world.until(() => here.link.canSend);
    const held = here.link.send(HEAD, [body.subarray(0, 10_000), body.subarray(10_000)], undefined);
    assert.ok(held !== undefined);
    const sent = body.slice();
    body.fill(0);
    held.takeBack();
    await world.until(() => there.got.length === 1);
    assert.deepEqual(there.only.body, sent);
    held.release();
  });

  test('is bounded: further bodies are reached where they lie', async (pair, world) => {
    const exposures = Array.from({ length: 70 }, () => expose(pair, 128 * KIB));
    assert.equal(names(exposures).size, 70);
    for (const exposure of exposures) exposure.release();
    const again = Array.from({ length: 70 }, () => expose(pair, 128 * KIB));
    assert.equal(names([...exposures, ...again]).size, 70 + 6);
    for (const exposure of again) exposure.release();
    await world.until(() => true);
  });

  test('is given up where nobody uses it for long, but for a part', async (pair, world) => {
    const exposures = Array.from({ length: 64 }, () => expose(pair, 128 * KIB));
    for (const exposure of exposures) exposure.release();
    let isLater = false;
    pair.there.link.clock.timer(2000, () => (isLater = true));
    await world.until(() => isLater);
    const again = Array.from({ length: 9 }, () => expose(pair, 128 * KIB));
    assert.equal(names([...exposures, ...again]).size, 64 + 1);
  });

  test('ends with the link, though nobody has given it back', async ({ here, there }, world) => {
    const registered = () =>
      [here, there].map(({ link: { context } }) => context && Engine.of(context).registrations.used);
    assert.deepEqual(registered(), [0, 0]);
    there.link.expose(new Uint8Array(64 * KIB));
    await here.send(world.until, HEAD, pattern(20_000, 4), undefined);
    assert.deepEqual(registered(), [1, 1]);
    here.link.abort();
    await world.until(() => here.ends.length + there.ends.length === 2);
    assert.deepEqual(registered(), [0, 0]);
  });

  it('is bounded for all links of a device together, and what one leaves another can have', () =>
    simulate((sim) => {
      using engine = new Engine(sim.host('alone').context);
      const budget = { leftBytes: 256 * KIB };
      const [one, other] = [new BodySlots(engine, budget), new BodySlots(engine, budget)];
      const lent = [one.lend(128 * KIB), other.lend(128 * KIB)];
      assert.ok(lent.every((slot) => slot !== undefined));
      assert.equal(one.lend(1), undefined);
      other.end();
      assert.ok(one.lend(128 * KIB) !== undefined);
      one.end();
      assert.equal(budget.leftBytes, 256 * KIB);
    }));
});
