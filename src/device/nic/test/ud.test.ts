import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AccessFlags, Mtu, QpState, QpType, WcFlags, WcOpcode, WcStatus, WrOpcode } from '../../ibta/index.js';
import { dethOffset, dethQkey, dethSourceQp, getU16, Opcode } from '../../wire/index.js';
import { assertCompleted, assertStatuses, Pair, pattern, World } from './pair.js';
import { SOLICITED, UNSIGNALLED } from './qp.js';
import { ahTo, craftDatagram, HEADER_BYTES, payloadOf, postBuffer, postTo, QKEY, SQ_PSN, udQp } from './ud.js';

/** A UD QP on each of two hosts, and the way from the first to the second. */
function pairOfQps(ipv6 = false) {
  const pair = new Pair({ ipv6 });
  const sender = udQp(pair.a);
  const receiver = udQp(pair.b);
  const to = { ah: ahTo(pair.a, pair.b.gid), qpn: receiver.qpn };
  return { pair, sender, receiver, to };
}

for (const ipv6 of [false, true]) {
  for (const length of [0, 1, 100, 4096]) {
    test(`a datagram of ${length} bytes arrives over ${ipv6 ? 'IPv6' : 'IPv4'}`, () => {
      const { pair, sender, receiver, to } = pairOfQps(ipv6);
      const source = pair.a.mrOf(pattern(5000));
      const target = postBuffer(receiver, 5000);
      const wrId = postTo(sender, to, { sgList: [source.sge(0, length)] });
      pair.drive();
      const sent = sender.sent();
      assertCompleted(sent, [wrId]);
      assert.equal(sent[0].opcode, WcOpcode.SEND);
      const [received] = receiver.received();
      assert.equal(received.status, WcStatus.SUCCESS);
      assert.equal(received.opcode, WcOpcode.RECV);
      assert.equal(received.byteLen, HEADER_BYTES + length);
      assert.equal(received.wcFlags, WcFlags.GRH);
      assert.equal(received.srcQp, sender.qpn);
      assert.deepEqual(payloadOf(target, length), source.bytes.slice(0, length));
      assert.ok(target.bytes.subarray(HEADER_BYTES + length).every((byte) => byte === 0));
    });
  }
}

/** One's complement sum over 16-bit words: all ones where a checksum is right. */
function onesSum(bytes: Uint8Array): number {
  let sum = 0;
  for (let at = 0; at < bytes.length; at += 2) sum += getU16(bytes, at);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return sum;
}

test('the payload is preceded by the IPv4 header in the last 20 of 40 bytes', () => {
  const { pair, sender, receiver } = pairOfQps();
  const target = postBuffer(receiver, 8);
  const ah = ahTo(pair.a, pair.b.gid, { trafficClass: 0x68, hopLimit: 33 });
  postTo(sender, { ah, qpn: receiver.qpn }, { inline: pattern(8) });
  pair.drive();
  const header = target.bytes.subarray(20, 40);
  assert.ok(target.bytes.subarray(0, 20).every((byte) => byte === 0));
  assert.deepEqual([header[0], header[1], header[8], header[9]], [0x45, 0x68, 33, 17]);
  assert.equal(getU16(header, 2), 20 + 8 + pair.wire[0].bytes.length);
  assert.deepEqual([...header.subarray(12)], [10, 0, 0, 1, 10, 0, 0, 2]);
  assert.equal(onesSum(header), 0xffff);
});

test('the payload is preceded by the IPv6 header', () => {
  const { pair, sender, receiver } = pairOfQps(true);
  const target = postBuffer(receiver, 8);
  const ah = ahTo(pair.a, pair.b.gid, { trafficClass: 0x68, hopLimit: 33 });
  postTo(sender, { ah, qpn: receiver.qpn }, { inline: pattern(8) });
  pair.drive();
  const header = target.bytes.subarray(0, 40);
  assert.deepEqual([header[0] >> 4, ((header[0] & 15) << 4) | (header[1] >> 4)], [6, 0x68]);
  assert.deepEqual([header[6], header[7]], [17, 33]);
  assert.equal(getU16(header, 4), 8 + pair.wire[0].bytes.length);
  assert.deepEqual(header.slice(8, 24), pair.a.gid);
  assert.deepEqual(header.slice(24, 40), pair.b.gid);
});

