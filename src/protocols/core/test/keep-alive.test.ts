import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KeepAlive } from '../index.js';

class Clock {
  readonly armed = new Set<() => void>();

  chore(_: number, action: () => void): () => void {
    this.armed.add(action);
    return () => void this.armed.delete(action);
  }

  fire(): void {
    const due = [...this.armed];
    this.armed.clear();
    for (const action of due) action();
  }
}

describe('KeepAlive', () => {
  it('probes again and again until it is ended', () => {
    const clock = new Clock();
    let probes = 0;
    const alive = KeepAlive.endless(clock, 10, { heard: () => 0, probe: () => (probes += 1) });
    for (let i = 0; i < 3; i += 1) clock.fire();
    alive.end();
    assert.deepEqual([probes, clock.armed.size], [3, 0]);
  });

  it('sets no timer any more where its own probe ends it', () => {
    const clock = new Clock();
    const alive: KeepAlive = KeepAlive.endless(clock, 10, { heard: () => 0, probe: () => alive.end() });
    clock.fire();
    assert.equal(clock.armed.size, 0);
  });

  it('sets no timer any more where a look at what was heard ends it', () => {
    const clock = new Clock();
    const heard = (): number => {
      alive.end();
      return 1;
    };
    const alive: KeepAlive = KeepAlive.endless(clock, 10, { heard, probe: () => undefined });
    clock.fire();
    assert.equal(clock.armed.size, 0);
  });
});
