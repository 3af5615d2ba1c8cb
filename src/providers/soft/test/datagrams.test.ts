import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  EventType,
  Mtu,
  mtuBytes,
  QpState,
  QpType,
  SendFlags,
  type SendWr,
  Syndrome,
  VerbsError,
  WcFlags,
  WcOpcode,
  WcStatus,
  WrOpcode,
} from '../../../entry/index.js';
import { drain, drainOne, HOSTINGS, pattern } from './support/pair.js';
import { ahTo, Benches, makeQp, makeUd, postError, QKEY } from './support/queue-pairs.js';
import { NET } from '../../../../test/support/loopback.js';

const { SIGNALED, INLINE } = SendFlags;
/** What stands before a datagram in its buffer (protocol/packets.md 1.6). */
const GRH = 40;

for (const hosting of HOSTINGS) {
  describe(`datagrams, hosted ${hosting}`, () => {
    test('arrive behind 40 bytes, with the number of their sender', () => {
      using benches = new Benches(hosting, NET);
      const { a, b } = benches;
      const [from, to] = [makeUd(a), makeUd(b)];
      const data = pattern(300);
      a.mr.bytes.set(data);
      to.postRecv({ wrId: 7, sgList: [b.mr.sge(0, 1024)] });
      const ud = { ah: ahTo(a, b), remoteQpn: to.qpNum, remoteQkey: QKEY };
      from.postSend({ wrId: 8, opcode: WrOpcode.SEND, sendFlags: SIGNALED, sgList: [a.mr.sge(0, 300)], ud });
      const sent = drainOne(a.cq);
      assert.deepEqual([sent.wrId, sent.status, sent.opcode], [8n, WcStatus.SUCCESS, WcOpcode.SEND]);
      const { wrId, opcode, byteLen, srcQp, wcFlags } = drainOne(b.cq);
      assert.deepEqual([wrId, opcode, byteLen, srcQp], [7n, WcOpcode.RECV, 300 + GRH, from.qpNum]);
      assert.equal(wcFlags & WcFlags.GRH, WcFlags.GRH);
      assert.deepEqual(b.mr.bytes.subarray(GRH, GRH + 300), data);
    });

    test('are answered by an address handle of what has arrived', () => {
      using benches = new Benches(hosting, NET);
      const { a, b } = benches;
      const [asking, answering] = [makeUd(a), makeUd(b)];
      asking.postRecv({ sgList: [a.mr.sge(0, 256)] });
      answering.postRecv({ sgList: [b.mr.sge(0, 256)] });
      const ud = { ah: ahTo(a, b), remoteQpn: answering.qpNum, remoteQkey: QKEY };
      asking.postSend({ opcode: WrOpcode.SEND_WITH_IMM, immData: 0xfedcba98, ud });
      const question = drainOne(b.cq);
      assert.equal(question.immData, 0xfedcba98);
      using ah = b.pd.createAhFromWc(question, b.mr.bytes.subarray(0, GRH));
      answering.wrStart();
      answering.wrSendImm(question.immData + 1);
      answering.wrSetUdAddr(ah, question.srcQp, QKEY);
      answering.wrSetInlineData(pattern(16));
      answering.wrComplete();
      const answer = drainOne(a.cq);
      assert.deepEqual([answer.immData, answer.byteLen, answer.srcQp], [0xfedcba99, 16 + GRH, answering.qpNum]);
      assert.deepEqual(a.mr.bytes.subarray(GRH, GRH + 16), pattern(16));
    });

    test('that are longer than a packet end sending with LOC_LEN_ERR, until modify begins it anew', () => {
      using benches = new Benches(hosting, NET);
      const { a, b } = benches;
      const [from, to] = [makeUd(a), makeUd(b)];
      const ud = { ah: ahTo(a, b), remoteQpn: to.qpNum, remoteQkey: QKEY };
      to.postRecv({ sgList: [b.mr.sge(0, 64)] });
      const tooLong = mtuBytes(a.context.queryPort(1).activeMtu) + 1;
      const good: SendWr = { wrId: 2, opcode: WrOpcode.SEND, sendFlags: SIGNALED, ud };
      from.postSend([{ ...good, wrId: 1, sgList: [a.mr.sge(0, tooLong)] }, good]);
      assert.deepEqual(
        drain(a.cq, 2).map(({ wrId, status }) => [wrId, status]),
        [
          [1n, WcStatus.LOC_LEN_ERR],
          [2n, WcStatus.WR_FLUSH_ERR],
        ],
      );
      assert.equal(from.state, QpState.SQE);
      // Posts are taken in SQE, and flushed.
      from.postSend({ ...good, wrId: 3 });
      from.wrStart();
      from.wrId = 4;
      from.wrSend();
      from.wrSetUdAddr(ud.ah, ud.remoteQpn, QKEY);
      from.wrComplete();
      assert.deepEqual(
        drain(a.cq, 2).map(({ wrId, status }) => [wrId, status]),
        [
          [3n, WcStatus.WR_FLUSH_ERR],
          [4n, WcStatus.WR_FLUSH_ERR],
        ],
      );
      from.modify({ qpState: QpState.RTS });
      from.postSend(good);
      assert.equal(drainOne(a.cq).status, WcStatus.SUCCESS);
      assert.equal(drainOne(b.cq).byteLen, GRH);
    });

    test('come out of a shared receive queue, with the number of the QP that took it', () => {
      using benches = new Benches(hosting, NET);
      const { a, b } = benches;
      const srq = b.pd.createSrq({ maxWr: 8 });
      const from = makeUd(a);
      const targets = [makeUd(b, { srq }), makeUd(b, { srq })];
      srq.postRecv([
        { wrId: 1, sgList: [b.mr.sge(0, 64)] },
        { wrId: 2, sgList: [b.mr.sge(64, 64)] },
      ]);
      const ah = ahTo(a, b);
      for (const { qpNum } of targets) {
        from.postSend({ opcode: WrOpcode.SEND, ud: { ah, remoteQpn: qpNum, remoteQkey: QKEY } });
        assert.equal(drainOne(b.cq).qpNum, qpNum);
      }
      const error = postError(() => targets[0].postRecv({ sgList: [] }));
      assert.deepEqual([error.errno, error.index], ['EINVAL', 0]);
      assert.equal(postError(() => targets[0].postRecvSge(0, 1, 2, 3)).errno, 'EINVAL');
      assert.equal(targets[0].query().initAttr.srq, srq);
      assert.deepEqual([targets[0].cap.maxRecvWr, targets[0].cap.maxRecvSge], [0, 0]);
      assert.throws(() => srq.destroy(), { errno: 'EBUSY' });
    });
  });
}

