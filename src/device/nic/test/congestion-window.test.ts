import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CongestionWindow } from '../reliable/congestion-window.js';

const MTU = 4096;
const CEILING = 64;

function rounds(window: CongestionWindow, count: number, fromUs = 0): void {
  for (let i = 0; i < count; i += 1) window.onAcknowledged(window.packets, window.packets, fromUs + i);
}

function grown(): CongestionWindow {
  const window = new CongestionWindow(MTU);
  rounds(window, 4);
  return window;
}

describe('a congestion window', () => {
  it('begins with 16 KiB and doubles with every round trip, up to 256 KiB', () => {
    const window = new CongestionWindow(MTU);
    const seen = [window.packets];
    for (let i = 0; i < 5; i += 1) {
      rounds(window, 1);
      seen.push(window.packets);
    }
    assert.deepEqual(seen, [4, 8, 16, 32, 64, 64]);
  });

  it('grows on beyond that where the receiver is known to take more, but doubles no more', () => {
    const window = new CongestionWindow(MTU, 1 << 20);
    rounds(window, 4);
    assert.equal(window.packets, CEILING);
    rounds(window, 1);
    assert.ok(window.packets <= CEILING + 2, `${window.packets} packets`);
    rounds(window, 100);
    assert.equal(window.bytes, 1 << 20);
    assert.equal(window.maxBytes, 1 << 20);
  });

  it('is as for any receiver where that is known to take less', () => {
    const window = new CongestionWindow(MTU, 100_000);
    rounds(window, 100);
    assert.equal(window.packets, CEILING);
  });

  it('does not grow while it is not used', () => {
    const window = new CongestionWindow(MTU);
    for (let i = 0; i < 100; i += 1) window.onAcknowledged(1, 1, i);
    assert.equal(window.packets, 4);
  });

  it('is cut in half by the first mark, and by later ones of the same round trip no more', () => {
    const window = grown();
    for (let i = 0; i < 10; i += 1) window.onCongestion(CEILING);
    assert.equal(window.packets, 31);
  });

  it('is cut by less where marks are rare', () => {
    const window = grown();
    rounds(window, 100);
    window.onCongestion(CEILING);
    assert.equal(window.packets, 63);
  });

  it('is never less than one packet', () => {
    const window = grown();
    for (let i = 0; i < 100; i += 1) window.onCongestion(0);
    assert.equal(window.packets, 1);
  });

  it('is back within a few quiet round trips', () => {
    const window = grown();
    window.onCongestion(CEILING);
    rounds(window, 15);
    assert.equal(window.packets, CEILING);
  });

  it('grows quicker the longer it is quiet after a loss', () => {
    const window = grown();
    window.onLoss();
    assert.equal(window.packets, CEILING / 2);
    rounds(window, 7);
    assert.ok(window.packets < CEILING / 2 + 12, String(window.packets));
    rounds(window, 10);
    assert.equal(window.packets, CEILING);
  });

  it('begins anew when the retry timer has run out', () => {
    const window = grown();
    window.onTimeout();
    assert.equal(window.packets, 2);
    window.onAcknowledged(2, 2, 0);
    assert.equal(window.packets, 4);
  });

  it('is what it was when all had arrived that the timer took for lost', () => {
    const window = grown();
    window.onTimeout();
    window.onAcknowledged(CEILING, 2, 0);
    assert.equal(window.packets, CEILING);
  });

  it('begins with little after a silence', () => {
    const window = grown();
    window.onRestart(9000);
    assert.equal(window.packets, CEILING);
    window.onRestart(20_000);
    assert.equal(window.packets, 4);
  });
});
