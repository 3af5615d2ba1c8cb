import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type HostKind, QpState, QpType, SendFlags, WcStatus, WrOpcode } from '../../../entry/index.js';
import { NET } from '../../../../test/support/loopback.js';
import { drainOne, pattern } from '../../../providers/soft/test/support/pair.js';
import { Devices, GPU_HOSTINGS, KIND, PLACEMENTS, withoutGpu } from './support.js';

/** More than one copy has, and no whole number of packets. */
const BYTES = 140_001;
const WORD_AT = 16;
const QKEY = 0x1234;

const { RDMA_WRITE, RDMA_WRITE_WITH_IMM, RDMA_READ, SEND, ATOMIC_FETCH_AND_ADD, ATOMIC_CMP_AND_SWP } = WrOpcode;

function wordAt(bytes: Uint8Array, at: number): bigint {
  return new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(at, true);
}

function suite(host: HostKind): void {
  let devices: Devices;
  before(() => {
    devices = new Devices(host, NET);
  });
  after(() => devices[Symbol.dispose]());

  for (const { name, local, remote } of PLACEMENTS) {
    it(`WRITE goes ${name}`, () => {
      using pair = devices.connectWith(BYTES);
      const [from, to] = [pair.memory(pair.a, local, 1), pair.memory(pair.b, remote, 2)];
      const rdma = { remoteAddr: to.mr.iova, rkey: to.mr.rkey };
      const { status } = pair.perform({ opcode: RDMA_WRITE, sgList: [from.mr.sge()], rdma });
      assert.equal(status, WcStatus.SUCCESS);
      assert.deepEqual(to.content, pattern(BYTES, 1));
    });

    it(`WRITE of a few bytes goes ${name}, and touches no others`, () => {
      using pair = devices.connectWith(BYTES);
      const [from, to] = [pair.memory(pair.a, local, 1), pair.memory(pair.b, remote, 2)];
      const rdma = { remoteAddr: to.mr.iova + 1001n, rkey: to.mr.rkey };
      const { status } = pair.perform({ opcode: RDMA_WRITE, sgList: [from.mr.sge(5, 3), from.mr.sge(77, 2)], rdma });
      assert.equal(status, WcStatus.SUCCESS);
      const expected = pattern(BYTES, 2);
      expected.set([...pattern(BYTES, 1).subarray(5, 8), ...pattern(BYTES, 1).subarray(77, 79)], 1001);
      assert.deepEqual(to.content, expected);
    });

    it(`READ comes by the way ${name}`, () => {
      using pair = devices.connectWith(BYTES);
      const [to, from] = [pair.memory(pair.a, remote, 1), pair.memory(pair.b, local, 2)];
      const rdma = { remoteAddr: from.mr.iova, rkey: from.mr.rkey };
      const { status } = pair.perform({ opcode: RDMA_READ, sgList: [to.mr.sge()], rdma });
      assert.equal(status, WcStatus.SUCCESS);
      assert.deepEqual(to.content, pattern(BYTES, 2));
    });

    it(`SEND goes ${name}, and the receiver hears of it when it is there`, () => {
      using pair = devices.connectWith(BYTES);
      const [from, to] = [pair.memory(pair.a, local, 1), pair.memory(pair.b, remote, 2)];
      for (let turn = 0; turn < 2; turn += 1) {
        from.content = pattern(BYTES, 10 + turn);
        pair.b.qp.postRecv({ sgList: [to.mr.sge()] });
        pair.a.qp.postSend({ opcode: SEND, sgList: [from.mr.sge()], sendFlags: SendFlags.SIGNALED });
        const { status, byteLen } = drainOne(pair.b.cq);
        assert.deepEqual([status, byteLen], [WcStatus.SUCCESS, BYTES]);
        assert.deepEqual(to.content, pattern(BYTES, 10 + turn));
        assert.equal(drainOne(pair.a.cq).status, WcStatus.SUCCESS);
      }
    });

    it(`WRITE with immediate data goes ${name}, and is there when it is told`, () => {
      using pair = devices.connectWith(BYTES);
      const [from, to] = [pair.memory(pair.a, local, 1), pair.memory(pair.b, remote, 2)];
      pair.b.qp.postRecv({ sgList: [] });
      const rdma = { remoteAddr: to.mr.iova, rkey: to.mr.rkey };
      pair.a.qp.postSend({ opcode: RDMA_WRITE_WITH_IMM, sgList: [from.mr.sge()], rdma, immData: 7 });
      assert.equal(drainOne(pair.b.cq).status, WcStatus.SUCCESS);
      assert.deepEqual(to.content, pattern(BYTES, 1));
    });

    it(`FETCH_ADD and CMP_SWAP change a word and tell what it was, ${name}`, () => {
      using pair = devices.connectWith(4096);
      const [own, their] = [pair.memory(pair.a, local, 1), pair.memory(pair.b, remote, 2)];
      const sgList = [own.mr.sge(8, 8)] as const;
      const target = { remoteAddr: their.mr.iova + BigInt(WORD_AT), rkey: their.mr.rkey };
      const first = wordAt(pattern(4096, 2), WORD_AT);
      const steps = [
        { opcode: ATOMIC_FETCH_AND_ADD, sgList, atomic: { ...target, compareAdd: 2n ** 63n + 5n } },
        { opcode: ATOMIC_CMP_AND_SWP, sgList, atomic: { ...target, compareAdd: 1n, swap: 9n } },
        {
          opcode: ATOMIC_CMP_AND_SWP,
          sgList,
          atomic: { ...target, compareAdd: BigInt.asUintN(64, first + 2n ** 63n + 5n), swap: 2n ** 64n - 1n },
        },
        { opcode: ATOMIC_FETCH_AND_ADD, sgList, atomic: { ...target, compareAdd: 2n } },
      ];
      const found = steps.map((step) => {
        assert.equal(pair.perform(step).status, WcStatus.SUCCESS);
        return wordAt(own.content, 8);
      });
      const sum = BigInt.asUintN(64, first + 2n ** 63n + 5n);
      assert.deepEqual([...found, wordAt(their.content, WORD_AT)], [first, sum, sum, 2n ** 64n - 1n, 1n]);
    });
  }

  it('many requests are under way at once, and the device finds no difference in the end', async () => {
    using pair = devices.connectWith(BYTES, { cap: { maxSendWr: 64 } });
    const [from, to] = [pair.memory(pair.a, true, 1), pair.memory(pair.b, true, 2)];
    const piece = Math.ceil(BYTES / 32);
    for (let at = 0; at < BYTES; at += piece) {
      const rdma = { remoteAddr: to.mr.iova + BigInt(at), rkey: to.mr.rkey };
      const sgList = [from.mr.sge(at, Math.min(piece, BYTES - at))];
      pair.a.qp.postSend({ opcode: RDMA_WRITE, sgList, rdma, sendFlags: SendFlags.SIGNALED });
    }
    for (let at = 0; at < BYTES; at += piece) assert.equal(drainOne(pair.a.cq).status, WcStatus.SUCCESS);
    assert.equal(await from.buffer?.firstDifference(to.buffer ?? from.buffer), undefined);
  });

  it('datagrams come into the device, header and all', () => {
    using pair = devices.connectWith(4096);
    const [from, to] = [pair.memory(pair.a, true, 1), pair.memory(pair.b, true, 2)];
    const [a, b] = [pair.a, pair.b].map(({ context, pd, cq }) => {
      const qp = pd.createQp({ qpType: QpType.UD, sendCq: cq, recvCq: cq, cap: { maxSendWr: 4, maxRecvWr: 4 } });
      qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qkey: QKEY });
      qp.modify({ qpState: QpState.RTR });
      qp.modify({ qpState: QpState.RTS, sqPsn: 0 });
      return { qp, pd, cq, gid: context.queryGid(1, 0) };
    });
    using ah = a.pd.createAh({ grh: { dgid: b.gid } });
    b.qp.postRecv({ sgList: [to.mr.sge(0, 1040)] });
    const ud = { ah, remoteQpn: b.qp.qpNum, remoteQkey: QKEY };
    a.qp.postSend({ opcode: SEND, sgList: [from.mr.sge(7, 1000)], ud, sendFlags: SendFlags.SIGNALED });
    assert.deepEqual([drainOne(a.cq).status, drainOne(b.cq).status], [WcStatus.SUCCESS, WcStatus.SUCCESS]);
    assert.deepEqual(to.content.subarray(40, 1040), pattern(4096, 1).subarray(7, 1007));
    for (const { qp } of [a, b]) qp.destroy();
  });

  it('sums of many atomics are right, since none comes between the halves of another', () => {
    using pair = devices.connectWith(4096);
    const [own, their] = [pair.memory(pair.a, false), pair.memory(pair.b, true)];
    their.content = new Uint8Array(4096);
    const atomic = { remoteAddr: their.mr.iova, rkey: their.mr.rkey, compareAdd: 3n };
    for (let i = 0; i < 16; i += 1)
      pair.a.qp.postSend({
        opcode: ATOMIC_FETCH_AND_ADD,
        sgList: [own.mr.sge(8 * i, 8)],
        atomic,
        sendFlags: SendFlags.SIGNALED,
      });
    for (let i = 0; i < 16; i += 1) assert.equal(drainOne(pair.a.cq).status, WcStatus.SUCCESS);
    assert.deepEqual([wordAt(their.content, 0), wordAt(own.content, 8 * 15)], [48n, 45n]);
  });
}

for (const host of GPU_HOSTINGS)
  describe(`memory of a GPU, by ${KIND}, with a NIC hosted ${host}`, { skip: withoutGpu }, () => suite(host));
