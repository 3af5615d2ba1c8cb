import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inPieces, LONGEST_MS } from '../index.js';

describe('a timer that is to wait for longer than timers of JavaScript can', () => {
  /** A timer of which somebody else says when it is over. */
  function played() {
    const waits: number[] = [];
    let action: (() => void) | undefined;
    const start = inPieces((delayMs, then) => {
      waits.push(delayMs);
      action = then;
      return () => (action = undefined);
    });
    return { waits, start, pass: () => action?.() };
  }

  it('waits for all of it', () => {
    const { waits, start, pass } = played();
    let calls = 0;
    start(2 * LONGEST_MS + 5, () => (calls += 1));
    pass();
    pass();
    assert.deepEqual([waits, calls], [[LONGEST_MS, LONGEST_MS, 5], 0]);
    pass();
    assert.equal(calls, 1);
  });

  it('can be taken back at any time', () => {
    const { start, pass } = played();
    let calls = 0;
    const stop = start(LONGEST_MS + 1, () => (calls += 1));
    pass();
    stop();
    pass();
    assert.equal(calls, 0);
  });
});