test('a datagram whose address handle was destroyed before it left completes with LOC_QP_OP_ERR', () => {
  using benches = new Benches('simulated', NET);
  const { a, b } = benches;
  const from = makeUd(a);
  const ah = ahTo(a, b);
  from.modify({ qpState: QpState.SQD });
  from.postSend({ opcode: WrOpcode.SEND, ud: { ah, remoteQpn: 100, remoteQkey: QKEY } });
  ah.destroy();
  from.modify({ qpState: QpState.RTS });
  const { status, vendorErr } = drainOne(a.cq);
  assert.deepEqual([status, vendorErr], [WcStatus.LOC_QP_OP_ERR, Syndrome.LOCAL_AH_UNKNOWN]);
});

test('a datagram along an address handle of another domain completes with LOC_QP_OP_ERR', () => {
  using benches = new Benches('simulated', NET);
  const { a, b } = benches;
  const from = makeUd(a);
  const ah = a.context.allocPd().createAh(ahTo(a, b).attr);
  from.postSend({ opcode: WrOpcode.SEND, ud: { ah, remoteQpn: 100, remoteQkey: QKEY } });
  assert.equal(drainOne(a.cq).status, WcStatus.LOC_QP_OP_ERR);
});

test('a Q_Key with its top bit set stands for that of the sending QP', () => {
  using benches = new Benches('simulated', NET);
  const { a, b } = benches;
  const [from, to] = [makeUd(a), makeUd(b)];
  to.postRecv({ sgList: [b.mr.sge(0, 64)] });
  const ud = { ah: ahTo(a, b), remoteQpn: to.qpNum, remoteQkey: 0x80010000 };
  from.postSend({ opcode: WrOpcode.SEND, ud });
  assert.equal(drainOne(b.cq).srcQp, from.qpNum);
});