test('header and payload go to wherever the pieces of the receive request are', () => {
  const { pair, sender, receiver, to } = pairOfQps();
  const pieces = [10, 35, 20].map((length) => pair.b.mr(length));
  receiver.postRecv({ sgList: pieces.map((mr) => mr.sge()) });
  postTo(sender, to, { inline: pattern(25) });
  pair.drive();
  assert.equal(receiver.received()[0].byteLen, 65);
  const whole = pieces.flatMap((mr) => [...mr.bytes]);
  assert.deepEqual(whole.slice(40), [...pattern(25)]);
  assert.equal(whole[20], 0x45);
});

test('immediate data arrives', () => {
  const { pair, sender, receiver, to } = pairOfQps();
  postBuffer(receiver, 100);
  postTo(sender, to, { opcode: WrOpcode.SEND_WITH_IMM, imm: 0xabcd0001 | 0, inline: pattern(100) });
  pair.drive();
  const [received] = receiver.received();
  assert.equal(received.immData, 0xabcd0001);
  assert.equal(received.wcFlags, WcFlags.GRH | WcFlags.WITH_IMM);
  assert.equal(pair.wire[0].name, 'UD_SEND_ONLY_IMM');
});

test('a datagram names its Q_Key and the QP that it comes from', () => {
  const { pair, sender, to } = pairOfQps();
  postTo(sender, to, { inline: pattern(4) });
  pair.drive();
  const [{ bytes, destQp, ackRequest }] = pair.wire;
  const deth = dethOffset[Opcode.UD_SEND_ONLY];
  assert.equal(dethQkey(bytes, deth), QKEY);
  assert.equal(dethSourceQp(bytes, deth), sender.qpn);
  assert.equal(destQp, to.qpn);
  assert.equal(ackRequest, false);
});

test('each datagram has the next PSN, and receivers do not care which', () => {
  const { pair, sender, receiver, to } = pairOfQps();
  for (let i = 0; i < 4; i += 1) postBuffer(receiver, 4);
  for (let i = 0; i < 3; i += 1) postTo(sender, to, { inline: pattern(4) });
  pair.drive();
  assert.deepEqual(
    pair.wire.map(({ psn }) => psn),
    [SQ_PSN, SQ_PSN + 1, SQ_PSN + 2],
  );
  pair.deliver(pair.a.ip, pair.b.ip, craftDatagram(pair.a.ip, pair.b.ip, { opcode: 0x64, destQp: to.qpn, psn: 5 }));
  assert.equal(receiver.received().length, 4);
});

test('one QP sends to many, and receives from many', () => {
  const world = new World();
  const hosts = ['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4'].map((address) => world.host(address));
  const [hub, ...others] = hosts;
  const center = udQp(hub);
  const qps = others.map((host) => udQp(host));
  const buffers = qps.map((qp) => postBuffer(qp, 8));
  qps.forEach((qp, i) => postTo(center, { ah: ahTo(hub, qp.host.gid), qpn: qp.qpn }, { inline: pattern(8, i) }));
  world.drive();
  buffers.forEach((mr, i) => assert.deepEqual(payloadOf(mr), pattern(8, i)));
  for (const qp of qps) {
    postBuffer(center, 8);
    postTo(qp, { ah: ahTo(qp.host, hub.gid), qpn: center.qpn }, { inline: pattern(8) });
  }
  world.drive();
  assert.deepEqual(
    center.received().map(({ srcQp }) => srcQp),
    qps.map(({ qpn }) => qpn),
  );
});

