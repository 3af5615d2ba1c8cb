import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  QpState,
  QpType,
  SendFlags,
  type SendWr,
  WcFlags,
  WcOpcode,
  WcStatus,
  WrOpcode,
} from '../../../entry/index.js';
import { drain, drainOne, HOSTINGS, pattern } from './support/pair.js';
import { Benches, makeQp, postError, ucPair } from './support/queue-pairs.js';
import { NET } from '../../../../test/support/loopback.js';

const { SIGNALED, SOLICITED } = SendFlags;

for (const hosting of HOSTINGS) {
  describe(`an unreliable connection, hosted ${hosting}`, () => {
    test('carries SENDs of several packets', () => {
      using benches = new Benches(hosting, NET);
      const { a, b } = benches;
      const [from, to] = ucPair(benches);
      a.mr.bytes.set(pattern(5000));
      to.postRecv({ wrId: 1, sgList: [b.mr.sge(0, 8192)] });
      from.postSend({ wrId: 2, opcode: WrOpcode.SEND, sendFlags: SIGNALED, sgList: [a.mr.sge(0, 5000)] });
      const sent = drainOne(a.cq);
      assert.deepEqual([sent.wrId, sent.status, sent.opcode], [2n, WcStatus.SUCCESS, WcOpcode.SEND]);
      const received = drainOne(b.cq);
      assert.deepEqual([received.wrId, received.status, received.byteLen], [1n, WcStatus.SUCCESS, 5000]);
      assert.deepEqual(b.mr.bytes.subarray(0, 5000), pattern(5000));
    });

    test('carries WRITEs with and without immediate data, in both styles of posting', () => {
      using benches = new Benches(hosting, NET);
      const { a, b } = benches;
      const [from, to] = ucPair(benches);
      a.mr.bytes.set(pattern(3000));
      to.postRecv([{ wrId: 1 }, { wrId: 2 }]);
      const rdma = { remoteAddr: b.mr.addr, rkey: b.mr.rkey };
      from.postSend([
        { opcode: WrOpcode.RDMA_WRITE, sgList: [a.mr.sge(0, 2000)], rdma },
        { opcode: WrOpcode.RDMA_WRITE_WITH_IMM, immData: 3, sgList: [a.mr.sge(2000, 1000)], rdma: at(rdma, 2000n) },
      ]);
      from.wrStart();
      from.wrFlags = SIGNALED | SOLICITED;
      from.wrRdmaWrite(b.mr.rkey, b.mr.addr + 3000n);
      from.wrSetInlineData(pattern(64));
      from.wrRdmaWriteImm(b.mr.rkey, b.mr.addr + 3064n, 4);
      from.wrSetSgeList([a.mr.sge(0, 10), a.mr.sge(10, 90)]);
      from.wrComplete();
      drain(a.cq, 2);
      assert.deepEqual(
        drain(b.cq, 2).map(({ opcode, immData, byteLen, wcFlags }) => [opcode, immData, byteLen, wcFlags & WITH_IMM]),
        [
          [WcOpcode.RECV_RDMA_WITH_IMM, 3, 1000, WITH_IMM],
          [WcOpcode.RECV_RDMA_WITH_IMM, 4, 100, WITH_IMM],
        ],
      );
      const all = [...pattern(3000), ...pattern(64), ...pattern(100)];
      assert.deepEqual([...b.mr.bytes.subarray(0, all.length)], all);
    });

    test('goes to SQE when a request fails here, receives on, and sends again after modify', () => {
      using benches = new Benches(hosting, NET);
      const { a, b } = benches;
      const [from, to] = ucPair(benches);
      from.postRecv({ wrId: 9, sgList: [a.mr.sge(0, 64)] });
      from.postSend({ wrId: 1, opcode: WrOpcode.SEND, sgList: [{ ...a.mr.sge(0, 8), lkey: 1 }] });
      assert.equal(drainOne(a.cq).status, WcStatus.LOC_PROT_ERR);
      from.postSend({ wrId: 2, opcode: WrOpcode.SEND });
      assert.deepEqual(drainOne(a.cq).status, WcStatus.WR_FLUSH_ERR);
      // The state follows the completion that led there.
      assert.equal(from.state, QpState.SQE);
      to.postSend({ opcode: WrOpcode.SEND });
      assert.deepEqual(drainOne(a.cq).wrId, 9n);
      from.modify({ qpState: QpState.RTS });
      to.postRecv({ wrId: 10 });
      from.postSend({ opcode: WrOpcode.SEND });
      assert.equal(drainOne(b.cq).wrId, 10n);
    });
  });
}

describe('posting to an unreliable connection refuses', () => {
  const rdma = { remoteAddr: 64n, rkey: 1 };
  const piece = { addr: 64, length: 8, lkey: 1 };
  const cases: readonly SendWr[] = [
    { opcode: WrOpcode.RDMA_READ, sgList: [piece], rdma },
    { opcode: WrOpcode.ATOMIC_FETCH_AND_ADD, sgList: [piece], atomic: { ...rdma, compareAdd: 1 } },
    { opcode: WrOpcode.SEND_WITH_INV, invalidateRkey: 1 },
    { opcode: WrOpcode.FLUSH, rdma, flush: { length: 8, type: 1, level: 0 } },
    { opcode: WrOpcode.ATOMIC_WRITE, sgList: [piece], rdma },
  ];
  const named = new Map(Object.entries(WrOpcode).map(([name, opcode]) => [opcode, name]));
  for (const wr of cases) {
    test(named.get(wr.opcode) ?? '', () => {
      using benches = new Benches('simulated', NET);
      const [qp] = ucPair(benches);
      assert.equal(postError(() => qp.postSend(wr)).errno, 'EINVAL');
    });
  }
});

test('a UC QP has no attributes of retries', () => {
  using benches = new Benches('simulated', NET);
  const qp = makeQp(benches.a, QpType.UC);
  qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qpAccessFlags: 0 });
  const dgid = benches.b.context.queryGid(1, 0);
  assert.throws(
    () =>
      qp.modify({
        qpState: QpState.RTR,
        pathMtu: 1,
        destQpNum: 20,
        rqPsn: 0,
        minRnrTimer: 1,
        ahAttr: { grh: { dgid } },
      }),
    { errno: 'EINVAL' },
  );
});

const WITH_IMM = WcFlags.WITH_IMM;

function at({ remoteAddr, rkey }: { remoteAddr: bigint; rkey: number }, offset: bigint): typeof rdma {
  const rdma = { remoteAddr: remoteAddr + offset, rkey };
  return rdma;
}
