import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { ProgramQueue } from '../rings/program-queue.js';
import { EventType, WcStatus } from '../../entry/index.js';
import { takeAsyncEvent } from '../../providers/soft/index.js';
import { nativeHostProblem } from '../../node/system/index.js';
import { GuestProgram, type ProgramQp } from './guest-program.js';

/** Counts how often indices of a program's queues are read: each read is a look at a queue. */
function countLooks(act: () => void): number {
  let looks = 0;
  const before = ['producer', 'consumer'].map((name) => {
    const property = Object.getOwnPropertyDescriptor(ProgramQueue.prototype, name);
    assert.ok(property?.get !== undefined);
    Object.defineProperty(ProgramQueue.prototype, name, {
      ...property,
      get(this: ProgramQueue): unknown {
        looks += 1;
        return property.get?.call(this);
      },
    });
    return [name, property] as const;
  });
  try {
    act();
  } finally {
    for (const [name, property] of before) Object.defineProperty(ProgramQueue.prototype, name, property);
  }
  return looks;
}

function statusesIn(ring: { consume(statuses: Map<number, number>): void }): Record<number, number> {
  const statuses = new Map<number, number>();
  ring.consume(statuses);
  return Object.fromEntries(statuses);
}

describe('queues of a program that nothing happens to', { skip: nativeHostProblem() ?? false }, () => {
  let program: GuestProgram;
  beforeEach(() => (program = new GuestProgram()));
  afterEach(() => program.close());

  /** What is done beside so many idle queues of each kind, in looks. */
  function looksBeside(idle: number, act: (game: GuestProgram) => void): number {
    program.close();
    program = new GuestProgram();
    for (let i = 0; i < idle; i += 1) {
      const { handle: cq } = program.createCq(7);
      program.receive(program.createPair({ cq })[0].receives);
      program.receive(program.createSrq(7).ring);
    }
    program.settle();
    return countLooks(() => act(program));
  }

  const DEEDS: Readonly<Record<string, (game: GuestProgram) => void>> = {
    'a message': (game) => {
      const { handle: cq, ring } = game.createCq(7);
      const [a, b] = game.createPair({ cq });
      game.receive(b.receives);
      game.send(a);
      game.settle();
      assert.deepEqual(statusesIn(ring), { [WcStatus.SUCCESS]: 2 });
    },
    'a message into a shared receive queue': (game) => {
      const { handle: cq, ring } = game.createCq(7);
      const srq = game.createSrq(7);
      const [a] = game.createPair({ cq, srq: srq.handle });
      game.receive(srq.ring);
      game.send(a);
      game.settle();
      assert.deepEqual(statusesIn(ring), { [WcStatus.SUCCESS]: 2 });
    },
    'a queue pair that is made, changed and ended': (game) => {
      const { handle: cq } = game.createCq(7);
      const qp = game.createQp({ cq });
      game.initialize(qp);
      game.settle();
      game.destroyQp(qp);
      game.settle();
    },
    'a receive request that is flushed': (game) => {
      const { handle: cq, ring } = game.createCq(7);
      const qp = game.createQp({ cq });
      game.kill(qp);
      game.receive(qp.receives);
      game.settle();
      assert.deepEqual(statusesIn(ring), { [WcStatus.WR_FLUSH_ERR]: 1 });
    },
    'a round without anything to do': (game) => game.settle(),
  };

  for (const [what, act] of Object.entries(DEEDS))
    it(`add no look to ${what}`, () => {
      assert.equal(looksBeside(60, act), looksBeside(3, act));
    });

  it('need no timely look unless one is in ERR or full', () => {
    const { handle: cq, ring } = program.createCq(1);
    const qp = program.createQp({ cq });
    assert.equal(program.context.needsLook, false);
    program.kill(qp);
    assert.equal(program.context.needsLook, true);
    for (let i = 0; i < 2; i += 1) program.receive(qp.receives);
    program.settle();
    program.destroyQp(qp);
    assert.equal(program.context.needsLook, true, 'a completion waits for room');
    assert.deepEqual(statusesIn(ring), { [WcStatus.WR_FLUSH_ERR]: 1 });
    program.settle();
    assert.deepEqual(statusesIn(ring), { [WcStatus.WR_FLUSH_ERR]: 1 });
    assert.equal(program.context.needsLook, false);
  });

  it('cost a bounded number of looks a round where they are in ERR, and are flushed all the same', () => {
    const { handle: cq, ring } = program.createCq(255);
    const dead: ProgramQp[] = Array.from({ length: 100 }, () => program.createQp({ cq }));
    for (const qp of dead) program.kill(qp);
    program.settle();
    assert.ok(countLooks(() => program.round()) < 40);
    for (const { receives } of dead) program.receive(receives);
    program.settle();
    assert.deepEqual(statusesIn(ring), { [WcStatus.WR_FLUSH_ERR]: 100 });
  });
});

