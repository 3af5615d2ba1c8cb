import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CompCntrType, Mtu, QpAttachCompCntrOp, WcStatus } from '../../ibta/index.js';
import type { TestMr } from './host.js';
import { assertStatuses, dropping, Pair, pattern } from './pair.js';
import type { TestQp } from './qp.js';

/** A queue pair of `b` whose counter counts what `a` writes there. */
class Counted extends Pair {
  readonly from: TestQp;
  readonly counts: BigUint64Array;
  readonly source: TestMr;
  readonly target: TestMr;

  constructor(type: CompCntrType = CompCntrType.WRS) {
    super();
    const memory = new SharedArrayBuffer(16);
    this.counts = new BigUint64Array(memory);
    this.from = this.a.qp();
    const to = this.b.qp();
    const { control } = this.b.nic;
    control.attachCompCntr(to.qpn, control.createCompCntr(type, memory), QpAttachCompCntrOp.REMOTE_RDMA_WRITE);
    this.from.toRts(to.peer, { pathMtu: Mtu.MTU_256 });
    to.toRts(this.from.peer, { pathMtu: Mtu.MTU_256 });
    this.source = this.a.mrOf(pattern(1000));
    this.target = this.b.mr(1000);
  }
}

test('a WRITE counts once, when its last packet was placed, however often that is repeated', () => {
  const counted = new Counted();
  counted.script = dropping(({ from }) => from === counted.b.ip, 1);
  const wrId = counted.from.write(counted.source, counted.target);
  const seen = new Set<bigint>();
  while (counted.step()) {
    seen.add(counted.counts[0]);
    if (counted.counts[0] > 0n) assert.deepEqual(counted.target.bytes, pattern(1000));
  }
  assertStatuses(counted.from.sent(), [[wrId, WcStatus.SUCCESS]]);
  assert.deepEqual([[...seen], counted.counts[1]], [[0n, 1n], 0n]);
});

test('a WRITE that no key opens counts as an error, once', () => {
  const counted = new Counted();
  const wrId = counted.from.write(counted.source, counted.target, { rkey: counted.target.rkey ^ 1 });
  counted.drive();
  assertStatuses(counted.from.sent(), [[wrId, WcStatus.REM_ACCESS_ERR]]);
  assert.deepEqual([...counted.counts], [0n, 1n]);
});

test('a WRITE whose region is deregistered under way counts as an error, once', () => {
  const counted = new Counted();
  counted.script = dropping(({ from }) => from === counted.a.ip, 4);
  counted.from.write(counted.source, counted.target);
  while (counted.target.bytes[0] !== counted.source.bytes[0] && counted.step());
  counted.b.nic.control.deregMr(counted.target.handle);
  counted.drive();
  assert.deepEqual([...counted.counts], [0n, 1n]);
});

test('bytes are counted past 2^32', () => {
  const counted = new Counted(CompCntrType.BYTES);
  counted.counts[0] = 2n ** 32n - 999n;
  counted.from.write(counted.source, counted.target);
  counted.drive();
  assert.equal(counted.counts[0], 2n ** 32n + 1n);
});
