import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Mtu, QpState } from '../../ibta/index.js';
import { Opcode } from '../../wire/index.js';
import { assertCompleted, type Captured, pattern, Puppet } from './pair.js';

/** protocol/reliable.md 2.4 for the responder, 2.6 for the requester. */

const ACK = 0x1f;

function ack(puppet: Puppet, psn: number, syndrome = ACK): void {
  puppet.say({ opcode: Opcode.RC_ACKNOWLEDGE, psn, aeth: { syndrome, msn: 0 } });
}

/** The requester has sent four SENDs of one packet, PSNs 0x1000 to 0x1003. */
function fourSends() {
  const puppet = new Puppet({ timeout: 0, pathMtu: Mtu.MTU_256 });
  const source = puppet.host1.mr(100);
  const wrIds = [1, 2, 3, 4].map(() => puppet.qp.send(source));
  puppet.turn();
  puppet.heard();
  return { puppet, wrIds };
}

describe('an ACK, at the requester,', () => {
  it('completes the request whose last PSN it names and every one before', () => {
    const { puppet, wrIds } = fourSends();
    ack(puppet, 0x1002);
    assertCompleted(puppet.qp.sent(), wrIds.slice(0, 3));
    ack(puppet, 0x1003);
    assertCompleted(puppet.qp.sent(), wrIds.slice(3));
  });

  it('completes nothing a second time', () => {
    const { puppet, wrIds } = fourSends();
    ack(puppet, 0x1001);
    ack(puppet, 0x1001);
    ack(puppet, 0x1000);
    assertCompleted(puppet.qp.sent(), wrIds.slice(0, 2));
  });

  it('for a PSN that was never sent is ignored', () => {
    const { puppet } = fourSends();
    for (const psn of [0x1004, 0x1005, 0x2000, 0x0fff, 0x801000]) ack(puppet, psn);
    assert.deepEqual(puppet.qp.sent(), []);
    assert.equal(puppet.qp.state, QpState.RTS);
  });

  it('carries credits that are ignored', () => {
    const { puppet, wrIds } = fourSends();
    ack(puppet, 0x1003, 0x00);
    assertCompleted(puppet.qp.sent(), wrIds);
  });

  it('inside a message is progress and completes nothing', () => {
    const puppet = new Puppet({ timeout: 0, pathMtu: Mtu.MTU_256 });
    const wrId = puppet.qp.send(puppet.host1.mr(1000));
    puppet.turn();
    ack(puppet, 0x1001);
    assert.deepEqual(puppet.qp.sent(), []);
    ack(puppet, 0x1003);
    assertCompleted(puppet.qp.sent(), [wrId]);
  });

  it('with a reserved syndrome changes nothing', () => {
    const { puppet, wrIds } = fourSends();
    for (const syndrome of [0x40, 0x5f, 0x80, 0x9f, 0xff]) ack(puppet, 0x1003, syndrome);
    assert.deepEqual(puppet.qp.sent(), []);
    ack(puppet, 0x1003);
    assertCompleted(puppet.qp.sent(), wrIds);
  });

  it('beyond an unanswered READ has the READ asked for again, and does not complete it', () => {
    const puppet = new Puppet({ timeout: 0, pathMtu: Mtu.MTU_256 });
    const local = puppet.host1.mr(300);
    const first = puppet.qp.send(local);
    const read = puppet.qp.post({ opcode: 4, sgList: [local.sge()], remoteAddr: 0x5000n, rkey: 7 });
    const last = puppet.qp.send(local, { sgList: [local.sge(0, 1)] });
    puppet.turn();
    assert.deepEqual(
      puppet.heard().map(({ name, psn }) => [name, psn]),
      [
        ['RC_SEND_FIRST', 0x1000],
        ['RC_SEND_LAST', 0x1001],
        ['RC_READ_REQUEST', 0x1002],
        ['RC_SEND_ONLY', 0x1004],
      ],
    );
    ack(puppet, 0x1004);
    assertCompleted(puppet.qp.sent(), [first]);
    const again = puppet.heard();
    assert.deepEqual([again[0].name, again[0].psn], ['RC_READ_REQUEST', 0x1002]);
    puppet.say({
      opcode: Opcode.RC_READ_RESP_FIRST,
      psn: 0x1002,
      aeth: { syndrome: ACK, msn: 2 },
      payload: pattern(256),
    });
    puppet.say({
      opcode: Opcode.RC_READ_RESP_LAST,
      psn: 0x1003,
      aeth: { syndrome: ACK, msn: 2 },
      payload: pattern(44),
    });
    ack(puppet, 0x1004);
    assertCompleted(puppet.qp.sent(), [read, last]);
  });

  it('is implied by the response to a later READ', () => {
    const puppet = new Puppet({ timeout: 0, pathMtu: Mtu.MTU_256 });
    const local = puppet.host1.mr(100);
    const send = puppet.qp.send(local);
    const read = puppet.qp.post({ opcode: 4, sgList: [local.sge()], remoteAddr: 0x5000n, rkey: 7 });
    puppet.turn();
    puppet.say({
      opcode: Opcode.RC_READ_RESP_ONLY,
      psn: 0x1001,
      aeth: { syndrome: ACK, msn: 2 },
      payload: pattern(100),
    });
    assertCompleted(puppet.qp.sent(), [send, read]);
  });

  it('is implied by the answer to a later atomic', () => {
    const puppet = new Puppet({ timeout: 0 });
    const local = puppet.host1.mr(8);
    const send = puppet.qp.send(local);
    const add = puppet.qp.post({ opcode: 6, sgList: [local.sge()], remoteAddr: 0x5000n, rkey: 7, compareAdd: 1n });
    puppet.turn();
    puppet.say({
      opcode: Opcode.RC_ATOMIC_ACKNOWLEDGE,
      psn: 0x1001,
      aeth: { syndrome: ACK, msn: 2 },
      atomicAck: 0x1122334455667788n,
    });
    assertCompleted(puppet.qp.sent(), [send, add]);
    assert.equal(local.view.getBigUint64(0, true), 0x1122334455667788n);
  });
});

