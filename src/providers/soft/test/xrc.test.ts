import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type Qp,
  QpState,
  QpType,
  SendFlags,
  type SendWr,
  type Srq,
  SrqType,
  WcOpcode,
  WcStatus,
  WrOpcode,
  type Xrcd,
  type XrcTargetQp,
} from '../../../entry/index.js';
import { ALL_ACCESS, drain, drainOne, HOSTINGS, type Hosting, openWindow, pattern } from './support/pair.js';
import { Benches, connectXrc, makeQp, postError } from './support/queue-pairs.js';
import { NET } from '../../../../test/support/loopback.js';

const { SIGNALED, INLINE, FENCE } = SendFlags;

/** An initiator on `a`, and on `b` its target with shared receive queues. */
class Connection extends Benches {
  readonly initiator: Qp;
  readonly xrcd: Xrcd;
  readonly target: XrcTargetQp;

  constructor(hosting: Hosting) {
    super(hosting, NET);
    const { a, b } = this;
    this.initiator = a.pd.createQp({
      qpType: QpType.XRC_SEND,
      sendCq: a.cq,
      cap: { maxSendSge: 2, maxInlineData: 32 },
    });
    this.xrcd = b.context.openXrcd();
    this.target = this.xrcd.createQp({ qpContext: 'target' });
    connectXrc(this.initiator, this.target);
  }

  makeSrq(): Srq {
    const { pd, cq } = this.b;
    return pd.createSrq({ srqType: SrqType.XRC, maxWr: 16, xrcd: this.xrcd, cq });
  }

  /** Whether requests still arrive, by way of `srq`. */
  carries(srq: Srq): boolean {
    srq.postRecv({});
    this.initiator.postSend({ opcode: WrOpcode.SEND, xrc: { remoteSrqn: srq.srqNum } });
    return drainOne(this.b.cq).status === WcStatus.SUCCESS;
  }
}

