import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { WcStatus } from '../../entry/index.js';
import { type PathMatch, Sim, simulate } from '../../entry/sim.js';
import { connected, send } from './support.js';

describe('conditions of a simulated network', () => {
  it('hold for all ways, hosts to come included', () =>
    simulate({ conditions: { delayUs: 100 } }, async (sim) => {
      await connected(sim);
      assert.equal(sim.nowUs, 300);
    }));

  it("may be one way's own", () =>
    simulate(async (sim) => {
      const { atClient } = await connected(sim);
      sim.setConditions({ delayUs: 50 }, { from: 'client', to: 'server' });
      const startUs = sim.nowUs;
      await send(atClient);
      assert.equal(sim.nowUs - startUs, 55);
    }));

  it('change when they are told to', () =>
    simulate(async (sim) => {
      const { atClient } = await connected(sim);
      sim.setConditions({ loss: 1 });
      sim.at(3_000_000, () => sim.setConditions({ loss: 0 }));
      assert.equal((await send(atClient)).status, WcStatus.SUCCESS);
      assert.ok(sim.nowUs >= 3_000_000);
    }));

  it('lose in bursts', () =>
    simulate({ conditions: { loss: 0.3, lossBurstPackets: 5 }, seed: 3 }, async (sim) => {
      const { atClient } = await connected(sim);
      for (let i = 0; i < 3; i += 1) await send(atClient, 16_000);
      assert.ok(sim.packets({ where: ({ fate }) => fate.includes('lost') }).length > 0);
    }));

  const wrong: readonly (readonly [object, unknown])[] = [
    [{ loss: 2 }, undefined],
    [{ delay: 5 }, undefined],
    [{ delayUs: 1 }, { from: 'nobody' }],
    [{ delayUs: 1 }, { between: ['a', 'b'], from: 'a' }],
    [{ delayUs: 1 }, { form: 'a' }],
  ];
  for (const [changes, path] of wrong)
    it(`are not ${JSON.stringify([changes, path])}`, () => {
      using sim = new Sim();
      for (const name of ['a', 'b']) sim.host(name);
      // That it is not a path is the point.
      assert.throws(() => sim.setConditions(changes, path as PathMatch), { errno: 'EINVAL' });
    });
});

describe('a partition', () => {
  /** What becomes of a message, and of what is sent for it, in each direction. */
  const fates = (cut: (sim: Sim) => void): Promise<readonly [string[], string[]]> =>
    simulate(async (sim) => {
      const { atClient } = await connected(sim);
      const before = sim.packets().length;
      cut(sim);
      void send(atClient);
      await sim.sleep(1000);
      const since = sim.packets().slice(before);
      const of = (host: string): string[] => [
        ...new Set(since.filter(({ from }) => from === host).flatMap(({ fate }) => fate)),
      ];
      return [of('client'), of('server')];
    });

  it('cuts both ways', async () => {
    assert.deepEqual(await fates((sim) => sim.partition('client', 'server')), [['partitioned'], []]);
  });

  it('cuts one off from everybody', async () => {
    assert.deepEqual(await fates((sim) => sim.partition('server')), [['partitioned'], []]);
  });

  it('may cut one way only', async () => {
    assert.deepEqual(await fates((sim) => sim.cut('server', 'client')), [['delivered'], ['partitioned']]);
  });

  it('leaves those together who are on one side', async () => {
    const together = await fates((sim) => {
      sim.host('third');
      sim.partition(['client', 'server']);
    });
    assert.deepEqual(together, [['delivered'], ['delivered']]);
  });

  it('heals', async () => {
    const healed = await fates((sim) => {
      sim.partition(['server'], ['client']);
      sim.heal('client');
    });
    assert.deepEqual(healed, [['delivered'], ['delivered']]);
  });
});
