import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Mtu, QpState, WcStatus } from '../../ibta/index.js';
import { Opcode } from '../../wire/index.js';
import { assertCompleted, assertStatuses, dropping, Pair, pattern, Puppet } from './pair.js';

const SEQUENCE_NAK = 0x60;

describe('a gap in the PSNs, at the responder,', () => {
  function responder() {
    const puppet = new Puppet({ pathMtu: Mtu.MTU_256 });
    const target = puppet.host1.mr(64);
    const write = (psn: number, byte: number) =>
      puppet.say({
        opcode: Opcode.RC_WRITE_ONLY,
        psn,
        ackRequest: true,
        reth: { va: target.addr, rkey: target.rkey, length: 1 },
        payload: Uint8Array.of(byte),
      });
    return { puppet, target, write };
  }

  it('is answered by one NAK that names the expected PSN, however many packets follow', () => {
    const { puppet, target, write } = responder();
    write(0x2001, 1);
    write(0x2002, 2);
    write(0x2005, 3);
    assert.deepEqual(
      puppet.heard().map(({ name, psn, syndrome, msn }) => [name, psn, syndrome, msn]),
      [['RC_ACKNOWLEDGE', 0x2000, SEQUENCE_NAK, 0]],
    );
    assert.equal(target.bytes[0], 0);
  });

  it('ends when the expected packet arrives, and the next gap gets a NAK of its own', () => {
    const { puppet, target, write } = responder();
    write(0x2001, 1);
    puppet.heard();
    write(0x2000, 10);
    write(0x2001, 11);
    assert.equal(target.bytes[0], 11);
    assert.deepEqual(
      puppet.heard().map(({ psn, syndrome }) => [psn, syndrome]),
      [
        [0x2000, 0x1f],
        [0x2001, 0x1f],
      ],
    );
    write(0x2004, 1);
    assert.deepEqual(
      puppet.heard().map(({ psn, syndrome }) => [psn, syndrome]),
      [[0x2002, SEQUENCE_NAK]],
    );
  });

  it('of half the PSN space is a duplicate, and one less is a gap', () => {
    const { puppet, write } = responder();
    write(0x2000 + 0x800000, 1);
    assert.deepEqual(
      puppet.heard().filter(({ syndrome }) => syndrome === SEQUENCE_NAK),
      [],
    );
    write(0x2000 + 0x7fffff, 1);
    assert.equal(puppet.heard().filter(({ syndrome }) => syndrome === SEQUENCE_NAK).length, 1);
  });

  it('is counted', () => {
    const { puppet, write } = responder();
    write(0x2001, 1);
    assert.ok(puppet.host1.nic.counters.snapshot()['out_of_seq_request'] >= 1);
  });
});

