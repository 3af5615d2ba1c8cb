import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type Mr,
  type Qp,
  QpCreateSendOpsFlags,
  QpType,
  SendFlags,
  type SendWr,
  VerbsError,
  WcStatus,
  WrOpcode,
} from '../../../entry/index.js';
import { connect, drain, drainOne, openWindow, Pair, pattern } from './support/pair.js';
import { NET } from '../../../../test/support/loopback.js';

const { SIGNALED, SOLICITED, INLINE, FENCE } = SendFlags;

interface Twin {
  readonly name: string;
  readonly receives: number;
  plain(mine: Mr, theirs: Mr, windows: Windows): SendWr;
  fast(qp: Qp, mine: Mr, theirs: Mr, windows: Windows): void;
}

/** R_Keys of windows of type 2 that are bound at either end. */
interface Windows {
  readonly mine: number;
  readonly theirs: number;
}

const target = (mr: Mr): { remoteAddr: bigint; rkey: number } => ({ remoteAddr: mr.addr + 64n, rkey: mr.rkey });

/** The same request in both styles. */
const twins: readonly Twin[] = [
  {
    name: 'SEND',
    receives: 1,
    plain: (mine) => ({ opcode: WrOpcode.SEND, sendFlags: SIGNALED, sgList: [mine.sge(0, 100)] }),
    fast: (qp, mine) => {
      qp.wrSend();
      qp.wrSetSge(mine.lkey, mine.addr, 100);
    },
  },
  {
    name: 'SEND of a list',
    receives: 1,
    plain: (mine) => ({ opcode: WrOpcode.SEND, sendFlags: SIGNALED, sgList: [mine.sge(0, 10), mine.sge(50, 20)] }),
    fast: (qp, mine) => {
      qp.wrSend();
      qp.wrSetSgeList([mine.sge(0, 10), mine.sge(50, 20)]);
    },
  },
  {
    name: 'SEND of nothing',
    receives: 1,
    plain: () => ({ opcode: WrOpcode.SEND, sendFlags: SIGNALED }),
    fast: (qp) => qp.wrSend(),
  },
  {
    name: 'SEND of inline data',
    receives: 1,
    plain: () => ({ opcode: WrOpcode.SEND, sendFlags: SIGNALED | INLINE, sgList: [{ bytes: pattern(33) }] }),
    fast: (qp) => {
      qp.wrSend();
      qp.wrSetInlineData(pattern(33));
    },
  },
  {
    name: 'SEND of inline data in pieces',
    receives: 1,
    plain: () => ({
      opcode: WrOpcode.SEND,
      sendFlags: SIGNALED | INLINE,
      sgList: [{ bytes: pattern(33) }, { bytes: pattern(0) }, { bytes: pattern(31, 5) }],
    }),
    fast: (qp) => {
      qp.wrSend();
      qp.wrSetInlineDataList([pattern(33), pattern(0), pattern(31, 5)]);
    },
  },
  {
    name: 'SEND with immediate, solicited',
    receives: 1,
    plain: (mine) => ({
      opcode: WrOpcode.SEND_WITH_IMM,
      sendFlags: SIGNALED | SOLICITED,
      sgList: [mine.sge(0, 5)],
      immData: 0x89abcdef,
    }),
    fast: (qp, mine) => {
      qp.wrFlags = SIGNALED | SOLICITED;
      qp.wrSendImm(0x89abcdef);
      qp.wrSetSge(mine.lkey, Number(mine.addr), 5);
    },
  },
  {
    name: 'SEND with invalidate',
    receives: 1,
    plain: (_, __, windows) => ({
      opcode: WrOpcode.SEND_WITH_INV,
      sendFlags: SIGNALED,
      invalidateRkey: windows.theirs,
    }),
    fast: (qp, _, __, windows) => qp.wrSendInv(windows.theirs),
  },
  {
    name: 'WRITE',
    receives: 0,
    plain: (mine, theirs) => ({
      opcode: WrOpcode.RDMA_WRITE,
      sendFlags: SIGNALED,
      sgList: [mine.sge(7, 2000)],
      rdma: target(theirs),
    }),
    fast: (qp, mine, theirs) => {
      qp.wrRdmaWrite(theirs.rkey, theirs.addr + 64n);
      qp.wrSetSge(mine.lkey, mine.addr + 7n, 2000);
    },
  },
  {
    name: 'WRITE with immediate',
    receives: 1,
    plain: (mine, theirs) => ({
      opcode: WrOpcode.RDMA_WRITE_WITH_IMM,
      sendFlags: SIGNALED,
      sgList: [mine.sge(0, 8)],
      rdma: target(theirs),
      immData: 77,
    }),
    fast: (qp, mine, theirs) => {
      qp.wrRdmaWriteImm(theirs.rkey, theirs.addr + 64n, 77);
      qp.wrSetSge(mine.lkey, mine.addr, 8);
    },
  },
  {
    name: 'fenced READ',
    receives: 0,
    plain: (mine, theirs) => ({
      opcode: WrOpcode.RDMA_READ,
      sendFlags: SIGNALED | FENCE,
      sgList: [mine.sge(0, 3000)],
      rdma: target(theirs),
    }),
    fast: (qp, mine, theirs) => {
      qp.wrFlags = SIGNALED | FENCE;
      qp.wrRdmaRead(theirs.rkey, Number(theirs.addr) + 64);
      qp.wrSetSge(mine.lkey, mine.addr, 3000);
    },
  },
  {
    name: 'compare and swap',
    receives: 0,
    plain: (mine, theirs) => ({
      opcode: WrOpcode.ATOMIC_CMP_AND_SWP,
      sendFlags: SIGNALED,
      sgList: [mine.sge(0, 8)],
      atomic: { ...target(theirs), compareAdd: 0x9f80_6142_2304_e5c6n, swap: 12345 },
    }),
    fast: (qp, mine, theirs) => {
      qp.wrAtomicCmpSwp(theirs.rkey, theirs.addr + 64n, 0x9f80_6142_2304_e5c6n, 12345);
      qp.wrSetSge(mine.lkey, mine.addr, 8);
    },
  },
  {
    name: 'fetch and add',
    receives: 0,
    plain: (mine, theirs) => ({
      opcode: WrOpcode.ATOMIC_FETCH_AND_ADD,
      sendFlags: SIGNALED,
      sgList: [mine.sge(0, 8)],
      atomic: { ...target(theirs), compareAdd: 2 ** 40 },
    }),
    fast: (qp, mine, theirs) => {
      qp.wrAtomicFetchAdd(theirs.rkey, theirs.addr + 64n, 2 ** 40);
      qp.wrSetSge(mine.lkey, mine.addr, 8);
    },
  },
  {
    name: 'ATOMIC_WRITE',
    receives: 0,
    plain: (mine, theirs) => ({
      opcode: WrOpcode.ATOMIC_WRITE,
      sendFlags: SIGNALED,
      sgList: [mine.sge(9, 8)],
      rdma: target(theirs),
    }),
    fast: (qp, mine, theirs) => qp.wrAtomicWrite(theirs.rkey, theirs.addr + 64n, mine.bytes.subarray(9, 17)),
  },
  {
    name: 'LOCAL_INV',
    receives: 0,
    plain: (_, __, windows) => ({ opcode: WrOpcode.LOCAL_INV, sendFlags: SIGNALED, invalidateRkey: windows.mine }),
    fast: (qp, _, __, windows) => qp.wrLocalInv(windows.mine),
  },
];

