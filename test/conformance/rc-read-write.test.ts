import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Mtu, MwType, SendFlags, WcFlags, WcOpcode, WcStatus, WrOpcode } from '../../src/entry/index.js';
import { PAGE, WINDOW_TYPES } from './memory-support.js';
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
  remoteOf,
  useDevices,
} from './support.js';
import { bindWindow, rebindWindow } from './windows.js';

const LARGE = 128 * PAGE;
const { RDMA_READ, RDMA_WRITE, RDMA_WRITE_WITH_IMM } = WrOpcode;
const { SIGNALED, INLINE } = SendFlags;

conformance('RC READ', (provider) => {
  const devices = useDevices(provider);

  for (const [title, bytes] of [
    ['a page', PAGE],
    ['128 pages', LARGE],
  ] as const) {
    test(`fetches ${title}`, () => {
      using pair = new Pair(devices, { bytes });
      const { local, remote } = pair;
      remote.mr.bytes.set(pattern(bytes));
      const wc = perform(local, { wrId: 5, opcode: RDMA_READ, sgList: [local.mr.sge()], rdma: remoteOf(remote.mr) });
      assertSuccess(local, wc);
      assert.deepEqual([wc.wrId, wc.opcode, wc.qpNum], [5n, WcOpcode.RDMA_READ, local.qp.qpNum]);
      assert.equal(Buffer.compare(local.mr.bytes, remote.mr.bytes), 0);
    });
  }

  test('without SIGNALED makes no entry', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    const rdma = remoteOf(remote.mr);
    local.qp.postSend([
      { wrId: 1, opcode: RDMA_READ, sgList: [local.mr.sge(0, PAGE)], rdma },
      { wrId: 2, opcode: RDMA_READ, sendFlags: SIGNALED, sgList: [local.mr.sge(0, PAGE)], rdma },
    ]);
    const wc = pollOne(local.cq);
    assertSuccess(local, wc);
    assert.deepEqual([wc.wrId, wc.opcode], [2n, WcOpcode.RDMA_READ]);
    assertEmpty(local.cq);
  });

  test('makes an entry without SIGNALED where the QP signals all', () => {
    using pair = new Pair(devices, { sqSigAll: true });
    const { local, remote } = pair;
    local.qp.postSend({ wrId: 1, opcode: RDMA_READ, sgList: [local.mr.sge(0, 8)], rdma: remoteOf(remote.mr) });
    const wc = pollOne(local.cq);
    assertSuccess(local, wc);
    assert.deepEqual([wc.wrId, wc.opcode], [1n, WcOpcode.RDMA_READ]);
  });

  for (const [title, type] of WINDOW_TYPES) {
    test(`fetches through a window of ${title}`, () => {
      using pair = new Pair(devices);
      const { local, remote } = pair;
      remote.mr.bytes.set(pattern(PAGE));
      const rdma = bindWindow(remote, type);
      const wc = perform(local, { opcode: RDMA_READ, sgList: [local.mr.sge(0, PAGE)], rdma });
      assertSuccess(local, wc);
      assert.deepEqual(local.mr.bytes.subarray(0, PAGE), pattern(PAGE));
    });
  }

  test('through a window that was bound anew works by the new key alone', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    const sgList = [local.mr.sge(0, 8)];
    const before = bindWindow(remote, MwType.TYPE_1);
    const after = rebindWindow(remote, before);
    assert.notEqual(after.rkey, before.rkey);
    assertSuccess(local, perform(local, { opcode: RDMA_READ, sgList, rdma: after }));
    assertStatus(local, perform(local, { opcode: RDMA_READ, sgList, rdma: before }), WcStatus.REM_ACCESS_ERR);
  });

  test('does not need its request and pieces once postSend has returned', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    remote.mr.bytes.set(pattern(64));
    const piece = { ...local.mr.sge(0, 64) };
    const rdma = { ...remoteOf(remote.mr) };
    const request = { wrId: 1, opcode: RDMA_READ, sendFlags: SIGNALED, sgList: [piece], rdma };
    local.qp.postSend(request);
    Object.assign(piece, { addr: 0n, length: 0, lkey: 0 });
    Object.assign(rdma, { remoteAddr: 0n, rkey: 0 });
    Object.assign(request, { wrId: 2, sendFlags: 0, sgList: [] });
    const wc = pollOne(local.cq);
    assertSuccess(local, wc);
    assert.equal(wc.wrId, 1n);
    assert.deepEqual(local.mr.bytes.subarray(0, 64), pattern(64));
  });

  test('can be posted in batches until the send queue is full, over and over', () => {
    const batches = 20;
    using pair = new Pair(devices, { cap: { maxSendWr: 64 } });
    const { local, remote } = pair;
    const { maxSendWr } = local.qp.cap;
    const half = Math.floor(maxSendWr / 2);
    const batch = (number: number) =>
      Array.from({ length: half }, (_, i) => ({
        wrId: number * half + i,
        opcode: RDMA_READ,
        sendFlags: SIGNALED,
        sgList: [local.mr.sge(0, 8)],
        rdma: remoteOf(remote.mr),
      }));
    let posted = 0;
    let completed = 0;
    while (completed < batches * half) {
      while (posted < batches && posted * half - completed <= maxSendWr - half) {
        local.qp.postSend(batch(posted));
        posted += 1;
      }
      const wc = pollOne(local.cq);
      assertSuccess(local, wc);
      assert.equal(wc.wrId, BigInt(completed));
      completed += 1;
    }
    assertEmpty(local.cq);
  });
});

