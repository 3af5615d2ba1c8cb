import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Mtu, WcOpcode } from '../../ibta/index.js';
import { assertCompleted, Pair, pattern } from './pair.js';

describe('RDMA READ', () => {
  it('of no bytes is answered by an empty READ_RESP_ONLY, and neither key nor address is looked at', () => {
    const pair = new Pair();
    const { a } = pair.connect();
    const wrId = a.post({ opcode: 4, remoteAddr: 0xdeadn, rkey: 0xbad });
    pair.drive();
    const completions = a.sent();
    assertCompleted(completions, [wrId]);
    assert.deepEqual([completions[0].opcode, completions[0].byteLen], [WcOpcode.RDMA_READ, 0]);
    assert.deepEqual(
      pair.fromB().map(({ name, psn, payload }) => [name, psn, payload.length]),
      [['RC_READ_RESP_ONLY', 0x1000, 0]],
    );
  });

  it('takes one PSN for each response, and the next request the PSN after them', () => {
    const pair = new Pair();
    const { a } = pair.connect({ both: { pathMtu: Mtu.MTU_256 } });
    const remote = pair.b.mrOf(pattern(1000));
    const local = pair.a.mr(1000);
    a.read(local, remote);
    a.write(local, remote, { sgList: [local.sge(0, 8)] });
    pair.drive();
    assert.deepEqual(
      pair.fromA().map(({ name, psn }) => [name, psn]),
      [
        ['RC_READ_REQUEST', 0x1000],
        ['RC_WRITE_ONLY', 0x1004],
      ],
    );
    assert.deepEqual(
      pair.fromB((packet) => packet.isReadResponse).map(({ name, psn, payload }) => [name, psn, payload.length]),
      [
        ['RC_READ_RESP_FIRST', 0x1000, 256],
        ['RC_READ_RESP_MIDDLE', 0x1001, 256],
        ['RC_READ_RESP_MIDDLE', 0x1002, 256],
        ['RC_READ_RESP_LAST', 0x1003, 232],
      ],
    );
  });

  it('responses carry an AETH in all but the MIDDLE packets, with a count of one message', () => {
    const pair = new Pair();
    const { a } = pair.connect({ both: { pathMtu: Mtu.MTU_256 } });
    a.read(pair.a.mr(700), pair.b.mr(700));
    pair.drive();
    assert.deepEqual(
      pair.fromB().map(({ syndrome, msn }) => [syndrome, msn]),
      [
        [0x1f, 1],
        [undefined, undefined],
        [0x1f, 1],
      ],
    );
  });

  it('responses go to the requester’s QP and ask for no acknowledgement', () => {
    const pair = new Pair();
    const { a } = pair.connect({ both: { pathMtu: Mtu.MTU_256 } });
    a.read(pair.a.mr(700), pair.b.mr(700));
    pair.drive();
    for (const packet of pair.fromB())
      assert.deepEqual([packet.destQp, packet.ackRequest, packet.solicited], [a.qpn, false, false]);
  });

  it('sees the memory as earlier WRITEs of the same queue left it', () => {
    const pair = new Pair();
    const { a } = pair.connect({ both: { pathMtu: Mtu.MTU_256 } });
    const remote = pair.b.mr(700);
    const source = pair.a.mrOf(pattern(700));
    const local = pair.a.mr(700);
    const wrIds = [a.write(source, remote), a.read(local, remote)];
    pair.drive();
    assertCompleted(a.sent(), wrIds);
    assert.deepEqual(local.bytes, source.bytes);
  });

  it('many at once come back each to its own place', () => {
    const pair = new Pair();
    const { a } = pair.connect({ both: { pathMtu: Mtu.MTU_256, maxRdAtomic: 4, maxDestRdAtomic: 4 } });
    const remote = pair.b.mrOf(pattern(40 * 300));
    const local = pair.a.mr(40 * 300);
    const wrIds = Array.from({ length: 40 }, (_, i) =>
      a.read(local, remote, { sgList: [local.sge(i * 300, 300)], ...remote.at((39 - i) * 300) }),
    );
    pair.drive();
    assertCompleted(a.sent(), wrIds);
    for (let i = 0; i < 40; i += 1)
      assert.deepEqual(
        local.bytes.subarray(i * 300, (i + 1) * 300),
        remote.bytes.subarray((39 - i) * 300, (40 - i) * 300),
      );
  });

  it('works both ways at once', () => {
    const pair = new Pair();
    const { a, b } = pair.connect({ both: { pathMtu: Mtu.MTU_256 } });
    const [atA, atB] = [pair.a.mrOf(pattern(9000, 1)), pair.b.mrOf(pattern(9000, 2))];
    const [toA, toB] = [pair.a.mr(9000), pair.b.mr(9000)];
    const [first, second] = [a.read(toA, atB), b.read(toB, atA)];
    pair.drive();
    assertCompleted(a.sent(), [first]);
    assertCompleted(b.sent(), [second]);
    assert.deepEqual([toA.bytes, toB.bytes], [atB.bytes, atA.bytes]);
  });

  it('of many packets never asks for more than 128 responses at once, which nothing else would hold back', () => {
    const pair = new Pair();
    const { a } = pair.connect({ both: { pathMtu: Mtu.MTU_256 } });
    const remote = pair.b.mrOf(pattern(256 * 1000));
    const local = pair.a.mr(256 * 1000);
    const wrId = a.read(local, remote);
    pair.drive();
    assertCompleted(a.sent(), [wrId]);
    assert.deepEqual(local.bytes, remote.bytes);
    const requests = pair.fromA();
    const responses = pair.fromB();
    let asked = 0;
    for (const { atUs, reth } of requests) {
      asked += Math.ceil((reth?.length ?? 0) / 256);
      const arrived = responses.filter((response) => response.atUs + 5 <= atUs).length;
      assert.ok(asked - arrived <= 128, `${String(asked - arrived)} responses asked for`);
    }
    assert.equal(asked, 1000);
  });
});
