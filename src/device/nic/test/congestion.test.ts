import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gidFromIp, QpState } from '../../ibta/index.js';
import type { PacketSink } from '../../wire/index.js';
import { Ecn, Opcode, type Path } from '../../wire/index.js';
import { Crowd, KIB, port, RATE, sum } from './crowd.js';
import { Pair, Puppet } from './pair.js';

/** A sink that takes every receiver for one that holds 1 MiB. */
class Trusting implements PacketSink {
  constructor(private readonly inner: PacketSink) {}

  get bytes(): Uint8Array {
    return this.inner.bytes;
  }

  get ipId(): number {
    return this.inner.ipId;
  }

  reserve(path: Path, lengthBytes: number): number {
    return this.inner.reserve(path, lengthBytes);
  }

  windowBytes(): number {
    return 1024 * KIB;
  }

  commit(): void {
    this.inner.commit();
  }
}

describe('many senders to one receiver', () => {
  it('share its bandwidth within 20 %, lose nothing, and leave none of it unused', () => {
    const crowd = new Crowd(16, { port });
    crowd.flow(60_000);
    const dropped = crowd.dropped;
    const bytes = crowd.flow(60_000);
    const fair = sum(bytes) / bytes.length;
    assert.ok(sum(bytes) > 0.9 * RATE * 60_000, `${sum(bytes)} bytes`);
    for (const one of bytes) assert.ok(Math.abs(one - fair) < 0.2 * fair, `${one} of ${fair}`);
    assert.equal(crowd.dropped, dropped);
  });

  it('keep most of it where 1 % of the packets are lost', () => {
    const crowd = new Crowd(16, { port }, { loss: 0.01 });
    crowd.flow(80_000);
    assert.ok(sum(crowd.flow(60_000)) > 0.8 * RATE * 60_000);
  });

  it('leave to a newcomer its share', () => {
    const crowd = new Crowd(2, { port });
    const [first, second] = crowd.flows;
    crowd.flows.pop();
    crowd.flow(30_000);
    crowd.flows.push(second);
    crowd.flow(60_000);
    const bytes = crowd.flow(60_000);
    assert.equal(crowd.flows[0], first);
    assert.ok(Math.min(...bytes) > 0.8 * Math.max(...bytes), bytes.join());
  });
});

describe('many READs of one reader', () => {
  it('share its bandwidth, and lose nothing', () => {
    const crowd = new Crowd(16, { port }, {}, 'read');
    const begun = sum(crowd.flow(40_000));
    const bytes = crowd.flow(80_000);
    assert.ok(begun > 0.75 * RATE * 40_000, `${begun} bytes`);
    assert.ok(sum(bytes) > 0.85 * RATE * 80_000, `${sum(bytes)} bytes`);
    assert.ok(Math.min(...bytes) > 0.5 * Math.max(...bytes), bytes.join());
    assert.equal(crowd.dropped, 0);
  });
});

describe('one reader', () => {
  it('asks for no more at a time than a short queue before it takes', () => {
    const crowd = new Crowd(1, { port: { ...port, queueLimitBytes: 60 * KIB, markAboveBytes: 20 * KIB } }, {}, 'read');
    const bytes = crowd.flow(60_000);
    assert.ok(bytes[0] > 0.85 * RATE * 60_000, `${bytes[0]} bytes`);
    assert.equal(crowd.dropped, 0);
  });
});

describe('one sender', () => {
  it('loses nothing to a slow receiver whose queue is short', () => {
    const crowd = new Crowd(1, { port: { ...port, queueLimitBytes: 100 * KIB, markAboveBytes: 30 * KIB } });
    const bytes = crowd.flow(60_000);
    assert.ok(bytes[0] > 0.9 * RATE * 60_000);
    assert.equal(crowd.dropped, 0);
  });

  it('has all of the way again after others have gone', () => {
    const crowd = new Crowd(16, { port });
    crowd.flow(40_000);
    crowd.flows.splice(1);
    crowd.flow(20_000);
    assert.ok(crowd.flow(20_000)[0] > 0.9 * RATE * 20_000);
  });

  it('hears of congestion no more than once in 50 us', () => {
    const crowd = new Crowd(1, { port: { ...port, markAboveBytes: 0 } });
    crowd.flow(10_000);
    const { npCnpSent, npEcnMarkedRocePackets } = crowd.receiver.nic.counters;
    assert.ok(npEcnMarkedRocePackets > 1000, String(npEcnMarkedRocePackets));
    assert.ok(npCnpSent > 10 && npCnpSent <= 10_000 / 50, String(npCnpSent));
    assert.equal(crowd.flows[0].host.nic.counters.rpCnpHandled, npCnpSent);
  });
});

