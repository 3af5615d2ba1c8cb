import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CmEventType, PortSpace, RejectReason, SidrStatus } from '../../ibta/index.js';
import { SeededRandom } from '../../link/simulated/index.js';
import { CmAttribute } from '../../wire/index.js';
import { guidInfo, req, rtu } from './support/messages.js';
import type { TestNetwork } from './support/network.js';
import { connected, deviceAndRawPeer, PORT, twoDevices } from './support/two-devices.js';

const { CONNECT_REQUEST, ESTABLISHED, UNREACHABLE, DISCONNECTED, TIMEWAIT_EXIT } = CmEventType;
/** T(16) is 256 ms, T(20) is 4096 ms: twice the one, and the other. */
const REQUEST_INTERVAL_US = 2 * 256_000 + 4_096_000;
const RETRIES = 15;

/** When each of the messages of a kind was sent. */
function timesOf(network: TestNetwork, attribute: CmAttribute): number[] {
  return network.log.filter(({ message }) => message.attribute === attribute).map(({ atUs }) => atUs);
}

/** `count` times, so far apart, from `first` on. */
function every(intervalUs: number, count: number, firstUs: number): number[] {
  return Array.from({ length: count }, (_, i) => firstUs + i * intervalUs);
}

describe('a request to an address of this machine', () => {
  for (const [portSpace, event, status] of [
    [PortSpace.TCP, CmEventType.REJECTED, RejectReason.INVALID_SERVICE_ID],
    [PortSpace.UDP, CmEventType.UNREACHABLE, SidrStatus.UNSUPPORTED],
  ] as const) {
    const asked = () => {
      const s = twoDevices();
      if (portSpace === PortSpace.UDP) s.b.listen(PORT, { portSpace });
      s.a.isVacant = () => true;
      s.network.script = () => 'drop';
      const { id } = s.a.connect(s.b, PORT, { portSpace });
      return { ...s, id };
    };

    test(`where no device is fails within a second in port space ${portSpace}`, () => {
      const { network, a, id } = asked();
      network.pass(700_000);
      assert.equal(a.takeNames(), '');
      network.pass(300_000);
      const { type, status: told, isAbsent, ...others } = a.takeOnly(event);
      assert.deepEqual([type, told, isAbsent, others.id], [event, status, true, id]);
      assert.deepEqual(a.holdings, { identifiers: 1, connections: 0, timers: 0 });
    });

    test(`gets in where the device comes meanwhile in port space ${portSpace}`, () => {
      const { network, a, b } = asked();
      network.pass(450_000);
      a.isVacant = () => false;
      network.script = () => 'pass';
      network.pass(100_000);
      assert.equal(b.takeNames(), 'CONNECT_REQUEST');
      assert.equal(a.takeNames(), '');
    });

    test(`fails at its next repeat when the device goes in port space ${portSpace}`, () => {
      const { network, a } = asked();
      a.isVacant = () => false;
      network.pass(200_000);
      a.isVacant = () => true;
      network.pass(6_000_000);
      a.takeOnly(event);
    });

    test(`fails within a second when a device goes, and it was that one, in port space ${portSpace}`, () => {
      const { network, a } = asked();
      a.isVacant = () => false;
      network.pass(200_000);
      a.manager.gone(7);
      network.pass(1_000_000);
      assert.equal(a.takeNames(), '', 'it was another');
      a.isVacant = () => true;
      a.manager.gone(8);
      network.pass(1_000_000);
      a.takeOnly(event);
    });

    test(`is taken back while no device is there in port space ${portSpace}`, () => {
      const { network, a, id } = asked();
      network.pass(250_000);
      a.destroy(id);
      network.passAll();
      assert.deepEqual([a.takeNames(), a.holdings], ['', { identifiers: 0, connections: 0, timers: 0 }]);
    });
  }
});

