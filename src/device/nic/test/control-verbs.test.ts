import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AccessFlags, QpState, QpType } from '../../ibta/index.js';
import { compChannelShape, completionQueueShape, recvQueueShape, sendQueueShape } from '../rings/layout.js';
import { assertCompleted, assertRefused, Pair, World } from './pair.js';

const { LOCAL_WRITE, REMOTE_READ, REMOTE_WRITE, REMOTE_ATOMIC } = AccessFlags;

function host(limits: object = {}) {
  return new World().host('10.0.0.1', { limits });
}

describe('a protection domain', () => {
  it('that does not exist cannot be deallocated, nor twice', () => {
    const { nic } = host();
    assertRefused('EINVAL', () => nic.control.deallocPd(12345));
    const pd = nic.control.allocPd();
    nic.control.deallocPd(pd);
    assertRefused('EINVAL', () => nic.control.deallocPd(pd));
  });

  it('is busy while a region or a QP belongs to it', () => {
    const own = host();
    const pd = own.nic.control.allocPd();
    const mr = own.mr(8, { pd });
    assertRefused('EBUSY', () => own.nic.control.deallocPd(pd));
    own.nic.control.deregMr(mr.handle);
    const qp = own.qp({ pd });
    assertRefused('EBUSY', () => own.nic.control.deallocPd(pd));
    own.nic.control.destroyQp(qp.qpn);
    own.nic.control.deallocPd(pd);
  });

  it('is refused with ENOMEM beyond the limit', () => {
    const { nic } = host({ maxPd: 3 });
    nic.control.allocPd();
    nic.control.allocPd();
    assertRefused('ENOMEM', () => nic.control.allocPd());
  });
});

describe('a memory region', () => {
  it('with remote write or atomic access needs local write', () => {
    const own = host();
    for (const access of [REMOTE_WRITE, REMOTE_ATOMIC, REMOTE_WRITE | REMOTE_READ])
      assertRefused('EINVAL', () => own.mr(8, { access }));
    own.mr(8, { access: LOCAL_WRITE | REMOTE_WRITE });
    own.mr(8, { access: REMOTE_READ });
    own.mr(8, { access: 0 });
  });

  it('with an access flag that nobody knows is refused', () => {
    const own = host();
    for (const flag of [1 << 10, 1 << 14, 1 << 19, 1 << 30, -(2 ** 31)])
      assertRefused('EINVAL', () => own.mr(8, { access: LOCAL_WRITE | flag }));
  });

  it('may ask for optional features that the device does not have', () => {
    host().mr(8, { access: LOCAL_WRITE | AccessFlags.RELAXED_ORDERING });
  });

  it('of a protection domain that does not exist is refused', () => {
    assertRefused('EINVAL', () => host().mr(8, { pd: 999 }));
  });

  it('of no bytes is refused', () => {
    assertRefused('EINVAL', () => host().mr(0));
  });

  it('that would reach past the end of the address space is refused', () => {
    const own = host();
    assertRefused('EINVAL', () => own.mr(16, { iova: 2n ** 64n - 15n }));
    own.mr(16, { iova: 2n ** 64n - 16n });
  });

  it('is refused with ENOMEM beyond the limit', () => {
    const own = host({ maxMr: 2 });
    own.mr(8);
    own.mr(8);
    assertRefused('ENOMEM', () => own.mr(8));
  });

  it('that failed to register leaves its protection domain free', () => {
    const own = host();
    const pd = own.nic.control.allocPd();
    assert.throws(() => own.mr(8, { pd, access: REMOTE_WRITE }));
    assert.throws(() => own.mr(0, { pd }));
    own.nic.control.deallocPd(pd);
  });

  it('cannot be deregistered twice', () => {
    const own = host();
    const mr = own.mr(8);
    own.nic.control.deregMr(mr.handle);
    assertRefused('EINVAL', () => own.nic.control.deregMr(mr.handle));
  });
});

describe('a completion queue', () => {
  it('of no entries, or more than the device has, is refused', () => {
    const { nic } = host({ maxCqe: 64 });
    const memory = new SharedArrayBuffer(completionQueueShape(128).bytes);
    for (const entries of [0, -1, 65, 1.5, NaN])
      assertRefused('EINVAL', () => nic.control.createCq({ entries, memory }));
    nic.control.createCq({ entries: 64, memory });
  });

  it('of a channel that does not exist is refused', () => {
    const memory = new SharedArrayBuffer(completionQueueShape(4).bytes);
    assertRefused('EINVAL', () => host().nic.control.createCq({ entries: 4, memory, channel: 77 }));
  });

  it('is busy while a QP completes to it, on either side', () => {
    const own = host();
    const [sendCq, recvCq] = [own.cq(), own.cq()];
    const qp = own.qp({ sendCq, recvCq });
    assertRefused('EBUSY', () => own.nic.control.destroyCq(sendCq.cqn));
    assertRefused('EBUSY', () => own.nic.control.destroyCq(recvCq.cqn));
    own.nic.control.destroyQp(qp.qpn);
    own.nic.control.destroyCq(sendCq.cqn);
    own.nic.control.destroyCq(recvCq.cqn);
  });

  it('cannot be destroyed twice', () => {
    const own = host();
    const cq = own.cq();
    own.nic.control.destroyCq(cq.cqn);
    assertRefused('EINVAL', () => own.nic.control.destroyCq(cq.cqn));
  });

  it('is refused with ENOMEM beyond the limit', () => {
    const own = host({ maxCq: 1 });
    own.cq();
    assertRefused('ENOMEM', () => own.cq());
  });
});

