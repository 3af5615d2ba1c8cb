import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AccessFlags, QpState, WcFlags, WcOpcode, WcStatus, WrOpcode } from '../../ibta/index.js';
import { Opcode } from '../../wire/index.js';
import type { TestMr } from './host.js';
import { assertCompleted, pattern } from './pair.js';
import { UcPair, UcPuppet } from './uc.js';

const FIRST_PSN = 0x2000;
const LOCAL_AND_REMOTE_WRITE = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE;

for (const length of [1, 256, 257, 5000]) {
  test(`a WRITE of ${length} bytes arrives, and nobody is told`, () => {
    const pair = new UcPair();
    const source = pair.a.mrOf(pattern(length));
    const target = pair.b.mr(length);
    const wrId = pair.sender.write(source, target);
    pair.drive();
    const sent = pair.sender.sent();
    assertCompleted(sent, [wrId]);
    assert.equal(sent[0].opcode, WcOpcode.RDMA_WRITE);
    assert.deepEqual(target.bytes, source.bytes);
    assert.deepEqual(pair.receiver.received(), []);
    assert.deepEqual(pair.fromB(), []);
  });
}

test('only the first packet of a WRITE names the memory, and how much of it', () => {
  const pair = new UcPair();
  const target = pair.b.mr(700);
  pair.sender.write(pair.a.mr(700), target);
  pair.drive();
  assert.deepEqual(pair.sentNames, ['UC_WRITE_FIRST', 'UC_WRITE_MIDDLE', 'UC_WRITE_LAST']);
  assert.deepEqual(
    pair.fromA().map(({ reth }) => reth?.length),
    [700, undefined, undefined],
  );
});

for (const length of [0, 10, 600]) {
  test(`a WRITE of ${length} bytes with immediate data completes a receive request`, () => {
    const pair = new UcPair();
    const source = pair.a.mrOf(pattern(1000));
    const target = pair.b.mr(1000);
    const wrId = pair.receiver.postRecv();
    pair.sender.write(source, target, {
      opcode: WrOpcode.RDMA_WRITE_WITH_IMM,
      sgList: [source.sge(0, length)],
      imm: 7,
    });
    pair.drive();
    const [received] = pair.receiver.received();
    assert.deepEqual(
      [received.wrId, received.status, received.opcode, received.byteLen, received.immData, received.wcFlags],
      [wrId, WcStatus.SUCCESS, WcOpcode.RECV_RDMA_WITH_IMM, length, 7, WcFlags.WITH_IMM],
    );
    assert.deepEqual(target.bytes.subarray(0, length), source.bytes.subarray(0, length));
  });
}

test('a WRITE of nothing may name anything', () => {
  const pair = new UcPair();
  const wrId = pair.sender.post({ opcode: WrOpcode.RDMA_WRITE, rkey: 0x1234, remoteAddr: 0xffff_ffff_ffff_fff0n });
  pair.drive();
  assertCompleted(pair.sender.sent(), [wrId]);
  assert.equal(pair.b.nic.counters.rxMessageDropped, 0);
});

/** A WRITE by hand that must have no effect, and after it one that has. */
function assertDropped(
  puppet: UcPuppet,
  target: TestMr,
  reth: { va: bigint; rkey: number; length: number },
  payload = pattern(100),
): void {
  const before = target.bytes.slice();
  puppet.say({ opcode: Opcode.UC_WRITE_ONLY, psn: FIRST_PSN, reth, payload });
  assert.deepEqual(target.bytes, before);
  assert.ok(puppet.local.regions.every(({ canariesIntact }) => canariesIntact));
  assert.equal(puppet.counters.rxMessageDropped, 1);
  assert.deepEqual(puppet.heard, []);
  assert.deepEqual(puppet.local.events, []);
  assert.equal(puppet.qp.state, QpState.RTS);
}

test('a WRITE with a key that opens nothing is dropped without a word', () => {
  const puppet = new UcPuppet();
  const target = puppet.local.mr(1000);
  assertDropped(puppet, target, { va: target.addr, rkey: target.rkey ^ 0x1000, length: 100 });
});

test('a WRITE past the end of the memory is dropped without a word', () => {
  const puppet = new UcPuppet();
  const target = puppet.local.mr(1000);
  assertDropped(puppet, target, { va: target.addr + 901n, rkey: target.rkey, length: 100 });
});

test('a WRITE to memory that peers may not write is dropped without a word', () => {
  const puppet = new UcPuppet();
  const target = puppet.local.mr(1000, { access: AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ });
  assertDropped(puppet, target, { va: target.addr, rkey: target.rkey, length: 100 });
});

test('a WRITE to memory of another domain is dropped without a word', () => {
  const puppet = new UcPuppet();
  const pd = puppet.local.nic.control.allocPd();
  const target = puppet.local.mr(1000, { pd });
  assertDropped(puppet, target, { va: target.addr, rkey: target.rkey, length: 100 });
});