conformance('RC WRITE', (provider) => {
  const devices = useDevices(provider);

  for (const [title, bytes] of [
    ['a page', PAGE],
    ['128 pages', LARGE],
  ] as const) {
    test(`puts ${title} in place`, () => {
      using pair = new Pair(devices, { bytes });
      const { local, remote } = pair;
      local.mr.bytes.set(pattern(bytes));
      const wc = perform(local, { wrId: 5, opcode: RDMA_WRITE, sgList: [local.mr.sge()], rdma: remoteOf(remote.mr) });
      assertSuccess(local, wc);
      assert.deepEqual([wc.wrId, wc.opcode, wc.qpNum], [5n, WcOpcode.RDMA_WRITE, local.qp.qpNum]);
      assert.equal(Buffer.compare(remote.mr.bytes, local.mr.bytes), 0);
      assertEmpty(remote.cq);
    });
  }

  test('without SIGNALED makes no entry', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    const sgList = [local.mr.sge(0, PAGE)];
    const rdma = remoteOf(remote.mr);
    local.qp.postSend([
      { wrId: 1, opcode: RDMA_WRITE, sgList, rdma },
      { wrId: 2, opcode: RDMA_WRITE, sendFlags: SIGNALED, sgList, rdma },
    ]);
    const wc = pollOne(local.cq);
    assertSuccess(local, wc);
    assert.deepEqual([wc.wrId, wc.opcode], [2n, WcOpcode.RDMA_WRITE]);
    assertEmpty(local.cq);
  });

  test('takes inline data while posting and touches nothing beyond it', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    const unregistered = pattern(36);
    remote.mr.bytes.fill(0x62);
    const sgList = [{ bytes: unregistered }];
    local.qp.postSend({
      wrId: 1,
      opcode: RDMA_WRITE,
      sendFlags: SIGNALED | INLINE,
      sgList,
      rdma: remoteOf(remote.mr),
    });
    unregistered.fill(0);
    sgList.length = 0;
    assertSuccess(local, pollOne(local.cq));
    assert.deepEqual(remote.mr.bytes.subarray(0, 36), pattern(36));
    assert.deepEqual(remote.mr.bytes.subarray(36, PAGE), new Uint8Array(PAGE - 36).fill(0x62));
  });

  for (const [title, type] of WINDOW_TYPES) {
    test(`reaches through a window of ${title}`, () => {
      using pair = new Pair(devices);
      const { local, remote } = pair;
      local.mr.bytes.set(pattern(PAGE));
      const rdma = bindWindow(remote, type);
      assertSuccess(local, perform(local, { opcode: RDMA_WRITE, sgList: [local.mr.sge(0, PAGE)], rdma }));
      assert.deepEqual(remote.mr.bytes.subarray(0, PAGE), pattern(PAGE));
    });
  }
});