test('a QP sends to another on its own host', () => {
  const world = new World();
  const host = world.host('10.0.0.1');
  const sender = udQp(host);
  const receiver = udQp(host);
  const target = postBuffer(receiver, 8);
  postTo(sender, { ah: ahTo(host, host.gid), qpn: receiver.qpn }, { inline: pattern(8) });
  world.drive();
  assert.equal(receiver.received()[0].srcQp, sender.qpn);
  assert.deepEqual(payloadOf(target), pattern(8));
});

test('datagrams of one queue arrive in the order in which they were posted, signalled or not', () => {
  const { pair, sender, receiver, to } = pairOfQps();
  const buffers = Array.from({ length: 40 }, () => postBuffer(receiver, 8));
  for (let i = 0; i < 39; i += 1) postTo(sender, to, { inline: pattern(8, i), flags: UNSIGNALLED });
  const wrId = postTo(sender, to, { inline: pattern(8, 39) });
  pair.drive();
  assertCompleted(sender.sent(), [wrId]);
  assert.equal(sender.sq.inUse, 0);
  buffers.forEach((mr, i) => assert.deepEqual(payloadOf(mr), pattern(8, i)));
});

test('a solicited datagram raises the event of a CQ that waits for solicited ones alone', () => {
  const pair = new Pair();
  const channel = pair.b.channel();
  const recvCq = pair.b.cq(16, channel);
  const sender = udQp(pair.a);
  const receiver = udQp(pair.b, { recvCq });
  const to = { ah: ahTo(pair.a, pair.b.gid), qpn: receiver.qpn };
  recvCq.arm(true);
  postBuffer(receiver, 8);
  postBuffer(receiver, 8);
  postTo(sender, to, { inline: pattern(8) });
  pair.drive();
  assert.deepEqual(channel.take(), []);
  postTo(sender, to, { inline: pattern(8), flags: SOLICITED });
  pair.drive();
  assert.deepEqual(channel.take(), [recvCq.cqn]);
});

test('a datagram that finds no receive request is lost', () => {
  const { pair, sender, receiver, to } = pairOfQps();
  const wrId = postTo(sender, to, { inline: pattern(8) });
  pair.drive();
  assertCompleted(sender.sent(), [wrId]);
  assert.equal(pair.b.nic.counters.rxNoReceive, 1);
  assert.deepEqual(receiver.received(), []);
});

for (const payloadBytes of [-40, -1, 0, 99]) {
  test(`a datagram of 100 bytes is lost on ${40 + payloadBytes} bytes of buffer, which then takes the next`, () => {
    const { pair, sender, receiver, to } = pairOfQps();
    const mr = pair.b.mr(200);
    const wrId = receiver.postRecv({ sgList: [mr.sge(0, 40 + payloadBytes)] });
    postTo(sender, to, { inline: pattern(100) });
    pair.drive();
    assert.deepEqual(receiver.received(), []);
    assert.equal(pair.b.nic.counters.rxMessageDropped, 1);
    assert.ok(mr.bytes.every((byte) => byte === 0));
    assert.equal(receiver.state, QpState.RTS);
    if (payloadBytes < 0) return;
    postTo(sender, to, { inline: pattern(payloadBytes) });
    pair.drive();
    assertCompleted(receiver.received(), [wrId]);
  });
}

test('a datagram longer than the MTU of the port is dropped', () => {
  const pair = new Pair({ host: { portMtu: Mtu.MTU_1024 } });
  const receiver = udQp(pair.b);
  postBuffer(receiver, 2000);
  const say = (length: number): void => {
    const fields = { opcode: Opcode.UD_SEND_ONLY, destQp: receiver.qpn, psn: 0, payload: pattern(length) };
    pair.deliver(pair.a.ip, pair.b.ip, craftDatagram(pair.a.ip, pair.b.ip, fields));
  };
  say(1025);
  assert.deepEqual(receiver.received(), []);
  assert.equal(pair.b.nic.counters.rxMessageDropped, 1);
  say(1024);
  assert.equal(receiver.received().length, 1);
});

