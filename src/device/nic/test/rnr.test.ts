import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Mtu, QpState, WcStatus, WrOpcode } from '../../ibta/index.js';
import { Opcode } from '../../wire/index.js';
import { assertCompleted, assertStatuses, Pair, pattern, Puppet } from './pair.js';

/** protocol/packets.md 1.4: the RNR timer codes in ms, written down here a second time on purpose. */
const TIMER_MS = [
  655.36, 0.01, 0.02, 0.03, 0.04, 0.06, 0.08, 0.12, 0.16, 0.24, 0.32, 0.48, 0.64, 0.96, 1.28, 1.92, 2.56, 3.84, 5.12,
  7.68, 10.24, 15.36, 20.48, 30.72, 40.96, 61.44, 81.92, 122.88, 163.84, 245.76, 327.68, 491.52,
];
const RNR_NAK = 0x20;
const isRnr = ({ syndrome = 0 }: { syndrome: number | undefined }): boolean => (syndrome & 0xe0) === RNR_NAK;

describe('a SEND without a receive, at the responder,', () => {
  function responder(minRnrTimer = 9) {
    const puppet = new Puppet({ pathMtu: Mtu.MTU_256, minRnrTimer });
    return { puppet, target: puppet.host1.mr(2048) };
  }

  it('is answered by an RNR NAK with the timer of the QP, and the expected PSN stays', () => {
    const { puppet, target } = responder();
    const send = { opcode: Opcode.RC_SEND_ONLY, psn: 0x2000, ackRequest: true, payload: pattern(10) };
    puppet.say(send);
    assert.deepEqual(
      puppet.heard().map(({ name, psn, syndrome, msn }) => [name, psn, syndrome, msn]),
      [['RC_ACKNOWLEDGE', 0x2000, RNR_NAK | 9, 0]],
    );
    const received = puppet.qp.recv(target);
    puppet.say(send);
    assertCompleted(puppet.qp.received(), [received]);
    assert.deepEqual(
      puppet.heard().map(({ psn, syndrome }) => [psn, syndrome]),
      [[0x2000, 0x1f]],
    );
  });

  it('has the packets that follow dropped in silence until it comes again', () => {
    const { puppet, target } = responder();
    const send = (psn: number) =>
      puppet.say({ opcode: Opcode.RC_SEND_ONLY, psn, ackRequest: true, payload: pattern(10) });
    send(0x2000);
    puppet.heard();
    puppet.qp.recv(target);
    for (const psn of [0x2001, 0x2002, 0x2001, 0x2003, 0x2002]) send(psn);
    assert.deepEqual(puppet.heard(), []);
    assert.deepEqual(puppet.qp.received(), []);
    send(0x2000);
    assert.equal(puppet.qp.received().length, 1);
  });

  it('takes each retry anew: still none, another RNR NAK', () => {
    const { puppet } = responder();
    for (let i = 0; i < 3; i += 1) {
      puppet.say({ opcode: Opcode.RC_SEND_ONLY, psn: 0x2000, ackRequest: true, payload: pattern(10) });
      assert.deepEqual(
        puppet.heard().map(({ psn, syndrome }) => [psn, syndrome]),
        [[0x2000, RNR_NAK | 9]],
      );
    }
  });

  it('of several packets is refused at its first packet', () => {
    const { puppet, target } = responder();
    const first = { opcode: Opcode.RC_SEND_FIRST, psn: 0x2000, payload: pattern(256) };
    puppet.say(first);
    assert.deepEqual(
      puppet.heard().map(({ psn, syndrome }) => [psn, syndrome]),
      [[0x2000, RNR_NAK | 9]],
    );
    const received = puppet.qp.recv(target);
    puppet.say(first);
    puppet.say({ opcode: Opcode.RC_SEND_LAST, psn: 0x2001, ackRequest: true, payload: pattern(10) });
    assertCompleted(puppet.qp.received(), [received]);
  });

  it('is no SEND when it is a WRITE, which needs a receive at its last packet alone, with immediate data', () => {
    const { puppet, target } = responder();
    const reth = { va: target.addr, rkey: target.rkey, length: 300 };
    puppet.say({ opcode: Opcode.RC_WRITE_FIRST, psn: 0x2000, ackRequest: true, reth, payload: pattern(256) });
    assert.deepEqual(
      puppet.heard().map(({ psn, syndrome }) => [psn, syndrome]),
      [[0x2000, 0x1f]],
    );
    const last = { opcode: Opcode.RC_WRITE_LAST_IMM, psn: 0x2001, ackRequest: true, imm: 5, payload: pattern(44) };
    puppet.say(last);
    assert.deepEqual(
      puppet.heard().map(({ psn, syndrome }) => [psn, syndrome]),
      [[0x2001, RNR_NAK | 9]],
    );
    const received = puppet.qp.postRecv();
    puppet.say(last);
    const completions = puppet.qp.received();
    assertCompleted(completions, [received]);
    assert.deepEqual([completions[0].byteLen, completions[0].immData], [300, 5]);
  });
});

