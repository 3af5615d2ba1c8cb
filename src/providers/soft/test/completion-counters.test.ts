import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  AccessFlags,
  type CompCntr,
  CompCntrType,
  Mtu,
  type Qp,
  QpAttachCompCntrOp,
  QpState,
  QpType,
  SendFlags,
  WcStatus,
  WrOpcode,
} from '../../../entry/index.js';
import { NET } from '../../../../test/support/loopback.js';
import { connect, drainOne, HOSTINGS, type Hosting, pattern } from './support/pair.js';
import { Benches, makeQp } from './support/queue-pairs.js';

const { REMOTE_RDMA_WRITE } = QpAttachCompCntrOp;
const INVALID = { name: 'VerbsError', errno: 'EINVAL' };

/** A connection from `a` to `b`, on whose side a counter counts what is written there. */
class Counted extends Benches {
  readonly from: Qp;
  readonly to: Qp;
  readonly counter: CompCntr;

  constructor(hosting: Hosting, type?: CompCntrType) {
    super(hosting, NET);
    const { a, b } = this;
    this.from = makeQp(a, QpType.RC);
    this.to = makeQp(b, QpType.RC);
    this.counter = b.context.createCompCntr(type === undefined ? {} : { type });
    this.to.attachCompCntr(this.counter, { opMask: REMOTE_RDMA_WRITE });
    connect(this.from, { qpNum: this.to.qpNum, dgid: b.context.queryGid(1, 0) });
    connect(this.to, { qpNum: this.from.qpNum, dgid: a.context.queryGid(1, 0) });
  }

  /** WRITEs so many bytes, and waits for the completion. */
  write(lengthBytes: number, rkey = this.b.mr.rkey): WcStatus {
    const { a, b } = this;
    const rdma = { remoteAddr: b.mr.addr, rkey };
    const sgList = lengthBytes === 0 ? [] : [a.mr.sge(0, lengthBytes)];
    this.from.postSend({ opcode: WrOpcode.RDMA_WRITE, sendFlags: SendFlags.SIGNALED, sgList, rdma });
    return drainOne(a.cq).status;
  }
}

for (const hosting of HOSTINGS) {
  describe(`a completion counter, hosted ${hosting}`, () => {
    test('counts WRITEs of the peer once they are placed whole, of several packets and of none', () => {
      using counted = new Counted(hosting);
      counted.a.mr.bytes.set(pattern(5000));
      for (const lengthBytes of [5000, 8, 0]) assert.equal(counted.write(lengthBytes), WcStatus.SUCCESS);
      assert.deepEqual([counted.counter.read(), counted.counter.readErr()], [3n, 0n]);
      assert.deepEqual(counted.b.mr.bytes.subarray(0, 5000), pattern(5000));
    });

    test('tells whoever sees a number what the WRITEs that it counts have placed', () => {
      using counted = new Counted(hosting);
      const { a, b, from, counter } = counted;
      a.mr.bytes.set(pattern(3000));
      const rdma = { remoteAddr: b.mr.addr, rkey: b.mr.rkey };
      from.postSend({ opcode: WrOpcode.RDMA_WRITE, sgList: [a.mr.sge(0, 3000)], rdma });
      // A NIC without a thread, or of a simulation, moves when somebody polls.
      while (Atomics.load(counter.words, 0) === 0) b.cq.poll(1);
      assert.deepEqual(b.mr.bytes.subarray(0, 3000), pattern(3000));
    });

    test('counts bytes, where it is of that type, past 2^32', () => {
      using counted = new Counted(hosting, CompCntrType.BYTES);
      counted.counter.set(2n ** 32n - 100n);
      for (const lengthBytes of [60, 4000]) counted.write(lengthBytes);
      assert.equal(counted.counter.read(), 2n ** 32n + 3960n);
      assert.equal(counted.counter.counts[0], 2n ** 32n + 3960n);
    });

    test('counts a WRITE that was refused as an error', () => {
      using counted = new Counted(hosting);
      assert.equal(counted.write(64), WcStatus.SUCCESS);
      assert.equal(counted.write(64, (counted.b.mr.rkey ^ 1) >>> 0), WcStatus.REM_ACCESS_ERR);
      assert.deepEqual([counted.counter.read(), counted.counter.readErr()], [1n, 1n]);
    });

    test('cannot end while a queue pair counts there, and ends afterwards', () => {
      using counted = new Counted(hosting);
      assert.throws(() => counted.counter.destroy(), { name: 'VerbsError', errno: 'EBUSY' });
      counted.to.destroy();
      counted.counter.destroy();
      assert.throws(() => counted.counter.read(), INVALID);
    });
  });
}

