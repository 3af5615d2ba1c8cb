import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { QpState, WcStatus } from '../../ibta/index.js';
import { Opcode } from '../../wire/index.js';
import { assertStatuses, Pair, Puppet } from './pair.js';
import { UNSIGNALLED } from './qp.js';

const { WR_FLUSH_ERR } = WcStatus;
const ERR = { qpState: QpState.ERR } as const;

describe('moving to ERR', () => {
  it('flushes the send queue and the receive queue, each in its order', () => {
    const puppet = new Puppet({ timeout: 0 });
    const mr = puppet.host1.mr(8);
    const sent = [puppet.qp.send(mr), puppet.qp.send(mr, { flags: UNSIGNALLED }), puppet.qp.send(mr)];
    const received = [puppet.qp.recv(mr), puppet.qp.recv(mr)];
    puppet.turn();
    puppet.qp.modify(ERR);
    puppet.turn();
    assertStatuses(
      puppet.qp.sent(),
      sent.map((wrId) => [wrId, WR_FLUSH_ERR] as const),
    );
    assertStatuses(
      puppet.qp.received(),
      received.map((wrId) => [wrId, WR_FLUSH_ERR] as const),
    );
  });

  it('flushes what was posted but never rung for', () => {
    const puppet = new Puppet({ timeout: 0 });
    puppet.qp.sq.writeSend({ opcode: 2, wrId: 71n });
    puppet.qp.modify(ERR);
    puppet.turn();
    assertStatuses(puppet.qp.sent(), [[71n, WR_FLUSH_ERR]]);
  });

  it('names the queue pair in each flushed completion', () => {
    const puppet = new Puppet({ timeout: 0 });
    puppet.qp.postRecv();
    puppet.qp.modify(ERR);
    puppet.turn();
    assert.equal(puppet.qp.received()[0].qpNum, puppet.qp.qpn);
  });

  it('leaves nothing more to send or to wait for', () => {
    const puppet = new Puppet({ timeout: 5, retryCnt: 7 });
    puppet.qp.send(puppet.host1.mr(8));
    puppet.turn();
    puppet.heard();
    puppet.qp.modify(ERR);
    puppet.drive({ untilUs: 1e8 });
    assert.deepEqual(puppet.heard(), []);
    assert.equal(puppet.qp.sent().length, 1);
  });

  it('is possible from INIT and RTR, and flushes receives posted there', () => {
    for (const rtr of [false, true]) {
      const pair = new Pair();
      const qp = pair.a.qp();
      if (rtr) qp.toRtr({ gid: pair.b.gid, qpn: 99 });
      else qp.toInit();
      const wrId = qp.postRecv();
      qp.modify(ERR);
      pair.turn();
      assertStatuses(qp.received(), [[wrId, WR_FLUSH_ERR]]);
    }
  });
});

describe('a QP in ERR', () => {
  it('flushes whatever is posted to it, in order', () => {
    const puppet = new Puppet();
    const mr = puppet.host1.mr(8);
    puppet.qp.modify(ERR);
    const sent = [puppet.qp.send(mr), puppet.qp.send(mr)];
    const received = [puppet.qp.recv(mr), puppet.qp.recv(mr)];
    puppet.drive();
    assertStatuses(
      puppet.qp.sent(),
      sent.map((wrId) => [wrId, WR_FLUSH_ERR] as const),
    );
    assertStatuses(
      puppet.qp.received(),
      received.map((wrId) => [wrId, WR_FLUSH_ERR] as const),
    );
    assert.deepEqual(puppet.heard(), []);
  });

  it('answers no request and takes no response', () => {
    const puppet = new Puppet();
    const target = puppet.host1.mr(8);
    puppet.qp.modify(ERR);
    puppet.say({
      opcode: Opcode.RC_WRITE_ONLY,
      psn: 0x2000,
      ackRequest: true,
      reth: { va: target.addr, rkey: target.rkey, length: 4 },
      payload: Uint8Array.of(1, 2, 3, 4),
    });
    puppet.say({ opcode: Opcode.RC_ACKNOWLEDGE, psn: 0x1000, aeth: { syndrome: 0x1f, msn: 0 } });
    assert.deepEqual(puppet.heard(), []);
    assert.ok(target.bytes.every((byte) => byte === 0));
    assert.equal(puppet.host1.nic.counters.snapshot()['rx_wrong_state'], 2);
  });

  it('goes to RESET and nowhere else', () => {
    const puppet = new Puppet();
    puppet.qp.modify(ERR);
    puppet.qp.modify({ qpState: QpState.RESET });
    assert.equal(puppet.qp.state, QpState.RESET);
  });

  it('leaves the peer to find out by its retries', () => {
    const pair = new Pair();
    const { a, b } = pair.connect({ both: { timeout: 5, retryCnt: 2 } });
    b.modify(ERR);
    const wrId = a.write(pair.a.mr(8), pair.b.mr(8));
    pair.drive();
    assertStatuses(a.sent(), [[wrId, WcStatus.RETRY_EXC_ERR]]);
  });

  it('completes the failing request before those that it flushes', () => {
    const puppet = new Puppet({ timeout: 0 });
    const mr = puppet.host1.mr(8);
    const wrIds = [puppet.qp.send(mr), puppet.qp.send(mr), puppet.qp.send(mr)];
    const receive = puppet.qp.recv(mr);
    puppet.turn();
    puppet.say({ opcode: Opcode.RC_ACKNOWLEDGE, psn: 0x1001, aeth: { syndrome: 0x63, msn: 0 } });
    assertStatuses(puppet.qp.sent(), [
      [wrIds[0], WcStatus.SUCCESS],
      [wrIds[1], WcStatus.REM_OP_ERR],
      [wrIds[2], WR_FLUSH_ERR],
    ]);
    assertStatuses(puppet.qp.received(), [[receive, WR_FLUSH_ERR]]);
  });
});