describe('an RNR NAK, at the requester,', () => {
  for (const [code, ms] of TIMER_MS.entries()) {
    it(`with timer code ${String(code)} is honoured: nothing is sent again within ${String(ms)} ms`, () => {
      const puppet = new Puppet({ timeout: 31, rnrRetry: 1 });
      const wrId = puppet.qp.send(puppet.host1.mr(10));
      puppet.turn();
      puppet.heard();
      const nakUs = puppet.nowUs;
      puppet.say({ opcode: Opcode.RC_ACKNOWLEDGE, psn: 0x1000, aeth: { syndrome: RNR_NAK | code, msn: 0 } });
      puppet.drive({ until: () => puppet.wire.length > 0 });
      const [again] = puppet.heard();
      const waitedUs = again.atUs - nakUs;
      assert.equal(again.psn, 0x1000);
      assert.ok(waitedUs >= ms * 1000 - 0.001, `waited ${String(waitedUs)} us`);
      assert.ok(waitedUs <= ms * 1000 * 1.1 + 20, `waited ${String(waitedUs)} us`);
      puppet.say({ opcode: Opcode.RC_ACKNOWLEDGE, psn: 0x1000, aeth: { syndrome: 0x1f, msn: 1 } });
      assertCompleted(puppet.qp.sent(), [wrId]);
    });
  }

  function twoSends(rnrRetry: number) {
    const puppet = new Puppet({ timeout: 0, rnrRetry, retryCnt: 0 });
    const source = puppet.host1.mr(10);
    const wrIds = [puppet.qp.send(source), puppet.qp.send(source)];
    puppet.turn();
    puppet.heard();
    const rnr = (psn: number) =>
      puppet.say({ opcode: Opcode.RC_ACKNOWLEDGE, psn, aeth: { syndrome: RNR_NAK | 1, msn: 0 } });
    const ack = (psn: number) => puppet.say({ opcode: Opcode.RC_ACKNOWLEDGE, psn, aeth: { syndrome: 0x1f, msn: 0 } });
    return { puppet, wrIds, rnr, ack };
  }

  it('completes what comes before its PSN', () => {
    const { puppet, wrIds, rnr } = twoSends(7);
    rnr(0x1001);
    assertCompleted(puppet.qp.sent(), wrIds.slice(0, 1));
    puppet.run(50);
    assert.deepEqual(
      puppet.heard().map(({ psn }) => psn),
      [0x1001],
    );
  });

  it('stops new requests too until the time is over', () => {
    const { puppet, rnr } = twoSends(7);
    rnr(0x1000);
    puppet.qp.send(puppet.host1.mr(10));
    puppet.turn();
    assert.deepEqual(puppet.heard(), []);
    puppet.run(50);
    assert.deepEqual(
      puppet.heard().map(({ psn }) => psn),
      [0x1000, 0x1001, 0x1002],
    );
  });

  it('consumes no retry of the timeout kind', () => {
    const { puppet, wrIds, rnr, ack } = twoSends(7);
    rnr(0x1000);
    puppet.run(50);
    ack(0x1001);
    assertCompleted(puppet.qp.sent(), wrIds);
  });

  for (const rnrRetry of [0, 1, 3, 6]) {
    it(`ends the request after ${String(rnrRetry)} retries with RNR_RETRY_EXC_ERR`, () => {
      const { puppet, wrIds, rnr } = twoSends(rnrRetry);
      for (let i = 0; i < rnrRetry; i += 1) {
        rnr(0x1000);
        assert.deepEqual(puppet.qp.sent(), []);
        puppet.run(50);
        assert.equal(puppet.heard()[0].psn, 0x1000);
      }
      rnr(0x1000);
      assertStatuses(puppet.qp.sent(), [
        [wrIds[0], WcStatus.RNR_RETRY_EXC_ERR],
        [wrIds[1], WcStatus.WR_FLUSH_ERR],
      ]);
      assert.equal(puppet.qp.state, QpState.ERR);
    });
  }

  it('may come for ever when rnr_retry is 7', () => {
    const { puppet, wrIds, rnr, ack } = twoSends(7);
    for (let i = 0; i < 100; i += 1) {
      rnr(0x1000);
      puppet.run(50);
    }
    ack(0x1001);
    assertCompleted(puppet.qp.sent(), wrIds);
  });

  it('that comes after a timeout gives the retries back: the peer is alive', () => {
    const puppet = new Puppet({ timeout: 5, rnrRetry: 7, retryCnt: 1 });
    const wrId = puppet.qp.send(puppet.host1.mr(10));
    for (let i = 0; i < 5; i += 1) {
      // The first transmission gets no answer, the second one finds no receive.
      puppet.drive({ until: () => puppet.wire.length === 2 });
      puppet.heard();
      puppet.say({ opcode: Opcode.RC_ACKNOWLEDGE, psn: 0x1000, aeth: { syndrome: RNR_NAK | 1, msn: 0 } });
    }
    puppet.say({ opcode: Opcode.RC_ACKNOWLEDGE, psn: 0x1000, aeth: { syndrome: 0x1f, msn: 1 } });
    assertCompleted(puppet.qp.sent(), [wrId]);
  });

  it('starts counting anew after progress', () => {
    const { puppet, wrIds, rnr, ack } = twoSends(1);
    rnr(0x1000);
    puppet.run(50);
    ack(0x1000);
    rnr(0x1001);
    puppet.run(50);
    ack(0x1001);
    assertCompleted(puppet.qp.sent(), wrIds);
  });

  it('is overtaken by an ACK for what it refused: the rest goes out, and the QP does not hang', () => {
    const { puppet, wrIds, rnr, ack } = twoSends(7);
    rnr(0x1000);
    ack(0x1000);
    puppet.run(50);
    assertCompleted(puppet.qp.sent(), wrIds.slice(0, 1));
    assert.deepEqual(
      puppet.heard().map(({ psn }) => psn),
      [0x1001],
    );
    ack(0x1001);
    assertCompleted(puppet.qp.sent(), wrIds.slice(1));
  });

  it('is overtaken by an ACK for everything: later requests are sent', () => {
    const { puppet, wrIds, rnr, ack } = twoSends(7);
    rnr(0x1000);
    ack(0x1001);
    assertCompleted(puppet.qp.sent(), wrIds);
    puppet.qp.send(puppet.host1.mr(10));
    puppet.run(50);
    assert.deepEqual(
      puppet.heard().map(({ psn }) => psn),
      [0x1002],
    );
  });

  it('for a PSN that was acknowledged, or never sent, is ignored', () => {
    const { puppet, wrIds, rnr, ack } = twoSends(0);
    ack(0x1000);
    rnr(0x1000);
    rnr(0x1002);
    rnr(0x3000);
    ack(0x1001);
    assertCompleted(puppet.qp.sent(), wrIds);
  });
});

