import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  AccessFlags,
  alloc,
  PostError,
  QpState,
  QpType,
  SendFlags,
  type SendWr,
  WcStatus,
  WrOpcode,
} from '../../../entry/index.js';
import { ALL_ACCESS, drain, HOSTINGS, Pair } from './support/pair.js';
import { NET } from '../../../../test/support/loopback.js';

const { SIGNALED, INLINE } = SendFlags;

/** The PostError that `post` throws. */
function postError(post: () => void): PostError {
  try {
    post();
  } catch (error) {
    if (error instanceof PostError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

for (const hosting of HOSTINGS) {
  describe(`posting, hosted ${hosting}`, () => {
    test('stops at the request that is wrong, and posts those before it', () => {
      using pair = new Pair(hosting, NET);
      const { a, b } = pair;
      b.qp.postRecv([{}, {}, {}]);
      const good = { opcode: WrOpcode.SEND, sendFlags: SIGNALED } as const;
      const bad: SendWr = { ...good, wrId: 3, sgList: [{ addr: -1, length: 1, lkey: 1 }] };
      const error = postError(() => a.qp.postSend([{ ...good, wrId: 1 }, { ...good, wrId: 2 }, bad, good]));
      assert.equal(error.badWr, bad);
      assert.equal(error.index, 2);
      assert.equal(error.errno, 'EINVAL');
      assert.deepEqual(
        drain(a.cq, 2).map(({ wrId }) => wrId),
        [1n, 2n],
      );
      drain(b.cq, 2);
      assert.deepEqual(b.cq.poll(), []);
    });

    test('says ENOMEM when the send queue is full, and goes on when it is not', () => {
      using pair = new Pair(hosting, NET, { cap: { maxSendWr: 8, maxRecvWr: 64 } });
      const { a, b } = pair;
      assert.equal(a.qp.cap.maxSendWr, 8);
      const wrs = Array.from(
        { length: 9 },
        (_, wrId) => ({ wrId, opcode: WrOpcode.SEND, sendFlags: SIGNALED }) as const,
      );
      // Without a receive at the peer none of them completes.
      const error = postError(() => a.qp.postSend(wrs));
      assert.deepEqual([error.errno, error.index], ['ENOMEM', 8]);
      b.qp.postRecv(Array.from({ length: 16 }, () => ({})));
      drain(a.cq, 8);
      a.qp.postSend(wrs.slice(0, 8));
      drain(a.cq, 8);
    });

    test('says ENOMEM when the receive queue is full', () => {
      using pair = new Pair(hosting, NET, { cap: { maxRecvWr: 4 } });
      const { qp } = pair.a;
      const error = postError(() => qp.postRecv([{}, {}, {}, {}, {}]));
      assert.deepEqual([error.errno, error.index, error.call], ['ENOMEM', 4, 'ibv_post_recv']);
      assert.equal(postError(() => qp.postRecvSge(0, 1, 2, 3)).errno, 'ENOMEM');
    });

    test('flushes what is posted in ERR, receives and sends', () => {
      using pair = new Pair(hosting, NET);
      const { qp, cq } = pair.a;
      qp.postRecv({ wrId: 1 });
      qp.modify({ qpState: QpState.ERR });
      assert.equal(qp.state, QpState.ERR);
      qp.postRecv({ wrId: 2 });
      qp.postSend({ wrId: 3, opcode: WrOpcode.SEND });
      qp.postRecvSge(4, 1, 2, 3);
      const flushed = drain(cq, 4);
      assert.deepEqual(new Set(flushed.map(({ status }) => status)), new Set([WcStatus.WR_FLUSH_ERR]));
      assert.deepEqual(flushed.map(({ wrId }) => wrId).sort(), [1n, 2n, 3n, 4n]);
    });

    test('refuses what the state does not allow', () => {
      using pair = new Pair(hosting, NET);
      const { pd, cq } = pair.a;
      using qp = pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq });
      assert.equal(qp.state, QpState.RESET);
      assert.equal(postError(() => qp.postRecv({})).errno, 'EINVAL');
      assert.equal(postError(() => qp.postSend({ opcode: WrOpcode.SEND })).errno, 'EINVAL');
      qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qpAccessFlags: 0 });
      qp.postRecv({});
      assert.match(postError(() => qp.postSend({ opcode: WrOpcode.SEND })).message, /INIT/);
    });
  });
}

test('inline data may lie in registered memory, named by its address and any key', () => {
  using pair = new Pair('simulated', NET);
  const { a, b } = pair;
  a.mr.bytes.set([1, 2, 3, 4]);
  b.qp.postRecv({ sgList: [b.mr.sge(0, 8)] });
  const sgList = [{ addr: a.mr.addr + 1n, length: 2, lkey: 0 }];
  a.qp.postSend({ opcode: WrOpcode.SEND, sendFlags: INLINE, sgList });
  drain(b.cq, 1);
  assert.deepEqual([...b.mr.bytes.subarray(0, 2)], [2, 3]);
});