describe('senders that take the receiver for one with a large buffer', () => {
  // What a socket of an ordinary process holds, and when its link marks.
  const small = { port: { ...port, queueLimitBytes: 416 * KIB, markAboveBytes: 312 * KIB } };
  const trusting = (inner: PacketSink): PacketSink => new Trusting(inner);

  it('have all of its bandwidth, share it, and lose nothing once they have found out', () => {
    for (const senders of [1, 2, 4]) {
      const crowd = new Crowd(senders, small, {}, 'writeLarge', trusting);
      crowd.flow(60_000);
      const dropped = crowd.dropped;
      const bytes = crowd.flow(60_000);
      assert.ok(sum(bytes) > 0.9 * RATE * 60_000, `${senders}: ${sum(bytes)} bytes`);
      assert.ok(Math.min(...bytes) >= 0.5 * Math.max(...bytes), `${senders}: ${bytes.join()}`);
      assert.equal(crowd.dropped, dropped);
    }
  });
});

describe('a congestion notification', () => {
  const payload = new Uint8Array(16);
  const notification = { opcode: Opcode.CNP, psn: 0, payload, becn: true };

  it('is taken from the peer', () => {
    const puppet = new Puppet();
    puppet.say(notification);
    assert.equal(puppet.host1.nic.counters.rpCnpHandled, 1);
  });

  it('does nothing when it comes from somebody else', () => {
    const puppet = new Puppet();
    puppet.network.attach('10.0.0.8');
    puppet.say(notification, '10.0.0.8');
    const { rpCnpHandled, rxWrongPeer } = puppet.host1.nic.counters;
    assert.deepEqual([rpCnpHandled, rxWrongPeer], [0, 1]);
  });

  it('does nothing when its queue pair is gone', () => {
    const puppet = new Puppet();
    puppet.host1.nic.control.destroyQp(puppet.qp.qpn);
    puppet.say(notification);
    const { rpCnpHandled, rxUnknownQp } = puppet.host1.nic.counters;
    assert.deepEqual([rpCnpHandled, rxUnknownQp], [0, 1]);
  });

  it('is ignored, and no mistake of the peer, where its answers to READs are all that is sent: in RTR', () => {
    const puppet = new Puppet();
    const { qp, host1, network, peerAddress, peerQpn } = puppet;
    qp.modify({ qpState: QpState.RESET });
    qp.toRtr({ gid: gidFromIp(peerAddress), qpn: peerQpn });
    puppet.say(notification);
    network.attach('10.0.0.8');
    puppet.say(notification, '10.0.0.8');
    const { rpCnpHandled, rpCnpIgnored, rxWrongState, rxWrongPeer } = host1.nic.counters;
    assert.deepEqual([rpCnpHandled, rpCnpIgnored, rxWrongState, rxWrongPeer], [0, 1, 0, 1]);
  });

  it('comes too late for a queue pair in ERR', () => {
    const puppet = new Puppet();
    puppet.qp.modify({ qpState: QpState.ERR });
    puppet.say(notification);
    const { rpCnpHandled, rpCnpIgnored, rxWrongState } = puppet.host1.nic.counters;
    assert.deepEqual([rpCnpHandled, rpCnpIgnored, rxWrongState], [0, 0, 1]);
  });

  it('is 32 bytes long', () => {
    const puppet = new Puppet();
    puppet.say({ ...notification, payload: new Uint8Array(20) });
    assert.equal(puppet.host1.nic.counters.rxMalformed, 1);
  });
});

describe('packets of a reliable connection', () => {
  it('say that their sender answers to marks, whatever the program put into these two bits', () => {
    const pair = new Pair();
    const classes: number[] = [];
    pair.network.onPacket = ({ header }) => {
      classes.push(header.trafficClass);
      return 'pass';
    };
    const { a } = pair.connect();
    a.write(pair.a.mr(10), pair.b.mr(10));
    pair.drive({ until: () => a.sent().length > 0 });
    assert.deepEqual(classes, [Ecn.ECT0, Ecn.ECT0]);
  });
});
