import assert from 'node:assert/strict';
import { test } from 'node:test';
import { QpCreateSendOpsFlags, SendFlags, WcFlags, WcOpcode } from '../../src/entry/index.js';
import { conformance } from './provider.js';
import { assertSuccess, type End, Pair, pattern, pollOne, readU64, remoteOf, useDevices, writeU64 } from './support.js';
import { deliver, pingPong, SERVICES, Traffic, type Way } from './traffic.js';

const BYTES = 1024;
const ROUNDS = 25;
const IMM = 1234;
const Ops = QpCreateSendOpsFlags;

/** Posts one SIGNALED request: `build` names it and its data. */
function post({ from, address }: Way, build: (qp: End['qp']) => void): void {
  const { qp } = from;
  qp.wrStart();
  qp.wrId = 5;
  qp.wrFlags = SendFlags.SIGNALED;
  build(qp);
  address();
  qp.wrComplete();
}

conformance('requests built by wr calls', (provider) => {
  const devices = useDevices(provider);

  for (const [service, open] of Object.entries(SERVICES)) {
    test(`over ${service} wrSend delivers messages both ways`, () => {
      using traffic = open(devices, { sendOpsFlags: Ops.WITH_SEND });
      pingPong(traffic, ROUNDS, (way, round) => {
        deliver(way, BYTES, round, () => {
          post(way, (qp) => {
            qp.wrSend();
            const { lkey, addr, length } = way.from.mr.sge(0, BYTES);
            qp.wrSetSge(lkey, addr, length);
          });
        });
      });
    });

    test(`over ${service} wrSendImm delivers messages and their numbers both ways`, () => {
      using traffic = open(devices, { sendOpsFlags: Ops.WITH_SEND_WITH_IMM });
      pingPong(traffic, ROUNDS, (way, round) => {
        const { wcFlags, immData } = deliver(way, BYTES, round, () => {
          post(way, (qp) => {
            qp.wrSendImm(IMM);
            qp.wrSetSgeList([way.from.mr.sge(0, 100), way.from.mr.sge(100, BYTES - 100)]);
          });
        });
        assert.deepEqual([wcFlags & WcFlags.WITH_IMM, immData], [WcFlags.WITH_IMM, IMM]);
      });
    });
  }

  test('over UD wrSend delivers messages of no bytes', () => {
    using traffic = Traffic.ud(devices, { sendOpsFlags: Ops.WITH_SEND });
    pingPong(traffic, ROUNDS, (way, round) => {
      deliver(way, 0, round, () => post(way, (qp) => qp.wrSend()));
    });
  });

  test('wrRdmaWrite puts bytes in place both ways', () => {
    using traffic = Traffic.rc(devices, { sendOpsFlags: Ops.WITH_RDMA_WRITE });
    pingPong(traffic, ROUNDS, (way, round) => {
      const { from, to } = way;
      from.mr.bytes.set(pattern(BYTES, round));
      to.mr.bytes.fill(0);
      const { rkey, remoteAddr } = remoteOf(to.mr);
      post(way, (qp) => {
        qp.wrRdmaWrite(rkey, remoteAddr);
        qp.wrSetSgeList([from.mr.sge(0, BYTES)]);
      });
      const wc = pollOne(from.cq);
      assertSuccess(from, wc);
      assert.deepEqual([wc.wrId, wc.opcode], [5n, WcOpcode.RDMA_WRITE]);
      assert.deepEqual(to.mr.bytes.subarray(0, BYTES), pattern(BYTES, round));
    });
  });

  test('wrRdmaWriteImm puts bytes in place and completes a receive request', () => {
    using traffic = Traffic.rc(devices, { sendOpsFlags: Ops.WITH_RDMA_WRITE_WITH_IMM });
    pingPong(traffic, ROUNDS, (way, round) => {
      const { from, to } = way;
      from.mr.bytes.set(pattern(BYTES, round));
      to.mr.bytes.fill(0);
      way.postRecv({ wrId: round });
      const { rkey, remoteAddr } = remoteOf(to.mr);
      post(way, (qp) => {
        qp.wrRdmaWriteImm(rkey, remoteAddr, IMM);
        qp.wrSetSgeList([from.mr.sge(0, BYTES)]);
      });
      assertSuccess(from, pollOne(from.cq));
      const received = pollOne(to.cq);
      assertSuccess(to, received);
      const { wrId, opcode, wcFlags, immData, byteLen } = received;
      assert.deepEqual(
        { wrId, opcode, wcFlags, immData, byteLen },
        {
          wrId: BigInt(round),
          opcode: WcOpcode.RECV_RDMA_WITH_IMM,
          wcFlags: WcFlags.WITH_IMM,
          immData: IMM,
          byteLen: BYTES,
        },
      );
      assert.deepEqual(to.mr.bytes.subarray(0, BYTES), pattern(BYTES, round));
    });
  });

  test('wrRdmaRead fetches bytes both ways', () => {
    using traffic = Traffic.rc(devices, { sendOpsFlags: Ops.WITH_RDMA_READ });
    pingPong(traffic, ROUNDS, (way, round) => {
      const { from, to } = way;
      to.mr.bytes.set(pattern(BYTES, round));
      from.mr.bytes.fill(0);
      const { rkey, remoteAddr } = remoteOf(to.mr);
      post(way, (qp) => {
        qp.wrRdmaRead(rkey, remoteAddr);
        qp.wrSetSgeList([from.mr.sge(0, BYTES)]);
      });
      const wc = pollOne(from.cq);
      assertSuccess(from, wc);
      assert.equal(wc.opcode, WcOpcode.RDMA_READ);
      assert.deepEqual(from.mr.bytes.subarray(0, BYTES), pattern(BYTES, round));
    });
  });

  for (const [name, flag, build] of [
    ['wrRdmaWrite', Ops.WITH_RDMA_WRITE, (qp: End['qp']) => qp.wrRdmaWrite(0, 0)],
    ['wrRdmaRead', Ops.WITH_RDMA_READ, (qp: End['qp']) => qp.wrRdmaRead(0, 0)],
  ] as const) {
    test(`${name} of no bytes succeeds, whatever memory it names`, () => {
      using traffic = Traffic.rc(devices, { sendOpsFlags: flag });
      const [way] = traffic.ways;
      way.to.mr.bytes.fill(0x62);
      post(way, build);
      assertSuccess(way.from, pollOne(way.from.cq));
      assert.deepEqual(way.to.mr.bytes, new Uint8Array(way.to.mr.length).fill(0x62));
    });
  }

  test('wrAtomicCmpSwp compares, and fetches what is there', () => {
    using pair = new Pair(devices, { sendOpsFlags: Ops.WITH_ATOMIC_CMP_AND_SWP });
    const { local, remote } = pair;
    const { rkey, remoteAddr } = remoteOf(remote.mr);
    writeU64(remote.mr, 1n);
    for (const [compare, after] of [
      [2n, 1n],
      [1n, 9n],
    ] as const) {
      const before = readU64(remote.mr);
      local.qp.wrStart();
      local.qp.wrFlags = SendFlags.SIGNALED;
      local.qp.wrAtomicCmpSwp(rkey, remoteAddr, compare, 9n);
      local.qp.wrSetSgeList([local.mr.sge(0, 8)]);
      local.qp.wrComplete();
      assertSuccess(local, pollOne(local.cq));
      assert.deepEqual([readU64(local.mr), readU64(remote.mr)], [before, after]);
    }
  });

  test('wrAtomicFetchAdd adds, and fetches what was there', () => {
    using pair = new Pair(devices, { sendOpsFlags: Ops.WITH_ATOMIC_FETCH_AND_ADD });
    const { local, remote } = pair;
    const { rkey, remoteAddr } = remoteOf(remote.mr);
    writeU64(remote.mr, 1n);
    local.qp.wrStart();
    local.qp.wrFlags = SendFlags.SIGNALED;
    local.qp.wrAtomicFetchAdd(rkey, remoteAddr, 2n);
    local.qp.wrSetSgeList([local.mr.sge(0, 8)]);
    local.qp.wrComplete();
    assertSuccess(local, pollOne(local.cq));
    assert.deepEqual([readU64(local.mr), readU64(remote.mr)], [1n, 3n]);
  });
});
