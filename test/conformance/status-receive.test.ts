import assert from 'node:assert/strict';
import { test } from 'node:test';
import { QpState, QpType, Syndrome, WcFlags, WcStatus, WrOpcode } from '../../src/entry/index.js';
import { writeOf } from './memory-support.js';
import { conformance } from './provider.js';
import { assertOutcome, hex } from './status-support.js';
import {
  assertStatus,
  assertSuccess,
  BOGUS_KEY,
  handleTo,
  Pair,
  perform,
  pollOne,
  pollUntil,
  QKEY,
  remoteOf,
  useDevices,
} from './support.js';
import { XrcPair } from './xrc.js';

const { ERR, RTS } = QpState;
const { SEND, SEND_WITH_INV, RDMA_WRITE_WITH_IMM } = WrOpcode;

conformance('a receive request ends in', (provider) => {
  const devices = useDevices(provider);

  test('SUCCESS when a message has filled it', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    remote.qp.postRecv({ sgList: [remote.mr.sge(0, 24)] });
    assertSuccess(local, perform(local, { opcode: SEND, sgList: [local.mr.sge(0, 24)] }));
    assertOutcome(remote, pollOne(remote.cq), WcStatus.SUCCESS, Syndrome.NONE, ['24 bytes']);
  });

  for (const bytes of [64, 3000]) {
    test(`LOC_LEN_ERR when a message of ${bytes} bytes is longer`, () => {
      using pair = new Pair(devices);
      const { local, remote } = pair;
      const room = bytes - 1;
      remote.qp.postRecv({ sgList: [remote.mr.sge(0, room)] });
      const sent = perform(local, { opcode: SEND, sgList: [local.mr.sge(0, bytes)] });
      const wc = pollOne(remote.cq);
      assertOutcome(remote, wc, WcStatus.LOC_LEN_ERR, Syndrome.LOCAL_LENGTH, [`${bytes} bytes`, `${room} bytes`]);
      assertStatus(local, sent, WcStatus.REM_INV_REQ_ERR);
      assert.equal(remote.qp.query().attr.qpState, ERR);
    });
  }

  for (const qpType of ['RC', 'UC', 'UD'] as const) {
    test(`LOC_PROT_ERR when its memory has another key, on ${qpType}`, () => {
      using pair = new Pair(devices, { qpType: QpType[qpType] });
      const { local, remote } = pair;
      const ud = { ah: handleTo(local, remote), remoteQpn: remote.qp.qpNum, remoteQkey: QKEY };
      remote.qp.postRecv({ sgList: [{ ...remote.mr.sge(), lkey: BOGUS_KEY }] });
      perform(local, { opcode: SEND, sgList: [local.mr.sge(0, 16)], ...(qpType === 'UD' ? { ud } : {}) });
      const wc = pollOne(remote.cq);
      const numbers = [hex(BOGUS_KEY), 'sgList[0]', hex(remote.mr.iova)];
      assertOutcome(remote, wc, WcStatus.LOC_PROT_ERR, Syndrome.LOCAL_KEY_UNKNOWN, numbers);
      assert.equal(remote.qp.query().attr.qpState, ERR);
    });
  }

  test('LOC_PROT_ERR when nobody may write to its memory', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    const closed = remote.region(64, 0);
    remote.qp.postRecv({ sgList: [closed.sge()] });
    assertStatus(local, perform(local, { opcode: SEND, sgList: [local.mr.sge(0, 16)] }), WcStatus.REM_OP_ERR);
    const wc = pollOne(remote.cq);
    assertOutcome(remote, wc, WcStatus.LOC_PROT_ERR, Syndrome.LOCAL_KEY_ACCESS, [hex(closed.lkey), 'LOCAL_WRITE']);
  });

  test('WR_FLUSH_ERR when the QP goes to ERR', () => {
    using pair = new Pair(devices);
    const { remote } = pair;
    remote.qp.postRecv([{ wrId: 1 }, { wrId: 2 }]);
    remote.qp.modify({ qpState: ERR });
    const flushed = pollUntil(remote.cq, 2);
    for (const wc of flushed) assertOutcome(remote, wc, WcStatus.WR_FLUSH_ERR, Syndrome.FLUSHED, ['ERR', 'modify']);
    assert.deepEqual(
      flushed.map(({ wrId }) => wrId),
      [1n, 2n],
    );
  });

  test('LOC_ACCESS_ERR when a WRITE with immediate data names memory that it may not', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    remote.qp.postRecv({});
    const rdma = { ...remoteOf(remote.mr), rkey: BOGUS_KEY };
    const sent = perform(local, { opcode: RDMA_WRITE_WITH_IMM, sgList: [local.mr.sge(0, 8)], rdma, immData: 1 });
    const numbers = [hex(BOGUS_KEY), '8 bytes', hex(remote.mr.iova), 'PSN 0x0'];
    assertOutcome(remote, pollOne(remote.cq), WcStatus.LOC_ACCESS_ERR, Syndrome.RESPONDER_ACCESS, numbers);
    assertStatus(local, sent, WcStatus.REM_ACCESS_ERR);
  });

  test('REM_INV_REQ_ERR when the sender asks to close a key that it may not', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    remote.qp.postRecv({ sgList: [remote.mr.sge()] });
    const sent = perform(local, { opcode: SEND_WITH_INV, invalidateRkey: BOGUS_KEY });
    const wc = pollOne(remote.cq);
    assertOutcome(remote, wc, WcStatus.REM_INV_REQ_ERR, Syndrome.INVALIDATE_FAILED, [hex(BOGUS_KEY), 'PSN 0x0']);
    assert.equal(wc.wcFlags & WcFlags.WITH_INV, 0);
    assertStatus(local, sent, WcStatus.REM_ACCESS_ERR);
  });

  test('LOC_LEN_ERR of a shared receive queue, in the queue’s own CQ, when an XRC message is longer', () => {
    using pair = new XrcPair(devices);
    const { local, remote } = pair;
    remote.srq.postRecv({ sgList: [remote.mr.sge(0, 15)] });
    const sent = perform(local, { opcode: SEND, sgList: [local.mr.sge(0, 16)], xrc: remote.destination });
    const wc = pollOne(remote.cq);
    assertOutcome(remote, wc, WcStatus.LOC_LEN_ERR, Syndrome.LOCAL_LENGTH, ['16 bytes', '15 bytes']);
    assert.equal(wc.qpNum, remote.qp.qpNum);
    assertStatus(local, sent, WcStatus.REM_INV_REQ_ERR);
  });

  test('nothing, and stays for the next message, when a WRITE has no immediate data', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    remote.qp.postRecv({ wrId: 4 });
    assertSuccess(local, perform(local, writeOf(local.mr, remoteOf(remote.mr))));
    assert.deepEqual(remote.cq.poll(), []);
    assertSuccess(local, perform(local, { opcode: SEND }));
    assert.equal(pollOne(remote.cq).wrId, 4n);
    assert.equal(remote.qp.query().attr.qpState, RTS);
  });
});
