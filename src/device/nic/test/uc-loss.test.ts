import assert from 'node:assert/strict';
import { test } from 'node:test';
import { QpState } from '../../ibta/index.js';
import { Opcode } from '../../wire/index.js';
import type { TestMr } from './host.js';
import { assertCompleted, dropping, pattern } from './pair.js';
import { connectUc, UcPair, UcPuppet } from './uc.js';

const FULL = 256;
const FIRST_PSN = 0x2000;

/** A puppet with one receive request of `length` bytes. */
function waiting(length = 1000): { puppet: UcPuppet; target: TestMr; wrId: bigint } {
  const puppet = new UcPuppet();
  const target = puppet.local.mr(length);
  return { puppet, target, wrId: puppet.qp.recv(target) };
}

const part = (seed: number, length = FULL): Uint8Array => pattern(length, seed);

function assertReceived(puppet: UcPuppet, target: TestMr, wrId: bigint, parts: readonly Uint8Array[]): void {
  const completions = puppet.qp.received();
  assertCompleted(completions, [wrId]);
  const whole = parts.flatMap((bytes) => [...bytes]);
  assert.equal(completions[0].byteLen, whole.length);
  assert.deepEqual([...target.bytes.subarray(0, whole.length)], whole);
  assert.equal(puppet.qp.state, QpState.RTS);
  assert.deepEqual(puppet.heard, []);
}

for (const [place, number] of [
  ['first', 1],
  ['second', 2],
  ['last', 3],
] as const) {
  test(`a message that loses its ${place} packet vanishes, and its receive request takes the next`, () => {
    const pair = new UcPair();
    const target = pair.b.mr(600);
    const wrId = pair.receiver.recv(target);
    pair.script = dropping(({ from }) => from === pair.a.ip, number);
    const lost = pair.sender.send(pair.a.mrOf(pattern(600, 1)));
    const next = pair.sender.send(pair.a.mrOf(pattern(600, 2)));
    pair.drive();
    assertCompleted(pair.sender.sent(), [lost, next]);
    assertCompleted(pair.receiver.received(), [wrId]);
    assert.deepEqual(target.bytes, pattern(600, 2));
    assert.equal(pair.b.nic.counters.rxMessageDropped, 1);
    assert.equal(pair.b.nic.counters.outOfSeqRequest, 1);
    assert.deepEqual(pair.fromB(), []);
  });
}

test('of many messages over a network that loses one packet in ten, those that arrive are whole', () => {
  const pair = new UcPair({ pair: { network: { seed: 77, conditions: { loss: 0.1 } } } });
  const source = pair.a.mrOf(pattern(700));
  const targets = Array.from({ length: 60 }, () => pair.b.mr(700));
  for (const target of targets) pair.receiver.recv(target);
  for (let i = 0; i < 60; i += 1) pair.sender.send(source);
  pair.drive();
  const received = pair.receiver.received();
  assert.ok(received.length > 20 && received.length < 60, `${received.length} of 60 arrived`);
  for (let i = 0; i < received.length; i += 1) assert.deepEqual(targets[i].bytes, source.bytes);
  assert.equal(pair.sender.sent().length, 60);
});

test('a message begins at any PSN: those in between were lost whole', () => {
  const { puppet, target, wrId } = waiting();
  puppet.only(FIRST_PSN + 100, part(1));
  assertReceived(puppet, target, wrId, [part(1)]);
  assert.equal(puppet.counters.outOfSeqRequest, 1);
  assert.equal(puppet.counters.rxMessageDropped, 0);
});

test('a message that begins behind the expected PSN is a new one as well', () => {
  const { puppet, target, wrId } = waiting();
  puppet.first(FIRST_PSN - 7, part(1));
  puppet.last(FIRST_PSN - 6, part(2, 9));
  assertReceived(puppet, target, wrId, [part(1), part(2, 9)]);
});

test('a packet that comes twice takes its message with it', () => {
  const { puppet, target, wrId } = waiting();
  puppet.first(FIRST_PSN, part(1));
  puppet.middle(FIRST_PSN + 1, part(2));
  puppet.middle(FIRST_PSN + 1, part(2));
  puppet.last(FIRST_PSN + 2, part(3, 5));
  assert.deepEqual(puppet.qp.received(), []);
  assert.equal(puppet.counters.rxMessageDropped, 1);
  puppet.only(FIRST_PSN + 3, part(4));
  assertReceived(puppet, target, wrId, [part(4)]);
});

test('a packet that comes late takes its message with it', () => {
  const { puppet, target, wrId } = waiting();
  puppet.first(FIRST_PSN, part(1));
  puppet.last(FIRST_PSN + 2, part(3, 5));
  puppet.middle(FIRST_PSN + 1, part(2));
  assert.deepEqual(puppet.qp.received(), []);
  puppet.only(FIRST_PSN + 3, part(4));
  assertReceived(puppet, target, wrId, [part(4)]);
});

test('the end of a message that comes again after it is complete changes nothing', () => {
  const { puppet, target, wrId } = waiting();
  const second = puppet.local.mr(100);
  const secondId = puppet.qp.recv(second);
  puppet.first(FIRST_PSN, part(1));
  puppet.last(FIRST_PSN + 1, part(2, 5));
  puppet.last(FIRST_PSN + 1, part(2, 5));
  assertReceived(puppet, target, wrId, [part(1), part(2, 5)]);
  puppet.only(FIRST_PSN + 2, part(3, 50));
  assertReceived(puppet, second, secondId, [part(3, 50)]);
  assert.equal(puppet.counters.outOfSeqRequest, 1);
});

