import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Mtu } from '../../ibta/index.js';
import { assertCompleted, type Captured, Pair, pattern } from './pair.js';

function exchange(pair: Pair): void {
  const { a, b } = pair.connect({ both: { pathMtu: Mtu.MTU_256 } });
  const [local, remote, back] = [pair.a.mrOf(pattern(1500)), pair.b.mr(1500), pair.a.mr(1500)];
  const received = b.recv(pair.b.mr(1500));
  const wrIds = [a.write(local, remote), a.send(local), a.read(back, remote), a.fetchAdd(back, remote, 0n)];
  pair.drive();
  assertCompleted(a.sent(), wrIds);
  assertCompleted(b.received(), [received]);
  assert.deepEqual(remote.bytes, pattern(1500));
}

describe('all operations work', () => {
  it('over IPv6', () => exchange(new Pair({ ipv6: true })));

  it('over IPv4 whose identification is hidden and counts up within a burst', () =>
    exchange(new Pair({ network: { hideIpId: true } })));

  it('from a QP to another one of the same host', () => {
    const pair = new Pair();
    const [one, two] = [pair.a.qp(), pair.a.qp()];
    one.toRts(two.peer, { sqPsn: 1, rqPsn: 2 });
    two.toRts(one.peer, { sqPsn: 2, rqPsn: 1 });
    const [local, remote] = [pair.a.mrOf(pattern(3000)), pair.a.mr(3000)];
    const received = two.recv(pair.a.mr(3000));
    const wrIds = [one.write(local, remote), one.send(local)];
    pair.drive();
    assertCompleted(one.sent(), wrIds);
    assertCompleted(two.received(), [received]);
    assert.deepEqual(remote.bytes, pattern(3000));
  });

  it('from a QP to itself', () => {
    const pair = new Pair();
    const qp = pair.a.qp();
    qp.toRts(qp.peer, { sqPsn: 9, rqPsn: 9 });
    const [local, remote] = [pair.a.mrOf(pattern(3000)), pair.a.mr(3000)];
    const received = qp.recv(pair.a.mr(3000));
    const wrIds = [qp.write(local, remote), qp.send(local)];
    pair.drive();
    assertCompleted(qp.sent(), wrIds);
    assertCompleted(qp.received(), [received]);
    assert.deepEqual(remote.bytes, pattern(3000));
  });
});

describe('QPs of one host', () => {
  it('share the wire fairly: a long message does not hold up a short one', () => {
    const pair = new Pair({ network: { conditions: { bandwidthBytesPerUs: 100 } } });
    const [long, short] = [pair.connect().a, pair.connect().a];
    const [local, remote] = [pair.a.mr(2_000_000), pair.b.mr(2_000_000)];
    long.write(local, remote);
    const wrId = short.write(local, remote, { sgList: [local.sge(0, 64)] });
    pair.drive({ until: () => short.sendCq.queued > 0 });
    assertCompleted(short.sent(), [wrId]);
    assert.equal(long.sendCq.queued, 0);
    pair.drive();
    assert.equal(long.sendCq.queued, 1);
  });

  it('fail alone', () => {
    const pair = new Pair();
    const [bad, good] = [pair.connect(), pair.connect()];
    const [local, remote] = [pair.a.mr(500), pair.b.mr(500)];
    bad.a.write(local, remote, { rkey: 0 });
    const wrIds = [good.a.write(local, remote), good.a.read(local, remote)];
    pair.drive();
    assertCompleted(good.a.sent(), wrIds);
  });

  it('by the hundred are all served', () => {
    const pair = new Pair({ network: { capture: false } });
    const queues = Array.from({ length: 200 }, () => pair.connect({ both: { pathMtu: Mtu.MTU_256 } }));
    const local = pair.a.mrOf(pattern(1000));
    const remote = pair.b.mr(1000);
    const wrIds = queues.map(({ a }) => a.write(local, remote));
    pair.drive();
    queues.forEach(({ a }, i) => assertCompleted(a.sent(), [wrIds[i]]));
  });
});

describe('the same seed and the same posts', () => {
  it('give the same packets at the same times', () => {
    const run = (): string[] => {
      const pair = new Pair({ network: { seed: 5, conditions: { loss: 0.1, reordering: 0.1, jitterUs: 3 } } });
      const { a, b } = pair.connect({ both: { pathMtu: Mtu.MTU_256, timeout: 6 } });
      const [local, remote] = [pair.a.mrOf(pattern(5000)), pair.b.mr(5000)];
      b.recv(remote);
      a.write(local, remote);
      a.send(local);
      a.read(local, remote);
      pair.drive();
      return pair.wire.map((packet: Captured) => `${packet.toString()} ${Buffer.from(packet.bytes).toString('hex')}`);
    };
    assert.deepEqual(run(), run());
  });
});