for (const hosting of HOSTINGS) {
  describe(`an extended reliable connection, hosted ${hosting}`, () => {
    test('fills the shared receive queue that each request names', () => {
      using connection = new Connection(hosting);
      const { a, b, initiator, target } = connection;
      const queues = [connection.makeSrq(), connection.makeSrq()];
      a.mr.bytes.set(pattern(3000));
      for (const [i, srq] of queues.entries()) srq.postRecv({ wrId: 10 + i, sgList: [b.mr.sge(4096 * i, 4096)] });
      for (const [i, { srqNum }] of [...queues.entries()].reverse()) {
        const sgList = [a.mr.sge(0, 1000 + 2000 * i)];
        initiator.postSend({ wrId: i, opcode: WrOpcode.SEND, sgList, xrc: { remoteSrqn: srqNum } });
      }
      assert.deepEqual(
        drain(b.cq, 2).map(({ wrId, opcode, byteLen, qpNum }) => [wrId, opcode, byteLen, qpNum]),
        [
          [11n, WcOpcode.RECV, 3000, target.qpNum],
          [10n, WcOpcode.RECV, 1000, target.qpNum],
        ],
      );
      assert.deepEqual(b.mr.bytes.subarray(4096, 4096 + 3000), pattern(3000));
      assert.deepEqual([initiator.state, target.state], [QpState.RTS, QpState.RTR]);
    });

    test('has the builder name the queue by wrSetXrcSrqn', () => {
      using connection = new Connection(hosting);
      const { a, b, initiator } = connection;
      const srq = connection.makeSrq();
      srq.postRecv([{ wrId: 1, sgList: [b.mr.sge(0, 64)] }, { wrId: 2 }]);
      initiator.wrStart();
      initiator.wrId = 5;
      initiator.wrSendImm(77);
      initiator.wrSetXrcSrqn(srq.srqNum);
      initiator.wrSetInlineDataList([pattern(20), pattern(12, 9)]);
      initiator.wrFlags = SIGNALED;
      initiator.wrRdmaWriteImm(b.mr.rkey, b.mr.addr + 64n, 78);
      initiator.wrSetXrcSrqn(srq.srqNum);
      initiator.wrComplete();
      assert.deepEqual(
        drain(b.cq, 2).map(({ wrId, immData, byteLen }) => [wrId, immData, byteLen]),
        [
          [1n, 77, 32],
          [2n, 78, 0],
        ],
      );
      assert.deepEqual(b.mr.bytes.subarray(0, 32), Uint8Array.from([...pattern(20), ...pattern(12, 9)]));
      assert.equal(drainOne(a.cq).wrId, 5n);
    });

    test('exists until the last who holds its target lets go', () => {
      using connection = new Connection(hosting);
      const { b, xrcd, target } = connection;
      const srq = connection.makeSrq();
      const second = xrcd.openQp({ qpNum: target.qpNum, qpContext: 'second' });
      assert.deepEqual([second.qpNum, second.state, second.qpContext], [target.qpNum, QpState.RTR, 'second']);
      assert.deepEqual(second.query().attr, target.query().attr);
      target.destroy();
      assert.throws(() => target.query(), { errno: 'EINVAL' });
      assert.throws(() => target.destroy(), { errno: 'EINVAL' });
      assert.ok(connection.carries(srq));
      using third = xrcd.openQp({ qpNum: second.qpNum });
      second.destroy();
      assert.ok(connection.carries(srq));
      assert.throws(() => xrcd.close(), { errno: 'EBUSY' });
      third.destroy();
      assert.throws(() => xrcd.openQp({ qpNum: second.qpNum }), { errno: 'EINVAL', call: 'ibv_open_qp' });
      srq.destroy();
      xrcd.close();
      assert.deepEqual(b.cq.poll(), []);
    });

    test('serves READs and atomics through the domains of shared receive queues', () => {
      using connection = new Connection(hosting);
      const { a, b, initiator } = connection;
      const srq = connection.makeSrq();
      const xrc = { remoteSrqn: srq.srqNum };
      const remote = { remoteAddr: b.mr.addr, rkey: b.mr.rkey };
      b.mr.bytes.set(pattern(2000));
      initiator.postSend([
        { opcode: WrOpcode.RDMA_READ, sgList: [a.mr.sge(0, 2000)], rdma: remote, xrc },
        {
          opcode: WrOpcode.ATOMIC_FETCH_AND_ADD,
          // Without the fence the READ might see what the atomic leaves behind (protocol/reliable.md 2.7).
          sendFlags: SIGNALED | FENCE,
          sgList: [a.mr.sge(4096, 8)],
          atomic: { ...remote, compareAdd: 1 },
          xrc,
        },
      ]);
      assert.equal(drainOne(a.cq).status, WcStatus.SUCCESS);
      assert.deepEqual(a.mr.bytes.subarray(0, 2000), pattern(2000));
      assert.deepEqual(a.mr.bytes.subarray(4096, 4104), pattern(8));
    });
  });
}

describe('an XRC target', () => {
  test('cannot be opened where its domain has none of that number', () => {
    using connection = new Connection('simulated');
    const { b, initiator, target, xrcd } = connection;
    using other = b.context.openXrcd();
    const ordinary = makeQp(b, QpType.RC);
    for (const [domain, qpNum] of [
      [other, target.qpNum],
      [xrcd, ordinary.qpNum],
      [xrcd, initiator.qpNum ^ target.qpNum ^ 1],
      [xrcd, 2 ** 24],
      [xrcd, -1],
    ] as const)
      assert.throws(() => domain.openQp({ qpNum }), { errno: 'EINVAL', call: 'ibv_open_qp' });
  });

  test('tells what it was made from', () => {
    using connection = new Connection('simulated');
    const { target, xrcd } = connection;
    const { initAttr, attr } = target.query();
    assert.deepEqual(
      { ...initAttr, xrcd: undefined },
      { qpType: QpType.XRC_RECV, qpContext: 'target', xrcd: undefined },
    );
    assert.equal(initAttr.xrcd, xrcd);
    assert.equal(attr.qpState, QpState.RTR);
    assert.deepEqual([target.qpType, target.context], [QpType.XRC_RECV, connection.b.context]);
  });

  test('goes to RTS with a timeout and a PSN', () => {
    using connection = new Connection('simulated');
    const { target } = connection;
    assert.throws(() => target.modify({ qpState: QpState.RTS, sqPsn: 0 }), { errno: 'EINVAL' });
    target.modify({ qpState: QpState.RTS, sqPsn: 0, timeout: 14 });
    assert.equal(target.state, QpState.RTS);
  });
});

