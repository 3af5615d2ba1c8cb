import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventType, QpState, QpType, WcStatus } from '../../ibta/index.js';
import { Opcode } from '../../wire/index.js';
import { assertCompleted, assertStatuses, craft, Pair, pattern } from './pair.js';
import type { TestQp } from './qp.js';
import { connectUc } from './uc.js';

/** Two UC QPs on one host that share a receive queue, and the peer of each. */
function shared() {
  const pair = new Pair();
  const srq = pair.b.srq();
  const receivers = [0, 1].map(() => pair.b.qp({ type: QpType.UC, srq }));
  const senders = receivers.map((receiver) => {
    const sender = pair.a.qp({ type: QpType.UC });
    connectUc(sender, receiver.peer, { sqPsn: 5 });
    connectUc(receiver, sender.peer, { rqPsn: 5 });
    return sender;
  });
  return { pair, srq, senders, receivers };
}

test('UC QPs take receive requests in turn from the queue that they share', () => {
  const { pair, srq, senders, receivers } = shared();
  const buffers = [pair.b.mr(600), pair.b.mr(600)];
  buffers.forEach((mr, wrId) => srq.queue.writeReceive({ wrId, sgList: [mr.sge()] }));
  senders[1].send(pair.a.mrOf(pattern(600, 1)));
  pair.drive();
  senders[0].send(pair.a.mrOf(pattern(600, 0)));
  pair.drive();
  assertCompleted(receivers[1].received(), [0n]);
  assertCompleted(receivers[0].received(), [1n]);
  assert.deepEqual(buffers[0].bytes, pattern(600, 1));
  assert.deepEqual(buffers[1].bytes, pattern(600, 0));
});

test('a request that a lost message took from the shared queue serves the next message of that QP', () => {
  const { pair, srq, senders, receivers } = shared();
  const [sender] = senders;
  const [receiver] = receivers;
  const mr = pair.b.mr(600);
  srq.queue.writeReceive({ wrId: 9, sgList: [mr.sge()] });
  const say = (opcode: Opcode, psn: number, length: number): void =>
    pair.deliver(
      pair.a.ip,
      pair.b.ip,
      craft(pair.a.ip, pair.b.ip, { opcode, psn, destQp: receiver.qpn, payload: pattern(length) }),
    );
  say(Opcode.UC_SEND_FIRST, 5, 256);
  say(Opcode.UC_SEND_LAST, 7, 10);
  assert.equal(pair.b.nic.counters.rxMessageDropped, 1);
  sender.send(pair.a.mrOf(pattern(100, 3)));
  pair.drive();
  assertCompleted(receiver.received(), [9n]);
  assert.deepEqual(mr.bytes.subarray(0, 100), pattern(100, 3));
});

test('a QP in ERR flushes the request that it had taken, and leaves the rest to the others', () => {
  const { pair, srq, senders, receivers } = shared();
  const mr = pair.b.mr(600);
  srq.queue.writeReceive({ wrId: 1, sgList: [mr.sge()] });
  srq.queue.writeReceive({ wrId: 2, sgList: [mr.sge()] });
  const first = craft(pair.a.ip, pair.b.ip, {
    opcode: Opcode.UC_SEND_FIRST,
    psn: 5,
    destQp: receivers[0].qpn,
    payload: pattern(256),
  });
  pair.deliver(pair.a.ip, pair.b.ip, first);
  const stop = (qp: TestQp): void => qp.modify({ qpState: QpState.ERR });
  stop(receivers[0]);
  assertStatuses(receivers[0].received(), [[1n, WcStatus.WR_FLUSH_ERR]]);
  assert.ok(pair.b.eventsOf(receivers[0]).includes(EventType.QP_LAST_WQE_REACHED));
  senders[1].send(pair.a.mr(8));
  pair.drive();
  assertCompleted(receivers[1].received(), [2n]);
});