describe('queues that a program writes without a doorbell', { skip: nativeHostProblem() ?? false }, () => {
  let program: GuestProgram;
  beforeEach(() => (program = new GuestProgram()));
  afterEach(() => program.close());

  it('give receive requests to a message that has found none', () => {
    const { handle: cq, ring } = program.createCq(15);
    const [a, b] = program.createPair({ cq });
    program.send(a);
    program.settle(10);
    assert.deepEqual(statusesIn(ring), {});
    program.receive(b.receives);
    program.settle(200);
    assert.deepEqual(statusesIn(ring), { [WcStatus.SUCCESS]: 2 });
  });

  it('have slots again once the NIC is done with them, though nothing completes', () => {
    const { handle: cq, ring } = program.createCq(15);
    const [a, b] = program.createPair({ cq });
    for (let i = 0; i < 9; i += 1) {
      program.receive(b.receives);
      program.send(a, 0);
      program.settle();
      const [producer, consumer] = [a.sends, b.receives].map((one) => [one?.words[32], one?.words[64]]);
      assert.equal(producer[0], producer[1]);
      assert.equal(consumer[0], consumer[1]);
    }
    assert.deepEqual(statusesIn(ring), { [WcStatus.SUCCESS]: 9 });
  });

  it('give all completions as room comes for them', () => {
    const { handle: cq, ring } = program.createCq(1);
    const [a, b] = program.createPair({ cq });
    for (let i = 0; i < 6; i += 1) {
      program.receive(b.receives);
      program.send(a, 0);
      program.settle();
      assert.deepEqual(statusesIn(ring), { [WcStatus.SUCCESS]: 1 });
    }
  });

  it('make room for a completion before one is lost', () => {
    const { handle: cq, ring } = program.createCq(1);
    const [a, b] = program.createPair({ cq });
    for (let i = 0; i < 3; i += 1) program.receive(b.receives);
    // Two fit: one in the queue of the program, one in the NIC's. The third comes after the program has polled.
    for (let i = 0; i < 2; i += 1) program.send(a, 0);
    program.settle();
    assert.deepEqual(statusesIn(ring), { [WcStatus.SUCCESS]: 1 });
    program.send(a, 0);
    for (let i = 0; i < 40; i += 1) program.cluster.step();
    program.context.push();
    assert.deepEqual(statusesIn(ring), { [WcStatus.SUCCESS]: 1 });
    program.settle();
    assert.deepEqual(statusesIn(ring), { [WcStatus.SUCCESS]: 1 });
    assert.equal(takeAsyncEvent(program.context.context), undefined);
  });

  it('count for the limit of a shared receive queue', () => {
    const { handle: cq } = program.createCq(15);
    const srq = program.createSrq(7, 2);
    const [a] = program.createPair({ cq, srq: srq.handle });
    for (let i = 0; i < 3; i += 1) program.receive(srq.ring);
    program.send(a);
    for (let i = 0; i < 40; i += 1) program.cluster.step();
    assert.equal(takeAsyncEvent(program.context.context), undefined);
    program.send(a);
    for (let i = 0; i < 40; i += 1) program.cluster.step();
    assert.equal(takeAsyncEvent(program.context.context)?.eventType, EventType.SRQ_LIMIT_REACHED);
  });

  it('are forgotten with the queue pair', () => {
    const { handle: cq, ring } = program.createCq(15);
    const [a, b] = program.createPair({ cq });
    program.receive(b.receives);
    program.send(a);
    program.kill(b);
    program.destroyQp(a);
    program.destroyQp(b);
    program.settle();
    assert.equal(program.context.needsLook, false);
    assert.ok(Object.keys(statusesIn(ring)).length <= 1);
  });
});