test('a WRITE to a QP without REMOTE_WRITE is dropped without a word', () => {
  const puppet = new UcPuppet({ qpAccessFlags: AccessFlags.LOCAL_WRITE });
  const target = puppet.local.mr(1000);
  assertDropped(puppet, target, { va: target.addr, rkey: target.rkey, length: 100 });
});

for (const length of [99, 101, 2 ** 31 + 1]) {
  test(`a WRITE of 100 bytes that says ${length} is dropped without a word`, () => {
    const puppet = new UcPuppet();
    const target = puppet.local.mr(1000);
    assertDropped(puppet, target, { va: target.addr, rkey: target.rkey, length });
  });
}

test('a WRITE that goes on past its length is dropped at that packet', () => {
  const puppet = new UcPuppet();
  const target = puppet.local.mr(1000);
  const reth = { va: target.addr, rkey: target.rkey, length: 512 };
  puppet.say({ opcode: Opcode.UC_WRITE_FIRST, psn: FIRST_PSN, reth, payload: pattern(256, 1) });
  puppet.say({ opcode: Opcode.UC_WRITE_MIDDLE, psn: FIRST_PSN + 1, payload: pattern(256, 2) });
  assert.deepEqual(target.bytes.subarray(0, 256), pattern(256, 1));
  assert.ok(target.bytes.subarray(256).every((byte) => byte === 0));
  assert.equal(puppet.counters.rxMessageDropped, 1);
});

test('memory that is deregistered in the midst of a WRITE is not touched any more', () => {
  const puppet = new UcPuppet();
  const target = puppet.local.mr(1000);
  const reth = { va: target.addr, rkey: target.rkey, length: 512 };
  puppet.say({ opcode: Opcode.UC_WRITE_FIRST, psn: FIRST_PSN, reth, payload: pattern(256, 1) });
  puppet.local.nic.control.deregMr(target.handle);
  puppet.say({ opcode: Opcode.UC_WRITE_LAST, psn: FIRST_PSN + 1, payload: pattern(256, 2) });
  assert.ok(target.bytes.subarray(256).every((byte) => byte === 0));
  assert.equal(puppet.counters.rxMessageDropped, 1);
  assert.equal(puppet.qp.state, QpState.RTS);
});

test('a WRITE with immediate data that finds no receive request is lost', () => {
  const puppet = new UcPuppet();
  const target = puppet.local.mr(1000, { access: LOCAL_AND_REMOTE_WRITE });
  const reth = { va: target.addr, rkey: target.rkey, length: 100 };
  const say = (psn: number): void =>
    puppet.say({ opcode: Opcode.UC_WRITE_ONLY_IMM, psn, reth, imm: 1, payload: pattern(100) });
  say(FIRST_PSN);
  assert.equal(puppet.counters.rxNoReceive, 1);
  assert.ok(target.bytes.every((byte) => byte === 0));
  const wrId = puppet.qp.postRecv();
  say(FIRST_PSN + 1);
  assertCompleted(puppet.qp.received(), [wrId]);
});

test('a WRITE that begins in the midst of another takes its place', () => {
  const puppet = new UcPuppet();
  const target = puppet.local.mr(1000);
  const reth = { va: target.addr, rkey: target.rkey, length: 512 };
  puppet.say({ opcode: Opcode.UC_WRITE_FIRST, psn: FIRST_PSN, reth, payload: pattern(256, 1) });
  const other = { va: target.addr + 600n, rkey: target.rkey, length: 30 };
  puppet.say({ opcode: Opcode.UC_WRITE_ONLY, psn: FIRST_PSN + 1, reth: other, payload: pattern(30, 2) });
  puppet.say({ opcode: Opcode.UC_WRITE_LAST, psn: FIRST_PSN + 2, payload: pattern(256, 3) });
  assert.deepEqual(target.bytes.subarray(600, 630), pattern(30, 2));
  assert.ok(target.bytes.subarray(256, 600).every((byte) => byte === 0));
  assert.equal(puppet.counters.rxMessageDropped, 2);
});

test('a receive request that a lost SEND began to fill serves a WRITE with immediate data', () => {
  const puppet = new UcPuppet();
  const target = puppet.local.mr(1000);
  const wrId = puppet.qp.recv(target);
  puppet.first(FIRST_PSN, pattern(256));
  puppet.say({
    opcode: Opcode.UC_WRITE_ONLY_IMM,
    psn: FIRST_PSN + 1,
    reth: { va: target.addr, rkey: target.rkey, length: 4 },
    imm: 5,
    payload: pattern(4),
  });
  const [received] = puppet.qp.received();
  assert.deepEqual([received.wrId, received.immData, received.byteLen], [wrId, 5, 4]);
});
