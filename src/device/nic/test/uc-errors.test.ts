import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AccessFlags, EventType, QpState, QpType, Syndrome, WcOpcode, WcStatus, WrOpcode } from '../../ibta/index.js';
import { assertCompleted, assertRefused, assertStatuses, pattern } from './pair.js';
import { connectUc, UcPair, UcPuppet } from './uc.js';

for (const opcode of [
  WrOpcode.RDMA_READ,
  WrOpcode.ATOMIC_CMP_AND_SWP,
  WrOpcode.ATOMIC_FETCH_AND_ADD,
  WrOpcode.SEND_WITH_INV,
  WrOpcode.TSO,
  WrOpcode.FLUSH,
  WrOpcode.ATOMIC_WRITE,
  200,
]) {
  test(`opcode ${opcode} is not a request of a UC QP`, () => {
    const pair = new UcPair();
    const remote = pair.b.mr(8);
    const wrId = pair.sender.post({ opcode, sgList: [pair.a.mr(8).sge()], ...remote.at(0) });
    pair.drive();
    const sent = pair.sender.sent();
    assertStatuses(sent, [[wrId, WcStatus.LOC_QP_OP_ERR]]);
    assert.equal(sent[0].vendorErr, Syndrome.LOCAL_BAD_WQE);
    assert.deepEqual(sent[0].detail.slice(0, 2), [opcode, 1]);
    assert.equal(pair.sender.state, QpState.SQE);
    assert.deepEqual(pair.wire, []);
  });
}

test('a request with more pieces than the queue has room for fails', () => {
  const pair = new UcPair();
  const mr = pair.a.mr(8);
  pair.sender.post({ opcode: WrOpcode.SEND, sgList: [mr.sge()], wrId: 1 });
  const control = pair.sender.sq.words;
  // The driver's word for it, past what it may claim.
  control[32] = (control[32] & 0xffff) | (9 << 16);
  pair.drive();
  assertStatuses(pair.sender.sent(), [[1n, WcStatus.LOC_QP_OP_ERR]]);
});

test('a request with more inline data than the queue has room for fails', () => {
  const pair = new UcPair();
  pair.sender.post({ opcode: WrOpcode.SEND, inline: pattern(257), wrId: 1 });
  pair.drive();
  assertStatuses(pair.sender.sent(), [[1n, WcStatus.LOC_QP_OP_ERR]]);
});

test('a request whose memory is none of its domain fails', () => {
  const pair = new UcPair();
  const mr = pair.a.mr(8, { pd: pair.a.nic.control.allocPd() });
  const wrId = pair.sender.send(mr);
  pair.drive();
  const sent = pair.sender.sent();
  assertStatuses(sent, [[wrId, WcStatus.LOC_PROT_ERR]]);
  assert.equal(sent[0].vendorErr, Syndrome.LOCAL_KEY_PD);
  assert.equal(pair.sender.state, QpState.SQE);
  assert.deepEqual(pair.wire, []);
});

test('a message longer than the device allows fails', () => {
  const pair = new UcPair({ pair: { host: { limits: { maxMessageBytes: 1000 } } } });
  const wrId = pair.sender.send(pair.a.mr(1001));
  pair.drive();
  const sent = pair.sender.sent();
  assertStatuses(sent, [[wrId, WcStatus.LOC_LEN_ERR]]);
  assert.deepEqual(sent[0].detail.slice(0, 2), [1001, 1000]);
});

test('in SQE requests are flushed, and messages received', () => {
  const pair = new UcPair();
  const target = pair.a.mr(600);
  const received = pair.sender.recv(target);
  const bad = pair.sender.post({ opcode: WrOpcode.RDMA_READ });
  const behind = pair.sender.send(pair.a.mr(8), { flags: 0 });
  pair.drive();
  const later = pair.sender.send(pair.a.mr(8));
  pair.drive();
  const sent = pair.sender.sent();
  assertStatuses(sent, [
    [bad, WcStatus.LOC_QP_OP_ERR],
    [behind, WcStatus.WR_FLUSH_ERR],
    [later, WcStatus.WR_FLUSH_ERR],
  ]);
  assert.deepEqual(sent[1].detail.slice(0, 2), [QpState.SQE, Syndrome.LOCAL_BAD_WQE]);
  pair.receiver.send(pair.b.mrOf(pattern(600)));
  pair.drive();
  assertCompleted(pair.sender.received(), [received]);
  assert.deepEqual(target.bytes, pattern(600));
});

test('from SQE a QP goes back to RTS, and on at the next PSN', () => {
  const pair = new UcPair({ sqPsn: 7 });
  const target = pair.b.mr(8);
  pair.receiver.recv(target);
  pair.receiver.recv(target);
  pair.sender.send(pair.a.mr(8));
  pair.sender.post({ opcode: WrOpcode.RDMA_READ });
  pair.drive();
  pair.sender.sent();
  pair.sender.modify({ qpState: QpState.RTS });
  const wrId = pair.sender.send(pair.a.mr(8));
  pair.drive();
  assertCompleted(pair.sender.sent(), [wrId]);
  assert.deepEqual(
    pair.fromA().map(({ psn }) => psn),
    [7, 8],
  );
  assert.equal(pair.receiver.received().length, 2);
  assert.equal(pair.b.nic.counters.outOfSeqRequest, 0);
});