test('a message of one packet that comes twice is received twice', () => {
  const { puppet, target, wrId } = waiting();
  const again = puppet.qp.recv(puppet.local.mr(1000));
  puppet.only(FIRST_PSN, part(1));
  puppet.only(FIRST_PSN, part(1));
  assertCompleted(puppet.qp.received(), [wrId, again]);
  assert.deepEqual(target.bytes.subarray(0, FULL), part(1));
});

test('a message that begins in the midst of another takes its place and its receive request', () => {
  const { puppet, target, wrId } = waiting();
  puppet.first(FIRST_PSN, part(1));
  puppet.middle(FIRST_PSN + 1, part(2));
  puppet.first(FIRST_PSN + 2, part(3));
  puppet.last(FIRST_PSN + 3, part(4, 3));
  assertReceived(puppet, target, wrId, [part(3), part(4, 3)]);
  assert.equal(puppet.counters.rxMessageDropped, 1);
  assert.equal(puppet.counters.outOfSeqRequest, 0);
});

test('the middle and the end of a message without a beginning are passed over', () => {
  const { puppet, target, wrId } = waiting();
  puppet.middle(FIRST_PSN, part(1));
  puppet.last(FIRST_PSN + 1, part(2));
  assert.deepEqual(puppet.qp.received(), []);
  assert.equal(puppet.counters.rxMessageDropped, 1);
  puppet.only(FIRST_PSN + 2, part(3));
  assertReceived(puppet, target, wrId, [part(3)]);
});

test('a SEND that goes on as a WRITE is dropped', () => {
  const { puppet, target, wrId } = waiting();
  puppet.first(FIRST_PSN, part(1));
  puppet.say({ opcode: Opcode.UC_WRITE_MIDDLE, psn: FIRST_PSN + 1, payload: part(2) });
  puppet.last(FIRST_PSN + 2, part(3));
  assert.deepEqual(puppet.qp.received(), []);
  assert.equal(puppet.counters.rxMessageDropped, 1);
  puppet.only(FIRST_PSN + 3, part(4));
  assertReceived(puppet, target, wrId, [part(4)]);
});

test('packets of another length than their place calls for drop the message', () => {
  const wrong: ((puppet: UcPuppet) => void)[] = [
    (puppet) => puppet.first(FIRST_PSN, part(1, FULL - 4)),
    (puppet) => puppet.first(FIRST_PSN, part(1, FULL + 4)),
    (puppet) => puppet.only(FIRST_PSN, part(1, FULL + 4)),
    (puppet) => {
      puppet.first(FIRST_PSN, part(1));
      puppet.middle(FIRST_PSN + 1, part(2, FULL - 1));
    },
    (puppet) => {
      puppet.first(FIRST_PSN, part(1));
      puppet.last(FIRST_PSN + 1, part(2, 0));
    },
  ];
  for (const say of wrong) {
    const { puppet, target, wrId } = waiting();
    say(puppet);
    assert.deepEqual(puppet.qp.received(), []);
    assert.equal(puppet.counters.rxMessageDropped, 1);
    puppet.only(FIRST_PSN + 9, part(9));
    assertReceived(puppet, target, wrId, [part(9)]);
  }
});

test('a message without a receive request is lost, and the next one finds what was posted since', () => {
  const puppet = new UcPuppet();
  puppet.first(FIRST_PSN, part(1));
  const target = puppet.local.mr(1000);
  const wrId = puppet.qp.recv(target);
  puppet.last(FIRST_PSN + 1, part(2));
  assert.deepEqual(puppet.qp.received(), []);
  assert.equal(puppet.counters.rxNoReceive, 1);
  assert.equal(puppet.counters.rxMessageDropped, 0);
  puppet.only(FIRST_PSN + 2, part(3));
  assertReceived(puppet, target, wrId, [part(3)]);
});

test('a message longer than its receive request is lost, and the request takes the next one', () => {
  const { puppet, target, wrId } = waiting(300);
  puppet.first(FIRST_PSN, part(1));
  puppet.middle(FIRST_PSN + 1, part(2));
  puppet.last(FIRST_PSN + 2, part(3, 10));
  assert.deepEqual(puppet.qp.received(), []);
  assert.equal(puppet.counters.rxMessageDropped, 1);
  assert.ok(target.canariesIntact);
  puppet.first(FIRST_PSN + 3, part(4));
  puppet.last(FIRST_PSN + 4, part(5, 44));
  assertReceived(puppet, target, wrId, [part(4), part(5, 44)]);
});

test('a message that was half received when its QP went to ERR flushes its receive request', () => {
  const { puppet, wrId } = waiting();
  puppet.first(FIRST_PSN, part(1));
  puppet.qp.modify({ qpState: QpState.ERR });
  const received = puppet.qp.received();
  assert.deepEqual(
    received.map((completion) => completion.wrId),
    [wrId],
  );
  puppet.last(FIRST_PSN + 1, part(2));
  assert.deepEqual(puppet.qp.received(), []);
});

test('after RESET a message starts from nothing', () => {
  const { puppet } = waiting();
  puppet.first(FIRST_PSN, part(1));
  puppet.qp.modify({ qpState: QpState.RESET });
  assert.deepEqual(puppet.qp.received(), []);
  assert.equal(puppet.qp.rq.inUse, 0);
});

test('after RESET the first gap counts, whatever was passed over before', () => {
  const { puppet } = waiting();
  puppet.last(FIRST_PSN, part(1));
  puppet.qp.modify({ qpState: QpState.RESET });
  connectUc(puppet.qp, puppet.peer);
  puppet.last(FIRST_PSN + 1, part(1));
  assert.equal(puppet.counters.rxMessageDropped, 2);
  assert.equal(puppet.counters.outOfSeqRequest, 1);
});
