import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventType, Mtu, QpState, QpType, Syndrome, WcFlags, WcOpcode, WcStatus, WrOpcode } from '../../ibta/index.js';
import { Opcode } from '../../wire/index.js';
import { assertCompleted, assertStatuses, Pair, pattern } from './pair.js';
import { initAttr, SOLICITED, UNSIGNALLED } from './qp.js';
import { connectUc, UcPair, UcPuppet, ucRtrAttr } from './uc.js';

for (const length of [0, 1, 255, 256, 257, 512, 1000, 100_000]) {
  test(`a SEND of ${length} bytes arrives whole and is not acknowledged`, () => {
    const pair = new UcPair();
    const source = pair.a.mrOf(pattern(Math.max(length, 1)));
    const target = pair.b.mr(Math.max(length, 1));
    pair.receiver.recv(target);
    const wrId = pair.sender.send(source, { sgList: [source.sge(0, length)] });
    pair.drive();
    assertCompleted(pair.sender.sent(), [wrId]);
    const [received] = pair.receiver.received();
    assert.equal(received.status, WcStatus.SUCCESS);
    assert.equal(received.opcode, WcOpcode.RECV);
    assert.equal(received.byteLen, length);
    assert.deepEqual(target.bytes.slice(0, length), source.bytes.slice(0, length));
    assert.deepEqual(pair.fromB(), []);
  });
}

test('a message of three packets is FIRST, MIDDLE, LAST with PSNs that follow each other', () => {
  const pair = new UcPair({ sqPsn: 0xfffffe });
  pair.receiver.recv(pair.b.mr(600));
  pair.sender.send(pair.a.mr(600));
  pair.drive();
  assert.deepEqual(pair.sentNames, ['UC_SEND_FIRST', 'UC_SEND_MIDDLE', 'UC_SEND_LAST']);
  assert.deepEqual(
    pair.fromA().map(({ psn }) => psn),
    [0xfffffe, 0xffffff, 0],
  );
  assert.equal(pair.receiver.received().length, 1);
});

test('no packet asks for an acknowledgement', () => {
  const pair = new UcPair();
  pair.receiver.recv(pair.b.mr(10_000));
  pair.sender.send(pair.a.mr(10_000));
  pair.drive();
  assert.ok(pair.fromA().every(({ ackRequest }) => !ackRequest));
});

test('a SEND completes though nothing of it arrives', () => {
  const pair = new UcPair();
  pair.script = () => 'drop';
  const wrId = pair.sender.send(pair.a.mr(1000));
  pair.drive();
  assertCompleted(pair.sender.sent(), [wrId]);
  assert.equal(pair.sender.state, QpState.RTS);
});

test('only signalled requests complete with an entry, and all give their slots back', () => {
  const pair = new UcPair();
  const mr = pair.a.mr(10);
  for (let i = 0; i < 5; i += 1) pair.sender.send(mr, { flags: UNSIGNALLED });
  const wrId = pair.sender.send(mr);
  pair.drive();
  assertCompleted(pair.sender.sent(), [wrId]);
  assert.equal(pair.sender.sq.inUse, 0);
});

test('requests that complete without an entry give their slots back as they leave', () => {
  const pair = new UcPair();
  const mr = pair.a.mr(10);
  for (let i = 0; i < 5; i += 1) pair.sender.send(mr, { flags: UNSIGNALLED });
  pair.drive();
  assert.equal(pair.sender.sq.inUse, 0);
  assert.deepEqual(pair.sender.sent(), []);
});

test('with sqSigAll every request completes with an entry', () => {
  const pair = new UcPair({ qp: { sqSigAll: true } });
  const mr = pair.a.mr(10);
  const wrIds = [1, 2, 3].map(() => pair.sender.send(mr, { flags: UNSIGNALLED }));
  pair.drive();
  assertCompleted(pair.sender.sent(), wrIds);
});

test('immediate data arrives with the last packet of a SEND', () => {
  const pair = new UcPair();
  pair.receiver.recv(pair.b.mr(1000));
  pair.sender.send(pair.a.mr(1000), { opcode: WrOpcode.SEND_WITH_IMM, imm: 0xcafe0001 | 0 });
  pair.drive();
  assert.equal(pair.sentNames.at(-1), 'UC_SEND_LAST_IMM');
  const [received] = pair.receiver.received();
  assert.equal(received.immData, 0xcafe0001);
  assert.equal(received.wcFlags & WcFlags.WITH_IMM, WcFlags.WITH_IMM);
});

for (const length of [8, 256]) {
  test(`inline data of ${length} bytes leaves without memory`, () => {
    const pair = new UcPair();
    const target = pair.b.mr(length);
    pair.receiver.recv(target);
    pair.sender.post({ opcode: WrOpcode.SEND, inline: pattern(length) });
    pair.drive();
    assert.deepEqual(target.bytes, pattern(length));
  });
}

test('inline data is cut into packets like any other', () => {
  const pair = new UcPair({ qp: { cap: { maxInlineData: 512 } } });
  const target = pair.b.mr(500);
  pair.receiver.recv(target);
  pair.sender.post({ opcode: WrOpcode.SEND, inline: pattern(500) });
  pair.drive();
  assert.deepEqual(pair.sentNames, ['UC_SEND_FIRST', 'UC_SEND_LAST']);
  assert.deepEqual(target.bytes, pattern(500));
});

test('a completion has all 64 bits of its wr_id', () => {
  const pair = new UcPair();
  const wrId = 0xfedc_ba98_7654_3210n;
  pair.sender.send(pair.a.mr(8), { wrId });
  pair.drive();
  assertCompleted(pair.sender.sent(), [wrId]);
});

