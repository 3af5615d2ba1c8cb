import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SendFlags, WcFlags, WcOpcode, WcStatus, WrOpcode } from '../../../entry/index.js';
import { drain, drainOne, HOSTINGS, openWindow, Pair, pattern } from './support/pair.js';
import { NET } from '../../../../test/support/loopback.js';

const { SIGNALED, INLINE } = SendFlags;

for (const hosting of HOSTINGS) {
  describe(`every RC operation works, hosted ${hosting}`, () => {
    const open = (): Pair => new Pair(hosting, NET);

    test('SEND fills the receive and completes on both sides', () => {
      using pair = open();
      const { a, b } = pair;
      a.mr.bytes.set(pattern(3000));
      b.qp.postRecv({ wrId: 7n, sgList: [b.mr.sge(0, 1000), b.mr.sge(5000, 4000)] });
      a.qp.postSend({ wrId: 1, opcode: WrOpcode.SEND, sendFlags: SIGNALED, sgList: [a.mr.sge(0, 3000)] });
      const received = drainOne(b.cq);
      assert.equal(received.wrId, 7n);
      assert.equal(received.status, WcStatus.SUCCESS);
      assert.equal(received.opcode, WcOpcode.RECV);
      assert.equal(received.byteLen, 3000);
      assert.equal(received.qpNum, b.qp.qpNum);
      assert.deepEqual(b.mr.bytes.subarray(0, 1000), a.mr.bytes.subarray(0, 1000));
      assert.deepEqual(b.mr.bytes.subarray(5000, 7000), a.mr.bytes.subarray(1000, 3000));
      const sent = drainOne(a.cq);
      assert.deepEqual([sent.wrId, sent.status, sent.opcode], [1n, WcStatus.SUCCESS, WcOpcode.SEND]);
    });

    test('SEND with immediate data delivers the number', () => {
      using pair = open();
      const { a, b } = pair;
      b.qp.postRecv({ sgList: [] });
      a.qp.postSend({ opcode: WrOpcode.SEND_WITH_IMM, immData: 0xfedcba98 });
      const { immData, wcFlags } = drainOne(b.cq);
      assert.equal(immData, 0xfedcba98);
      assert.equal(wcFlags & WcFlags.WITH_IMM, WcFlags.WITH_IMM);
    });

    test('SEND with invalidate closes the key', () => {
      using pair = open();
      const { a, b } = pair;
      const rdma = openWindow(b);
      b.qp.postRecv({ sgList: [] });
      a.qp.postSend({ opcode: WrOpcode.SEND_WITH_INV, invalidateRkey: rdma.rkey });
      const { invalidatedRkey, wcFlags } = drainOne(b.cq);
      assert.equal(invalidatedRkey, rdma.rkey);
      assert.equal(wcFlags & WcFlags.WITH_INV, WcFlags.WITH_INV);
      a.qp.postSend({ opcode: WrOpcode.RDMA_WRITE, sgList: [a.mr.sge(0, 8)], rdma });
      assert.equal(drainOne(a.cq).status, WcStatus.REM_ACCESS_ERR);
    });

    test('RDMA WRITE puts many packets where they belong', () => {
      using pair = open();
      const { a, b } = pair;
      a.mr.bytes.set(pattern(50_000));
      const rdma = { remoteAddr: b.mr.addr + 11n, rkey: b.mr.rkey };
      a.qp.postSend({ opcode: WrOpcode.RDMA_WRITE, sendFlags: SIGNALED, sgList: [a.mr.sge(0, 50_000)], rdma });
      const { status, opcode } = drainOne(a.cq);
      assert.deepEqual([status, opcode], [WcStatus.SUCCESS, WcOpcode.RDMA_WRITE]);
      assert.deepEqual(b.mr.bytes.subarray(11, 50_011), a.mr.bytes.subarray(0, 50_000));
    });

    test('RDMA WRITE with immediate completes a receive', () => {
      using pair = open();
      const { a, b } = pair;
      b.qp.postRecv({ wrId: 9 });
      const rdma = { remoteAddr: b.mr.addr, rkey: b.mr.rkey };
      const sgList = [a.mr.sge(0, 100)];
      a.qp.postSend({ opcode: WrOpcode.RDMA_WRITE_WITH_IMM, sgList, rdma, immData: 5 });
      const { opcode, byteLen, immData, wrId } = drainOne(b.cq);
      assert.deepEqual([opcode, byteLen, immData, wrId], [WcOpcode.RECV_RDMA_WITH_IMM, 100, 5, 9n]);
    });

    test('RDMA READ fetches many packets', () => {
      using pair = open();
      const { a, b } = pair;
      b.mr.bytes.set(pattern(40_000, 3));
      const rdma = { remoteAddr: b.mr.addr, rkey: b.mr.rkey };
      a.qp.postSend({ opcode: WrOpcode.RDMA_READ, sendFlags: SIGNALED, sgList: [a.mr.sge(0, 40_000)], rdma });
      assert.equal(drainOne(a.cq).status, WcStatus.SUCCESS);
      assert.deepEqual(a.mr.bytes.subarray(0, 40_000), b.mr.bytes.subarray(0, 40_000));
    });

    test('atomics change the peer and fetch what was there', () => {
      using pair = open();
      const { a, b } = pair;
      const there = new DataView(b.mr.bytes.buffer, b.mr.bytes.byteOffset);
      const here = new DataView(a.mr.bytes.buffer, a.mr.bytes.byteOffset);
      there.setBigUint64(64, 40n, true);
      const remote = { remoteAddr: b.mr.addr + 64n, rkey: b.mr.rkey };
      a.qp.postSend([
        {
          opcode: WrOpcode.ATOMIC_FETCH_AND_ADD,
          sendFlags: SIGNALED,
          sgList: [a.mr.sge(0, 8)],
          atomic: { ...remote, compareAdd: 2n },
        },
        {
          opcode: WrOpcode.ATOMIC_CMP_AND_SWP,
          sendFlags: SIGNALED,
          sgList: [a.mr.sge(8, 8)],
          atomic: { ...remote, compareAdd: 42n, swap: 0xffff_ffff_ffff_fffen },
        },
      ]);
      const opcodes = drain(a.cq, 2).map(({ opcode }) => opcode);
      assert.deepEqual(opcodes, [WcOpcode.FETCH_ADD, WcOpcode.COMP_SWAP]);
      assert.equal(here.getBigUint64(0, true), 40n);
      assert.equal(here.getBigUint64(8, true), 42n);
      assert.equal(there.getBigUint64(64, true), 0xffff_ffff_ffff_fffen);
    });

    test('inline data is taken while posting', () => {
      using pair = open();
      const { a, b } = pair;
      const data = pattern(40);
      b.qp.postRecv({ sgList: [b.mr.sge(0, 100)] });
      a.qp.postSend({ opcode: WrOpcode.SEND, sendFlags: INLINE, sgList: [{ bytes: data }, a.mr.sge(0, 0)] });
      data.fill(0);
      assert.equal(drainOne(b.cq).byteLen, 40);
      assert.deepEqual(b.mr.bytes.subarray(0, 40), pattern(40));
    });

    test('unsignalled requests complete without an entry, unless all are to be signalled', () => {
      using pair = new Pair(hosting, NET, { sqSigAll: true });
      const { a, b } = pair;
      const rdma = { remoteAddr: b.mr.addr, rkey: b.mr.rkey };
      a.qp.postSend({ wrId: 1, opcode: WrOpcode.RDMA_WRITE, sgList: [a.mr.sge(0, 8)], rdma });
      b.qp.postRecv({});
      assert.equal(drainOne(a.cq).wrId, 1n);
      assert.deepEqual(a.cq.poll(), []);
    });
  });
}
