import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SendFlags, WcOpcode, WcStatus, WrOpcode } from '../../ibta/index.js';
import { assertCompleted, assertStatuses, Pair } from './pair.js';
import { UNSIGNALLED } from './qp.js';

describe('completions of the send queue', () => {
  it('appear for signalled requests alone, in the order of posting', () => {
    const pair = new Pair();
    const { a } = pair.connect();
    const [local, remote] = [pair.a.mr(8), pair.b.mr(8)];
    const wrIds = Array.from({ length: 12 }, (_, i) =>
      a.write(local, remote, { flags: i % 4 === 3 ? SendFlags.SIGNALED : UNSIGNALLED }),
    );
    pair.drive();
    assertCompleted(a.sent(), [wrIds[3], wrIds[7], wrIds[11]]);
  });

  it('appear for all requests of a QP made with sq_sig_all', () => {
    const pair = new Pair();
    const { a } = pair.connect({ qpA: { sqSigAll: true } });
    const [local, remote] = [pair.a.mr(8), pair.b.mr(8)];
    const wrIds = [0, 1, 2].map(() => a.write(local, remote, { flags: UNSIGNALLED }));
    pair.drive();
    assertCompleted(a.sent(), wrIds);
  });

  it('appear for unsignalled requests too when they fail or are flushed', () => {
    const pair = new Pair();
    const { a } = pair.connect();
    const [local, remote] = [pair.a.mr(8), pair.b.mr(8)];
    const unsignalled = { flags: UNSIGNALLED };
    a.write(local, remote, unsignalled);
    const wrIds = [a.write(local, remote, { ...unsignalled, rkey: 1 }), a.write(local, remote, unsignalled)];
    pair.drive();
    assertStatuses(a.sent(), [
      [wrIds[0], WcStatus.REM_ACCESS_ERR],
      [wrIds[1], WcStatus.WR_FLUSH_ERR],
    ]);
  });

  it('give the slots of unsignalled requests back as well', () => {
    const pair = new Pair({ network: { capture: false } });
    const { a } = pair.connect({ qpA: { cap: { maxSendWr: 4 } } });
    const [local, remote] = [pair.a.mr(8), pair.b.mr(8)];
    for (let i = 0; i < 50; i += 1) {
      a.write(local, remote, { flags: UNSIGNALLED });
      a.write(local, remote, { flags: UNSIGNALLED });
      a.write(local, remote, { flags: UNSIGNALLED });
      pair.drive();
      assert.equal(a.sq.inUse, 0);
    }
    assert.deepEqual(a.sent(), []);
  });

  it('name opcode, length, queue pair and a 64-bit wr_id', () => {
    const pair = new Pair();
    const { a, b } = pair.connect();
    const [local, remote] = [pair.a.mr(100), pair.b.mr(100)];
    b.postRecv({ wrId: 0xfedcba98_76543210n, sgList: [remote.sge()] });
    a.send(local, { wrId: 0x81234567_89abcdefn });
    a.write(local, remote, { sgList: [local.sge(0, 50)] });
    a.read(local, remote, { sgList: [local.sge(0, 30)] });
    pair.drive();
    assert.deepEqual(
      a.sent().map(({ opcode, byteLen, qpNum }) => ({ opcode, byteLen, qpNum })),
      [
        { opcode: WcOpcode.SEND, byteLen: 100, qpNum: a.qpn },
        { opcode: WcOpcode.RDMA_WRITE, byteLen: 50, qpNum: a.qpn },
        { opcode: WcOpcode.RDMA_READ, byteLen: 30, qpNum: a.qpn },
      ],
    );
    const [receive] = b.received();
    assert.deepEqual([receive.wrId, receive.qpNum, receive.byteLen], [0xfedcba98_76543210n, b.qpn, 100]);
  });

  it('of both queues may go to one CQ, each queue in its order', () => {
    const pair = new Pair();
    const cq = pair.b.cq();
    const { a, b } = pair.connect({ qpB: { sendCq: cq, recvCq: cq } });
    const [local, remote] = [pair.a.mr(8), pair.b.mr(8)];
    const received = [b.recv(remote), b.recv(remote)];
    const sent = [b.write(remote, local), b.write(remote, local)];
    a.send(local);
    a.send(local);
    pair.drive();
    const completions = cq.poll();
    const isReceive = ({ opcode }: { opcode: WcOpcode }): boolean => opcode >= WcOpcode.RECV;
    assertCompleted(completions.filter(isReceive), received);
    assertCompleted(
      completions.filter((completion) => !isReceive(completion)),
      sent,
    );
  });

  it('of many QPs may share a CQ', () => {
    const pair = new Pair();
    const sendCq = pair.a.cq();
    const queues = Array.from({ length: 5 }, () => pair.connect({ qpA: { sendCq } }).a);
    const [local, remote] = [pair.a.mr(8), pair.b.mr(8)];
    for (const qp of queues) {
      qp.write(local, remote);
      qp.write(local, remote);
    }
    pair.drive();
    const completions = sendCq.poll();
    for (const qp of queues)
      assert.deepEqual(
        completions.filter(({ qpNum }) => qpNum === qp.qpn).map(({ wrId }) => wrId),
        [1n, 2n],
      );
  });
});

describe('a work queue', () => {
  it('can be filled to its last entry, again and again', () => {
    const pair = new Pair({ network: { capture: false } });
    const { a, b } = pair.connect({ qpA: { cap: { maxSendWr: 8 } }, qpB: { cap: { maxRecvWr: 8 } } });
    const [local, remote] = [pair.a.mr(8), pair.b.mr(8)];
    for (let round = 0; round < 20; round += 1) {
      const received = Array.from({ length: 8 }, () => b.recv(remote));
      const sent = Array.from({ length: 8 }, () => a.send(local));
      assert.equal(a.sq.room, 0);
      pair.drive();
      assertCompleted(a.sent(), sent);
      assertCompleted(b.received(), received);
    }
  });

  it('keeps an entry until its request is acknowledged', () => {
    const pair = new Pair();
    const { a } = pair.connect();
    a.post({ opcode: WrOpcode.RDMA_WRITE });
    pair.turn();
    assert.equal(a.sq.inUse, 1);
    pair.drive();
    assert.equal(a.sq.inUse, 0);
  });
});
