import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Context,
  SendFlags,
  VerbsError,
  WcFlags,
  WcOpcode,
  type WorkCompletion,
  WrOpcode,
} from '../../src/entry/index.js';
import { conformance } from './provider.js';
import {
  assertEmpty,
  assertErrno,
  assertSuccess,
  End,
  Pair,
  pattern,
  perform,
  pollOne,
  remoteOf,
  useDevices,
} from './support.js';

const PAGE = 4096;
const { SEND, SEND_WITH_IMM, RDMA_READ } = WrOpcode;
const { SIGNALED, INLINE } = SendFlags;

/** The largest of rdma-unit-test's sizes of inline data that a QP can be made with. */
function largestInlineData(context: Context): number {
  using end = new End(context);
  const granted = [64, 128, 256, 512, 1024, 2048, 4096, 8192, 16536].filter((maxInlineData) => {
    try {
      end.pd.createQp(end.qpInit({ cap: { maxInlineData } })).destroy();
      return true;
    } catch (error) {
      if (error instanceof VerbsError && error.errno === 'EINVAL') return false;
      throw error;
    }
  });
  return Math.max(...granted);
}

function assertReceived(pair: Pair, wc: WorkCompletion, wrId: bigint, byteLen: number, wcFlags: number): void {
  assertSuccess(pair.remote, wc);
  assert.deepEqual(
    { wrId: wc.wrId, opcode: wc.opcode, byteLen: wc.byteLen, wcFlags: wc.wcFlags, qpNum: wc.qpNum },
    { wrId, opcode: WcOpcode.RECV, byteLen, wcFlags, qpNum: pair.remote.qp.qpNum },
  );
}

function assertSent(pair: Pair, wc: WorkCompletion, wrId: bigint): void {
  assertSuccess(pair.local, wc);
  assert.deepEqual(
    { wrId: wc.wrId, opcode: wc.opcode, qpNum: wc.qpNum },
    { wrId, opcode: WcOpcode.SEND, qpNum: pair.local.qp.qpNum },
  );
}