test('a message that was begun before RESET is none of those after it', () => {
  const pair = new UcPair();
  pair.sender.send(pair.a.mr(100_000));
  // Not all of it fits into one turn of the NIC.
  pair.a.nic.ringDoorbells();
  pair.a.nic.transmit();
  pair.sender.modify({ qpState: QpState.RESET });
  connectUc(pair.sender, pair.receiver.peer, { sqPsn: 0x4000 });
  const target = pair.b.mr(300);
  pair.receiver.recv(target);
  const wrId = pair.sender.send(pair.a.mrOf(pattern(300)));
  pair.drive();
  assertCompleted(pair.sender.sent(), [wrId]);
  assert.deepEqual(target.bytes, pattern(300));
});

test('messages are counted where they leave and where they arrive', () => {
  const pair = new UcPair();
  pair.receiver.recv(pair.b.mr(600));
  pair.sender.send(pair.a.mr(600));
  pair.sender.write(pair.a.mr(8), pair.b.mr(8));
  pair.drive();
  assert.equal(pair.a.nic.counters.rdmaSends, 1);
  assert.equal(pair.b.nic.counters.rdmaRecvs, 1);
});

test('a solicited SEND raises the event of a CQ that waits for solicited ones alone', () => {
  const pair = new Pair();
  const channel = pair.b.channel();
  const recvCq = pair.b.cq(16, channel);
  const sender = pair.a.qp({ type: QpType.UC });
  const receiver = pair.b.qp({ type: QpType.UC, recvCq });
  connectUc(sender, receiver.peer, { sqPsn: 1 });
  connectUc(receiver, sender.peer, { rqPsn: 1 });
  recvCq.arm(true);
  receiver.recv(pair.b.mr(600));
  receiver.recv(pair.b.mr(600));
  sender.send(pair.a.mr(600));
  pair.drive();
  assert.deepEqual(channel.take(), []);
  sender.send(pair.a.mr(600), { flags: SOLICITED });
  pair.drive();
  assert.deepEqual(channel.take(), [recvCq.cqn]);
});

test('requests of one queue leave in the order in which they were posted', () => {
  const pair = new UcPair();
  const targets = [300, 10, 700].map((length) => pair.b.mr(length));
  targets.forEach((target) => pair.receiver.recv(target));
  const wrIds = targets.map((target, i) => pair.sender.send(pair.a.mrOf(pattern(target.length, i))));
  pair.drive();
  assertCompleted(pair.sender.sent(), wrIds);
  targets.forEach((target, i) => assert.deepEqual(target.bytes, pattern(target.length, i)));
});

test('both directions carry messages at once', () => {
  const pair = new UcPair({ pathMtu: Mtu.MTU_1024 });
  const atA = pair.a.mr(5000);
  const atB = pair.b.mr(5000);
  pair.sender.recv(atA);
  pair.receiver.recv(atB);
  pair.sender.send(pair.a.mrOf(pattern(5000, 1)));
  pair.receiver.send(pair.b.mrOf(pattern(5000, 2)));
  pair.drive();
  assert.deepEqual(atB.bytes, pattern(5000, 1));
  assert.deepEqual(atA.bytes, pattern(5000, 2));
});

test('a message finds its receive request only once the QP is in RTR', () => {
  const puppet = new UcPuppet();
  puppet.qp.modify({ qpState: QpState.RESET });
  puppet.only(0x2000, pattern(8));
  assert.equal(puppet.counters.rxWrongState, 1);
});

test('the first packet that comes in RTR tells that the connection stands', () => {
  const puppet = new UcPuppet();
  puppet.qp.modify({ qpState: QpState.RESET });
  puppet.qp.modify(initAttr());
  puppet.qp.modify(ucRtrAttr(puppet.peer));
  for (let i = 0; i < 2; i += 1) puppet.only(0x2000 + i, pattern(8));
  assert.deepEqual(puppet.local.eventsOf(puppet.qp), [EventType.COMM_EST]);
});

test('packets of other services are none of a UC QP', () => {
  const puppet = new UcPuppet();
  puppet.qp.recv(puppet.local.mr(8));
  puppet.say({ opcode: Opcode.RC_SEND_ONLY, psn: 0x2000, payload: pattern(8) });
  puppet.say({ opcode: Opcode.UD_SEND_ONLY, psn: 0x2000, payload: pattern(8) });
  assert.equal(puppet.counters.rxWrongTransport, 2);
  assert.deepEqual(puppet.qp.received(), []);
});

test('packets of others than the peer are dropped', () => {
  const puppet = new UcPuppet();
  puppet.qp.recv(puppet.local.mr(8));
  puppet.network.attach('10.0.0.66');
  puppet.say({ opcode: Opcode.UC_SEND_ONLY, psn: 0x2000, payload: pattern(8) }, '10.0.0.66');
  assert.equal(puppet.counters.rxWrongPeer, 1);
  assert.deepEqual(puppet.qp.received(), []);
});

test('ERR flushes both queues', () => {
  const pair = new UcPair();
  const received = pair.receiver.recv(pair.b.mr(8));
  pair.receiver.modify({ qpState: QpState.ERR });
  const posted = pair.receiver.send(pair.b.mr(8));
  pair.drive();
  assertStatuses(pair.receiver.received(), [[received, WcStatus.WR_FLUSH_ERR]]);
  const sent = pair.receiver.sent();
  assertStatuses(sent, [[posted, WcStatus.WR_FLUSH_ERR]]);
  assert.equal(sent[0].vendorErr, Syndrome.FLUSHED);
});
