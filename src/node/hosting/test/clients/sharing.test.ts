import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { EventType, openDevice, QpState, QpType, SendFlags, WcStatus, WrOpcode } from '../../../../entry/index.js';
import { administer, SimulatedCluster } from '../../../../entry/sim.js';
import { Ring } from '../../../../device/nic/index.js';
import { drainOne, makeSide, pattern } from '../../../../providers/soft/test/support/pair.js';
import { another, hostOf, join, openTrio } from './support/clients.js';

const SIZE = 5000;

describe('a device that is shared', () => {
  test('is one NIC with an address, whoever has it open', () => {
    const { first, second } = openTrio();
    assert.equal(second.address, first.address);
    assert.deepEqual(second.queryGid(1, 0), first.queryGid(1, 0));
    assert.equal(hostOf(second).nic, hostOf(first).nic);
  });

  test('carries the traffic of each client to another NIC', () => {
    const { first, second, elsewhere } = openTrio();
    for (const context of [first, second]) {
      const here = makeSide(context);
      const there = makeSide(elsewhere);
      join(here, there);
      here.mr.bytes.set(pattern(SIZE));
      const rdma = { remoteAddr: there.mr.addr, rkey: there.mr.rkey };
      here.qp.postSend({
        opcode: WrOpcode.RDMA_WRITE,
        sendFlags: SendFlags.SIGNALED,
        sgList: [here.mr.sge(0, SIZE)],
        rdma,
      });
      assert.equal(drainOne(here.cq).status, WcStatus.SUCCESS);
      assert.deepEqual(there.mr.bytes.subarray(0, SIZE), pattern(SIZE));
    }
  });

  test('has clients talk to each other as to anybody', () => {
    const { first, second } = openTrio();
    const a = makeSide(first);
    const b = makeSide(second);
    join(a, b);
    a.mr.bytes.set(pattern(SIZE));
    b.qp.postRecv({ wrId: 1, sgList: [b.mr.sge(0, SIZE)] });
    a.qp.postSend({ opcode: WrOpcode.SEND, sendFlags: SendFlags.SIGNALED, sgList: [a.mr.sge(0, SIZE)] });
    assert.equal(drainOne(a.cq).status, WcStatus.SUCCESS);
    assert.equal(drainOne(b.cq).byteLen, SIZE);
    assert.deepEqual(b.mr.bytes.subarray(0, SIZE), pattern(SIZE));
  });

  test('lives until the last client has closed it', () => {
    const { cluster, first, second, elsewhere } = openTrio();
    const here = makeSide(second);
    const there = makeSide(elsewhere);
    join(here, there);
    first.close();
    there.qp.postRecv({ wrId: 1, sgList: [there.mr.sge(0, 8)] });
    here.qp.postSend({ opcode: WrOpcode.SEND, sendFlags: SendFlags.SIGNALED, sgList: [here.mr.sge(0, 8)] });
    assert.equal(drainOne(there.cq).status, WcStatus.SUCCESS);
    second.close();
    // The address is free again.
    cluster.open('10.0.0.1').close();
  });

  test('can be opened when who has shared it has gone, as long as somebody has it', () => {
    const { first, second } = openTrio();
    const shared = first.share();
    first.close();
    const third = another(second);
    assert.equal(third.address, second.address);
    third.close();
    second.close();
    assert.throws(() => openDevice({ device: shared }), { errno: 'EINVAL' });
  });

  test('is opened with what it is: options of a new NIC are refused, and so is what was never shared', () => {
    const { first } = openTrio();
    const device = first.share();
    assert.throws(() => openDevice({ device, address: '10.0.0.9' }), {
      errno: 'EINVAL',
      message: /address says what a new NIC/,
    });
    assert.throws(() => openDevice({ device: { ...device } }), { errno: 'EOPNOTSUPP', message: /host 'thread'/ });
  });

  test('tells all clients of what becomes of the port, and the owner alone of what becomes of an object', () => {
    const { first, second } = openTrio();
    administer(first, { linkUp: false });
    for (const context of [first, second]) assert.equal(context.getAsyncEvent(0).eventType, EventType.PORT_ERR);
    const small = second.createCq({ cqe: 1 });
    const { cqe } = small;
    const pd = second.allocPd();
    const qp = pd.createQp({ qpType: QpType.RC, sendCq: small, recvCq: small, cap: { maxRecvWr: cqe + 1 } });
    qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qpAccessFlags: 0 });
    for (let i = 0; i <= cqe; i += 1) qp.postRecv({ wrId: i, sgList: [] });
    qp.modify({ qpState: QpState.ERR });
    assert.equal(second.getAsyncEvent(0).eventType, EventType.CQ_ERR);
    assert.throws(() => first.getAsyncEvent(0), { errno: 'ETIMEDOUT' });
    // The driver would drop what it does not know; the ring shows what was said.
    const told = new Int32Array(hostOf(first).asyncEvents);
    assert.equal(told[Ring.PRODUCER], 1);
  });

  test('tells all clients when it fails', () => {
    const { first, second } = openTrio();
    administer(second, { fatal: true });
    for (const context of [first, second]) {
      assert.equal(context.getAsyncEvent(0).eventType, EventType.DEVICE_FATAL);
      assert.throws(() => context.allocPd(), { errno: 'EIO' });
    }
    assert.throws(() => another(first), { errno: 'EIO' });
  });

  test('takes so many clients and no more', () => {
    const cluster = new SimulatedCluster({ seed: 1 });
    const contexts = [cluster.open('10.0.0.1')];
    const [first] = contexts;
    assert.throws(
      () => {
        for (let i = 0; i < 1000; i += 1) contexts.push(another(first));
      },
      { errno: 'ENOMEM', message: /256 clients/ },
    );
    assert.equal(contexts.length, 256);
    contexts.pop()?.close();
    another(first).close();
  });
});
