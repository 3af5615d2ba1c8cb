import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { bandwidthOf, GBIT_PER_S, MIB_PER_S, sumOf } from '../perftest/bandwidth/bandwidth.js';
import { latencyOf, latencyOfDuration, samplesOf } from '../perftest/latency/latency.js';
import { fastestMs, type Times } from '../perftest/bandwidth/peak.js';
import { RateLimiter } from '../perftest/bandwidth/rate-limiter.js';
import { CpuMeter, Timing } from '../perftest/running/timing.js';

function slowly({ posted, completed, count }: Times): number {
  let least = Infinity;
  for (let i = 0; i < count; i += 1) {
    for (let j = i; j < count; j += 1) {
      if (completed[j] !== 0) least = Math.min(least, (completed[j] - posted[i]) / (j - i + 1));
    }
  }
  return least;
}

/** A run: each message is posted some time after the one before, and completes some time after that, in order. */
const runs = fc
  .record({
    gaps: fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 1, maxLength: 60 }),
    waits: fc.array(fc.integer({ min: 1, max: 80 }), { minLength: 60, maxLength: 60 }),
    cqMod: fc.integer({ min: 1, max: 7 }),
  })
  .map(({ gaps, waits, cqMod }): Times => {
    const count = gaps.length;
    const posted = new Float64Array(count);
    const completed = new Float64Array(count);
    let now = 1000;
    let last = 0;
    for (let i = 0; i < count; i += 1) {
      now += gaps[i];
      posted[i] = now;
      last = Math.max(last, now + waits[i]);
      if ((i + 1) % cqMod === 0 || i === count - 1) completed[i] = last;
    }
    return { posted, completed, count };
  });

test('the fastest stretch is the fastest of all there are', () => {
  fc.assert(
    fc.property(runs, (times) => {
      const found = fastestMs(times);
      const expected = slowly(times);
      assert.ok(Math.abs(found - expected) <= 1e-9 * expected, `${found} but ${expected}`);
    }),
  );
});

test('the fastest stretch of many messages is found at once', () => {
  const count = 1_000_000;
  const posted = Float64Array.from({ length: count }, (_, i) => i);
  const completed = Float64Array.from({ length: count }, (_, i) => i + 10);
  assert.ok(Math.abs(fastestMs({ posted, completed, count }) - 1) < 1e-4);
});

test('bandwidth is told in MiB or in Gbit a second', () => {
  const count = { messages: 1024, elapsedMs: 500, fastestMs: 0.25 };
  const mib = { sizeBytes: 2 ** 20, iterations: 1024, peak: 4000, average: 2048, messageRate: 0.002048 };
  assert.deepEqual(bandwidthOf(count, 2 ** 20, MIB_PER_S), mib);
  assert.equal(bandwidthOf({ ...count, messages: 1000 }, 125_000, GBIT_PER_S).average, 2);
});

test('without a look at single messages there is no peak', () => {
  assert.equal(bandwidthOf({ messages: 5, elapsedMs: 1, fastestMs: Infinity }, 64, MIB_PER_S).peak, 0);
});

test('a run in which nothing came has no bandwidth', () => {
  const none = { sizeBytes: 64, iterations: 0, peak: 0, average: 0, messageRate: 0 };
  assert.deepEqual(bandwidthOf({ messages: 0, elapsedMs: 0, fastestMs: Infinity }, 64, MIB_PER_S), none);
});

test('two directions are added up', () => {
  const own = { sizeBytes: 64, iterations: 10, peak: 3, average: 2, messageRate: 0.5 };
  assert.deepEqual(sumOf(own, { ...own, iterations: 11 }), { ...own, peak: 6, average: 4, messageRate: 1 });
});

test('a sample is the time between two posts, or half of it', () => {
  const posted = Float64Array.of(1, 1.5, 2.5);
  assert.deepEqual(samplesOf(posted, 3, false), Float64Array.of(500, 1000));
  assert.deepEqual(samplesOf(posted, 3, true), Float64Array.of(250, 500));
});

test('the slowest two are left out of the figures, but for the maximum', () => {
  const { min, max, typical, average, percentile99 } = latencyOf(Float64Array.of(40, 10, 5000, 20, 20, 900), 2);
  assert.deepEqual(
    { min, max, typical, average, percentile99 },
    {
      min: 10,
      max: 900,
      typical: 20,
      average: 22.5,
      percentile99: 900,
    },
  );
});

