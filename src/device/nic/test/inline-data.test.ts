import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Mtu, SendFlags, WcStatus, WrOpcode } from '../../ibta/index.js';
import { assertCompleted, assertStatuses, dropping, Pair, pattern } from './pair.js';

describe('inline data', () => {
  for (const size of [0, 1, 255, 256, 257, 400]) {
    it(`of ${String(size)} bytes is sent from the work queue entry itself`, () => {
      const pair = new Pair();
      const { a, b } = pair.connect({ both: { pathMtu: Mtu.MTU_256 }, qpA: { cap: { maxInlineData: 400 } } });
      const written = pair.b.mr(400);
      const target = pair.b.mr(400);
      const received = b.recv(target);
      const data = pattern(size);
      const wrIds = [
        a.post({ opcode: WrOpcode.SEND, inline: data }),
        a.post({ opcode: WrOpcode.RDMA_WRITE, inline: data, ...written.at(0) }),
      ];
      pair.drive();
      assertCompleted(a.sent(), wrIds);
      const completions = b.received();
      assertCompleted(completions, [received]);
      assert.equal(completions[0].byteLen, size);
      assert.deepEqual(target.bytes.subarray(0, size), data);
      assert.deepEqual(written.bytes.subarray(0, size), data);
    });
  }

  it('with immediate data carries both', () => {
    const pair = new Pair();
    const { a, b } = pair.connect();
    const target = pair.b.mr(10);
    b.recv(target);
    a.post({ opcode: WrOpcode.SEND_WITH_IMM, inline: pattern(10), imm: 77 });
    pair.drive();
    assert.equal(b.received()[0].immData, 77);
    assert.deepEqual(target.bytes, pattern(10));
  });

  it('does not change with the buffer it was taken from, nor in a retransmission', () => {
    const pair = new Pair();
    const { a, b } = pair.connect({ both: { timeout: 8 } });
    pair.script = dropping((packet) => packet.from === pair.a.ip, 1, 2);
    const target = pair.b.mr(100);
    b.recv(target);
    const buffer = pattern(100);
    const wrId = a.post({ opcode: WrOpcode.SEND, inline: buffer });
    buffer.fill(0xff);
    pair.drive();
    assertCompleted(a.sent(), [wrId]);
    assert.deepEqual(target.bytes, pattern(100));
  });

  it('of more bytes than the QP has room for ends in LOC_QP_OP_ERR', () => {
    const pair = new Pair();
    const { a } = pair.connect({ qpA: { cap: { maxInlineData: 32 } } });
    const wrId = a.post({ opcode: WrOpcode.SEND, inline: pattern(33) });
    pair.drive();
    assertStatuses(a.sent(), [[wrId, WcStatus.LOC_QP_OP_ERR]]);
    assert.deepEqual(pair.fromA(), []);
  });

  for (const opcode of [WrOpcode.RDMA_READ, WrOpcode.ATOMIC_FETCH_AND_ADD, WrOpcode.ATOMIC_CMP_AND_SWP]) {
    it(`is not possible with opcode ${String(opcode)}`, () => {
      const pair = new Pair();
      const { a } = pair.connect();
      const wrId = a.post({ opcode, inline: pattern(8), ...pair.b.mr(8).at(0) });
      pair.drive();
      assertStatuses(a.sent(), [[wrId, WcStatus.LOC_QP_OP_ERR]]);
    });
  }
});

describe('a work queue entry that makes no sense', () => {
  for (const [name, request] of [
    ['an unknown opcode', { opcode: 99 }],
    ['an opcode that RC does not have', { opcode: WrOpcode.TSO }],
  ] as const) {
    it(`(${name}) ends in LOC_QP_OP_ERR and sends nothing`, () => {
      const pair = new Pair();
      const { a } = pair.connect();
      const wrId = a.post(request);
      pair.drive();
      assertStatuses(a.sent(), [[wrId, WcStatus.LOC_QP_OP_ERR]]);
      assert.deepEqual(pair.fromA(), []);
    });
  }

  it('(more scatter/gather entries than the QP has) ends in LOC_QP_OP_ERR', () => {
    const pair = new Pair();
    const { a } = pair.connect({ qpA: { cap: { maxSendSge: 2, maxInlineData: 128 } } });
    const mr = pair.a.mr(30);
    const wrId = a.post({ opcode: WrOpcode.SEND, sgList: [mr.sge(0, 10), mr.sge(10, 10), mr.sge(20, 10)] });
    pair.drive();
    assertStatuses(a.sent(), [[wrId, WcStatus.LOC_QP_OP_ERR]]);
  });

  it('lets those before it succeed', () => {
    const pair = new Pair();
    const { a } = pair.connect();
    const [local, remote] = [pair.a.mr(8), pair.b.mr(8)];
    const wrIds = [a.write(local, remote), a.post({ opcode: WrOpcode.TSO }), a.write(local, remote)];
    pair.drive();
    assertStatuses(a.sent(), [
      [wrIds[0], WcStatus.SUCCESS],
      [wrIds[1], WcStatus.LOC_QP_OP_ERR],
      [wrIds[2], WcStatus.WR_FLUSH_ERR],
    ]);
  });

  it('in its flags alone is harmless: unknown bits are not looked at', () => {
    const pair = new Pair();
    const { a } = pair.connect();
    const wrId = a.write(pair.a.mr(8), pair.b.mr(8), { flags: SendFlags.SIGNALED | 0x40 });
    pair.drive();
    assertCompleted(a.sent(), [wrId]);
  });
});