/** The answers that a responder gave: opcode, PSN, syndrome, MSN. */
function answers(packets: readonly Captured[]): unknown[] {
  return packets.map(({ name, psn, syndrome, msn }) => [name, psn, syndrome, msn]);
}

function responder() {
  const puppet = new Puppet({ pathMtu: Mtu.MTU_256 });
  const target = puppet.host1.mr(1024);
  const reth = (length: number) => ({ va: target.addr, rkey: target.rkey, length });
  return { puppet, target, reth };
}

describe('the responder', () => {
  it('acknowledges a request that asks for it: PSN of the request, no credits, count of messages', () => {
    const { puppet, reth } = responder();
    puppet.say({ opcode: Opcode.RC_WRITE_ONLY, psn: 0x2000, ackRequest: true, reth: reth(4), payload: pattern(4) });
    puppet.say({ opcode: Opcode.RC_WRITE_ONLY, psn: 0x2001, ackRequest: true, reth: reth(4), payload: pattern(4) });
    const packets = puppet.heard();
    assert.deepEqual(answers(packets), [
      ['RC_ACKNOWLEDGE', 0x2000, ACK, 1],
      ['RC_ACKNOWLEDGE', 0x2001, ACK, 2],
    ]);
    for (const packet of packets) {
      assert.deepEqual([packet.destQp, packet.pkey], [puppet.peerQpn, 0xffff]);
      assert.deepEqual([packet.ackRequest, packet.solicited, packet.padCount], [false, false, 0]);
      assert.equal(packet.bytes.length, 12 + 4 + 4);
    }
  });

  it('counts a message when its last packet is executed', () => {
    const { puppet, reth } = responder();
    puppet.say({
      opcode: Opcode.RC_WRITE_FIRST,
      psn: 0x2000,
      ackRequest: true,
      reth: reth(300),
      payload: pattern(256),
    });
    puppet.say({ opcode: Opcode.RC_WRITE_LAST, psn: 0x2001, ackRequest: true, payload: pattern(44) });
    assert.deepEqual(answers(puppet.heard()), [
      ['RC_ACKNOWLEDGE', 0x2000, ACK, 0],
      ['RC_ACKNOWLEDGE', 0x2001, ACK, 1],
    ]);
  });

  it('may answer a burst with one ACK for the last of it', () => {
    const { puppet, reth } = responder();
    for (let i = 0; i < 10; i += 1) {
      puppet.network.inject(
        puppet.peerAddress,
        puppet.host1.ip,
        puppet.crafted({
          opcode: Opcode.RC_WRITE_ONLY,
          psn: 0x2000 + i,
          ackRequest: true,
          reth: reth(4),
          payload: pattern(4),
        }),
      );
    }
    puppet.network.advanceTo(puppet.nowUs);
    puppet.turn();
    const acks = puppet.heard();
    assert.ok(acks.length >= 1 && acks.length <= 10);
    assert.deepEqual(answers(acks.slice(-1)), [['RC_ACKNOWLEDGE', 0x2009, ACK, 10]]);
    assert.deepEqual(
      acks.map(({ psn }) => psn),
      acks.map(({ psn }) => psn).sort((x, y) => x - y),
    );
  });

  it('needs no AckReq to execute a request', () => {
    const { puppet, target, reth } = responder();
    puppet.say({ opcode: Opcode.RC_WRITE_ONLY, psn: 0x2000, reth: reth(4), payload: pattern(4) });
    assert.deepEqual(target.bytes.subarray(0, 4), pattern(4));
  });

  it('keeps responses in the order of their requests', () => {
    const { puppet, reth } = responder();
    const requests = [
      { opcode: Opcode.RC_WRITE_ONLY, psn: 0x2000, ackRequest: true, reth: reth(4), payload: pattern(4) },
      { opcode: Opcode.RC_READ_REQUEST, psn: 0x2001, ackRequest: true, reth: reth(600) },
      { opcode: Opcode.RC_WRITE_ONLY, psn: 0x2004, ackRequest: true, reth: reth(4), payload: pattern(4) },
      { opcode: Opcode.RC_READ_REQUEST, psn: 0x2005, ackRequest: true, reth: reth(10) },
      { opcode: Opcode.RC_WRITE_ONLY, psn: 0x2006, ackRequest: true, reth: reth(4), payload: pattern(4) },
    ];
    for (const fields of requests) puppet.network.inject(puppet.peerAddress, puppet.host1.ip, puppet.crafted(fields));
    puppet.network.advanceTo(puppet.nowUs);
    puppet.turn();
    const packets = puppet.heard();
    const psns = packets.map(({ psn }) => psn);
    assert.deepEqual(
      psns,
      [...psns].sort((x, y) => x - y),
    );
    assert.equal(packets.filter(({ isReadResponse }) => isReadResponse).length, 4);
    assert.deepEqual([packets[packets.length - 1].name, psns[psns.length - 1]], ['RC_ACKNOWLEDGE', 0x2006]);
  });
});