test('a receive request that was too short is forgotten by RESET', () => {
  const { pair, sender, receiver, to } = pairOfQps();
  receiver.postRecv({ sgList: [pair.b.mr(50).sge()] });
  postTo(sender, to, { inline: pattern(100) });
  pair.drive();
  receiver.modify({ qpState: QpState.RESET });
  receiver.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qkey: QKEY });
  receiver.modify({ qpState: QpState.RTR });
  const target = postBuffer(receiver, 100);
  postTo(sender, to, { inline: pattern(100) });
  pair.drive();
  assert.deepEqual(payloadOf(target), pattern(100));
  assert.equal(receiver.received().length, 1);
});

test('datagrams are counted where they leave and where they arrive', () => {
  const { pair, sender, receiver, to } = pairOfQps();
  postBuffer(receiver, 8);
  postTo(sender, to, { inline: pattern(8), flags: UNSIGNALLED });
  pair.drive();
  assert.equal(pair.a.nic.counters.rdmaSends, 1);
  assert.equal(pair.b.nic.counters.rdmaRecvs, 1);
  assert.equal(sender.sq.inUse, 0);
});

test('a receive request that names memory it may not ends the QP', () => {
  const { pair, sender, receiver, to } = pairOfQps();
  const mr = pair.b.mr(200, { access: AccessFlags.REMOTE_READ });
  const wrId = receiver.recv(mr);
  const next = receiver.recv(mr);
  postTo(sender, to, { inline: pattern(100) });
  pair.drive();
  assertStatuses(receiver.received(), [
    [wrId, WcStatus.LOC_PROT_ERR],
    [next, WcStatus.WR_FLUSH_ERR],
  ]);
  assert.equal(receiver.state, QpState.ERR);
});

test('datagrams are received from RTR on, and not before', () => {
  const pair = new Pair();
  const sender = udQp(pair.a);
  const receiver = udQp(pair.b, { until: QpState.INIT });
  const to = { ah: ahTo(pair.a, pair.b.gid), qpn: receiver.qpn };
  postBuffer(receiver, 8);
  postTo(sender, to, { inline: pattern(8) });
  pair.drive();
  assert.equal(pair.b.nic.counters.rxWrongState, 1);
  receiver.modify({ qpState: QpState.RTR });
  postTo(sender, to, { inline: pattern(8) });
  pair.drive();
  assert.equal(receiver.received().length, 1);
  assert.deepEqual(pair.b.eventsOf(receiver), []);
});

test('datagrams to a connected QP, and messages to a UD QP, are dropped', () => {
  const pair = new Pair();
  const sender = udQp(pair.a);
  const { b } = pair.connect();
  postTo(sender, { ah: ahTo(pair.a, pair.b.gid), qpn: b.qpn }, { inline: pattern(8) });
  const receiver = udQp(pair.b);
  postBuffer(receiver, 8);
  const rc = pair.a.qp({ type: QpType.RC });
  rc.toRts(receiver.peer, { retryCnt: 0 });
  const wrId = rc.send(pair.a.mr(8));
  pair.drive();
  assertStatuses(rc.sent(), [[wrId, WcStatus.RETRY_EXC_ERR]]);
  assert.ok(pair.b.nic.counters.rxWrongTransport >= 2);
  assert.deepEqual(receiver.received(), []);
});

test('datagrams take requests from a shared receive queue', () => {
  const pair = new Pair();
  const srq = pair.b.srq();
  const sender = udQp(pair.a);
  const receivers = [udQp(pair.b, { srq }), udQp(pair.b, { srq })];
  const buffers = [pair.b.mr(48), pair.b.mr(48)];
  buffers.forEach((mr, i) => srq.queue.writeReceive({ wrId: i, sgList: [mr.sge()] }));
  const ah = ahTo(pair.a, pair.b.gid);
  for (const { qpn } of receivers) postTo(sender, { ah, qpn }, { inline: pattern(8) });
  pair.drive();
  receivers.forEach((qp, i) => assertCompleted(qp.received(), [BigInt(i)]));
  buffers.forEach((mr) => assert.deepEqual(payloadOf(mr), pattern(8)));
});