describe('a receiver that posts late', () => {
  it('gets every message once and in order', () => {
    const pair = new Pair();
    const { a, b } = pair.connect({ both: { pathMtu: Mtu.MTU_256, minRnrTimer: 3 } });
    const sources = Array.from({ length: 12 }, (_, i) => pair.a.mrOf(pattern(600, i)));
    const target = pair.b.mr(12 * 600);
    const sent = sources.map((source) => a.send(source));
    const received: bigint[] = [];
    for (let i = 0; i < 12; i += 1)
      pair.network.at(300 * (i + 1), () => received.push(b.postRecv({ sgList: [target.sge(600 * i, 600)] })));
    pair.drive();
    assertCompleted(a.sent(), sent);
    assertCompleted(b.received(), received);
    sources.forEach((source, i) => assert.deepEqual(target.bytes.subarray(600 * i, 600 * (i + 1)), source.bytes));
    assert.ok(pair.fromB(isRnr).length >= 12);
  });

  it('delays a WRITE with immediate data, whose bytes may be there already', () => {
    const pair = new Pair();
    const { a, b } = pair.connect({ both: { pathMtu: Mtu.MTU_256, minRnrTimer: 3 } });
    const source = pair.a.mrOf(pattern(600));
    const target = pair.b.mr(600);
    const sent = a.write(source, target, { opcode: WrOpcode.RDMA_WRITE_WITH_IMM, imm: 9 });
    pair.run(500);
    assert.deepEqual(a.sent(), []);
    const received = b.postRecv();
    pair.drive();
    assertCompleted(a.sent(), [sent]);
    assertCompleted(b.received(), [received]);
    assert.deepEqual(target.bytes, source.bytes);
  });
});