conformance('RC SEND', (provider) => {
  const devices = useDevices(provider);

  test('arrives whole and completes at both ends', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    local.mr.bytes.set(pattern(PAGE));
    remote.qp.postRecv({ wrId: 7, sgList: [remote.mr.sge(0, PAGE)] });
    assertSent(pair, perform(local, { wrId: 1, opcode: SEND, sgList: [local.mr.sge(0, PAGE)] }), 1n);
    assertReceived(pair, pollOne(remote.cq), 7n, PAGE, 0);
    assert.deepEqual(remote.mr.bytes.subarray(0, PAGE), pattern(PAGE));
  });

  test('arrives each time, one after the other on several pairs', () => {
    for (let connection = 0; connection < 2; connection += 1) {
      using pair = new Pair(devices, { cap: { maxRecvWr: 512 } });
      const { local, remote } = pair;
      for (let i = 0; i < 500; i += 1) {
        local.mr.bytes.fill(i, 0, PAGE);
        remote.qp.postRecv({ wrId: i, sgList: [remote.mr.sge(0, PAGE)] });
        const wrId = BigInt(i) + 2n ** 32n;
        assertSent(pair, perform(local, { wrId, opcode: SEND, sgList: [local.mr.sge(0, PAGE)] }), wrId);
        assertReceived(pair, pollOne(remote.cq), BigInt(i), PAGE, 0);
        assert.equal(Buffer.compare(remote.mr.bytes.subarray(0, PAGE), local.mr.bytes.subarray(0, PAGE)), 0);
      }
    }
  });

  test('of no pieces takes a receive request of none', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    remote.qp.postRecv({ wrId: 7, sgList: [] });
    assertSent(pair, perform(local, { wrId: 1, opcode: SEND, sgList: [] }), 1n);
    assertReceived(pair, pollOne(remote.cq), 7n, 0, 0);
  });

  test('without SIGNALED completes at the receiver alone', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    local.mr.bytes.set(pattern(PAGE));
    remote.qp.postRecv([{ wrId: 7, sgList: [remote.mr.sge(0, PAGE)] }, { wrId: 8 }]);
    local.qp.postSend({ wrId: 1, opcode: SEND, sgList: [local.mr.sge(0, PAGE)] });
    assertReceived(pair, pollOne(remote.cq), 7n, PAGE, 0);
    assert.deepEqual(remote.mr.bytes.subarray(0, PAGE), pattern(PAGE));
    // What comes first is the one after it.
    assertSent(pair, perform(local, { wrId: 2, opcode: SEND }), 2n);
    assertEmpty(local.cq);
  });

  test('of 128 pages arrives whole', () => {
    const bytes = 128 * PAGE;
    using pair = new Pair(devices, { bytes });
    const { local, remote } = pair;
    local.mr.bytes.set(pattern(bytes));
    remote.qp.postRecv({ wrId: 7, sgList: [remote.mr.sge()] });
    assertSent(pair, perform(local, { wrId: 1, opcode: SEND, sgList: [local.mr.sge()] }), 1n);
    assertReceived(pair, pollOne(remote.cq), 7n, bytes, 0);
    assert.equal(Buffer.compare(remote.mr.bytes, local.mr.bytes), 0);
  });

  test('takes inline data while posting, as much as a QP can be made with', () => {
    const length = largestInlineData(devices[0]);
    using pair = new Pair(devices, { bytes: length + 64, cap: { maxInlineData: length } });
    const { local, remote } = pair;
    const unregistered = pattern(length);
    remote.mr.bytes.fill(0x62);
    remote.qp.postRecv({ wrId: 7, sgList: [remote.mr.sge()] });
    local.qp.postSend({ wrId: 1, opcode: SEND, sendFlags: SIGNALED | INLINE, sgList: [{ bytes: unregistered }] });
    unregistered.fill(0);
    assertSent(pair, pollOne(local.cq), 1n);
    assertReceived(pair, pollOne(remote.cq), 7n, length, 0);
    assert.deepEqual(remote.mr.bytes.subarray(0, length), pattern(length));
    assert.deepEqual(remote.mr.bytes.subarray(length), new Uint8Array(64).fill(0x62));
  });

  test('refuses more inline data than the QP takes', () => {
    using pair = new Pair(devices);
    const { local } = pair;
    const { maxInlineData } = local.qp.query().initAttr.cap;
    const sgList = [{ bytes: new Uint8Array(maxInlineData + 10) }];
    assertErrno('EINVAL', () => local.qp.postSend({ opcode: SEND, sendFlags: SIGNALED | INLINE, sgList }));
    assertEmpty(local.cq);
  });

  test('is one of the requests that can be inline, and READ is not', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    const sgList = [local.mr.sge(0, 8)];
    const rdma = remoteOf(remote.mr);
    assertErrno('EINVAL', () => local.qp.postSend({ opcode: RDMA_READ, sendFlags: SIGNALED | INLINE, sgList, rdma }));
    remote.qp.postRecv({ wrId: 7, sgList: [remote.mr.sge(0, 8)] });
    assertSent(pair, perform(local, { wrId: 1, opcode: SEND, sendFlags: INLINE, sgList }), 1n);
    assertReceived(pair, pollOne(remote.cq), 7n, 8, 0);
  });

  test('with immediate data delivers the number beside the message', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    local.mr.bytes.set(pattern(PAGE));
    remote.qp.postRecv({ wrId: 7, sgList: [remote.mr.sge(0, PAGE)] });
    const sgList = [local.mr.sge(0, PAGE)];
    assertSent(pair, perform(local, { wrId: 1, opcode: SEND_WITH_IMM, immData: 0xbaddcafe, sgList }), 1n);
    const received = pollOne(remote.cq);
    assertReceived(pair, received, 7n, PAGE, WcFlags.WITH_IMM);
    assert.equal(received.immData, 0xbaddcafe);
    assert.deepEqual(remote.mr.bytes.subarray(0, PAGE), pattern(PAGE));
  });
});
