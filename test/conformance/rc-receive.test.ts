import assert from 'node:assert/strict';
import { test } from 'node:test';
import { QpState, WcStatus, WrOpcode } from '../../src/entry/index.js';
import { conformance } from './provider.js';
import {
  assertEmpty,
  assertStatus,
  assertSuccess,
  BOGUS_KEY,
  Pair,
  pattern,
  perform,
  pollOne,
  useDevices,
  waitForState,
  waitUntil,
} from './support.js';

const PAGE = 4096;
const { SEND } = WrOpcode;

function waitForErrorAtBothEnds({ local, remote }: Pair): void {
  waitForState(local.qp, QpState.ERR);
  waitForState(remote.qp, QpState.ERR);
}

conformance('RC receive requests', (provider) => {
  const devices = useDevices(provider);

  test('shorter than the message fail at both ends', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    remote.qp.postRecv({ wrId: 7, sgList: [remote.mr.sge(0, PAGE - 1)] });
    const sent = perform(local, { opcode: SEND, sgList: [local.mr.sge(0, PAGE)] });
    assertStatus(local, sent, WcStatus.REM_INV_REQ_ERR);
    const received = pollOne(remote.cq);
    assertStatus(remote, received, WcStatus.LOC_LEN_ERR);
    assert.equal(received.wrId, 7n);
    waitForErrorAtBothEnds(pair);
  });

  test('that are not there end a SEND in RNR_RETRY_EXC_ERR', () => {
    using pair = new Pair(devices, { rnrRetry: 5, minRnrTimer: 12 });
    const { local } = pair;
    const sent = perform(local, { opcode: SEND, sgList: [local.mr.sge(0, PAGE)] });
    assertStatus(local, sent, WcStatus.RNR_RETRY_EXC_ERR);
  });

  test('are waited for without end where rnrRetry is 7', () => {
    using pair = new Pair(devices, { rnrRetry: 7, minRnrTimer: 12 });
    const { local, remote } = pair;
    local.mr.bytes.set(pattern(PAGE));
    const refusals = (): number => local.context.counters()['rcvd_rnr_err'];
    const before = refusals();
    local.qp.postSend({ wrId: 1, opcode: SEND, sendFlags: 2, sgList: [local.mr.sge(0, PAGE)] });
    // More often than any finite count allows.
    waitUntil(local.context, 'the SEND was refused 20 times', () => refusals() - before >= 20);
    assertEmpty(local.cq);
    remote.qp.postRecv({ wrId: 7, sgList: [remote.mr.sge(0, PAGE)] });
    assertSuccess(local, pollOne(local.cq));
    assertSuccess(remote, pollOne(remote.cq));
    assert.deepEqual(remote.mr.bytes.subarray(0, PAGE), pattern(PAGE));
  });

  test('that name memory before their region fail at both ends', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    const sge = remote.mr.sge(0, PAGE);
    remote.qp.postRecv({ sgList: [{ ...sge, addr: BigInt(sge.addr) - 1n }] });
    const sent = perform(local, { opcode: SEND, sgList: [local.mr.sge(0, PAGE)] });
    assertStatus(local, sent, WcStatus.REM_OP_ERR);
    assertStatus(remote, pollOne(remote.cq), WcStatus.LOC_PROT_ERR);
  });

  test('whose region has ended since fail at both ends and change nothing', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    const region = remote.region(PAGE);
    const { bytes } = region;
    bytes.fill(0x62);
    remote.qp.postRecv({ sgList: [region.sge()] });
    region.dereg();
    const sent = perform(local, { opcode: SEND, sgList: [local.mr.sge(0, PAGE)] });
    assertStatus(local, sent, WcStatus.REM_OP_ERR);
    assertStatus(remote, pollOne(remote.cq), WcStatus.LOC_PROT_ERR);
    assert.deepEqual(bytes, new Uint8Array(PAGE).fill(0x62));
    waitForErrorAtBothEnds(pair);
  });

  test('longer than their region fail at both ends when the message is as long', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    const region = remote.region(PAGE - 32);
    remote.qp.postRecv({ sgList: [{ ...region.sge(), length: PAGE }] });
    const sent = perform(local, { opcode: SEND, sgList: [local.mr.sge(0, PAGE)] });
    assertStatus(local, sent, WcStatus.REM_OP_ERR);
    assertStatus(remote, pollOne(remote.cq), WcStatus.LOC_PROT_ERR);
  });

  test('longer than their region fail at both ends although the message would fit', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    const region = remote.region(PAGE);
    remote.qp.postRecv({ sgList: [{ ...region.sge(), length: PAGE + 32 }] });
    const sent = perform(local, { opcode: SEND, sgList: [local.mr.sge(0, PAGE)] });
    assertStatus(local, sent, WcStatus.REM_OP_ERR);
    assertStatus(remote, pollOne(remote.cq), WcStatus.LOC_PROT_ERR);
    assert.deepEqual(region.bytes, new Uint8Array(PAGE));
  });

  test('with a key that nothing has fail at both ends', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    remote.qp.postRecv({ sgList: [{ ...remote.mr.sge(0, PAGE), lkey: BOGUS_KEY }] });
    const sent = perform(local, { opcode: SEND, sgList: [local.mr.sge(0, PAGE)] });
    assertStatus(local, sent, WcStatus.REM_OP_ERR);
    assertStatus(remote, pollOne(remote.cq), WcStatus.LOC_PROT_ERR);
  });
});