test('a QP in SQE can be asked to go nowhere but to RTS, ERR and RESET', () => {
  const pair = new UcPair();
  pair.sender.post({ opcode: WrOpcode.RDMA_READ });
  pair.drive();
  for (const qpState of [QpState.INIT, QpState.RTR, QpState.SQD, QpState.SQE])
    assertRefused('EINVAL', () => pair.sender.modify({ qpState }));
  pair.sender.modify({ qpState: QpState.ERR });
  assert.equal(pair.sender.state, QpState.ERR);
  pair.sender.modify({ qpState: QpState.RESET });
  assert.equal(pair.sender.state, QpState.RESET);
});

test('memory that is deregistered in the midst of a message ends it, and the next message arrives', () => {
  const pair = new UcPair();
  const target = pair.b.mr(100_000);
  const received = pair.receiver.recv(target);
  const source = pair.a.mr(100_000);
  const wrId = pair.sender.send(source);
  // Not all of it fits into one turn of the NIC.
  pair.a.nic.ringDoorbells();
  pair.a.nic.transmit();
  pair.a.nic.control.deregMr(source.handle);
  pair.drive();
  assertStatuses(pair.sender.sent(), [[wrId, WcStatus.LOC_PROT_ERR]]);
  assert.equal(pair.sender.state, QpState.SQE);
  assert.deepEqual(pair.receiver.received(), []);
  pair.sender.modify({ qpState: QpState.RTS });
  pair.sender.send(pair.a.mrOf(pattern(300)));
  pair.drive();
  assertCompleted(pair.receiver.received(), [received]);
  assert.deepEqual(target.bytes.subarray(0, 300), pattern(300));
});

test('a driver that writes over a request in the midst of its message changes nothing of what it is', () => {
  const pair = new UcPair();
  pair.receiver.recv(pair.b.mr(100_000));
  const source = pair.a.mrOf(pattern(100_000));
  const wrId = pair.sender.send(source);
  pair.a.nic.ringDoorbells();
  pair.a.nic.transmit();
  const { words } = pair.sender.sq;
  words[32] = (words[32] & ~0xff) | WrOpcode.LOCAL_INV;
  pair.drive();
  assertCompleted(pair.sender.sent(), [wrId]);
  const [received] = pair.receiver.received();
  assert.equal(received.byteLen, 100_000);
});

test('a receive request that names memory it may not ends the QP', () => {
  const puppet = new UcPuppet();
  const mr = puppet.local.mr(600, { access: AccessFlags.REMOTE_READ });
  const wrId = puppet.qp.recv(mr);
  const next = puppet.qp.recv(mr);
  puppet.first(0x2000, pattern(256));
  assertStatuses(puppet.qp.received(), [
    [wrId, WcStatus.LOC_PROT_ERR],
    [next, WcStatus.WR_FLUSH_ERR],
  ]);
  assert.equal(puppet.qp.state, QpState.ERR);
  assert.ok(mr.bytes.every((byte) => byte === 0));
});

test('a CQ that overruns ends a UC QP', () => {
  const pair = new UcPair();
  const sendCq = pair.a.cq(1);
  const sender = pair.a.qp({ type: QpType.UC, sendCq });
  connectUc(sender, pair.receiver.peer);
  const mr = pair.a.mr(8);
  for (let i = 0; i < 3; i += 1) sender.send(mr);
  pair.drive();
  assert.equal(sender.state, QpState.ERR);
  assert.ok(pair.a.eventsOf(sender).includes(EventType.QP_FATAL));
});

test('the queue drains in SQD: the message that was begun is sent to its end, and no other', () => {
  const pair = new UcPair();
  const target = pair.b.mr(100_000);
  pair.receiver.recv(target);
  pair.receiver.recv(target);
  const first = pair.sender.send(pair.a.mrOf(pattern(100_000)));
  const second = pair.sender.send(pair.a.mr(8));
  pair.a.nic.ringDoorbells();
  pair.a.nic.transmit();
  pair.sender.modify({ qpState: QpState.SQD, enSqdAsyncNotify: 1 });
  assert.equal(pair.a.nic.control.queryQp(pair.sender.qpn).sqDraining, 1);
  assertRefused('EINVAL', () => pair.sender.modify({ qpState: QpState.RTS }));
  assert.deepEqual(pair.a.eventsOf(pair.sender), []);
  pair.drive();
  assertCompleted(pair.sender.sent(), [first]);
  assert.deepEqual(pair.a.eventsOf(pair.sender), [EventType.SQ_DRAINED]);
  assert.equal(pair.receiver.received().length, 1);
  assert.deepEqual(target.bytes, pattern(100_000));
  pair.sender.modify({ qpState: QpState.RTS });
  pair.drive();
  assertCompleted(pair.sender.sent(), [second]);
});

test('the completion of a WRITE in error says that it was one', () => {
  const pair = new UcPair();
  const mr = pair.a.mr(8);
  pair.sender.write(mr, pair.b.mr(8), { sgList: [{ ...mr.sge(), lkey: 1 }] });
  pair.drive();
  assert.equal(pair.sender.sent()[0].opcode, WcOpcode.RDMA_WRITE);
});