test('the deviation is that of the counted samples', () => {
  assert.equal(latencyOf(Float64Array.of(10, 30, 10, 30, 1000, 1000), 2).deviation, 10);
});

test('of many samples the percentiles are where they should be', () => {
  const latency = latencyOf(
    Float64Array.from({ length: 1002 }, (_, i) => i + 1),
    2,
  );
  const { percentile99, percentile999, typical, max } = latency;
  assert.deepEqual(
    { percentile99, percentile999, typical, max },
    {
      percentile99: 991,
      percentile999: 1000,
      typical: 500.5,
      max: 1001,
    },
  );
});

test('of a duration the average is told, and how many a second', () => {
  const once = { sizeBytes: 2, iterations: 1000, average: 1000, perSecond: 1000 };
  assert.deepEqual(latencyOfDuration(1000, 1000, 2, false), once);
  assert.deepEqual(latencyOfDuration(1000, 1000, 2, true), { ...once, average: 500 });
});

test('a period counts between its margins', () => {
  const timing = new Timing({ durationMs: 1000, marginMs: 250 });
  assert.equal(timing.hasBegun, false);
  timing.begin(5000);
  const seen = [5000, 5249, 5250, 5700, 5749, 5751, 5999, 6001].map((now) => {
    timing.look(now);
    return [now, timing.counts, timing.over];
  });
  assert.deepEqual(seen, [
    [5000, false, false],
    [5249, false, false],
    [5250, true, false],
    [5700, true, false],
    [5749, true, false],
    [5751, false, false],
    [5999, false, false],
    [6001, false, true],
  ]);
  assert.equal(timing.sampledMs, 501);
});

test('a period without margins counts from its beginning, and can begin again', () => {
  const timing = new Timing({ durationMs: 1000, marginMs: 0 });
  timing.begin(1);
  assert.deepEqual([timing.counts, timing.over], [true, false]);
  timing.look(1002);
  assert.deepEqual([timing.counts, timing.over, timing.sampledMs], [false, true, 1001]);
  timing.begin(1002);
  assert.deepEqual([timing.counts, timing.over], [true, false]);
});

test('a period that ends before its time has counted until then', () => {
  const timing = new Timing({ durationMs: 1000, marginMs: 0 });
  timing.begin(5);
  timing.end(505);
  assert.deepEqual([timing.counts, timing.over, timing.sampledMs], [false, true, 500]);
});

test('a rate lets a burst pass, and the next one when the rate allows it', () => {
  const limiter = new RateLimiter({ limit: 1000, units: 'p', burst: 10 }, 64);
  assert.equal(limiter.admits(5), true);
  assert.equal(limiter.count(8), true);
  assert.equal(limiter.admits(5), true);
  assert.equal(limiter.count(2), false);
  assert.equal(limiter.admits(14), false);
  assert.equal(limiter.admits(15), true);
});

test('a sender that was late catches up by one burst', () => {
  const limiter = new RateLimiter({ limit: 1000, units: 'p', burst: 10 }, 64);
  const burstsAt = (nowMs: number): number => {
    let bursts = 0;
    for (; limiter.admits(nowMs); bursts += 1) limiter.count(10);
    return bursts;
  };
  assert.deepEqual([0, 10, 1000, 1005, 1010].map(burstsAt), [1, 1, 2, 0, 1]);
});

for (const [units, limit] of [
  ['M', 125],
  ['g', (125 * 2 ** 20 * 8) / 1e9],
] as const)
  test(`a rate of unit ${units} counts bytes`, () => {
    const limiter = new RateLimiter({ limit, units, burst: 1 }, 2 ** 20);
    limiter.admits(0);
    limiter.count(1);
    assert.deepEqual([limiter.admits(7.9), limiter.admits(8.1)], [false, true]);
  });

test('how busy the processors are is a percentage, which stays as it was at the end', () => {
  const meter = new CpuMeter();
  meter.begin();
  meter.end();
  const { percent } = meter;
  assert.ok(percent >= 0 && percent <= 100);
  assert.equal(meter.percent, percent);
});