test('one address handle serves any number of QPs and destinations, and keeps its own address', () => {
  using benches = new Benches('simulated', NET);
  const { a, b } = benches;
  const dgid = b.context.queryGid(1, 0);
  const ah = a.pd.createAh({ grh: { dgid } });
  assert.deepEqual(ah.attr.grh, {
    dgid: Uint8Array.from(dgid),
    flowLabel: 0,
    sgidIndex: 0,
    hopLimit: 64,
    trafficClass: 0,
  });
  dgid.fill(0);
  const [first, second, to, other] = [makeUd(a), makeUd(a), makeUd(b), makeUd(b)];
  for (const qp of [to, other]) qp.postRecv([{ sgList: [b.mr.sge(0, 64)] }, { sgList: [b.mr.sge(0, 64)] }]);
  for (const from of [first, second])
    for (const { qpNum } of [to, other])
      from.postSend({ opcode: WrOpcode.SEND, ud: { ah, remoteQpn: qpNum, remoteQkey: QKEY } });
  const arrived = drain(b.cq, 4).map(({ srcQp, qpNum }) => [srcQp, qpNum]);
  assert.deepEqual(arrived, [
    [first.qpNum, to.qpNum],
    [first.qpNum, other.qpNum],
    [second.qpNum, to.qpNum],
    [second.qpNum, other.qpNum],
  ]);
});

test('a batch of datagrams of which one goes nowhere is not posted', () => {
  using benches = new Benches('simulated', NET);
  const { a, b } = benches;
  const [from, to] = [makeUd(a), makeUd(b)];
  to.postRecv({ sgList: [b.mr.sge(0, 64)] });
  const ah = ahTo(a, b);
  const mistakes: readonly (() => void)[] = [
    () => from.wrSend(),
    () => {
      from.wrSend();
      from.wrSetUdAddr(ah, 0x1000000, QKEY);
    },
    () => {
      from.wrSend();
      from.wrSetUdAddr(ahTo(b, a), to.qpNum, QKEY);
    },
    () => from.wrSetUdAddr(ah, to.qpNum, QKEY),
  ];
  for (const mistake of mistakes) {
    from.wrStart();
    from.wrSend();
    from.wrSetUdAddr(ah, to.qpNum, QKEY);
    from.wrAbort();
    from.wrStart();
    mistake();
    from.wrSend();
    from.wrSetUdAddr(ah, to.qpNum, QKEY);
    assert.throws(() => from.wrComplete(), { errno: 'EINVAL' });
  }
  from.postSend({ opcode: WrOpcode.SEND_WITH_IMM, immData: 1, ud: { ah, remoteQpn: to.qpNum, remoteQkey: QKEY } });
  assert.equal(drainOne(b.cq).immData, 1);
});

test('sizes of a datagram are checked against the device when it is posted, and against the MTU when it is sent', () => {
  using benches = new Benches('simulated', NET);
  const { a, b } = benches;
  const qp = makeUd(a);
  const ud = { ah: ahTo(a, b), remoteQpn: 100, remoteQkey: QKEY };
  const piece = { addr: a.mr.addr, length: 0xffffffff, lkey: a.mr.lkey };
  assert.equal(postError(() => qp.postSend({ opcode: WrOpcode.SEND, sgList: [piece], ud })).errno, 'EINVAL');
  qp.postSend({ opcode: WrOpcode.SEND, sgList: [a.mr.sge(0, 5000)], ud });
  assert.deepEqual(drainOne(a.cq).vendorErr, Syndrome.LOCAL_MESSAGE_TOO_LONG);
});

test('inline datagrams need no registered memory', () => {
  using benches = new Benches('simulated', NET);
  const { a, b } = benches;
  const [from, to] = [makeUd(a), makeUd(b)];
  to.postRecv({ sgList: [b.mr.sge(0, 128)] });
  const ud = { ah: ahTo(a, b), remoteQpn: to.qpNum, remoteQkey: QKEY };
  from.postSend({ opcode: WrOpcode.SEND, sendFlags: INLINE, sgList: [{ bytes: pattern(64) }], ud });
  assert.equal(drainOne(b.cq).byteLen, 64 + GRH);
  assert.deepEqual(b.mr.bytes.subarray(GRH, GRH + 64), pattern(64));
});