describe('a REQ that nobody answers', () => {
  const unanswered = () => {
    const { network, b, rawPeer, listenId } = deviceAndRawPeer();
    const { id } = b.connect(rawPeer, PORT);
    network.passAll();
    return { network, b, rawPeer, listenId, id };
  };

  test('is sent 16 times, 2·T(packet lifetime) + T(response timeout) apart', () => {
    const { network } = unanswered();
    assert.deepEqual(timesOf(network, CmAttribute.REQ), every(REQUEST_INTERVAL_US, 1 + RETRIES, 0));
  });

  test('is always the same', () => {
    const { rawPeer } = unanswered();
    const requests = rawPeer.inbox.filter(({ attribute }) => attribute === CmAttribute.REQ);
    for (const request of requests) assert.deepEqual(request, requests[0]);
  });

  test('is counted as one message and 15 repeats', () => {
    const counters = unanswered().b.manager.counters.snapshot();
    assert.deepEqual([counters['cm_tx_msgs_req'], counters['cm_tx_retries_req']], [1, RETRIES]);
  });

  test('ends in UNREACHABLE with ETIMEDOUT, an interval after the last', () => {
    const { network, b, id } = unanswered();
    const event = b.takeOnly(UNREACHABLE);
    assert.deepEqual([event.id, event.status], [id, -110]);
    assert.equal(timesOf(network, CmAttribute.REJ)[0], 16 * REQUEST_INTERVAL_US);
  });

  test('is taken back by REJ 4 with our GUID', () => {
    const { network, b, rawPeer } = unanswered();
    network.settle();
    const { reason, additionalInfo } = rawPeer.heard(CmAttribute.REJ);
    assert.equal(reason, RejectReason.TIMEOUT);
    assert.deepEqual(additionalInfo.subarray(0, 8), guidInfo(b.nodeGuid).additionalInfo);
  });

  test('leaves nothing behind but the identifier', () => {
    const { b, listenId } = unanswered();
    b.destroy(listenId);
    assert.deepEqual(b.holdings, { identifiers: 1, connections: 0, timers: 0 });
  });
});

test('the option ACK_TIMEOUT sets the packet lifetime that the interval counts with', () => {
  const { network, b, rawPeer } = deviceAndRawPeer();
  b.connect(rawPeer, PORT, { ackTimeout: 20 });
  network.pass(6_000_000);
  // T(19) is 2048 ms.
  assert.deepEqual(timesOf(network, CmAttribute.REQ), [0]);
  network.pass(2 * 2_048_000 + 4_096_000 - 6_000_000);
  assert.equal(timesOf(network, CmAttribute.REQ).length, 2);
});

test('a REQ that is lost connects at its first repeat', () => {
  const s = twoDevices();
  s.network.script = ({ atUs }) => (atUs === 0 ? 'drop' : 'pass');
  s.a.connect(s.b, PORT);
  s.network.pass(REQUEST_INTERVAL_US + 1000);
  s.b.accept(s.b.takeOnly(CONNECT_REQUEST).id);
  s.network.settle();
  assert.equal(s.a.takeNames(), 'ESTABLISHED');
});

describe('a REP that nobody answers', () => {
  const unanswered = (localCmResponseTimeout: number, maxCmRetries: number) => {
    const { network, b, rawPeer } = deviceAndRawPeer();
    rawPeer.say(b, req({ from: rawPeer, to: b }, { localCmResponseTimeout, maxCmRetries }));
    const { id } = b.takeOnly(CONNECT_REQUEST);
    const qp = b.accept(id);
    network.passAll();
    return { network, b, rawPeer, id, qp };
  };

  test('is sent again after T(local CM response timeout) of the REQ, max CM retries of the REQ times', () => {
    const { network } = unanswered(17, 3);
    assert.deepEqual(timesOf(network, CmAttribute.REP), every(512_000, 4, 0));
  });

  test('is sent once when the REQ allows no retries', () => {
    assert.deepEqual(timesOf(unanswered(20, 0).network, CmAttribute.REP), [0]);
  });

  test('at a response timeout below a millisecond waits a millisecond', () => {
    assert.deepEqual(timesOf(unanswered(0, 2).network, CmAttribute.REP), every(1000, 3, 0));
  });

  test('ends in UNREACHABLE, a rejection, and a queue pair in ERR', () => {
    const { network, b, rawPeer, id, qp } = unanswered(17, 3);
    const event = b.takeOnly(UNREACHABLE);
    assert.deepEqual([event.id, event.status, b.statesOf(qp)], [id, -110, 'RTR RTS ERR']);
    network.settle();
    assert.equal(rawPeer.heard(CmAttribute.REJ).reason, RejectReason.TIMEOUT);
    assert.equal(b.holdings.connections, 0);
  });
});