describe('a NAK', () => {
  for (const [syndrome, status] of [
    [0x61, WcStatus.REM_INV_REQ_ERR],
    [0x62, WcStatus.REM_ACCESS_ERR],
    [0x63, WcStatus.REM_OP_ERR],
    [0x64, WcStatus.REM_OP_ERR],
    [0x65, WcStatus.REM_OP_ERR],
    [0x7f, WcStatus.REM_OP_ERR],
  ] as const) {
    it(`of syndrome 0x${syndrome.toString(16)} ends the request that it names, and the QP`, () => {
      const puppet = new Puppet({ timeout: 0 });
      const wrId = puppet.qp.send(puppet.host1.mr(8));
      puppet.turn();
      puppet.say({ opcode: Opcode.RC_ACKNOWLEDGE, psn: 0x1000, aeth: { syndrome, msn: 0 } });
      assertStatuses(puppet.qp.sent(), [[wrId, status]]);
      assert.equal(puppet.qp.state, QpState.ERR);
    });
  }

  it('in the midst of a message ends that message', () => {
    const puppet = new Puppet({ timeout: 0, pathMtu: 1 });
    const first = puppet.qp.send(puppet.host1.mr(700));
    const second = puppet.qp.send(puppet.host1.mr(700));
    puppet.turn();
    puppet.say({ opcode: Opcode.RC_ACKNOWLEDGE, psn: 0x1004, aeth: { syndrome: 0x62, msn: 1 } });
    assertStatuses(puppet.qp.sent(), [
      [first, WcStatus.SUCCESS],
      [second, WcStatus.REM_ACCESS_ERR],
    ]);
  });

  it('beyond an unanswered READ does not complete the READ', () => {
    const puppet = new Puppet({ timeout: 0, retryCnt: 7 });
    const mr = puppet.host1.mr(8);
    puppet.qp.post({ opcode: 4, sgList: [mr.sge()], remoteAddr: 0n, rkey: 1 });
    puppet.qp.send(mr);
    puppet.turn();
    puppet.say({ opcode: Opcode.RC_ACKNOWLEDGE, psn: 0x1001, aeth: { syndrome: 0x62, msn: 1 } });
    assert.ok(puppet.qp.sent().every(({ status }) => status !== WcStatus.SUCCESS));
  });
});

describe('a response that does not belong to the request', () => {
  for (const [name, fields] of [
    ['a READ response to a SEND', { opcode: Opcode.RC_READ_RESP_ONLY, payload: new Uint8Array(8) }],
    ['an atomic answer to a SEND', { opcode: Opcode.RC_ATOMIC_ACKNOWLEDGE, atomicAck: 1n }],
  ] as const) {
    it(`(${name}) ends it in an error, not in success`, () => {
      const puppet = new Puppet({ timeout: 0 });
      const wrId = puppet.qp.send(puppet.host1.mr(8));
      puppet.turn();
      puppet.say({ psn: 0x1000, aeth: { syndrome: 0x1f, msn: 0 }, ...fields });
      const completions = puppet.qp.sent();
      assert.deepEqual(
        completions.map((completion) => completion.wrId),
        [wrId],
      );
      assert.ok(completions[0].status === WcStatus.BAD_RESP_ERR || completions[0].status === WcStatus.FATAL_ERR);
      assert.equal(puppet.qp.state, QpState.ERR);
    });
  }

  it('(a READ response of the wrong length) writes nothing and ends the READ in an error', () => {
    for (const length of [0, 4, 12, 256]) {
      const puppet = new Puppet({ timeout: 0, pathMtu: 1 });
      const local = puppet.host1.mr(8);
      puppet.qp.post({ opcode: 4, sgList: [local.sge()], remoteAddr: 0n, rkey: 1 });
      puppet.turn();
      puppet.say({
        opcode: Opcode.RC_READ_RESP_ONLY,
        psn: 0x1000,
        aeth: { syndrome: 0x1f, msn: 1 },
        payload: new Uint8Array(length).fill(9),
      });
      const [completion] = puppet.qp.sent();
      assert.ok(completion.status === WcStatus.BAD_RESP_ERR || completion.status === WcStatus.FATAL_ERR);
      assert.ok(local.bytes.every((byte) => byte === 0));
      assert.ok(local.canariesIntact);
    }
  });
});
