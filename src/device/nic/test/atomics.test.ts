import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { QpState, WcOpcode, WcStatus } from '../../ibta/index.js';
import { getU32, Opcode } from '../../wire/index.js';
import { assertCompleted, assertStatuses, Pair, pattern, Puppet } from './pair.js';
import { join64 } from './rings.js';

const OLD = 0x1122334455667788n;

function counterPair() {
  const pair = new Pair();
  const { a, b } = pair.connect();
  const counter = pair.b.mr(24);
  counter.view.setBigUint64(8, OLD, true);
  const result = pair.a.mr(8);
  return { pair, a, b, counter, result };
}

describe('atomics', () => {
  it('fetch-and-add adds once and brings back the old value, both in host byte order', () => {
    const { pair, a, counter, result } = counterPair();
    const wrId = a.fetchAdd(result, counter, 5n, counter.at(8));
    pair.drive();
    const completions = a.sent();
    assertCompleted(completions, [wrId]);
    assert.deepEqual([completions[0].opcode, completions[0].byteLen], [WcOpcode.FETCH_ADD, 8]);
    assert.equal(counter.view.getBigUint64(8, true), OLD + 5n);
    assert.equal(result.view.getBigUint64(0, true), OLD);
    assert.ok([...counter.bytes.subarray(0, 8), ...counter.bytes.subarray(16)].every((byte) => byte === 0));
  });

  it('fetch-and-add carries from the low half into the high half and wraps at 2^64', () => {
    const { pair, a, counter, result } = counterPair();
    counter.view.setBigUint64(8, 0x00000001_ffffffffn, true);
    a.fetchAdd(result, counter, 1n, counter.at(8));
    pair.drive();
    assert.equal(counter.view.getBigUint64(8, true), 0x00000002_00000000n);
    a.fetchAdd(result, counter, 0xffffffff_ffffffffn, counter.at(8));
    pair.drive();
    assert.equal(counter.view.getBigUint64(8, true), 0x00000001_ffffffffn);
    a.fetchAdd(result, counter, 0xfffffffe_00000001n, counter.at(8));
    pair.drive();
    assert.equal(counter.view.getBigUint64(8, true), 0n);
    assert.equal(result.view.getBigUint64(0, true), 0x00000001_ffffffffn);
  });

  it('compare-and-swap swaps when the value is the expected one', () => {
    const { pair, a, counter, result } = counterPair();
    const wrId = a.compareSwap(result, counter, OLD, 0xfedcba9876543210n, counter.at(8));
    pair.drive();
    const completions = a.sent();
    assertCompleted(completions, [wrId]);
    assert.equal(completions[0].opcode, WcOpcode.COMP_SWAP);
    assert.equal(counter.view.getBigUint64(8, true), 0xfedcba9876543210n);
    assert.equal(result.view.getBigUint64(0, true), OLD);
  });

  it('compare-and-swap changes nothing when either half of the value differs', () => {
    for (const compare of [OLD ^ 1n, OLD ^ (1n << 63n), 0n]) {
      const { pair, a, counter, result } = counterPair();
      const wrId = a.compareSwap(result, counter, compare, 77n, counter.at(8));
      pair.drive();
      assertCompleted(a.sent(), [wrId]);
      assert.equal(counter.view.getBigUint64(8, true), OLD);
      assert.equal(result.view.getBigUint64(0, true), OLD);
    }
  });

  it('operands and answers stand on the wire with their most significant byte first', () => {
    const { pair, a, counter, result } = counterPair();
    a.compareSwap(result, counter, OLD, 0x0102030405060708n, counter.at(8));
    a.fetchAdd(result, counter, 0x1112131415161718n, counter.at(8));
    pair.drive();
    const [swap, add] = pair.fromA();
    const word64 = (bytes: Uint8Array, at: number): bigint => join64(getU32(bytes, at), getU32(bytes, at + 4));
    assert.equal(swap.opcode, Opcode.RC_COMPARE_SWAP);
    assert.equal(word64(swap.bytes, 12), counter.addr + 8n);
    assert.deepEqual([word64(swap.bytes, 24), word64(swap.bytes, 32)], [0x0102030405060708n, OLD]);
    assert.equal(add.opcode, Opcode.RC_FETCH_ADD);
    assert.equal(word64(add.bytes, 24), 0x1112131415161718n);
    const answers = pair.fromB((packet) => packet.opcode === Opcode.RC_ATOMIC_ACKNOWLEDGE);
    assert.deepEqual(
      answers.map(({ psn, syndrome, msn, atomicAck }) => [psn, syndrome, msn, atomicAck]),
      [
        [0x1000, 0x1f, 1, OLD],
        [0x1001, 0x1f, 2, 0x0102030405060708n],
      ],
    );
  });

  it('from many queues on one counter lose no update', () => {
    const pair = new Pair();
    const counter = pair.b.mr(8);
    const result = pair.a.mr(8);
    const queues = Array.from({ length: 8 }, () => pair.connect().a);
    for (let i = 0; i < 20; i += 1) for (const qp of queues) qp.fetchAdd(result, counter, 1n);
    pair.drive();
    assert.equal(counter.view.getBigUint64(0, true), 160n);
  });

  it('in a chain see one another’s results in order', () => {
    const { pair, a, counter } = counterPair();
    const results = pair.a.mr(80);
    for (let i = 0; i < 10; i += 1)
      a.fetchAdd(results, counter, 3n, { ...counter.at(8), sgList: [results.sge(8 * i, 8)] });
    pair.drive();
    assert.equal(a.sent().length, 10);
    for (let i = 0; i < 10; i += 1) assert.equal(results.view.getBigUint64(8 * i, true), OLD + 3n * BigInt(i));
  });

  it('on an address that is not a multiple of eight are refused as an invalid request', () => {
    for (const misaligned of [1, 4, 7]) {
      const { pair, a, b, counter, result } = counterPair();
      const before = counter.bytes.slice();
      const wrId = a.fetchAdd(result, counter, 1n, counter.at(8 + misaligned));
      pair.drive();
      assertStatuses(a.sent(), [[wrId, WcStatus.REM_INV_REQ_ERR]]);
      assert.equal(b.state, QpState.ERR);
      assert.deepEqual(counter.bytes, before);
    }
  });

  it('need a result of exactly eight bytes', () => {
    for (const length of [0, 4, 7, 9, 16]) {
      const pair = new Pair();
      const { a } = pair.connect();
      const counter = pair.b.mrOf(pattern(8));
      const result = pair.a.mr(16);
      const wrId = a.fetchAdd(result, counter, 1n, { sgList: [result.sge(0, length)] });
      pair.drive();
      const [completion] = a.sent();
      assert.equal(completion.wrId, wrId);
      assert.ok(
        completion.status === WcStatus.LOC_LEN_ERR || completion.status === WcStatus.LOC_QP_OP_ERR,
        `status ${String(completion.status)} for ${String(length)} bytes`,
      );
      assert.deepEqual(counter.bytes, pattern(8));
    }
  });

  it('is executed at the responder in the order of PSNs among WRITEs', () => {
    const puppet = new Puppet();
    const target = puppet.host1.mr(8);
    puppet.say({
      opcode: Opcode.RC_WRITE_ONLY,
      psn: 0x2000,
      reth: { va: target.addr, rkey: target.rkey, length: 8 },
      payload: Uint8Array.of(7, 0, 0, 0, 0, 0, 0, 0),
    });
    puppet.say({
      opcode: Opcode.RC_FETCH_ADD,
      psn: 0x2001,
      atomic: { va: target.addr, rkey: target.rkey, swapAdd: 1n },
    });
    const answer = puppet.heard().find(({ opcode }) => opcode === Opcode.RC_ATOMIC_ACKNOWLEDGE);
    assert.equal(answer?.atomicAck, 7n);
    assert.equal(target.view.getBigUint64(0, true), 8n);
  });
});
