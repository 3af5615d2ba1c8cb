import { Engine } from '../../../core/index.js';
import { check } from '../../../../../test/sim/failure.js';
import type { Figures } from '../../../../../test/sim/game.js';
import { AmCalls } from './ams/calls.js';
import type { Family } from './family.js';
import { MemoryCalls } from './memory/calls.js';
import { planUcp, type UcpPlan } from './plan.js';
import { StreamCalls } from './streams/calls.js';
import { TagCalls } from './tags/calls.js';
import { WireupCalls } from './wireup/calls.js';
import { UcpWorld } from './world.js';

/** How long all may take once nothing more is asked for, in virtual time: more than all repeats of any message. */
const PATIENCE_US = 600e6;
const LOOK_US = 2000;
/** Longer than endpoints say farewell. */
const AFTERMATH_US = 5e6;

/** One seeded run: workers that use all of UCP, a rough network, disasters, and models beside them. */
class UcpRun {
  readonly #plan: UcpPlan;
  readonly #world: UcpWorld;
  readonly #families: readonly Family<{ readonly atUs: number }>[];

  constructor(seed: number, trace?: (line: string) => void) {
    const plan = planUcp(seed);
    const world = new UcpWorld(plan, trace);
    this.#plan = plan;
    this.#world = world;
    this.#families = [
      new TagCalls(world, plan.tags),
      new MemoryCalls(world, plan.memory),
      new AmCalls(world, plan.ams),
      new StreamCalls(world, plan.streams),
      new WireupCalls(world, plan.wireup),
    ];
  }

  async play(): Promise<Figures> {
    const { sim, fault } = this.#world;
    try {
      await sim.until(Promise.race([this.#all(), fault]));
      await sim.until(Promise.race([sim.sleep(AFTERMATH_US), fault]));
      this.#check();
      return { counts: this.#counts(), network: sim.statistics(), virtualUs: sim.nowUs };
    } finally {
      sim.close();
    }
  }

  async #all(): Promise<void> {
    const world = this.#world;
    const { tags, memory, ams, streams, disasters, wireup } = this.#plan;
    await world.connect();
    for (const family of this.#families) family.begin();
    for (const family of this.#families) family.schedule();
    for (const disaster of disasters) world.at(disaster.atUs, () => world.befall(disaster));
    const steps = [...tags, ...memory.steps, ...ams, ...streams, ...wireup];
    const ends = [...steps.map(({ atUs }) => atUs), ...disasters.map(({ atUs, forUs }) => atUs + forUs)];
    await world.sim.sleep(Math.max(0, ...ends) + 1);
    await this.#settle();
    for (const family of this.#families) await family.finish();
    for (const [i, worker] of world.workers.entries()) if (!world.down.has(i)) worker.close();
  }

  /** Has all come that was sent, and ends what waits for more. */
  async #settle(): Promise<void> {
    const world = this.#world;
    const { sim } = world;
    const until = sim.nowUs + PATIENCE_US;
    for (let calm = 0; calm < 3; calm += 1) {
      for (const family of this.#families) if (await family.drain()) calm = 0;
      const left = world.underWay(false);
      if (left.length === 0) await this.#flush();
      else calm = 0;
      check(sim.nowUs < until, () => `after ${PATIENCE_US} µs this has not ended: ${left.join(', ')}`);
      await sim.sleep(LOOK_US * 10 ** Math.min(calm, 2));
    }
    world.endWaits();
    await sim.sleep(LOOK_US);
    const left = [...world.underWay(true), ...world.underWay(false)];
    check(left.length === 0, () => `this has not ended: ${left.join(', ')}`);
  }

  /** What was handed over has come, or never will. */
  async #flush(): Promise<void> {
    const world = this.#world;
    const live = world.endpoints.filter((_, at) => !world.down.has(at)).flat();
    await Promise.all(live.map((endpoint) => endpoint.flush().catch(() => undefined)));
  }

  #check(): void {
    const { tags, memory, ams, streams, disasters, wireup } = this.#plan;
    const world = this.#world;
    const aborts = [...tags, ...memory.steps, ...ams, ...ams.map(({ handling }) => handling), ...streams, ...wireup];
    const isCalm = disasters.length === 0 && aborts.every(({ abortAfterUs }) => abortAfterUs === Infinity);
    for (const family of this.#families) family.verify(isCalm);
    world.verify();
    for (const [i, host] of world.hosts.entries()) {
      if (world.down.has(i)) continue;
      const { pool, statistics, registrations } = Engine.of(host.context);
      const left = [...pool.leases(), ...statistics.outstanding];
      check(left.length === 0, () => `worker ${i}: nobody gave back ${JSON.stringify(left)}`);
      check(registrations.used === 0, () => `worker ${i}: ${registrations.used} registrations are left`);
    }
  }

  #counts(): Record<string, number> {
    const { workers, canceled, failed } = this.#world;
    const byFamily = this.#families.map((family) => Object.entries(family.counts()));
    const { transport } = this.#plan;
    return {
      workers: workers.length,
      [`runs by ${transport}`]: 1,
      canceled,
      failed,
      ...Object.fromEntries(byFamily.flat()),
    };
  }
}

/** Plays the run of one seed. @throws what proves the package wrong */
export function runUcpSeed(seed: number, trace?: (line: string) => void): Promise<Figures> {
  return new UcpRun(seed, trace).play();
}