describe('a requester', () => {
  it('asks for an ACK in the last packet of every message', () => {
    const puppet = new Puppet({ timeout: 0, pathMtu: Mtu.MTU_256 });
    const local = puppet.host1.mr(600);
    puppet.qp.send(local);
    puppet.qp.post({ opcode: 0, sgList: [local.sge(0, 4)], remoteAddr: 0n, rkey: 1 });
    puppet.turn();
    const packets = puppet.heard();
    assert.deepEqual(
      packets.filter(({ name }) => /LAST|ONLY/.test(name)).map(({ ackRequest }) => ackRequest),
      [true, true],
    );
  });

  it('asks for ACKs within a long message, so that the window moves on', () => {
    const puppet = new Puppet({ timeout: 0, pathMtu: Mtu.MTU_256 });
    puppet.qp.send(puppet.host1.mr(256 * 1000));
    for (let round = 0; round < 30; round += 1) {
      puppet.turn();
      const asked = puppet.heard().filter(({ ackRequest }) => ackRequest);
      if (puppet.qp.sendCq.queued > 0) return;
      assert.ok(asked.length > 0, 'the window is full and nobody is asked for an ACK');
      ack(puppet, asked[asked.length - 1].psn);
    }
    assert.fail('never completed');
  });

  it('never has more than 128 packets unacknowledged', () => {
    for (const mtu of [Mtu.MTU_256, Mtu.MTU_1024, Mtu.MTU_4096]) {
      const puppet = new Puppet({ timeout: 0, pathMtu: mtu });
      puppet.qp.send(puppet.host1.mr(4_000_000));
      let acknowledged = 0x1000;
      for (let round = 0; round < 20; round += 1) {
        puppet.turn();
        const sent = puppet.heard();
        if (sent.length === 0) break;
        const highest = sent[sent.length - 1].psn;
        assert.ok(highest - acknowledged < 128, `${String(highest - acknowledged + 1)} packets unacknowledged`);
        acknowledged = highest + 1;
        ack(puppet, highest);
      }
    }
  });
});