describe('a completion counter', () => {
  const benches = (): Benches => new Benches('simulated', NET);

  test('counts no SENDs, and nothing that the queue pair itself does', () => {
    using counted = new Counted('simulated');
    const { a, b, from, to, counter } = counted;
    to.postRecv({ sgList: [b.mr.sge(0, 100)] });
    from.postSend({ opcode: WrOpcode.SEND, sendFlags: SendFlags.SIGNALED, sgList: [a.mr.sge(0, 100)] });
    drainOne(a.cq);
    const rdma = { remoteAddr: a.mr.addr, rkey: a.mr.rkey };
    drainOne(b.cq);
    to.postSend({ opcode: WrOpcode.RDMA_WRITE, sendFlags: SendFlags.SIGNALED, sgList: [b.mr.sge(0, 8)], rdma });
    drainOne(b.cq);
    assert.equal(counter.read(), 0n);
  });

  test('counts for several queue pairs together, of unreliable connections as well', () => {
    using sides = benches();
    const { a, b } = sides;
    const counter = b.context.createCompCntr();
    const lanes = [QpType.RC, QpType.UC].map((type) => {
      const [from, to] = [makeQp(a, type), makeQp(b, type)];
      to.attachCompCntr(counter, { opMask: REMOTE_RDMA_WRITE });
      for (const [qp, peer, context] of [
        [from, to, b.context],
        [to, from, a.context],
      ] as const) {
        const grh = { dgid: context.queryGid(1, 0) };
        qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qpAccessFlags: AccessFlags.REMOTE_WRITE });
        const reliable = type === QpType.RC ? { maxDestRdAtomic: 1, minRnrTimer: 1 } : {};
        qp.modify({
          qpState: QpState.RTR,
          pathMtu: Mtu.MTU_1024,
          destQpNum: peer.qpNum,
          rqPsn: 0,
          ahAttr: { grh },
          ...reliable,
        });
        const timers = type === QpType.RC ? { timeout: 14, retryCnt: 7, rnrRetry: 7, maxRdAtomic: 1 } : {};
        qp.modify({ qpState: QpState.RTS, sqPsn: 0, ...timers });
      }
      return from;
    });
    const rdma = { remoteAddr: b.mr.addr, rkey: b.mr.rkey };
    for (const from of lanes)
      from.postSend({ opcode: WrOpcode.RDMA_WRITE, sendFlags: SendFlags.SIGNALED, sgList: [a.mr.sge(0, 2000)], rdma });
    drainOne(a.cq);
    drainOne(a.cq);
    while (counter.read() < 2n) b.cq.poll(1);
    assert.equal(counter.read(), 2n);
  });

  test('is set and added to by its program, within 64 bits', () => {
    using sides = benches();
    const counter = sides.a.context.createCompCntr();
    counter.set(2n ** 64n - 1n);
    counter.inc(3n);
    counter.setErr(5n);
    counter.incErr(2n ** 64n - 6n);
    assert.deepEqual([counter.read(), counter.readErr()], [2n, 2n ** 64n - 1n]);
    for (const value of [-1n, 2n ** 64n]) {
      assert.throws(() => counter.set(value), INVALID);
      assert.throws(() => counter.incErr(value), INVALID);
    }
  });

  test('is attached in RESET and INIT only, and once for an operation', () => {
    using sides = benches();
    const { a } = sides;
    const counter = a.context.createCompCntr();
    const qp = makeQp(a, QpType.RC);
    qp.attachCompCntr(counter, { opMask: REMOTE_RDMA_WRITE });
    assert.throws(() => qp.attachCompCntr(counter, { opMask: REMOTE_RDMA_WRITE }), { errno: 'EBUSY' });
    const late = makeQp(a, QpType.RC);
    late.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qpAccessFlags: 0 });
    late.modify({ qpState: QpState.ERR });
    assert.throws(() => late.attachCompCntr(counter, { opMask: REMOTE_RDMA_WRITE }), INVALID);
  });

  test('refuses what it cannot count, in a sentence', () => {
    using sides = benches();
    const { a, b } = sides;
    const counter = a.context.createCompCntr();
    const qp = makeQp(a, QpType.RC);
    assert.throws(() => qp.attachCompCntr(counter, { opMask: QpAttachCompCntrOp.SEND }), { errno: 'EOPNOTSUPP' });
    assert.throws(() => qp.attachCompCntr(counter, { opMask: 0 }), INVALID);
    assert.throws(() => qp.attachCompCntr(b.context.createCompCntr(), { opMask: REMOTE_RDMA_WRITE }), INVALID);
    assert.throws(() => makeQp(a, QpType.UD).attachCompCntr(counter, { opMask: REMOTE_RDMA_WRITE }), {
      errno: 'EOPNOTSUPP',
    });
    assert.deepEqual(a.context.queryCompCntrCaps(), {
      maxValue: 2n ** 64n - 1n,
      maxCounters: 65536,
      supportedQpAttachOps: REMOTE_RDMA_WRITE,
    });
  });
});
