import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { QpState } from '../../ibta/index.js';
import { WorkQueue } from '../queues/work-queue.js';
import { WorkQueue as Header, Ring, recvQueueShape, sendQueueShape } from '../rings/layout.js';
import { Pair, pattern, Puppet } from './pair.js';
import type { TestQp } from './qp.js';
import { Opcode } from '../../wire/index.js';

/** What the next owner of a ring has there: entries, counters and a doorbell. */
const MARK = 0x5a5a5a5a;

/** Gives both rings to another owner. @returns asserts that only the new owner has written there */
function reuse(qp: TestQp): () => void {
  for (const { words } of [qp.sq, qp.rq]) words.fill(MARK);
  return () => {
    for (const [name, { words }] of Object.entries({ sq: qp.sq, rq: qp.rq }))
      assert.deepEqual(
        [...words.entries()].filter(([, word]) => word !== MARK),
        [],
        name,
      );
  };
}

describe('the rings of a queue pair that is destroyed', () => {
  const PAGE = 1024;

  it('are not written while its requests are in flight', () => {
    const pair = new Pair();
    const { a, b } = pair.connect({ both: { timeout: 8, retryCnt: 7 } });
    const mr = pair.a.mrOf(pattern(8 * PAGE));
    const remote = pair.b.mr(8 * PAGE);
    // The peer has no receive, and is asked again and again.
    for (let i = 0; i < 4; i += 1) a.send(mr);
    a.write(mr, remote);
    a.read(mr, remote);
    a.recv(mr);
    pair.a.turn(0);
    pair.a.nic.control.destroyQp(a.qpn);
    const check = reuse(a);
    pair.drive();
    check();
    assert.deepEqual(a.sent(), []);
    assert.deepEqual(a.received(), []);
    assert.notEqual(b.state, QpState.RESET);
  });

  it('are not written while a message fills a receive request', () => {
    const puppet = new Puppet();
    const { host1, qp } = puppet;
    qp.recv(host1.mr(4 * PAGE));
    puppet.say({ opcode: Opcode.RC_SEND_FIRST, psn: 0x2000, payload: pattern(PAGE) });
    host1.nic.control.destroyQp(qp.qpn);
    const check = reuse(qp);
    puppet.say({ opcode: Opcode.RC_SEND_LAST, psn: 0x2001, payload: pattern(PAGE) });
    puppet.run(1_000_000);
    check();
    assert.deepEqual(qp.received(), []);
  });

  it('are not written when memory that was late is ready', () => {
    for (const late of ['source', 'target'] as const) {
      const puppet = new Puppet();
      const { host1, qp } = puppet;
      const slow = host1.mr(4 * PAGE, { manner: { delayUs: () => 10_000 } });
      if (late === 'source') qp.send(slow);
      else {
        qp.recv(slow);
        const packet = puppet.crafted({ opcode: Opcode.RC_SEND_ONLY, psn: 0x2000, payload: pattern(PAGE) });
        puppet.network.inject(puppet.peerAddress, host1.ip, packet);
        puppet.network.advanceTo(puppet.nowUs);
      }
      host1.turn(puppet.nowUs);
      assert.deepEqual([qp.sent(), qp.received()], [[], []]);
      host1.nic.control.destroyQp(qp.qpn);
      const check = reuse(qp);
      puppet.run(1_000_000);
      check();
      assert.deepEqual([qp.sent(), qp.received()], [[], []]);
    }
  });

  it('are not read by a doorbell that comes too late', () => {
    const puppet = new Puppet();
    const { host1, qp } = puppet;
    qp.send(host1.mr(PAGE));
    puppet.heard();
    host1.nic.control.destroyQp(qp.qpn);
    const check = reuse(qp);
    host1.doorbell.ring(new Int32Array(qp.sq.words.length), qp.qpn);
    puppet.run(1_000_000);
    check();
    assert.deepEqual(puppet.heard(), []);
  });
});

for (const [name, shape] of [
  ['send', sendQueueShape(8, 1, 0)],
  ['receive', recvQueueShape(8, 1)],
] as const)
  describe(`a ${name} queue that has let go of its ring`, () => {
    it('has no entries, and writes to no ring', () => {
      const memory = new SharedArrayBuffer(shape.bytes);
      const words = new Int32Array(memory);
      words[Ring.CONSUMER] = 5;
      words[Ring.PRODUCER] = 8;
      const queue = new WorkQueue(memory, shape, 1);
      assert.equal(queue.count, 3);
      queue.detach();
      words.fill(MARK);
      assert.deepEqual([queue.count, queue.has(queue.head)], [0, false]);
      queue.clearDoorbell();
      queue.publishState(QpState.ERR);
      queue.discard();
      queue.publish();
      assert.equal(queue.words[Header.QP_STATE], QpState.ERR);
      queue.bytes.fill(1);
      assert.ok(words.every((word) => word === MARK));
    });
  });
