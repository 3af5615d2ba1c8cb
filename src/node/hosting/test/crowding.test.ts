import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { describe, test } from 'node:test';
import { Crowding, type Processor } from '../event-loop/crowding.js';
import { leaveProcessor } from '../../system/index.js';

/** Processors in virtual time, on which others take so many µs whenever they are offered one. */
class Machine implements Processor {
  now = 0;
  on = 0;
  readonly leaves: number[] = [];

  constructor(private readonly takenUs: readonly number[]) {}

  nowUs(): number {
    return this.now;
  }

  yield(): void {
    this.now += this.takenUs[this.on];
  }

  leave(): void {
    this.on = (this.on + 1) % this.takenUs.length;
    this.leaves.push(this.now);
  }
}

/** So many offers, each after some looks in vain. */
function offer(machine: Machine, crowding: Crowding, times: number): void {
  for (let i = 0; i < times; i += 1) {
    machine.now += 10;
    if (!crowding.isCrowded(machine.now)) crowding.offer();
  }
}

describe('who looks for what comes', () => {
  test('goes to another processor when somebody else takes each offer', () => {
    const machine = new Machine([40, 0.25]);
    offer(machine, new Crowding(machine), 1000);
    assert.equal(machine.leaves.length, 1);
    assert.equal(machine.on, 1);
  });

  test('stays where others have the processor now and then', () => {
    const machine = new Machine([0.25]);
    const crowding = new Crowding(machine);
    for (let i = 0; i < 100; i += 1) {
      offer(machine, crowding, 1);
      machine.now += 40;
    }
    assert.deepEqual(machine.leaves, []);
  });

  test('tries others less and less often when they are no better', () => {
    const machine = new Machine([40, 40]);
    offer(machine, new Crowding(machine), 100_000);
    const pauses = machine.leaves.slice(1).map((at, i) => at - machine.leaves[i]);
    assert.ok(pauses.length > 4);
    assert.ok(pauses.every((pause, i) => i === 0 || pause >= pauses[i - 1] * 0.9));
    assert.ok(pauses[pauses.length - 1] >= 8_000);
  });

  test('sleeps where somebody computes, and looks again on a processor that is free', () => {
    const machine = new Machine([3000, 0.25]);
    const crowding = new Crowding(machine);
    crowding.offer();
    assert.ok(crowding.isCrowded(machine.now));
    offer(machine, crowding, 2000);
    assert.equal(machine.on, 1);
    assert.ok(!crowding.isCrowded(machine.now));
  });

  describe('where somebody has computed for long, and others compute now and then since,', () => {
    const STORM_US = 2_000_000;
    const SECOND_US = 1_000_000;

    /** @returns which part of the time it sleeps, if they compute for so long, every so many µs */
    const asleep = (forUs: number, everyUs: number): number => {
      const machine = new (class extends Machine {
        override yield(): void {
          this.now += 0.25;
          if (this.now < STORM_US) this.now += 3000;
          else this.now += Math.max(0, forUs - (this.now % everyUs));
        }
      })([0.25]);
      const crowding = new Crowding(machine);
      let us = 0;
      while (machine.now < STORM_US + SECOND_US) {
        const { now } = machine;
        machine.now += 10;
        if (!crowding.isCrowded(now)) crowding.offer();
        else {
          crowding.looks(machine.now);
          if (now >= STORM_US) us += 10;
        }
      }
      return us / SECOND_US;
    };

    test('looks most of the time, if that is little of it', () => {
      assert.ok(asleep(500, 20_000) < 0.4);
    });

    test('sleeps most of the time, if that is much of it', () => {
      assert.ok(asleep(500, 2_000) > 0.9);
    });
  });
});

test('a thread leaves its processor where there are several, and is allowed all of them afterwards', () => {
  const processors = availableParallelism();
  const left = leaveProcessor();
  assert.ok(!left || processors > 1);
  assert.equal(availableParallelism(), processors);
});
