import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Cq, type CqInitAttr, SendFlags, WcExFlags, WcOpcode, WcStatus, WrOpcode } from '../../src/entry/index.js';
import { conformance } from './provider.js';
import { Belongings, countUp, idsByQp, SidePair } from './sides.js';
import { assertErrno, assertStatus, BOGUS_KEY, pattern, pollOne, remoteOf, useDevices, waitUntil } from './support.js';

const { WITH_QP_NUM, WITH_COMPLETION_TIMESTAMP, WITH_COMPLETION_TIMESTAMP_WALLCLOCK } = WcExFlags;
const STAMPED: CqInitAttr = {
  cqe: 256,
  wcFlags: WITH_QP_NUM | WITH_COMPLETION_TIMESTAMP | WITH_COMPLETION_TIMESTAMP_WALLCLOCK,
};
const PAIRS = 20;
/** Of each pair. */
const MESSAGES = 3;

/** What `read` makes of the next completion, which startPoll finds. */
function pollExtended<T>(cq: Cq, read: () => T): T {
  waitUntil(cq.context, 'startPoll finds a completion', () => cq.startPoll());
  const result = read();
  assert.equal(cq.nextPoll(), false);
  cq.endPoll();
  return result;
}

function write({ local, remote }: SidePair, wrId: number): void {
  local.qp.postSend({
    wrId,
    opcode: WrOpcode.RDMA_WRITE,
    sendFlags: SendFlags.SIGNALED,
    sgList: [local.mr.sge(0, 64)],
    rdma: remoteOf(remote.mr),
  });
}

function send({ local, remote }: SidePair, wrId: number): void {
  remote.qp.postRecv({ wrId, sgList: [remote.mr.sge(0, 64)] });
  local.qp.postSend({ wrId, opcode: WrOpcode.SEND, sgList: [local.mr.sge(0, 64)] });
}

/** All completions of a queue, read in batches of startPoll to endPoll. */
function readAll(cq: Cq, count: number) {
  const found: { readonly qpNum: number; readonly wrId: bigint; readonly status: WcStatus; readonly stamp: bigint }[] =
    [];
  waitUntil(cq.context, `startPoll and nextPoll give ${count} completions`, () => {
    if (!cq.startPoll()) return false;
    do found.push({ qpNum: cq.qpNum, wrId: cq.wrId, status: cq.status, stamp: cq.completionTimestamp });
    while (found.length < count && cq.nextPoll());
    cq.endPoll();
    return found.length === count;
  });
  return found;
}

const BATCHES = [
  ['requests', 'local', WcOpcode.RDMA_WRITE, write],
  ['messages', 'remote', WcOpcode.RECV, send],
] as const;