for (const [name, access, options] of [
  ['an iova of its own', ALL_ACCESS, { iova: 0x7000_0000n }],
  ['zero-based addresses', ALL_ACCESS | AccessFlags.ZERO_BASED, {}],
] as const) {
  test(`inline data may lie in a region with ${name}, named as the region has it`, () => {
    using pair = new Pair('simulated', NET);
    const { a, b } = pair;
    const mr = a.pd.regMr(alloc(64), access, options);
    mr.bytes.set([1, 2, 3, 4]);
    b.qp.postRecv({ sgList: [b.mr.sge(0, 8)] });
    a.qp.postSend({ opcode: WrOpcode.SEND, sendFlags: INLINE, sgList: [mr.sge(1, 2)] });
    drain(b.cq, 1);
    assert.deepEqual([...b.mr.bytes.subarray(0, 2)], [2, 3]);
  });
}

test('every type of queue pair has a send queue in ERR that flushes, and tells its state', () => {
  using pair = new Pair('simulated', NET);
  const { pd, cq } = pair.a;
  for (const qpType of [QpType.RC, QpType.UC, QpType.UD, QpType.XRC_SEND]) {
    using qp = pd.createQp({ qpType, sendCq: cq, recvCq: cq });
    assert.deepEqual([qp.qpType, qp.state], [qpType, QpState.RESET]);
    const addressed = qpType === QpType.UD ? { qkey: 1 } : { qpAccessFlags: 0 };
    qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, ...addressed });
    qp.modify({ qpState: QpState.ERR });
    const ah = pd.createAh({ grh: { dgid: qp.context.queryGid(1, 0) } });
    const anywhere = { ud: { ah, remoteQpn: 1, remoteQkey: 1 }, xrc: { remoteSrqn: 1 } };
    qp.postSend({ wrId: qpType, opcode: WrOpcode.SEND, ...anywhere });
    const { wrId, status } = drain(cq, 1)[0];
    assert.deepEqual([wrId, status, qp.state], [BigInt(qpType), WcStatus.WR_FLUSH_ERR, QpState.ERR]);
  }
});

test('a queue pair tells all that it was made from', () => {
  using pair = new Pair('simulated', NET);
  const { pd, cq } = pair.a;
  const srq = pd.createSrq({ maxWr: 4 });
  using qp = pd.createQp({ qpType: QpType.UC, sendCq: cq, recvCq: cq, srq, sqSigAll: true, qpContext: 'mine' });
  const { sendCq, recvCq, srq: taken, ...plain } = qp.query().initAttr;
  assert.deepEqual([sendCq === cq, recvCq === cq, taken === srq], [true, true, true]);
  const cap = { maxSendWr: 128, maxRecvWr: 0, maxSendSge: 1, maxRecvSge: 0, maxInlineData: 0 };
  assert.deepEqual(
    { ...plain, sendOpsFlags: 0 },
    {
      qpType: QpType.UC,
      cap,
      sqSigAll: true,
      createFlags: 0,
      sendOpsFlags: 0,
      qpContext: 'mine',
    },
  );
});

describe('creating a queue pair refuses', () => {
  test('queues of another context, and queues that were ended', () => {
    using pair = new Pair('simulated', NET);
    const { a, b } = pair;
    const qpType = QpType.RC;
    const ended = a.context.createCq({ cqe: 1 });
    ended.destroy();
    for (const cq of [b.cq, ended]) {
      assert.throws(() => a.pd.createQp({ qpType, sendCq: cq, recvCq: a.cq }), { errno: 'EINVAL' });
      assert.throws(() => a.pd.createQp({ qpType, sendCq: a.cq, recvCq: cq }), { errno: 'EINVAL' });
    }
    const gone = a.pd.createSrq({ maxWr: 1 });
    gone.destroy();
    for (const srq of [b.pd.createSrq({ maxWr: 1 }), gone])
      assert.throws(() => a.pd.createQp({ qpType, sendCq: a.cq, recvCq: a.cq, srq }), { errno: 'EINVAL' });
  });

  test('a shared receive queue where the type has none', () => {
    using pair = new Pair('simulated', NET);
    const { pd, cq } = pair.a;
    const srq = pd.createSrq({ maxWr: 1 });
    for (const qpType of [QpType.XRC_SEND, QpType.RAW_PACKET])
      assert.throws(() => pd.createQp({ qpType, sendCq: cq, recvCq: cq, srq }), { errno: 'EINVAL' });
  });
});

test('sizes are granted as a power of two, all of which can be used', () => {
  using pair = new Pair('simulated', NET, { cap: { maxSendWr: 5, maxRecvWr: 100 } });
  assert.deepEqual([pair.a.qp.cap.maxSendWr, pair.a.qp.cap.maxRecvWr], [8, 128]);
  assert.deepEqual(pair.a.qp.query().initAttr.cap, pair.a.qp.cap);
});
