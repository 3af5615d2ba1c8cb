import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { KeyHash, Mode } from '../../store/index.js';
import { Modelled, type Step } from './model.js';

const KEYS = 60;

const key = fc.nat(KEYS - 1);
const ttlMs = fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 300 }));
const length = fc.oneof(fc.nat(40), fc.nat(900));

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('get', 'has', 'delete', 'explain'), key }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constantFrom('set', 'add'), key, length, ttlMs }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cas'), key, length, ttlMs, isRight: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('number'), key, value: fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('incr'), key, delta: fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('touch'), key, ttlMs }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('wait'), ms: fc.nat(100) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('sweep'), buckets: fc.nat(8) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('scan'), count: fc.integer({ min: 1, max: 50 }) }) },
);

/** A hash that is no good: few buckets, and two tags for all keys. */
class PoorHash implements KeyHash {
  low = 0;
  high = 0;

  of(bytes: Uint8Array, at: number, byteLength: number): void {
    this.low = bytes[at + byteLength - 1] & 3;
    this.high = byteLength & 1;
  }
}

function property(mode: Mode, memoryBytes: number, buckets: number, hash?: () => KeyHash): () => void {
  return () =>
    fc.assert(
      fc.property(fc.array(step, { minLength: 50, maxLength: 400 }), (steps) => {
        const modelled = new Modelled(mode, memoryBytes, buckets, hash?.());
        for (const each of steps) modelled.play(each);
        modelled.check();
      }),
      { numRuns: Number(process.env['VERBENA_TEST_TIMES'] ?? 60) },
    );
}

for (const mode of ['cache', 'store'] as const)
  describe(`a partition in ${mode} mode does what a Map does`, () => {
    it('with memory for everything', property(mode, 1 << 20, 64));
    it('with memory that is full after some keys', property(mode, 4096, 64));
    it('with memory that is a little larger than that', property(mode, 4104 + 8 * 777, 4));
    it('with one bucket for all keys', property(mode, 1 << 16, 1));
    it(
      'with keys that nearly all have the same hash',
      property(mode, 1 << 16, 16, () => new PoorHash()),
    );
    it(
      'with such keys and little memory',
      property(mode, 8192, 16, () => new PoorHash()),
    );
  });