describe('a DREQ that nobody answers', () => {
  test('is sent 16 times as a REQ is, and then counts as answered, late', () => {
    const s = twoDevices();
    const { active } = connected(s);
    s.network.script = () => 'drop';
    const since = s.network.nowUs;
    s.a.disconnect(active.id);
    s.network.pass(16 * REQUEST_INTERVAL_US);
    assert.deepEqual(timesOf(s.network, CmAttribute.DREQ), every(REQUEST_INTERVAL_US, 1 + RETRIES, since));
    const event = s.a.takeOnly(DISCONNECTED);
    assert.deepEqual([event.id, event.status], [active.id, -110]);
    s.network.passAll();
    s.a.takeOnly(TIMEWAIT_EXIT);
  });

  test('from the passive side waits as long as the REQ says that its sender takes', () => {
    const { network, b, rawPeer } = deviceAndRawPeer();
    rawPeer.say(b, req({ from: rawPeer, to: b }, { localCmResponseTimeout: 17, maxCmRetries: 2 }));
    const { id } = b.takeOnly(CONNECT_REQUEST);
    b.accept(id);
    network.settle();
    rawPeer.say(b, rtu({ remoteCommId: rawPeer.heard(CmAttribute.REP).localCommId }));
    b.takeOnly(ESTABLISHED);
    const since = network.nowUs;
    b.disconnect(id);
    network.passAll();
    assert.deepEqual(timesOf(network, CmAttribute.DREQ), every(2 * 256_000 + 512_000, 3, since));
  });
});

describe('a SIDR_REQ that nobody answers', () => {
  const unanswered = () => {
    const { network, b, rawPeer } = deviceAndRawPeer();
    const { id } = b.connect(rawPeer, PORT, { portSpace: PortSpace.UDP });
    network.passAll();
    return { network, b, id };
  };

  test('is sent 16 times, T(response timeout) apart', () => {
    assert.deepEqual(timesOf(unanswered().network, CmAttribute.SIDR_REQ), every(4_096_000, 1 + RETRIES, 0));
  });

  test('ends in UNREACHABLE with ETIMEDOUT', () => {
    const { b, id } = unanswered();
    const event = b.takeOnly(UNREACHABLE);
    assert.deepEqual([event.id, event.status, b.holdings.timers], [id, -110, 0]);
  });
});

describe('once it is answered', () => {
  test('nothing is sent again', () => {
    const s = twoDevices();
    connected(s);
    s.network.pass(100_000_000);
    assert.equal(s.network.story(), 'a REQ, b REP, a RTU');
    assert.deepEqual([s.a.timers.nextUs, s.b.timers.nextUs], [Infinity, Infinity]);
  });
});

test('a wire that loses half of what is sent delays a connection and its end, and no more', () => {
  const s = twoDevices();
  const { u32 } = new SeededRandom(7);
  s.network.script = () => ((u32() & 1) === 1 ? 'drop' : 'pass');
  const { id } = s.a.connect(s.b, PORT);
  const untilEvent = (cmDevice: typeof s.a): number => {
    for (let i = 0; i < 100; i += 1) {
      const events = cmDevice.take();
      if (events.length > 0) return events[0].id;
      s.network.pass(1_000_000);
    }
    return assert.fail('nothing ever came of it');
  };
  const childId = untilEvent(s.b);
  s.b.accept(childId);
  assert.equal(untilEvent(s.a), id);
  assert.equal(untilEvent(s.b), childId);
  s.a.disconnect(id);
  assert.equal(untilEvent(s.b), childId);
  s.b.disconnect(childId);
  assert.equal(untilEvent(s.a), id);
  s.network.passAll();
  assert.deepEqual([s.a.holdings.connections, s.b.holdings.connections], [0, 0]);
});
