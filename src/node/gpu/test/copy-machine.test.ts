import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Copy } from '../../../device/nic/index.js';
import { CopyMachine } from '../index.js';
import { DEVICE_LOST, HandSession } from './support-queue.js';

const BYTES = 64;
const STAGED = 64;

class Ended implements Copy {
  copiedBytes: number | undefined;

  finish(copiedBytes: number): void {
    assert.equal(this.copiedBytes, undefined, 'a copy ends twice');
    this.copiedBytes = copiedBytes;
  }
}

function open(): { session: HandSession; machine: CopyMachine; failures: unknown[] } {
  const session = new HandSession(new Uint8Array(BYTES));
  const failures: unknown[] = [];
  return { session, machine: new CopyMachine(session, (failure) => failures.push(failure)), failures };
}

function write(machine: CopyMachine, value: number, offset = 0): Ended {
  const copy = new Ended();
  assert.ok(machine.write(1, offset, Uint8Array.of(value), 0, 1, copy));
  return copy;
}

function read(machine: CopyMachine, target: Uint8Array): Ended {
  const copy = new Ended();
  assert.ok(machine.read(1, 0, target, 0, target.length, copy));
  return copy;
}

describe('copies of a GPU', () => {
  it('that were asked for in one turn are submitted together, and tell of their ends when the device has', () => {
    const { session, machine } = open();
    const copies = [write(machine, 1), write(machine, 2, 1)];
    machine.submit();
    machine.poll();
    const [queue] = session.queues;
    assert.deepEqual([queue.batches.length, copies.map(({ copiedBytes }) => copiedBytes)], [1, [undefined, undefined]]);
    queue.batches[0].done();
    machine.poll();
    assert.deepEqual(
      copies.map(({ copiedBytes }) => copiedBytes),
      [1, 1],
    );
    assert.deepEqual([...session.memory.subarray(0, 2)], [1, 2]);
    assert.ok(queue.batches[0].isReleased);
  });

  it('may have their source changed as soon as they have begun', () => {
    const { session, machine } = open();
    const source = Uint8Array.of(5);
    machine.write(1, 0, source, 0, 1, new Ended());
    source[0] = 6;
    machine.finish();
    assert.equal(session.memory[0], 5);
  });

  it('need to be looked at only while the device has something to do', () => {
    const { session, machine } = open();
    const needed = [machine.needsPolling];
    write(machine, 1);
    machine.submit();
    needed.push(machine.needsPolling);
    session.queues[0].batches[0].done();
    machine.poll();
    needed.push(machine.needsPolling);
    assert.deepEqual(needed, [false, true, false]);
  });

  it('for which there is no staging wait, and begin when there is', () => {
    const { session, machine } = open();
    const copies = Array.from({ length: STAGED + 1 }, (_, i) => write(machine, i & 0xff));
    machine.submit();
    const [queue] = session.queues;
    queue.batches[0].done();
    machine.poll();
    assert.deepEqual([copies[STAGED - 1].copiedBytes, copies[STAGED].copiedBytes], [1, undefined]);
    queue.batches[1].done();
    machine.poll();
    assert.equal(copies[STAGED].copiedBytes, 1);
  });

  it('for which there is no staging begin when those before them could not be submitted', () => {
    const session = new HandSession(new Uint8Array(BYTES));
    const machine = new CopyMachine(session, undefined, 1);
    const copies = [write(machine, 1), write(machine, 2)];
    const [queue] = session.queues;
    queue.refusesSubmission = true;
    machine.submit();
    assert.ok(machine.needsPolling);
    machine.poll();
    queue.batches[0].done();
    machine.poll();
    assert.deepEqual([copies.map(({ copiedBytes }) => copiedBytes), session.memory[0]], [[0, 1], 2]);
  });

  it('that are given up touch neither memory afterwards, and nobody is told', () => {
    const { session, machine } = open();
    const target = new Uint8Array(1);
    const reading = read(machine, target);
    const writing = write(machine, 3);
    machine.submit();
    for (const copy of [reading, writing]) machine.cancel(copy);
    const then = session.memory.slice();
    session.memory.fill(9);
    machine.poll();
    assert.deepEqual([reading.copiedBytes, writing.copiedBytes, target[0], then[0]], [undefined, undefined, 0, 3]);
    assert.equal(machine.slotsInUse, 0);
  });

  it('that are given up while they wait never begin', () => {
    const { session, machine } = open();
    for (let i = 0; i < STAGED; i += 1) write(machine, 1);
    const waiting = write(machine, 7);
    machine.cancel(waiting);
    machine.finish();
    assert.deepEqual([waiting.copiedBytes, session.memory[0]], [undefined, 1]);
  });

  it('fail when the device says so, and those behind them go on', () => {
    const { session, machine, failures } = open();
    const first = write(machine, 1);
    machine.submit();
    const second = write(machine, 2);
    machine.submit();
    const [queue] = session.queues;
    queue.batches[0].fail();
    machine.poll();
    assert.deepEqual([first.copiedBytes, second.copiedBytes, failures], [0, undefined, [DEVICE_LOST]]);
    assert.equal(machine.failure, DEVICE_LOST);
    queue.batches[1].done();
    machine.poll();
    assert.deepEqual([second.copiedBytes, machine.failure, machine.slotsInUse], [1, undefined, 0]);
  });

  it('never use staging again of which nobody knows what the device does with it, nor free it', () => {
    const { session, machine } = open();
    const copy = write(machine, 1);
    machine.submit();
    const [queue] = session.queues;
    queue.drains = false;
    queue.batches[0].fail();
    machine.poll();
    assert.deepEqual([copy.copiedBytes, machine.slotsInUse], [0, 1]);
    // Nothing more is asked of that queue.
    assert.equal(machine.write(1, 0, Uint8Array.of(1), 0, 1, new Ended()), false);
    machine.close();
    assert.equal(session.staging.size, 1);
  });

  it('that the device refuses are refused, and take no staging', () => {
    const { session, machine, failures } = open();
    write(machine, 1);
    session.queues[0].refuses = true;
    assert.equal(machine.write(1, 0, Uint8Array.of(2), 0, 1, new Ended()), false);
    session.queues[0].refuses = false;
    machine.finish();
    assert.deepEqual([session.memory[0], failures, machine.slotsInUse], [1, [DEVICE_LOST], 0]);
  });

  it('leave nothing when nobody wants any more of them', () => {
    const { session, machine } = open();
    write(machine, 1);
    read(machine, new Uint8Array(1));
    machine.finish();
    machine.close();
    assert.deepEqual([session.staging.size, session.queues.map(({ isClosed }) => isClosed)], [0, [true, true]]);
  });
});
