import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Mtu } from '../../ibta/index.js';
import { OpcodeBit, opcodeBits } from '../../wire/index.js';
import { assertCompleted, type Captured, Pair, pattern } from './pair.js';

const DELAY_US = 5;

function isFetch({ opcode }: Captured): boolean {
  return (opcodeBits[opcode] & (OpcodeBit.READ_REQUEST | OpcodeBit.ATOMIC)) !== 0;
}

function endsFetch({ opcode }: Captured): boolean {
  const bits = opcodeBits[opcode];
  return (
    (bits & OpcodeBit.ATOMIC_ACK) !== 0 ||
    ((bits & OpcodeBit.READ_RESPONSE) !== 0 && (bits & (OpcodeBit.LAST | OpcodeBit.ONLY)) !== 0)
  );
}

/** The most READs and atomics that were ever on their way at once, as the wire shows them. */
function deepest(pair: Pair): number {
  let most = 0;
  const requests = pair.fromA(isFetch);
  const ends = pair.fromB(endsFetch);
  for (const [i, { atUs }] of requests.entries()) {
    const answered = ends.filter((end) => end.atUs + DELAY_US <= atUs).length;
    most = Math.max(most, i + 1 - answered);
  }
  return most;
}

describe('max_rd_atomic', () => {
  for (const depth of [1, 2, 3, 4, 8, 16]) {
    it(`of ${String(depth)} bounds the READs and atomics outstanding, and is made use of`, () => {
      const pair = new Pair();
      const { a } = pair.connect({ both: { pathMtu: Mtu.MTU_256, maxRdAtomic: depth, maxDestRdAtomic: depth } });
      const remote = pair.b.mrOf(pattern(600));
      const local = pair.a.mr(600);
      const wrIds = Array.from({ length: 40 }, (_, i) =>
        i % 3 === 0 ? a.fetchAdd(local, remote, 0n) : a.read(local, remote),
      );
      pair.drive();
      assertCompleted(a.sent(), wrIds);
      assert.equal(deepest(pair), depth);
    });
  }

  it('does not hold up SENDs and WRITEs that come before the READ that must wait', () => {
    const pair = new Pair();
    const { a } = pair.connect({ both: { maxRdAtomic: 1 } });
    const remote = pair.b.mr(8);
    const local = pair.a.mr(8);
    a.read(local, remote);
    a.write(local, remote);
    a.read(local, remote);
    a.write(local, remote);
    pair.drive();
    const requests = pair.fromA();
    assert.deepEqual(
      requests.map(({ name }) => name),
      ['RC_READ_REQUEST', 'RC_WRITE_ONLY', 'RC_READ_REQUEST', 'RC_WRITE_ONLY'],
    );
    assert.equal(requests[1].atUs, requests[0].atUs);
    assert.ok(requests[2].atUs >= requests[0].atUs + 2 * DELAY_US);
    assert.ok(requests[3].atUs >= requests[2].atUs);
  });

  it('is kept while packets are lost and asked for again', () => {
    const pair = new Pair({ network: { conditions: { loss: 0.1 }, seed: 11 } });
    const { a } = pair.connect({ both: { pathMtu: Mtu.MTU_256, timeout: 6, maxRdAtomic: 2, maxDestRdAtomic: 2 } });
    const remote = pair.b.mrOf(pattern(900));
    const local = pair.a.mr(900);
    const wrIds = Array.from({ length: 30 }, () => a.read(local, remote));
    pair.drive();
    assertCompleted(a.sent(), wrIds);
    assert.deepEqual(local.bytes, remote.bytes);
  });

  it('may differ between the two directions', () => {
    const pair = new Pair();
    const { a, b } = pair.connect({
      a: { maxRdAtomic: 1, maxDestRdAtomic: 4 },
      b: { maxRdAtomic: 4, maxDestRdAtomic: 1 },
    });
    const [atA, atB] = [pair.a.mr(8), pair.b.mr(8)];
    const wrIds = Array.from({ length: 10 }, () => [a.read(atA, atB), b.read(atB, atA)]);
    pair.drive();
    assertCompleted(
      a.sent(),
      wrIds.map(([id]) => id),
    );
    assertCompleted(
      b.sent(),
      wrIds.map(([, id]) => id),
    );
    assert.equal(deepest(pair), 1);
  });
});
