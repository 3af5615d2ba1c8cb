import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Mtu, QpState, WcFlags, WcStatus, WrOpcode } from '../../src/device/ibta/index.js';
import { assertCompleted, assertStatuses, Pair, pattern } from './pair.js';

describe('SEND with Invalidate', () => {
  for (const size of [0, 100, 700]) {
    it(`of ${String(size)} bytes tells the receiver which key it closed, and closes it`, () => {
      const pair = new Pair();
      const { a, b } = pair.connect({ both: { pathMtu: Mtu.MTU_256 } });
      const source = pair.a.mrOf(pattern(700));
      const target = pair.b.mr(700);
      const window = pair.b.mr(64);
      const received = b.recv(target);
      const sent = a.send(source, {
        opcode: WrOpcode.SEND_WITH_INV,
        imm: window.rkey | 0,
        sgList: [source.sge(0, size)],
      });
      pair.drive();
      assertCompleted(a.sent(), [sent]);
      const completions = b.received();
      assertCompleted(completions, [received]);
      assert.equal(completions[0].immData, window.rkey);
      assert.equal(completions[0].wcFlags & (WcFlags.WITH_INV | WcFlags.WITH_IMM), WcFlags.WITH_INV);
      assert.deepEqual(target.bytes.subarray(0, size), source.bytes.subarray(0, size));

      const write = a.write(source, window, { sgList: [source.sge(0, 8)] });
      pair.drive();
      assertStatuses(a.sent(), [[write, WcStatus.REM_ACCESS_ERR]]);
      assert.ok(window.bytes.every((byte) => byte === 0));
    });
  }

  it('is written on the wire with the key in the last packet', () => {
    const pair = new Pair();
    const { a, b } = pair.connect({ both: { pathMtu: Mtu.MTU_256 } });
    const window = pair.b.mr(64);
    const target = pair.b.mr(700);
    b.recv(target);
    a.send(pair.a.mr(300), { opcode: WrOpcode.SEND_WITH_INV, imm: window.rkey | 0 });
    pair.drive();
    const packets = pair.fromA();
    assert.deepEqual(
      packets.map(({ name }) => name),
      ['RC_SEND_FIRST', 'RC_SEND_LAST_INVALIDATE'],
    );
    assert.equal(Buffer.from(packets[1].bytes).readUInt32BE(12), window.rkey);
  });

  // protocol.md 2.3: the receiver ends in ERR with REM_INV_REQ_ERR.
  it('of a key that does not exist ends both sides in error', () => {
    const pair = new Pair();
    const { a, b } = pair.connect({ both: { timeout: 8, retryCnt: 1 } });
    const received = b.postRecv();
    const sent = a.post({ opcode: WrOpcode.SEND_WITH_INV, imm: 0x12345600 });
    pair.drive();
    assertStatuses(b.received(), [[received, WcStatus.REM_INV_REQ_ERR]]);
    assert.equal(b.state, QpState.ERR);
    const [completion] = a.sent();
    assert.equal(completion.wrId, sent);
    assert.notEqual(completion.status, WcStatus.SUCCESS);
    assert.equal(a.state, QpState.ERR);
  });

  it('cannot close a key of another protection domain', () => {
    const pair = new Pair();
    const { a, b } = pair.connect({ both: { timeout: 8, retryCnt: 1 } });
    const foreign = pair.b.mr(64, { pd: pair.b.nic.control.allocPd() });
    const received = b.postRecv();
    a.post({ opcode: WrOpcode.SEND_WITH_INV, imm: foreign.rkey | 0 });
    pair.drive();
    assertStatuses(b.received(), [[received, WcStatus.REM_INV_REQ_ERR]]);
  });
});