describe('a sequence NAK, at the requester,', () => {
  function fourWrites(options: { retryCnt?: number } = {}) {
    const puppet = new Puppet({ timeout: 0, pathMtu: Mtu.MTU_256, ...options });
    const local = puppet.host1.mr(100);
    const wrIds = [0, 1, 2, 3].map(() => puppet.qp.post({ opcode: 0, sgList: [local.sge()], remoteAddr: 0n, rkey: 1 }));
    puppet.turn();
    puppet.heard();
    const nak = (psn: number) =>
      puppet.say({ opcode: Opcode.RC_ACKNOWLEDGE, psn, aeth: { syndrome: SEQUENCE_NAK, msn: 0 } });
    const ack = (psn: number) => puppet.say({ opcode: Opcode.RC_ACKNOWLEDGE, psn, aeth: { syndrome: 0x1f, msn: 0 } });
    return { puppet, wrIds, nak, ack };
  }

  it('completes what comes before its PSN and sends again from there', () => {
    const { puppet, wrIds, nak, ack } = fourWrites();
    nak(0x1002);
    assertCompleted(puppet.qp.sent(), wrIds.slice(0, 2));
    assert.deepEqual(
      puppet.heard().map(({ psn }) => psn),
      [0x1002, 0x1003],
    );
    ack(0x1003);
    assertCompleted(puppet.qp.sent(), wrIds.slice(2));
  });

  it('that names the first PSN completes nothing', () => {
    const { puppet, nak } = fourWrites();
    nak(0x1000);
    assert.deepEqual(puppet.qp.sent(), []);
    assert.deepEqual(
      puppet.heard().map(({ psn }) => psn),
      [0x1000, 0x1001, 0x1002, 0x1003],
    );
  });

  it('within a message sends the rest of the message again, with the right bytes', () => {
    const puppet = new Puppet({ timeout: 0, pathMtu: Mtu.MTU_256 });
    const data = pattern(1000);
    puppet.qp.send(puppet.host1.mrOf(data));
    puppet.turn();
    puppet.heard();
    puppet.say({ opcode: Opcode.RC_ACKNOWLEDGE, psn: 0x1002, aeth: { syndrome: SEQUENCE_NAK, msn: 0 } });
    const again = puppet.heard();
    assert.deepEqual(
      again.map(({ name, psn }) => [name, psn]),
      [
        ['RC_SEND_MIDDLE', 0x1002],
        ['RC_SEND_LAST', 0x1003],
      ],
    );
    assert.deepEqual(new Uint8Array(Buffer.concat(again.map(({ payload }) => payload))), data.subarray(512));
  });

  it('for a PSN that is acknowledged already, or was never sent, is ignored', () => {
    const { puppet, wrIds, nak, ack } = fourWrites();
    ack(0x1002);
    nak(0x1000);
    nak(0x1005);
    nak(0x1900);
    assert.deepEqual(puppet.heard(), []);
    ack(0x1003);
    assertCompleted(puppet.qp.sent(), wrIds);
  });

  it('that comes again for the same PSN without progress consumes no second retry', () => {
    const { puppet, wrIds, nak, ack } = fourWrites({ retryCnt: 1 });
    for (let i = 0; i < 6; i += 1) {
      nak(0x1000);
      puppet.run(5);
    }
    assert.equal(puppet.qp.state, QpState.RTS);
    ack(0x1003);
    assertCompleted(puppet.qp.sent(), wrIds);
  });

  it('consumes a retry, and without one left ends the request with RETRY_EXC_ERR', () => {
    const { puppet, wrIds, nak } = fourWrites({ retryCnt: 0 });
    nak(0x1001);
    assertStatuses(puppet.qp.sent(), [
      [wrIds[0], WcStatus.SUCCESS],
      [wrIds[1], WcStatus.RETRY_EXC_ERR],
      [wrIds[2], WcStatus.WR_FLUSH_ERR],
      [wrIds[3], WcStatus.WR_FLUSH_ERR],
    ]);
    assert.equal(puppet.qp.state, QpState.ERR);
  });
});

describe('go-back-N', () => {
  it('recovers from a gap at once, without waiting for the timer', () => {
    const pair = new Pair();
    // The timer would take more than an hour.
    const { a } = pair.connect({ both: { pathMtu: Mtu.MTU_256, timeout: 30 } });
    pair.script = dropping((packet) => packet.from === pair.a.ip, 3);
    const source = pair.a.mrOf(pattern(2000));
    const target = pair.b.mr(2000);
    const wrId = a.write(source, target);
    pair.drive({ untilUs: 10_000 });
    assertCompleted(a.sent(), [wrId]);
    assert.deepEqual(target.bytes, source.bytes);
  });

  it('resends each packet after the gap once', () => {
    const pair = new Pair();
    const { a } = pair.connect({ both: { pathMtu: Mtu.MTU_256, timeout: 14 } });
    pair.script = dropping((packet) => packet.from === pair.a.ip, 3);
    a.write(pair.a.mr(2000), pair.b.mr(2000));
    pair.drive();
    const times = new Map<number, number>();
    for (const { psn } of pair.fromA()) times.set(psn, (times.get(psn) ?? 0) + 1);
    assert.deepEqual([...times.values()], [1, 1, 2, 2, 2, 2, 2, 2]);
  });
});
