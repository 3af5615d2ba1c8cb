import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PortState, QpState } from '../../ibta/index.js';
import { dethOffset, dethQkey, Opcode } from '../../wire/index.js';
import { Pair, pattern } from './pair.js';
import { ahTo, craftDatagram, postBuffer, postTo, QKEY, type UdOptions, udQp } from './ud.js';

function pairOfQps(options: { a?: UdOptions; b?: UdOptions } = {}) {
  const pair = new Pair();
  const sender = udQp(pair.a, options.a);
  const receiver = udQp(pair.b, options.b);
  return { pair, sender, receiver, to: { ah: ahTo(pair.a, pair.b.gid), qpn: receiver.qpn } };
}

test('a datagram with another Q_Key is dropped and counted', () => {
  const { pair, sender, receiver, to } = pairOfQps();
  postBuffer(receiver, 8);
  postTo(sender, { ...to, qkey: QKEY + 1 }, { inline: pattern(8) });
  pair.drive();
  assert.deepEqual(receiver.received(), []);
  assert.equal(pair.b.nic.counters.rxBadQkey, 1);
  const { state, qkeyViolCntr } = pair.b.nic.control.queryPort();
  assert.deepEqual([state, qkeyViolCntr], [PortState.ACTIVE, 1]);
});

test('a request whose Q_Key has the top bit set sends the Q_Key of its QP', () => {
  const { pair, sender, receiver, to } = pairOfQps({ a: { qkey: 0x55 }, b: { qkey: 0x55 } });
  postBuffer(receiver, 8);
  postTo(sender, { ...to, qkey: 0x80000000 | 0x123 }, { inline: pattern(8) });
  pair.drive();
  assert.equal(dethQkey(pair.wire[0].bytes, dethOffset[Opcode.UD_SEND_ONLY]), 0x55);
  assert.equal(receiver.received().length, 1);
});

test('a QP with a controlled Q_Key hears those that show it', () => {
  const qkey = 0x80010000;
  const { pair, sender, receiver, to } = pairOfQps({ a: { qkey }, b: { qkey } });
  postBuffer(receiver, 8);
  postTo(sender, { ...to, qkey: 0x80000000 | 0 }, { inline: pattern(8) });
  postTo(sender, { ...to, qkey: 0x00010000 }, { inline: pattern(8) });
  pair.drive();
  assert.equal(receiver.received().length, 1);
  assert.equal(pair.b.nic.counters.rxBadQkey, 1);
});

test('the Q_Key of a QP can change while it receives', () => {
  const { pair, sender, receiver, to } = pairOfQps();
  receiver.modify({ qpState: QpState.RTS, qkey: 0x77 });
  postBuffer(receiver, 8);
  postTo(sender, to, { inline: pattern(8) });
  postTo(sender, { ...to, qkey: 0x77 }, { inline: pattern(8) });
  pair.drive();
  assert.equal(receiver.received().length, 1);
  assert.equal(pair.b.nic.counters.rxBadQkey, 1);
});

test('a datagram of another partition is dropped and counted', () => {
  const { pair, receiver, to } = pairOfQps();
  postBuffer(receiver, 8);
  const fields = { opcode: Opcode.UD_SEND_ONLY, destQp: to.qpn, psn: 0, payload: pattern(8) };
  pair.deliver(pair.a.ip, pair.b.ip, craftDatagram(pair.a.ip, pair.b.ip, { ...fields, pkey: 0x8001 }));
  assert.deepEqual(receiver.received(), []);
  assert.equal(pair.b.nic.counters.rxBadPkey, 1);
  pair.deliver(pair.a.ip, pair.b.ip, craftDatagram(pair.a.ip, pair.b.ip, { ...fields, pkey: 0x7fff }));
  assert.equal(receiver.received().length, 1);
});

test('a datagram carries the P_Key of its QP', () => {
  const pair = new Pair();
  for (const host of [pair.a, pair.b]) host.nic.control.administer({ pkeys: [0xffff, 0x8042] });
  const sender = udQp(pair.a, { pkeyIndex: 1 });
  const inside = udQp(pair.b, { pkeyIndex: 1 });
  const outside = udQp(pair.b);
  const ah = ahTo(pair.a, pair.b.gid);
  for (const qp of [inside, outside]) {
    postBuffer(qp, 8);
    postTo(sender, { ah, qpn: qp.qpn }, { inline: pattern(8) });
  }
  pair.drive();
  assert.ok(pair.wire.every(({ pkey }) => pkey === 0x8042));
  assert.equal(inside.received().length, 1);
  assert.equal(outside.received().length, 0);
});

test('a datagram that is dropped for its keys uses up no receive request', () => {
  const { pair, sender, receiver, to } = pairOfQps();
  postBuffer(receiver, 8);
  for (let i = 0; i < 5; i += 1) postTo(sender, { ...to, qkey: i }, { inline: pattern(8) });
  pair.drive();
  assert.equal(receiver.rq.inUse, 1);
  postTo(sender, to, { inline: pattern(8) });
  pair.drive();
  assert.equal(receiver.received().length, 1);
});