describe('a completion channel', () => {
  it('is busy while a CQ reports to it', () => {
    const own = host();
    const channel = own.channel();
    const cq = own.cq(4, channel);
    assertRefused('EBUSY', () => own.nic.control.destroyCompChannel(channel.handle));
    own.nic.control.destroyCq(cq.cqn);
    own.nic.control.destroyCompChannel(channel.handle);
    assertRefused('EINVAL', () => own.nic.control.destroyCompChannel(channel.handle));
  });

  it('is refused with ENOMEM beyond the limit', () => {
    const { nic } = host({ maxCompChannels: 1 });
    nic.control.createCompChannel(new SharedArrayBuffer(compChannelShape().bytes));
    assertRefused('ENOMEM', () => nic.control.createCompChannel(new SharedArrayBuffer(compChannelShape().bytes)));
  });
});

describe('a queue pair', () => {
  it('with capabilities above the device’s is refused', () => {
    const own = host();
    for (const cap of [
      { maxSendWr: 32769 },
      { maxRecvWr: 32769 },
      { maxSendSge: 33 },
      { maxRecvSge: 33 },
      { maxInlineData: 513 },
      { maxSendWr: -1 },
      { maxSendWr: 0.5 },
    ])
      assertRefused('EINVAL', () => {
        const shape = { maxSendWr: 4, maxRecvWr: 4, maxSendSge: 1, maxRecvSge: 1, maxInlineData: 0 };
        const cqs = own.cq(4);
        own.nic.control.createQp({
          type: QpType.RC,
          pd: own.pd,
          sendCq: cqs.cqn,
          recvCq: cqs.cqn,
          cap: { ...shape, ...cap },
          sqSigAll: false,
          sq: new SharedArrayBuffer(sendQueueShape(4, 1, 0).bytes),
          rq: new SharedArrayBuffer(recvQueueShape(4, 1).bytes),
        });
      });
  });

  it('of the largest capabilities is made', () => {
    host().qp({ cap: { maxSendWr: 1024, maxRecvWr: 1024, maxSendSge: 32, maxRecvSge: 32, maxInlineData: 512 } });
  });

  it('without room for receives, or for sends, is made', () => {
    const own = host();
    own.qp({ cap: { maxRecvWr: 0, maxRecvSge: 0 } });
    own.qp({ cap: { maxSendWr: 0, maxSendSge: 0, maxInlineData: 0 } });
  });

  it('of a type that the device does not have is refused with EOPNOTSUPP', () => {
    const own = host();
    // IBV_QPT_DRIVER: what no program that goes by types can name.
    const driver = 0xff as QpType;
    assertRefused('EOPNOTSUPP', () => own.qp({ type: driver }));
  });

  it('with a protection domain or a CQ that does not exist is refused, and holds nothing', () => {
    const own = host();
    const cq = own.cq();
    const gone = own.cq();
    own.nic.control.destroyCq(gone.cqn);
    assertRefused('EINVAL', () => own.qp({ pd: 999, sendCq: cq, recvCq: cq }));
    assertRefused('EINVAL', () => own.qp({ sendCq: gone, recvCq: cq }));
    assertRefused('EINVAL', () => own.qp({ sendCq: cq, recvCq: gone }));
    own.nic.control.destroyCq(cq.cqn);
    own.nic.control.deallocPd(own.pd);
  });

  it('is refused with ENOMEM beyond the limit', () => {
    const own = host({ maxQp: 2 });
    own.qp();
    own.qp();
    assertRefused('ENOMEM', () => own.qp());
  });

  it('has a number of its own from 16 on, below the multicast one', () => {
    const own = host();
    const qpns = Array.from({ length: 300 }, () => own.qp().qpn);
    assert.equal(new Set(qpns).size, 300);
    assert.ok(qpns.every((qpn) => qpn >= 16 && qpn < 0xffffff));
  });

  it('that is destroyed is unknown to every verb', () => {
    const own = host();
    const qp = own.qp();
    own.nic.control.destroyQp(qp.qpn);
    assertRefused('EINVAL', () => own.nic.control.destroyQp(qp.qpn));
    assertRefused('EINVAL', () => own.nic.control.queryQp(qp.qpn));
    assertRefused('EINVAL', () => own.nic.control.modifyQp(qp.qpn, { qpState: QpState.ERR }));
  });

  it('that is destroyed at work sends no more and writes no completion', () => {
    const pair = new Pair();
    const { a, b } = pair.connect({ both: { pathMtu: 1, timeout: 5, retryCnt: 1 } });
    const target = pair.b.mr(256 * 300);
    a.write(pair.a.mr(256 * 300), target);
    a.recv(pair.a.mr(8));
    pair.run(12);
    pair.a.nic.control.destroyQp(a.qpn);
    const sent = pair.fromA().length;
    pair.drive({ untilUs: 1e7 });
    assert.equal(pair.fromA().length, sent);
    assert.deepEqual([a.sent(), a.received()], [[], []]);
    assert.equal(b.state, QpState.RTS);
  });

  it('that is destroyed leaves the others alone', () => {
    const pair = new Pair();
    const first = pair.connect();
    const second = pair.connect();
    const [local, remote] = [pair.a.mr(3000), pair.b.mr(3000)];
    first.a.write(local, remote);
    const wrId = second.a.write(local, remote);
    pair.turn();
    pair.a.nic.control.destroyQp(first.a.qpn);
    pair.b.nic.control.destroyQp(first.b.qpn);
    pair.drive();
    assertCompleted(second.a.sent(), [wrId]);
  });
});
