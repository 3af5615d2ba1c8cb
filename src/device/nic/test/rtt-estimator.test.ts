import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RttEstimator } from '../reliable/rtt-estimator.js';

describe('RttEstimator.ptoUs', () => {
  function measured(us: number): RttEstimator {
    const rtt = new RttEstimator();
    for (let i = 0; i < 100; i += 1) {
      rtt.onSent(i, 0);
      rtt.onAcknowledged(i + 1, us);
    }
    return rtt;
  }

  it('is infinite until a round trip was measured', () => {
    assert.equal(new RttEstimator().ptoUs, Infinity);
  });

  it('is at least 10 ms', () => {
    assert.equal(measured(30).ptoUs, 10_000);
  });

  it('is about two round trips where those are long', () => {
    const { ptoUs } = measured(10_000);
    assert.ok(ptoUs > 19_000 && ptoUs < 21_000, String(ptoUs));
  });

  it('doubles with every probe, and is infinite after the last', () => {
    const rtt = measured(30);
    const seen = Array.from({ length: 7 }, () => {
      rtt.onProbe();
      return rtt.ptoUs;
    });
    assert.deepEqual(seen, [20_000, 40_000, 80_000, 160_000, 320_000, Infinity, Infinity]);
  });

  it('ignores packets that were sent twice', () => {
    const rtt = measured(30);
    rtt.onSent(200, 0);
    rtt.forget();
    rtt.onAcknowledged(201, 1e6);
    assert.equal(rtt.ptoUs, 10_000);
  });
});
