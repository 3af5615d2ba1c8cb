import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Mtu, QpState, Syndrome, WcStatus, WrOpcode } from '../../ibta/index.js';
import { assertCompleted, assertStatuses, Pair, pattern } from './pair.js';
import { ahTo, payloadOf, postBuffer, postTo, SQ_PSN, udQp } from './ud.js';

function pairOfQps(portMtu?: Mtu) {
  const pair = new Pair({ host: portMtu === undefined ? {} : { portMtu } });
  const sender = udQp(pair.a);
  const receiver = udQp(pair.b);
  return { pair, sender, receiver, to: { ah: ahTo(pair.a, pair.b.gid), qpn: receiver.qpn } };
}

for (const [mtu, bytes] of [
  [Mtu.MTU_256, 256],
  [Mtu.MTU_1024, 1024],
  [Mtu.MTU_4096, 4096],
] as const) {
  test(`at an MTU of ${bytes} a datagram has at most ${bytes} bytes`, () => {
    const { pair, sender, receiver, to } = pairOfQps(mtu);
    postBuffer(receiver, 5000);
    const mr = pair.a.mr(5000);
    const fits = postTo(sender, to, { sgList: [mr.sge(0, bytes)] });
    const tooLong = postTo(sender, to, { sgList: [mr.sge(0, bytes + 1)] });
    pair.drive();
    const sent = sender.sent();
    assertStatuses(sent, [
      [fits, WcStatus.SUCCESS],
      [tooLong, WcStatus.LOC_LEN_ERR],
    ]);
    assert.equal(sent[1].vendorErr, Syndrome.LOCAL_MESSAGE_TOO_LONG);
    assert.deepEqual(sent[1].detail.slice(0, 2), [bytes + 1, bytes]);
    assert.equal(sender.state, QpState.SQE);
    assert.equal(pair.wire.length, 1);
  });
}

test('a request that names an address handle which was destroyed fails', () => {
  const { pair, sender, to } = pairOfQps();
  pair.a.nic.control.destroyAh(to.ah);
  const wrId = postTo(sender, to, { inline: pattern(8) });
  pair.drive();
  const sent = sender.sent();
  assertStatuses(sent, [[wrId, WcStatus.LOC_QP_OP_ERR]]);
  assert.equal(sent[0].vendorErr, Syndrome.LOCAL_AH_UNKNOWN);
  assert.equal(sent[0].detail[0], to.ah);
  assert.deepEqual(pair.wire, []);
});

test('a request that names an address handle of another domain fails', () => {
  const { pair, sender, to } = pairOfQps();
  const pd = pair.a.nic.control.allocPd();
  const wrId = postTo(sender, { ...to, ah: ahTo(pair.a, pair.b.gid, {}, pd) }, { inline: pattern(8) });
  pair.drive();
  const sent = sender.sent();
  assertStatuses(sent, [[wrId, WcStatus.LOC_QP_OP_ERR]]);
  assert.equal(sent[0].vendorErr, Syndrome.LOCAL_AH_UNKNOWN);
});

for (const [name, opcode] of Object.entries(WrOpcode)) {
  if (opcode === WrOpcode.SEND || opcode === WrOpcode.SEND_WITH_IMM) continue;
  test(`${name} is not a request of a UD QP`, () => {
    const { pair, sender, to } = pairOfQps();
    const wrId = postTo(sender, to, { opcode, sgList: [pair.a.mr(8).sge()] });
    pair.drive();
    assertStatuses(sender.sent(), [[wrId, WcStatus.LOC_QP_OP_ERR]]);
    assert.equal(sender.state, QpState.SQE);
    assert.deepEqual(pair.wire, []);
  });
}

test('a request that names memory it may not fails', () => {
  const { pair, sender, to } = pairOfQps();
  const mr = pair.a.mr(100);
  const wrId = postTo(sender, to, { sgList: [{ ...mr.sge(), lkey: mr.lkey ^ 0x100 }] });
  pair.drive();
  assertStatuses(sender.sent(), [[wrId, WcStatus.LOC_PROT_ERR]]);
  assert.equal(sender.state, QpState.SQE);
});

test('in SQE requests are flushed, and datagrams received', () => {
  const { pair, sender, receiver, to } = pairOfQps();
  const target = postBuffer(sender, 8);
  const bad = postTo(sender, to, { opcode: WrOpcode.RDMA_READ });
  const behind = postTo(sender, to, { inline: pattern(8) });
  pair.drive();
  const later = postTo(sender, to, { inline: pattern(8) });
  pair.drive();
  const sent = sender.sent();
  assertStatuses(sent, [
    [bad, WcStatus.LOC_QP_OP_ERR],
    [behind, WcStatus.WR_FLUSH_ERR],
    [later, WcStatus.WR_FLUSH_ERR],
  ]);
  assert.deepEqual(sent[1].detail.slice(0, 2), [QpState.SQE, Syndrome.LOCAL_BAD_WQE]);
  postTo(receiver, { ah: ahTo(pair.b, pair.a.gid), qpn: sender.qpn }, { inline: pattern(8) });
  pair.drive();
  assert.equal(sender.received().length, 1);
  assert.deepEqual(payloadOf(target), pattern(8));
});

test('from SQE a QP goes back to RTS, and on at the next PSN', () => {
  const { pair, sender, receiver, to } = pairOfQps();
  for (let i = 0; i < 2; i += 1) postBuffer(receiver, 8);
  postTo(sender, to, { inline: pattern(8) });
  postTo(sender, to, { opcode: WrOpcode.RDMA_READ });
  pair.drive();
  sender.sent();
  sender.modify({ qpState: QpState.RTS, curQpState: QpState.SQE });
  const wrId = postTo(sender, to, { inline: pattern(8) });
  pair.drive();
  assertCompleted(sender.sent(), [wrId]);
  assert.deepEqual(
    pair.wire.map(({ psn }) => psn),
    [SQ_PSN, SQ_PSN + 1],
  );
  assert.equal(receiver.received().length, 2);
});

test('in SQD no datagram starts, and those that were posted leave in RTS again', () => {
  const { pair, sender, to } = pairOfQps();
  sender.modify({ qpState: QpState.SQD, enSqdAsyncNotify: 1 });
  const wrId = postTo(sender, to, { inline: pattern(8) });
  pair.drive();
  assert.deepEqual(pair.wire, []);
  assert.equal(pair.a.eventsOf(sender).length, 1);
  sender.modify({ qpState: QpState.RTS });
  pair.drive();
  assertCompleted(sender.sent(), [wrId]);
});
