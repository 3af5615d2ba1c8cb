import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Mtu, WcFlags, WcOpcode, WrOpcode } from '../../ibta/index.js';
import { assertCompleted, Pair, pattern } from './pair.js';

const IMM = 0xc0ffee01;

describe('immediate data', () => {
  for (const [name, size] of [
    ['one packet', 100],
    ['several packets', 700],
    ['no data', 0],
  ] as const) {
    it(`comes with the completion of a SEND of ${name}`, () => {
      const pair = new Pair();
      const { a, b } = pair.connect({ both: { pathMtu: Mtu.MTU_256 } });
      const source = pair.a.mrOf(pattern(700));
      const target = pair.b.mr(1000);
      const received = b.recv(target);
      const sent = a.send(source, { opcode: WrOpcode.SEND_WITH_IMM, imm: IMM, sgList: [source.sge(0, size)] });
      pair.drive();
      assertCompleted(a.sent(), [sent]);
      const completions = b.received();
      assertCompleted(completions, [received]);
      assert.equal(completions[0].opcode, WcOpcode.RECV);
      assert.equal(completions[0].immData, IMM);
      assert.equal(completions[0].wcFlags & WcFlags.WITH_IMM, WcFlags.WITH_IMM);
      assert.equal(completions[0].byteLen, size);
      assert.deepEqual(target.bytes.subarray(0, size), source.bytes.subarray(0, size));
    });

    it(`with a WRITE of ${name} completes a receive and leaves its buffer alone`, () => {
      const pair = new Pair();
      const { a, b } = pair.connect({ both: { pathMtu: Mtu.MTU_256 } });
      const source = pair.a.mrOf(pattern(700));
      const target = pair.b.mr(1000);
      const buffer = pair.b.mr(16);
      const received = b.recv(buffer);
      const sent = a.write(source, target, {
        opcode: WrOpcode.RDMA_WRITE_WITH_IMM,
        imm: IMM,
        sgList: [source.sge(0, size)],
      });
      pair.drive();
      const sends = a.sent();
      assertCompleted(sends, [sent]);
      assert.equal(sends[0].opcode, WcOpcode.RDMA_WRITE);
      const completions = b.received();
      assertCompleted(completions, [received]);
      assert.equal(completions[0].opcode, WcOpcode.RECV_RDMA_WITH_IMM);
      assert.equal(completions[0].immData, IMM);
      assert.equal(completions[0].wcFlags & WcFlags.WITH_IMM, WcFlags.WITH_IMM);
      assert.equal(completions[0].byteLen, size);
      assert.deepEqual(target.bytes.subarray(0, size), source.bytes.subarray(0, size));
      assert.ok(buffer.bytes.every((byte) => byte === 0));
    });
  }

  it('stands on the wire with its most significant byte first', () => {
    const pair = new Pair();
    const { a, b } = pair.connect();
    b.postRecv();
    a.post({ opcode: WrOpcode.SEND_WITH_IMM, imm: 0x01020304 });
    pair.drive();
    const [packet] = pair.fromA();
    assert.equal(packet.name, 'RC_SEND_ONLY_IMM');
    assert.deepEqual([...packet.bytes.subarray(12, 16)], [1, 2, 3, 4]);
  });

  it('is in the last packet of a message alone', () => {
    const pair = new Pair();
    const { a, b } = pair.connect({ both: { pathMtu: Mtu.MTU_256 } });
    const target = pair.b.mr(700);
    b.postRecv();
    a.write(pair.a.mr(700), target, { opcode: WrOpcode.RDMA_WRITE_WITH_IMM, imm: IMM });
    pair.drive();
    assert.deepEqual(
      pair.fromA().map(({ name, imm }) => [name, imm]),
      [
        ['RC_WRITE_FIRST', undefined],
        ['RC_WRITE_MIDDLE', undefined],
        ['RC_WRITE_LAST_IMM', IMM],
      ],
    );
  });

  it('is not claimed for a SEND without it', () => {
    const pair = new Pair();
    const { a, b } = pair.connect();
    b.postRecv();
    a.post({ opcode: WrOpcode.SEND, imm: IMM });
    pair.drive();
    assert.equal(b.received()[0].wcFlags & (WcFlags.WITH_IMM | WcFlags.WITH_INV), 0);
  });
});