conformance('completions that startPoll finds', (provider) => {
  const devices = useDevices(provider);

  for (const [what, end, expected, post] of BATCHES) {
    const initOf = (which: typeof end, cq: Cq | CqInitAttr) =>
      which === end ? (end === 'local' ? { sendCq: cq } : { recvCq: cq }) : {};

    test(`tell of ${what}, and when they were done`, () => {
      using pair = new SidePair(devices, initOf('local', STAMPED), initOf('remote', STAMPED));
      const { qp, sendCq, recvCq } = pair[end];
      const cq = end === 'local' ? sendCq : recvCq;
      post(pair, 77);
      pollExtended(cq, () => {
        const { wrId, wrIdNumber, status, opcode, qpNum, vendorErr } = cq;
        assert.deepEqual(
          { wrId, wrIdNumber, status, opcode, qpNum, vendorErr },
          { wrId: 77n, wrIdNumber: 77, status: WcStatus.SUCCESS, opcode: expected, qpNum: qp.qpNum, vendorErr: 0 },
        );
        assert.ok(cq.completionTimestamp > 0n);
        assert.ok(cq.completionWallclockNs > 0n);
      });
    });

    test(`tell of the ${what} of ${PAIRS} queue pairs in the order of each, and at times that do not go back`, () => {
      using belongings = new Belongings();
      const cq = belongings.keep(devices[end === 'local' ? 0 : 1].createCq(STAMPED));
      const pairs = Array.from({ length: PAIRS }, () =>
        belongings.keep(new SidePair(devices, initOf('local', cq), initOf('remote', cq))),
      );
      for (const pair of pairs) for (let wrId = 0; wrId < MESSAGES; wrId += 1) post(pair, wrId);
      const found = readAll(cq, PAIRS * MESSAGES);
      for (const { status } of found) assert.equal(status, WcStatus.SUCCESS);
      const ids = idsByQp(found);
      for (const pair of pairs) {
        const { qpNum } = pair[end].qp;
        assert.deepEqual(ids.get(qpNum), countUp(MESSAGES));
        const stamps = found.filter((wc) => wc.qpNum === qpNum).map(({ stamp }) => stamp);
        for (let i = 1; i < stamps.length; i += 1) assert.ok(stamps[i] >= stamps[i - 1]);
      }
      assert.equal(cq.startPoll(), false);
    });
  }

  test('are as good as those of poll', () => {
    using pair = new SidePair(devices, {}, { recvCq: { cqe: 16 } });
    const { remote } = pair;
    remote.qp.postRecv({ wrId: 5, sgList: [remote.mr.sge(0, 64)] });
    pair.local.qp.postSend({ opcode: WrOpcode.SEND_WITH_IMM, immData: 0xcafe, sgList: [pair.local.mr.sge(0, 33)] });
    const cq = remote.recvCq;
    pollExtended(cq, () => {
      const { wrId, status, opcode, byteLen, immData, qpNum, srcQp, wcFlags, slid, sl, dlidPathBits, cvlan, flowTag } =
        cq;
      const { detail: _detail, ...whole } = cq.workCompletion();
      assert.equal(byteLen, 33);
      assert.equal(immData, 0xcafe);
      assert.deepEqual(whole, {
        ...{ wrId, status, opcode, byteLen, immData, qpNum, srcQp, wcFlags, slid, sl, dlidPathBits },
        ...{ vendorErr: 0, invalidatedRkey: 0, pkeyIndex: 0 },
      });
      assert.deepEqual([cvlan, flowTag], [0, 0]);
    });
  });

  test('tell of failures and of what failed', () => {
    using pair = new SidePair(devices, { sendCq: STAMPED });
    const { local, remote } = pair;
    local.qp.postSend({
      wrId: 9,
      opcode: WrOpcode.RDMA_WRITE,
      sgList: [local.mr.sge(0, 8)],
      rdma: { ...remoteOf(remote.mr), rkey: BOGUS_KEY },
    });
    const cq = local.sendCq;
    pollExtended(cq, () => {
      assertStatus(local, cq.workCompletion(), WcStatus.REM_ACCESS_ERR);
      assert.deepEqual([cq.wrId, cq.status, cq.qpNum], [9n, WcStatus.REM_ACCESS_ERR, local.qp.qpNum]);
    });
  });

  test('are gone after endPoll, and only those that were looked at', () => {
    using pair = new SidePair(devices);
    const { local } = pair;
    local.mr.bytes.set(pattern(64));
    for (let wrId = 0; wrId < 4; wrId += 1) write(pair, wrId);
    const cq = local.sendCq;
    waitUntil(local.context, 'startPoll finds a completion', () => cq.startPoll());
    waitUntil(local.context, 'a second one has come', () => cq.nextPoll());
    assert.equal(cq.wrId, 1n);
    cq.endPoll();
    assert.equal(pollOne(cq).wrId, 2n);
    assert.equal(pollOne(cq).wrId, 3n);
  });

  test('are read in one way at a time', () => {
    using pair = new SidePair(devices);
    const cq = pair.local.sendCq;
    assert.equal(cq.startPoll(), false);
    assertErrno('EINVAL', () => cq.nextPoll());
    assertErrno('EINVAL', () => cq.endPoll());
    write(pair, 1);
    pollExtended(cq, () => {
      assertErrno('EINVAL', () => cq.poll());
      assertErrno('EINVAL', () => cq.startPoll());
    });
  });
});