conformance('RC WRITE with immediate data', (provider) => {
  const devices = useDevices(provider);

  test('of no bytes completes a receive request and changes no memory', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    remote.mr.bytes.fill(0x62);
    remote.qp.postRecv({ wrId: 7, sgList: [remote.mr.sge(PAGE, 100)] });
    const rdma = remoteOf(remote.mr);
    const sent = perform(local, { opcode: RDMA_WRITE_WITH_IMM, immData: 0xbaddcafe, sgList: [], rdma });
    assertSuccess(local, sent);
    assert.equal(sent.opcode, WcOpcode.RDMA_WRITE);
    const { wrId, opcode, byteLen, wcFlags, immData, ...received } = pollOne(remote.cq);
    assert.equal(received.status, WcStatus.SUCCESS);
    assert.deepEqual(
      { wrId, opcode, byteLen, wcFlags, immData },
      { wrId: 7n, opcode: WcOpcode.RECV_RDMA_WITH_IMM, byteLen: 0, wcFlags: WcFlags.WITH_IMM, immData: 0xbaddcafe },
    );
    assert.deepEqual(remote.mr.bytes, new Uint8Array(remote.mr.length).fill(0x62));
  });

  test('puts the bytes where it names and leaves the memory of the receive request alone', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    local.mr.bytes.set(pattern(PAGE));
    remote.qp.postRecv({ wrId: 7, sgList: [remote.mr.sge(PAGE, 100)] });
    const rdma = remoteOf(remote.mr);
    const sgList = [local.mr.sge(0, PAGE)];
    const sent = perform(local, { opcode: RDMA_WRITE_WITH_IMM, immData: 0xbaddcafe, sgList, rdma });
    assertSuccess(local, sent);
    assert.equal(sent.opcode, WcOpcode.RDMA_WRITE);
    const { wrId, opcode, byteLen, wcFlags, immData } = pollOne(remote.cq);
    assert.deepEqual(
      { wrId, opcode, byteLen, wcFlags, immData },
      { wrId: 7n, opcode: WcOpcode.RECV_RDMA_WITH_IMM, byteLen: PAGE, wcFlags: WcFlags.WITH_IMM, immData: 0xbaddcafe },
    );
    assert.deepEqual(remote.mr.bytes.subarray(0, PAGE), pattern(PAGE));
    assert.deepEqual(remote.mr.bytes.subarray(PAGE), new Uint8Array(remote.mr.length - PAGE));
  });

  test('with a key that nothing has fails at both ends', () => {
    using pair = new Pair(devices, { pathMtu: Mtu.MTU_4096 });
    const { local, remote } = pair;
    local.mr.bytes.fill(0x61);
    remote.qp.postRecv({ wrId: 7, sgList: [] });
    const rdma = { ...remoteOf(remote.mr), rkey: BOGUS_KEY };
    const sgList = [local.mr.sge(0, PAGE)];
    const sent = perform(local, { opcode: RDMA_WRITE_WITH_IMM, immData: 1, sgList, rdma });
    assertStatus(local, sent, WcStatus.REM_ACCESS_ERR);
    const received = pollOne(remote.cq);
    assertStatus(remote, received, WcStatus.LOC_ACCESS_ERR);
    assert.equal(received.wrId, 7n);
    assert.deepEqual(remote.mr.bytes, new Uint8Array(remote.mr.length));
  });

  test('of several packets with a key that nothing has flushes the receive request', () => {
    using pair = new Pair(devices, { pathMtu: Mtu.MTU_1024 });
    const { local, remote } = pair;
    local.mr.bytes.fill(0x61);
    remote.qp.postRecv({ wrId: 7, sgList: [] });
    const rdma = { ...remoteOf(remote.mr), rkey: BOGUS_KEY };
    const sgList = [local.mr.sge(0, PAGE)];
    const sent = perform(local, { opcode: RDMA_WRITE_WITH_IMM, immData: 1, sgList, rdma });
    assertStatus(local, sent, WcStatus.REM_ACCESS_ERR);
    // Refused by its first packet, while only the last takes a receive request (protocol/reliable.md 2.3, row 4).
    assertStatus(remote, pollOne(remote.cq), WcStatus.WR_FLUSH_ERR);
    assert.deepEqual(remote.mr.bytes, new Uint8Array(remote.mr.length));
  });

  test('without a receive request ends in RNR_RETRY_EXC_ERR', () => {
    using pair = new Pair(devices, { rnrRetry: 5 });
    const { local, remote } = pair;
    const sgList = [local.mr.sge(0, 64)];
    const sent = perform(local, { opcode: RDMA_WRITE_WITH_IMM, immData: 1, sgList, rdma: remoteOf(remote.mr) });
    assertStatus(local, sent, WcStatus.RNR_RETRY_EXC_ERR);
  });
});
