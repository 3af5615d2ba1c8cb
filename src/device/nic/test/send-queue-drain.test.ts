import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EventType, QpState } from '../../ibta/index.js';
import { Opcode } from '../../wire/index.js';
import { assertCompleted, assertRefused, Pair, pattern, Puppet } from './pair.js';
import { ahAttrTo } from './qp.js';

/** SQD: protocol/reliable.md 2.9. */

const SQD = { qpState: QpState.SQD, enSqdAsyncNotify: 1 } as const;
const RTS = { qpState: QpState.RTS } as const;

function ack(puppet: Puppet, psn: number): void {
  puppet.say({ opcode: Opcode.RC_ACKNOWLEDGE, psn, aeth: { syndrome: 0x1f, msn: 0 } });
}

describe('a QP in SQD', () => {
  it('finishes what was started, then raises SQ_DRAINED once', () => {
    const puppet = new Puppet({ timeout: 0 });
    const mr = puppet.host1.mr(8);
    const wrIds = [puppet.qp.send(mr), puppet.qp.send(mr)];
    puppet.turn();
    puppet.qp.modify(SQD);
    puppet.turn();
    ack(puppet, 0x1000);
    assert.deepEqual(puppet.host1.eventsOf(puppet.qp), []);
    assert.equal(puppet.host1.nic.control.queryQp(puppet.qp.qpn).sqDraining, 1);
    ack(puppet, 0x1001);
    assertCompleted(puppet.qp.sent(), wrIds);
    assert.deepEqual(puppet.host1.eventsOf(puppet.qp), [EventType.SQ_DRAINED]);
    assert.equal(puppet.host1.nic.control.queryQp(puppet.qp.qpn).sqDraining, 0);
    puppet.drive({ untilUs: 1e6 });
    assert.deepEqual(puppet.host1.eventsOf(puppet.qp), [EventType.SQ_DRAINED]);
  });

  it('that had nothing to finish raises SQ_DRAINED at once', () => {
    const puppet = new Puppet();
    puppet.qp.modify(SQD);
    puppet.drive();
    assert.deepEqual(puppet.host1.eventsOf(puppet.qp), [EventType.SQ_DRAINED]);
  });

  it('raises nothing when it was not asked to', () => {
    const puppet = new Puppet();
    puppet.qp.modify({ qpState: QpState.SQD });
    puppet.drive();
    assert.deepEqual(puppet.host1.eventsOf(puppet.qp), []);
  });

  it('starts no new message until it is back in RTS', () => {
    const puppet = new Puppet({ timeout: 0 });
    puppet.qp.modify(SQD);
    puppet.qp.send(puppet.host1.mr(8));
    puppet.drive({ untilUs: 1e6 });
    assert.deepEqual(puppet.heard(), []);
    puppet.qp.modify(RTS);
    puppet.turn();
    assert.deepEqual(
      puppet.heard().map(({ psn }) => psn),
      [0x1000],
    );
  });

  it('sends the rest of a message that was started', () => {
    const pair = new Pair();
    const { a } = pair.connect({ both: { pathMtu: 1 } });
    const [local, remote] = [pair.a.mrOf(pattern(256 * 500)), pair.b.mr(256 * 500)];
    const first = a.write(local, remote);
    const second = a.write(local, remote);
    pair.turn();
    assert.ok(pair.fromA().length < 500);
    a.modify(SQD);
    pair.drive();
    assertCompleted(a.sent(), [first]);
    assert.deepEqual(remote.bytes, local.bytes);
    assert.deepEqual(pair.a.eventsOf(a), [EventType.SQ_DRAINED]);
    a.modify(RTS);
    pair.drive();
    assertCompleted(a.sent(), [second]);
  });

  it('retransmits what was lost', () => {
    const puppet = new Puppet({ timeout: 5 });
    puppet.qp.send(puppet.host1.mr(8));
    puppet.turn();
    puppet.qp.modify(SQD);
    puppet.drive({ until: () => puppet.wire.length > 1 });
    assert.deepEqual(
      puppet.heard().map(({ psn }) => psn),
      [0x1000, 0x1000],
    );
  });

  it('cannot go back to RTS while it drains', () => {
    const puppet = new Puppet({ timeout: 0 });
    puppet.qp.send(puppet.host1.mr(8));
    puppet.turn();
    puppet.qp.modify(SQD);
    assertRefused('EINVAL', () => puppet.qp.modify(RTS));
    ack(puppet, 0x1000);
    puppet.qp.modify(RTS);
    assert.equal(puppet.qp.state, QpState.RTS);
  });

  it('still executes and answers the peer’s requests', () => {
    const pair = new Pair();
    const { a, b } = pair.connect();
    b.modify(SQD);
    const received = b.postRecv();
    const [local, remote] = [pair.a.mr(8), pair.b.mrOf(pattern(8))];
    const wrIds = [a.read(local, remote), a.post({ opcode: 2 })];
    pair.drive();
    assertCompleted(a.sent(), wrIds);
    assertCompleted(b.received(), [received]);
    assert.deepEqual(local.bytes, pattern(8));
  });

  it('can be given another path, other timers and other depths', () => {
    const puppet = new Puppet({ timeout: 0 });
    const other = puppet.network.attach('10.0.0.77');
    puppet.qp.modify(SQD);
    puppet.turn();
    puppet.qp.modify({
      qpState: QpState.SQD,
      ahAttr: ahAttrTo(other.gid),
      timeout: 17,
      retryCnt: 3,
      rnrRetry: 2,
      maxRdAtomic: 1,
      maxDestRdAtomic: 2,
      minRnrTimer: 5,
    });
    puppet.qp.modify(RTS);
    puppet.qp.send(puppet.host1.mr(8));
    puppet.turn();
    assert.equal(puppet.heard()[0].to, '10.0.0.77');
    const attr = puppet.host1.nic.control.queryQp(puppet.qp.qpn);
    assert.deepEqual(
      [attr.timeout, attr.retryCnt, attr.rnrRetry, attr.maxRdAtomic, attr.maxDestRdAtomic, attr.minRnrTimer],
      [17, 3, 2, 1, 2, 5],
    );
  });

  it('may be entered again and raises SQ_DRAINED again', () => {
    const puppet = new Puppet();
    for (let i = 0; i < 3; i += 1) {
      puppet.qp.modify(SQD);
      puppet.turn();
      puppet.qp.modify(RTS);
    }
    assert.equal(puppet.host1.eventsOf(puppet.qp).length, 3);
  });
});