test('the state machine of a UD QP asks for a Q_Key, and for no peer', () => {
  using benches = new Benches('simulated', NET);
  const qp = makeQp(benches.a, QpType.UD);
  assert.throws(
    () => qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1 }),
    (error) => error instanceof VerbsError && error.errno === 'EINVAL' && error.message.includes('QKEY'),
  );
  assert.throws(() => qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qkey: 0x80000000 }), {
    errno: 'EPERM',
  });
  qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qkey: 5 });
  assert.throws(() => qp.modify({ qpState: QpState.RTR, pathMtu: Mtu.MTU_256 }), { errno: 'EINVAL' });
  qp.modify({ qpState: QpState.RTR, qkey: 6 });
  assert.equal(qp.query().attr.qkey, 6);
});

test('a UD QP in SQD reports that it is drained', () => {
  using benches = new Benches('simulated', NET);
  const { context } = benches.a;
  const qp = makeUd(benches.a);
  qp.modify({ qpState: QpState.SQD, enSqdAsyncNotify: 1 });
  const event = context.getAsyncEvent(1000);
  assert.equal(event.eventType, EventType.SQ_DRAINED);
  assert.ok('qp' in event && event.qp === qp);
});

describe('limiting the rate of a QP', () => {
  test('works on UD, in RTS, within what the device takes', () => {
    using benches = new Benches('simulated', NET);
    const { a } = benches;
    const qp = makeUd(a);
    const { qpRateLimitMin, qpRateLimitMax } = a.context.queryDeviceEx().packetPacingCaps;
    qp.modifyRateLimit({ rateLimit: qpRateLimitMin, maxBurstSize: 4096, typicalPktSize: 1024 });
    qp.modifyRateLimit({ rateLimit: 0 });
    assert.throws(() => qp.modifyRateLimit({ rateLimit: qpRateLimitMax + 1 }), { errno: 'EINVAL' });
    assert.throws(() => qp.modifyRateLimit({ rateLimit: qpRateLimitMin, maxBurstSize: -1 }), { errno: 'EINVAL' });
    qp.modify({ qpState: QpState.SQD });
    assert.throws(() => qp.modifyRateLimit({ rateLimit: 0 }), {
      errno: 'EINVAL',
      call: 'ibv_modify_qp_rate_limit',
    });
  });

  test('holds packets back: 20 of 1000 bytes at 8 Mbit/s take 20 ms', () => {
    using benches = new Benches('simulated', NET);
    const { a, b } = benches;
    const [from, to] = [makeUd(a), makeUd(b)];
    const ud = { ah: ahTo(a, b), remoteQpn: to.qpNum, remoteQkey: QKEY };
    from.modifyRateLimit({ rateLimit: 8000, maxBurstSize: 1000 });
    const begun = a.context.queryRtValues().rawClock;
    for (let i = 0; i < 20; i += 1)
      from.postSend({ opcode: WrOpcode.SEND, sendFlags: SIGNALED, sgList: [a.mr.sge(0, 1000)], ud });
    drain(a.cq, 20);
    const spentUs = Number(a.context.queryRtValues().rawClock - begun) / 1000;
    // Virtual time: the first two packets go at once, and each is longer by its headers than its data.
    assert.ok(spentUs > 18_000 && spentUs < 21_000, `${spentUs} µs`);
  });

  test('is EOPNOTSUPP on RC', () => {
    using benches = new Benches('simulated', NET);
    const qp = makeQp(benches.a, QpType.RC);
    assert.throws(() => qp.modifyRateLimit({ rateLimit: 0 }), { errno: 'EOPNOTSUPP' });
  });
});

test('flow steering is EOPNOTSUPP', () => {
  using benches = new Benches('simulated', NET);
  assert.throws(() => makeUd(benches.a).createFlow(), { errno: 'EOPNOTSUPP', call: 'ibv_create_flow' });
});