/** What a request leaves behind: both memories and all completions, less the numbers that differ from run to run. */
function outcome(twin: Twin, post: (qp: Qp, mine: Mr, theirs: Mr, windows: Windows) => void): unknown {
  using pair = new Pair('simulated', NET);
  const { a, b } = pair;
  a.mr.bytes.set(pattern(65536, 1));
  b.mr.bytes.set(pattern(65536, 2));
  for (let i = 0; i < twin.receives; i += 1) b.qp.postRecv({ wrId: 100 + i, sgList: [b.mr.sge(32768, 4096)] });
  const windows = { mine: openWindow(a).rkey, theirs: openWindow(b).rkey };
  post(a.qp, a.mr, b.mr, windows);
  const completions = [...drain(a.cq, 1), ...drain(b.cq, twin.receives)];
  return { completions, mine: a.mr.bytes, theirs: b.mr.bytes };
}

describe('the fast calling style', () => {
  for (const twin of twins) {
    test(`does what the plain one does: ${twin.name}`, () => {
      const plain = outcome(twin, (qp, mine, theirs, windows) => {
        qp.postSend({ ...twin.plain(mine, theirs, windows), wrId: 0x1_0000_0001n });
      });
      const fast = outcome(twin, (qp, mine, theirs, windows) => {
        qp.wrStart();
        qp.wrId = 0x1_0000_0001n;
        qp.wrFlags = SIGNALED;
        twin.fast(qp, mine, theirs, windows);
        qp.wrComplete();
      });
      assert.deepEqual(fast, plain);
    });
  }

  test('posts a batch in its order', () => {
    using pair = new Pair('simulated', NET);
    const { a, b } = pair;
    for (let i = 0; i < 3; i += 1) b.qp.postRecvSge(i, b.mr.lkey, b.mr.addr, 64);
    a.qp.wrStart();
    for (let i = 0; i < 3; i += 1) {
      a.qp.wrId = i;
      a.qp.wrFlags = i === 2 ? SIGNALED : 0;
      a.qp.wrSendImm(i);
    }
    a.qp.wrComplete();
    assert.deepEqual(
      drain(b.cq, 3).map(({ wrId, immData }) => [wrId, immData]),
      [
        [0n, 0],
        [1n, 1],
        [2n, 2],
      ],
    );
    assert.equal(drainOne(a.cq).wrId, 2n);
  });

  test('posts nothing of a batch with a mistake in it', () => {
    using pair = new Pair('simulated', NET);
    const { a, b } = pair;
    b.qp.postRecv([{}, {}]);
    a.qp.wrStart();
    a.qp.wrSend();
    a.qp.wrSend();
    a.qp.wrSetSge(-1, a.mr.addr, 8);
    assert.throws(() => a.qp.wrComplete(), { errno: 'EINVAL', call: 'ibv_wr_complete' });
    a.qp.postSend({ wrId: 5, opcode: WrOpcode.SEND_WITH_IMM, sendFlags: SIGNALED, immData: 6 });
    assert.equal(drainOne(a.cq).wrId, 5n);
    assert.deepEqual(
      drain(b.cq, 1).map(({ immData }) => immData),
      [6],
    );
    assert.deepEqual(b.cq.poll(), []);
  });

  test('refuses a second batch while one is open, and forgets one that is aborted', () => {
    using pair = new Pair('simulated', NET);
    const { qp, cq } = pair.a;
    qp.wrStart();
    qp.wrFlags = SIGNALED;
    qp.wrSend();
    assert.throws(() => qp.wrStart(), { errno: 'EINVAL' });
    assert.throws(() => qp.postSend({ opcode: WrOpcode.SEND }), { errno: 'EINVAL', index: 0 });
    qp.wrAbort();
    assert.throws(() => qp.wrComplete(), { errno: 'EINVAL' });
    assert.deepEqual(cq.poll(), []);
  });

  test('refuses the batch that does not fit, with ENOMEM', () => {
    using pair = new Pair('simulated', NET, { cap: { maxSendWr: 4 } });
    const { qp } = pair.a;
    qp.wrStart();
    for (let i = 0; i < 5; i += 1) qp.wrSend();
    assert.throws(() => qp.wrComplete(), { errno: 'ENOMEM' });
  });

  test('refuses TCP segmentation with EOPNOTSUPP', () => {
    using pair = new Pair('simulated', NET);
    const { qp } = pair.a;
    qp.wrStart();
    qp.wrSendTso(pattern(40), 1000);
    qp.wrSend();
    assert.throws(() => qp.wrComplete(), { errno: 'EOPNOTSUPP' });
  });

  test('builds what sendOpsFlags names and nothing else, which postSend does not ask about', () => {
    using pair = new Pair('simulated', NET);
    const { qp, pd, cq } = pair.a;
    const sendOpsFlags = QpCreateSendOpsFlags.WITH_SEND | QpCreateSendOpsFlags.WITH_RDMA_WRITE;
    const sending = pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, sendOpsFlags });
    connect(sending, { qpNum: qp.qpNum, dgid: qp.context.queryGid(1, 0) });
    assert.equal(sending.query().initAttr.sendOpsFlags, sendOpsFlags);
    sending.wrStart();
    sending.wrSend();
    sending.wrRdmaWrite(1, 64);
    sending.wrAbort();
    sending.wrStart();
    sending.wrRdmaRead(1, 64);
    assert.throws(
      () => sending.wrComplete(),
      (error) => error instanceof VerbsError && error.errno === 'EINVAL' && error.message.includes('RDMA_READ'),
    );
    sending.postSend({ opcode: WrOpcode.RDMA_READ, rdma: { remoteAddr: 64, rkey: 1 } });
    for (const flags of [QpCreateSendOpsFlags.WITH_TSO, 1 << 20])
      assert.throws(() => pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, sendOpsFlags: flags }), VerbsError);
  });

  test('shows with the fast poll what the plain poll shows', () => {
    using pair = new Pair('simulated', NET);
    const { a, b } = pair;
    b.qp.postRecv([{ wrId: 1, sgList: [b.mr.sge(0, 64)] }, { wrId: 2 ** 40 }]);
    a.qp.postSend([
      { opcode: WrOpcode.SEND_WITH_IMM, sgList: [a.mr.sge(0, 9)], immData: 3 },
      { opcode: WrOpcode.SEND_WITH_IMM, sendFlags: SIGNALED, immData: 4 },
    ]);
    drainOne(a.cq);
    assert.ok(b.cq.startPoll());
    const first = b.cq.workCompletion();
    assert.deepEqual(
      [b.cq.wrId, b.cq.wrIdNumber, b.cq.status, b.cq.byteLen, b.cq.immData, b.cq.qpNum, b.cq.wcFlags],
      [first.wrId, 1, WcStatus.SUCCESS, 9, 3, b.qp.qpNum, first.wcFlags],
    );
    assert.throws(() => b.cq.poll(), { errno: 'EINVAL' });
    assert.ok(b.cq.nextPoll());
    assert.deepEqual([b.cq.wrIdNumber, b.cq.immData], [2 ** 40, 4]);
    assert.equal(b.cq.nextPoll(), false);
    b.cq.endPoll();
    assert.equal(b.cq.startPoll(), false);
  });
});
