import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Callbacks, nextHeldRound, yieldRound } from '../../api/runtime/index.js';
import { Engine } from '../../protocols/core/index.js';
import { type Sim, simulate } from '../../entry/sim.js';

const TURNS = 40;

/** Calls `step` again and again while virtual time may pass. @returns the times at which it called back */
async function timesOf(sim: Sim, step: (next: () => void) => void): Promise<number[]> {
  const timesUs: number[] = [];
  const over = new Promise<void>((resolve) => {
    const next = (): void => {
      timesUs.push(sim.nowUs);
      if (timesUs.length === TURNS) resolve();
      else step(next);
    };
    step(next);
  });
  const waiting = sim.sleep(1_000_000);
  await over;
  await waiting;
  return timesUs;
}

const distinct = (times: readonly number[]): number => new Set(times).size;

describe('no virtual time passes', () => {
  it('while listeners wait for their turns', () =>
    simulate(async (sim) => {
      const callbacks = new Callbacks();
      assert.equal(distinct(await timesOf(sim, (next) => callbacks.call(next))), 1);
    }));

  it('while more listeners wait than a program has rounds after an event', () =>
    simulate(async (sim) => {
      const callbacks = new Callbacks();
      const timesUs: number[] = [];
      for (let i = 0; i < TURNS; i += 1) callbacks.call(() => timesUs.push(sim.nowUs));
      await sim.sleep(1_000_000);
      assert.deepEqual([timesUs.length, distinct(timesUs)], [TURNS, 1]);
    }));

  it('while work of the package waits for its turn', () =>
    simulate(async (sim) => {
      assert.equal(distinct(await timesOf(sim, nextHeldRound)), 1);
    }));

  it('while an engine waits for its turn, whose work runs on its host', () =>
    simulate(async (sim) => {
      using engine = new Engine(sim.host('alone').context);
      assert.equal(distinct(await timesOf(sim, (next) => engine.nextTurn(next))), 1);
    }));

  it('while a loop of the program yields once', () =>
    simulate(async (sim) => {
      const timesUs: number[] = [];
      sim.at(10, () => undefined);
      const waiting = sim.sleep(1_000_000);
      yieldRound(() => timesUs.push(sim.nowUs));
      await waiting;
      assert.deepEqual(timesUs, [0]);
    }));
});

describe('virtual time passes', () => {
  it('for a loop of the program that yields again and again', () =>
    simulate(async (sim) => {
      assert.ok(distinct(await timesOf(sim, yieldRound)) > 1);
    }));
});

describe('a turn of an engine', () => {
  it('never comes after a crash of the host', () =>
    simulate(async (sim) => {
      const host = sim.host('alone');
      const engine = new Engine(host.context);
      let turns = 0;
      engine.nextTurn(() => (turns += 1));
      host.crash();
      await sim.sleep(1_000_000);
      assert.equal(turns, 0);
    }));
});
