import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RoundTrip } from '../reliable/round-trip.js';

describe('the patience with which an acknowledgement is awaited', () => {
  function measured(us: number): RoundTrip {
    const trip = new RoundTrip();
    for (let i = 0; i < 100; i += 1) {
      trip.onSent(i, 0);
      trip.onAcknowledged(i + 1, us);
    }
    return trip;
  }

  it('is for ever as long as no round trip was seen', () => {
    assert.equal(new RoundTrip().patienceUs, Infinity);
  });

  it('is ten milliseconds where round trips are short', () => {
    assert.equal(measured(30).patienceUs, 10_000);
  });

  it('is some two round trips where they are long', () => {
    const { patienceUs } = measured(10_000);
    assert.ok(patienceUs > 19_000 && patienceUs < 21_000, String(patienceUs));
  });

  it('doubles with every question, until there are no more', () => {
    const trip = measured(30);
    const seen = Array.from({ length: 7 }, () => {
      trip.onQuestion();
      return trip.patienceUs;
    });
    assert.deepEqual(seen, [20_000, 40_000, 80_000, 160_000, 320_000, Infinity, Infinity]);
  });

  it('takes no packet into account that was sent twice', () => {
    const trip = measured(30);
    trip.onSent(200, 0);
    trip.forget();
    trip.onAcknowledged(201, 1e6);
    assert.equal(trip.patienceUs, 10_000);
  });
});
