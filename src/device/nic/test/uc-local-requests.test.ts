import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AccessFlags, MwType, QpState, SendFlags, Syndrome, WcOpcode, WcStatus, WrOpcode } from '../../ibta/index.js';
import type { TestMr } from './host.js';
import { assertCompleted, assertStatuses, pattern } from './pair.js';
import { ALL_ACCESS } from './rings.js';
import { UcPair } from './uc.js';

/** A region on the receiver's host, a window for it, and what binds the one to the other. */
function bindable(pair: UcPair) {
  const mr = pair.b.mr(1000, { access: ALL_ACCESS | AccessFlags.MW_BIND });
  const { rkey } = pair.b.nic.control.allocMw({ pd: pair.b.pd, type: MwType.TYPE_2 });
  const newRkey = (rkey & ~0xff) | ((rkey + 1) & 0xff);
  const bind = (lkey = mr.lkey): bigint =>
    pair.receiver.post({
      opcode: WrOpcode.BIND_MW,
      rkey,
      imm: newRkey,
      remoteAddr: mr.addr,
      compareAdd: BigInt(mr.length),
      swap: BigInt.asUintN(32, BigInt(lkey)) | (BigInt(AccessFlags.REMOTE_WRITE) << 32n),
    });
  return { mr, newRkey, bind };
}

function writeThrough(pair: UcPair, target: TestMr, rkey: number, seed: number): Uint8Array {
  const source = pair.a.mrOf(pattern(600, seed));
  pair.sender.write(source, target, { rkey });
  pair.drive();
  return source.bytes;
}

test('a window that is bound on a UC QP lets its peer write, until it is invalidated', () => {
  const pair = new UcPair();
  const { mr, newRkey, bind } = bindable(pair);
  const bound = bind();
  pair.drive();
  const [completion] = pair.receiver.sent();
  assert.deepEqual([completion.wrId, completion.status, completion.opcode], [bound, 0, WcOpcode.BIND_MW]);
  const written = writeThrough(pair, mr, newRkey, 1);
  assert.deepEqual(mr.bytes.slice(0, 600), written);
  pair.receiver.post({ opcode: WrOpcode.LOCAL_INV, imm: newRkey });
  pair.drive();
  const [invalidated] = pair.receiver.sent();
  assert.deepEqual([invalidated.status, invalidated.opcode], [WcStatus.SUCCESS, WcOpcode.LOCAL_INV]);
  writeThrough(pair, mr, newRkey, 2);
  assert.deepEqual(mr.bytes.slice(0, 600), written);
  assert.equal(pair.b.nic.counters.rxMessageDropped, 1);
});

test('a bind that cannot be ends in MW_BIND_ERR and SQE', () => {
  const pair = new UcPair();
  const { bind } = bindable(pair);
  const bad = bind(0x1234);
  const behind = pair.receiver.send(pair.b.mr(8));
  pair.drive();
  const sent = pair.receiver.sent();
  assertStatuses(sent, [
    [bad, WcStatus.MW_BIND_ERR],
    [behind, WcStatus.WR_FLUSH_ERR],
  ]);
  assert.equal(sent[0].vendorErr, Syndrome.MW_BIND);
  assert.equal(pair.receiver.state, QpState.SQE);
});

test('an invalidation of a key that is none ends in an error and SQE', () => {
  const pair = new UcPair();
  pair.sender.post({ opcode: WrOpcode.LOCAL_INV, imm: 0x4711 });
  pair.drive();
  const [sent] = pair.sender.sent();
  assert.equal(sent.status, WcStatus.MW_BIND_ERR);
  assert.equal(sent.vendorErr, Syndrome.LOCAL_INVALIDATE);
  assert.equal(pair.sender.state, QpState.SQE);
});

test('requests without packets and requests with them keep their order', () => {
  const pair = new UcPair();
  const { mr, newRkey, bind } = bindable(pair);
  const mine = pair.b.mr(300);
  const wrIds = [
    pair.receiver.send(mine),
    bind(),
    pair.receiver.send(mine),
    pair.receiver.post({ opcode: WrOpcode.LOCAL_INV, imm: newRkey, flags: SendFlags.SIGNALED | SendFlags.FENCE }),
    pair.receiver.send(mine),
  ];
  pair.drive();
  assertCompleted(pair.receiver.sent(), wrIds);
  assert.equal(pair.fromB().length, 6);
  writeThrough(pair, mr, newRkey, 1);
  assert.equal(pair.b.nic.counters.rxMessageDropped, 1);
});
