import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CopyProgress, ForeignMemory } from '../index.js';
import { LATER } from '../index.js';
import { CopyEngine, PendingCopy } from '../memory/copying/copy-engine.js';
import { MemoryRegion } from '../memory/memory-region.js';

/** A device of which the test says when it has done its copies, and what is asked of it. */
class Device implements CopyProgress {
  needsPolling = true;
  readonly asked: string[] = [];
  onPoll: (() => void) | undefined;

  poll(): void {
    this.asked.push('poll');
    this.onPoll?.();
  }

  submit(): void {
    this.asked.push('submit');
  }
}

function memoryOf(device: Device, closed: string[] = []): ForeignMemory {
  return {
    lengthBytes: 64,
    progress: device,
    read: () => LATER,
    write: () => LATER,
    atomic: () => LATER,
    cancel: () => closed.push('cancel'),
    close: () => closed.push('close'),
  };
}

function regionOf(foreign: ForeignMemory): MemoryRegion {
  return new MemoryRegion(1, 2, 3, { pd: 1, access: 0, bytes: new Uint8Array(0), foreign, iovaHi: 0, iovaLo: 0 });
}

/** A copy that is under way. */
function begin(engine: CopyEngine, region: MemoryRegion, told: number[] = []): PendingCopy {
  const copy = new PendingCopy(engine, { onCopied: (bytes) => told.push(bytes) }, undefined);
  assert.ok(region.foreign !== undefined);
  copy.started(region, region.foreign);
  return copy;
}

describe('memory whose copies have to be given time', () => {
  it('is told to begin once a turn, however many copies were asked for', () => {
    const device = new Device();
    const engine = new CopyEngine();
    const region = regionOf(memoryOf(device));
    begin(engine, region);
    begin(engine, region);
    engine.endTurn();
    engine.endTurn();
    assert.deepEqual(device.asked, ['submit']);
  });

  it('is looked at in each turn as long as a copy is under way, and has the NIC take turns', () => {
    const device = new Device();
    const engine = new CopyEngine();
    const told: number[] = [];
    const copy = begin(engine, regionOf(memoryOf(device)), told);
    engine.takeNotice();
    const before = [engine.busy, engine.isPolling];
    device.onPoll = () => copy.finish(8);
    engine.takeNotice();
    engine.takeNotice();
    assert.deepEqual([before, engine.busy, told], [[true, true], false, [8]]);
    assert.deepEqual(device.asked, ['poll', 'submit', 'poll']);
  });

  it('whose ends are told of by itself is not looked at, and lets the NIC sleep', () => {
    const device = new Device();
    device.needsPolling = false;
    const engine = new CopyEngine();
    begin(engine, regionOf(memoryOf(device)));
    engine.takeNotice();
    assert.deepEqual([device.asked, engine.busy], [['submit'], false]);
  });

  it('has the turn not asked for that takes note anyway', () => {
    const device = new Device();
    const engine = new CopyEngine();
    let asked = 0;
    engine.onFinished = () => (asked += 1);
    const copy = begin(engine, regionOf(memoryOf(device)));
    device.onPoll = () => copy.finish(8);
    engine.takeNotice();
    assert.equal(asked, 0);
  });

  it('is let go of when its region ends, after the copies were given up', () => {
    const closed: string[] = [];
    const region = regionOf(memoryOf(new Device(), closed));
    begin(new CopyEngine(), region);
    region.close();
    assert.deepEqual(closed, ['cancel', 'close']);
  });

  it('is let go of when its region gets other memory, and kept when only access changes', () => {
    const closed: string[] = [];
    const foreign = memoryOf(new Device(), closed);
    const region = regionOf(foreign);
    const attributes = { pd: 1, access: 1, bytes: new Uint8Array(0), iovaHi: 0, iovaLo: 0 };
    region.change({ ...attributes, foreign });
    const kept = closed.length;
    region.change({ ...attributes, foreign: memoryOf(new Device()) });
    assert.deepEqual([kept, closed], [0, ['close']]);
  });
});
