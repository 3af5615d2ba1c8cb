import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clockOriginNs } from '../device-clock.js';

const ORIGIN_NS = 5_000_000_000n;
const STALL_NS = 30_000_000n;

/** @returns how far a clock of the NIC is ahead of its timestamps whose thread loses its processor before such reads of a clock */
function aheadNs(stalls: readonly number[]): bigint {
  let [ns, reads] = [ORIGIN_NS + 1_000_000n, 0];
  const read = (): bigint => {
    ns += stalls.includes(reads) ? STALL_NS : 100n;
    reads += 1;
    return ns;
  };
  return ORIGIN_NS - clockOriginNs({ sharedNs: read, ownUs: () => Number(read() - ORIGIN_NS) / 1000 });
}

describe('the clock of a NIC in a thread of its own', () => {
  it('agrees with its timestamps, and is never behind them', () => {
    const ahead = aheadNs([]);
    assert.ok(ahead >= 0n && ahead <= 1100n, `${ahead} ns`);
  });

  for (const stalls of [[1], [2], [0, 1, 2, 3], [4, 7]])
    it(`agrees also where the thread loses its processor while it compares the clocks, at ${stalls.join()}`, () => {
      const ahead = aheadNs(stalls);
      assert.ok(ahead >= 0n && ahead <= 1100n, `${ahead} ns`);
    });
});