describe('an XRC initiator', () => {
  test('completes what it receives nowhere, and receives nothing', () => {
    using connection = new Connection('simulated');
    const { a, initiator } = connection;
    assert.equal(initiator.recvCq, a.cq);
    assert.deepEqual([initiator.cap.maxRecvWr, initiator.cap.maxRecvSge], [0, 0]);
    assert.equal(postError(() => initiator.postRecv({})).errno, 'EINVAL');
    assert.equal(postError(() => initiator.postRecvSge(0, 1, 2, 3)).errno, 'EINVAL');
    using reply = a.context.createCq({ cqe: 1 });
    using both = a.pd.createQp({ qpType: QpType.XRC_SEND, sendCq: a.cq, recvCq: reply });
    assert.equal(both.recvCq, reply);
    assert.throws(() => reply.destroy(), { errno: 'EBUSY' });
  });

  test('cannot post a request for no queue, or for a number of 25 bits', () => {
    using connection = new Connection('simulated');
    const { initiator } = connection;
    const cases: readonly SendWr[] = [
      { opcode: WrOpcode.SEND },
      { opcode: WrOpcode.SEND, xrc: { remoteSrqn: 0x1000000 } },
      { opcode: WrOpcode.RDMA_WRITE, rdma: { remoteAddr: 0, rkey: 0 } },
      { opcode: WrOpcode.RDMA_READ, rdma: { remoteAddr: 0, rkey: 0 }, xrc: { remoteSrqn: 1.5 } },
    ];
    for (const wr of cases) assert.equal(postError(() => initiator.postSend(wr)).errno, 'EINVAL');
  });

  test('cannot build a request for no queue, but one that stays here', () => {
    using connection = new Connection('simulated');
    const { a, initiator } = connection;
    const { rkey } = openWindow({ ...a, qp: initiator });
    initiator.wrStart();
    initiator.wrSend();
    assert.throws(() => initiator.wrComplete(), { errno: 'EINVAL' });
    initiator.wrStart();
    initiator.wrFlags = SIGNALED;
    initiator.wrLocalInv(rkey);
    initiator.wrComplete();
    assert.deepEqual(drainOne(a.cq).opcode, WcOpcode.LOCAL_INV);
  });

  test('names a queue that the peer does not have: REM_INV_REQ_ERR', () => {
    using connection = new Connection('simulated');
    const { a, initiator } = connection;
    const srq = connection.makeSrq();
    initiator.postSend({
      opcode: WrOpcode.SEND,
      sendFlags: INLINE,
      sgList: [{ bytes: pattern(4) }],
      xrc: { remoteSrqn: srq.srqNum ^ 1 },
    });
    assert.equal(drainOne(a.cq).status, WcStatus.REM_INV_REQ_ERR);
    assert.equal(initiator.state, QpState.ERR);
  });
});

test('a QP of type XRC_RECV is made by its domain alone', () => {
  using benches = new Benches('simulated', NET);
  assert.throws(() => makeQp(benches.a, QpType.XRC_RECV), { errno: 'EINVAL' });
});

test('the access flags of a target decide what the initiator may do', () => {
  using connection = new Connection('simulated');
  const { a, b, initiator, target } = connection;
  const srq = connection.makeSrq();
  target.modify({ qpState: QpState.RTS, sqPsn: 0, timeout: 14, qpAccessFlags: ALL_ACCESS & ~2 });
  const rdma = { remoteAddr: b.mr.addr, rkey: b.mr.rkey };
  initiator.postSend({
    opcode: WrOpcode.RDMA_WRITE,
    sgList: [a.mr.sge(0, 8)],
    rdma,
    xrc: { remoteSrqn: srq.srqNum },
  });
  assert.equal(drainOne(a.cq).status, WcStatus.REM_INV_REQ_ERR);
});
