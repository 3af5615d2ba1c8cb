import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CmEventType } from '../../ibta/index.js';
import { CmAttribute } from '../../wire/index.js';
import { dreq, GHOST_COMM_ID, GHOST_QPN, rej, rep, req, rtu } from './support/messages.js';
import { ask, connected, deviceAndRawPeer, PORT, twoDevices, type TwoDevices } from './support/two-devices.js';

const { CONNECT_REQUEST, ESTABLISHED, DISCONNECTED, TIMEWAIT_EXIT, REJECTED } = CmEventType;
/** T(17), which is the ACK timeout of two of ours: 2^9 ms. */
const TIMEWAIT_US = 512_000;

function haunted() {
  const { network, b, rawPeer } = deviceAndRawPeer();
  rawPeer.say(b, req({ from: rawPeer, to: b }));
  const { id } = b.takeOnly(CONNECT_REQUEST);
  const { qpNum } = b.accept(id);
  network.settle();
  const { localCommId } = rawPeer.heard(CmAttribute.REP);
  rawPeer.say(b, rtu({ remoteCommId: localCommId }));
  b.takeOnly(ESTABLISHED);
  return { network, b, rawPeer, id, qpNum, commId: localCommId, before: network.log.length };
}

describe('parting', () => {
  test('goes by DREQ, and DREP once the other program parts as well', () => {
    const s = twoDevices();
    const { active, passive } = connected(s);
    s.a.disconnect(active.id);
    s.network.settle();
    assert.equal(s.network.story(3), 'a DREQ');
    s.b.takeOnly(DISCONNECTED);
    assert.equal(s.a.takeNames(), '');
    s.b.disconnect(passive.id);
    s.network.settle();
    assert.equal(s.network.story(3), 'a DREQ, b DREP');
    s.a.takeOnly(DISCONNECTED);
  });

  test('moves the queue pair to ERR before the DREQ, and the other at its own disconnect', () => {
    const s = twoDevices();
    const { active, passive } = connected(s);
    s.a.disconnect(active.id);
    s.network.settle();
    assert.deepEqual([s.a.statesOf(active.qp), s.b.statesOf(passive.qp)], ['RTR RTS ERR', 'RTR RTS']);
    s.b.disconnect(passive.id);
    assert.equal(s.b.statesOf(passive.qp), 'RTR RTS ERR');
  });

  test('names the peer’s queue pair in the DREQ', () => {
    const { network, b, rawPeer, id, commId } = haunted();
    b.disconnect(id);
    network.settle();
    const { remoteQpn, localCommId, remoteCommId } = rawPeer.heard(CmAttribute.DREQ);
    assert.deepEqual([remoteQpn, localCommId, remoteCommId], [GHOST_QPN, commId, GHOST_COMM_ID]);
  });

  test('is a transaction of its own', () => {
    const { network, b, rawPeer } = deviceAndRawPeer();
    const { id } = b.connect(rawPeer, PORT);
    network.settle();
    const { transactionId, localCommId } = rawPeer.heard(CmAttribute.REQ);
    rawPeer.say(b, rep({ remoteCommId: localCommId }));
    b.disconnect(id);
    network.settle();
    assert.equal(rawPeer.heard(CmAttribute.RTU).transactionId, transactionId);
    assert.notEqual(rawPeer.heard(CmAttribute.DREQ).transactionId, transactionId);
  });

  test('echoes the transaction of the DREQ in the DREP', () => {
    const { network, b, rawPeer, id, qpNum, commId } = haunted();
    rawPeer.say(b, { ...dreq({ remoteCommId: commId }, qpNum), transactionId: 4711n });
    b.disconnect(id);
    network.settle();
    const { transactionId, localCommId, remoteCommId } = rawPeer.heard(CmAttribute.DREP);
    assert.deepEqual([transactionId, localCommId, remoteCommId], [4711n, commId, GHOST_COMM_ID]);
  });

  test('twice is no error, and says no more', () => {
    const s = twoDevices();
    const { active } = connected(s);
    s.a.disconnect(active.id);
    s.a.disconnect(active.id);
    s.network.settle();
    assert.equal(s.network.story(3), 'a DREQ');
  });

  test('of a connection that has ended does nothing to the next one of its queue pair', () => {
    const s = twoDevices();
    const { active, passive } = connected(s);
    s.a.disconnect(active.id);
    s.network.settle();
    s.b.disconnect(passive.id);
    s.network.passAll();
    s.a.take();
    s.b.take();
    s.a.connect(s.b, PORT, { qp: active.qp });
    s.network.settle();
    s.b.accept(s.b.takeOnly(CONNECT_REQUEST).id);
    s.network.settle();
    s.a.takeOnly(ESTABLISHED);
    s.a.disconnect(active.id);
    assert.equal(s.a.statesOf(active.qp), 'RTR RTS ERR RTR RTS');
  });

  test('crosswise: both are told once, and nobody waits', () => {
    const s = twoDevices();
    const { active, passive } = connected(s);
    s.a.disconnect(active.id);
    s.b.disconnect(passive.id);
    s.network.settle();
    assert.deepEqual([s.a.takeNames(), s.b.takeNames()], ['DISCONNECTED', 'DISCONNECTED']);
    s.network.passAll();
    assert.deepEqual([s.a.takeNames(), s.b.takeNames()], ['TIMEWAIT_EXIT', 'TIMEWAIT_EXIT']);
    assert.equal(s.network.log.filter(({ message }) => message.attribute === CmAttribute.DREQ).length, 2);
  });

  test('from a peer whose NIC is gone is not waited for, as if the kernel had said it for a process that was killed', () => {
    const s = twoDevices();
    s.network.way = 3;
    const { active, passive } = connected(s);
    for (const { device, id, qp } of [
      { device: s.a, ...active },
      { device: s.b, ...passive },
    ]) {
      device.manager.gone(4);
      s.network.pass(1_000_000);
      assert.equal(device.takeNames(), '');
      device.manager.gone(3);
      assert.equal(device.takeNames(), '', 'what is in flight fails first');
      s.network.pass(300_000);
      device.takeOnly(DISCONNECTED);
      assert.equal(device.statesOf(qp), 'RTR RTS');
      device.disconnect(id);
      assert.equal(device.statesOf(qp), 'RTR RTS ERR');
      s.network.passAll();
      assert.equal(device.takeNames(), 'TIMEWAIT_EXIT');
    }
    assert.equal(s.network.story(3), 'a DREP, b DREP');
  });

  test('from a peer whose packets have come by a way that is gone is not waited for', () => {
    const s = twoDevices();
    const { active } = connected(s);
    s.a.wayOf = (qpNum) => (qpNum === active.qp.qpNum ? 5 : 0);
    s.a.manager.gone(5);
    s.network.pass(300_000);
    s.a.takeOnly(DISCONNECTED);
  });

  test('is told once, where a peer says so and its NIC is gone', () => {
    const s = twoDevices();
    s.network.way = 3;
    const { active } = connected(s);
    s.b.manager.close();
    s.network.settle();
    s.a.manager.gone(3);
    s.network.pass(1_000_000);
    s.a.takeOnly(DISCONNECTED);
    s.a.disconnect(active.id);
    s.network.passAll();
    assert.equal(s.a.takeNames(), 'TIMEWAIT_EXIT');
  });

  test('before the RTU has come is a rejection', () => {
    const s = twoDevices();
    const { childId } = ask(s);
    s.network.script = ({ message }) => (message.attribute === CmAttribute.RTU ? 'drop' : 'pass');
    s.b.accept(childId);
    s.network.settle();
    s.a.takeOnly(ESTABLISHED);
    s.b.disconnect(childId);
    s.network.settle();
    assert.equal(s.a.takeOnly(REJECTED).status, 28);
  });

  for (const [what, begin] of [
    ['before the peer has answered', (s: TwoDevices) => s.a.connect(s.b, PORT)],
    ['before the program has', (s: TwoDevices) => ({ id: ask(s).childId })],
  ] as const)
    test(`${what} is refused`, () => {
      const s = twoDevices();
      const { id } = begin(s);
      const cmDevice = s.a.manager.identifiers.get(id)?.conversation === undefined ? s.b : s.a;
      assert.throws(() => cmDevice.disconnect(id), { errno: 'EINVAL' });
    });

  test('is refused for an identifier without a connection', () => {
    const { b, listenId } = deviceAndRawPeer();
    assert.throws(() => b.disconnect(listenId), { errno: 'EINVAL' });
    assert.throws(() => b.disconnect(b.newId()), { errno: 'EINVAL' });
    assert.throws(() => b.disconnect(999), { errno: 'EINVAL' });
  });
});

describe('a DREQ', () => {
  test('to a name that nobody has is answered by DREP', () => {
    const { network, b, rawPeer } = deviceAndRawPeer();
    rawPeer.say(b, dreq({ localCommId: 5, remoteCommId: 6 }, 7));
    network.settle();
    const { localCommId, remoteCommId } = rawPeer.heard(CmAttribute.DREP);
    assert.deepEqual([localCommId, remoteCommId, b.takeNames()], [6, 5, '']);
  });

  test('with another queue pair than ours is dropped', () => {
    const { network, b, rawPeer, qpNum, commId, before } = haunted();
    rawPeer.say(b, dreq({ remoteCommId: commId }, qpNum + 1));
    network.settle();
    assert.deepEqual([network.story(before), b.takeNames(), b.manager.counters.rxDropped], ['', '', 1]);
  });

  test('with another queue pair than ours is dropped while we part ourselves', () => {
    const { network, b, rawPeer, id, qpNum, commId, before } = haunted();
    b.disconnect(id);
    rawPeer.say(b, dreq({ remoteCommId: commId }, qpNum + 1));
    network.settle();
    assert.deepEqual([network.story(before), b.takeNames()], ['b DREQ', '']);
  });

  test('that comes again before the program has parted is a duplicate', () => {
    const { network, b, rawPeer, qpNum, commId, before } = haunted();
    for (let i = 0; i < 2; i += 1) rawPeer.say(b, dreq({ remoteCommId: commId }, qpNum));
    network.settle();
    assert.deepEqual([b.takeNames(), network.story(before)], ['DISCONNECTED', '']);
    assert.equal(b.manager.counters.snapshot()['cm_rx_duplicates_dreq'], 1);
  });

  test('that comes again in timewait is answered by DREP again', () => {
    const { network, b, rawPeer, id, qpNum, commId, before } = haunted();
    rawPeer.say(b, dreq({ remoteCommId: commId }, qpNum));
    b.disconnect(id);
    rawPeer.say(b, { ...dreq({ remoteCommId: commId }, qpNum), transactionId: 99n });
    network.settle();
    assert.equal(network.story(before), 'b DREP, b DREP');
    assert.equal(rawPeer.heard(CmAttribute.DREP).transactionId, 99n);
    assert.equal(b.takeNames(), 'DISCONNECTED');
  });

  test('before the RTU says that the peer parts', () => {
    const { network, b, rawPeer } = deviceAndRawPeer();
    rawPeer.say(b, req({ from: rawPeer, to: b }));
    const { qpNum } = b.accept(b.takeOnly(CONNECT_REQUEST).id);
    network.settle();
    rawPeer.say(b, dreq({ remoteCommId: rawPeer.heard(CmAttribute.REP).localCommId }, qpNum));
    network.passAll();
    assert.deepEqual([network.story(), b.takeNames()], ['b REP', 'DISCONNECTED']);
  });

  test('to whoever still asks is answered by DREP: the peer knows a connection that is none yet', () => {
    const { network, b, rawPeer } = deviceAndRawPeer();
    const { qp } = b.connect(rawPeer, PORT);
    network.settle();
    rawPeer.say(b, dreq({ remoteCommId: rawPeer.heard(CmAttribute.REQ).localCommId }, qp.qpNum));
    network.settle();
    assert.equal(network.story(), 'b REQ, b DREP');
  });
});

describe('timewait', () => {
  test('lasts T(ACK timeout) on both sides, and ends with TIMEWAIT_EXIT', () => {
    const s = twoDevices();
    const { active, passive } = connected(s);
    s.a.disconnect(active.id);
    s.network.settle();
    s.b.disconnect(passive.id);
    const from = s.network.nowUs;
    s.network.settle();
    s.a.take();
    s.b.take();
    s.network.pass(from + TIMEWAIT_US - 1 - s.network.nowUs);
    assert.equal(s.b.takeNames(), '');
    s.network.pass(1);
    assert.equal(s.b.takeOnly(TIMEWAIT_EXIT).id, passive.id);
    s.network.pass(100);
    assert.equal(s.a.takeOnly(TIMEWAIT_EXIT).id, active.id);
  });

  test('of the passive side is what the REQ says that the ACK timeout is', () => {
    const { network, b, rawPeer } = deviceAndRawPeer();
    const { primaryPath } = req({ from: rawPeer, to: b });
    rawPeer.say(b, req({ from: rawPeer, to: b }, { primaryPath: { ...primaryPath, localAckTimeout: 14 } }));
    const { id } = b.takeOnly(CONNECT_REQUEST);
    const { qpNum } = b.accept(id);
    network.settle();
    rawPeer.say(b, dreq({ remoteCommId: rawPeer.heard(CmAttribute.REP).localCommId }, qpNum));
    b.disconnect(id);
    b.take();
    network.pass(63_999);
    assert.equal(b.takeNames(), '');
    network.pass(1);
    assert.equal(b.takeNames(), 'TIMEWAIT_EXIT');
  });

  test('leaves nothing behind but the identifier', () => {
    const s = twoDevices();
    const { active } = connected(s);
    s.a.disconnect(active.id);
    s.network.settle();
    s.network.passAll();
    assert.deepEqual(s.a.holdings, { identifiers: 1, connections: 0, timers: 0 });
  });

  test('of a peer that says it needs hours is cut short', () => {
    const { network, b, rawPeer } = deviceAndRawPeer();
    const { primaryPath } = req({ from: rawPeer, to: b });
    rawPeer.say(b, req({ from: rawPeer, to: b }, { primaryPath: { ...primaryPath, localAckTimeout: 31 } }));
    const { id } = b.takeOnly(CONNECT_REQUEST);
    b.accept(id);
    network.settle();
    const { localCommId } = rawPeer.heard(CmAttribute.REP);
    rawPeer.say(b, rtu({ remoteCommId: localCommId }));
    b.disconnect(id);
    b.destroy(id);
    network.pass(15 * 60_000_000);
    assert.deepEqual([b.holdings.connections, b.holdings.timers], [0, 0]);
  });
});

describe('a REJ in a connection', () => {
  test('that is there ends it, and its queue pair fails', () => {
    const { network, b, rawPeer } = deviceAndRawPeer();
    const { id, qp } = b.connect(rawPeer, PORT);
    network.settle();
    const { localCommId } = rawPeer.heard(CmAttribute.REQ);
    rawPeer.say(b, rep({ remoteCommId: localCommId }));
    b.takeOnly(ESTABLISHED);
    rawPeer.say(b, rej({ remoteCommId: localCommId }, { reason: 28 }));
    const event = b.takeOnly(REJECTED);
    assert.deepEqual([event.id, event.status, b.statesOf(qp)], [id, 28, 'RTR RTS ERR']);
    network.pass(TIMEWAIT_US);
    assert.equal(b.takeNames(), 'TIMEWAIT_EXIT');
  });

  test('that is parted from is nobody’s affair', () => {
    const { b, rawPeer, id, commId } = haunted();
    b.disconnect(id);
    rawPeer.say(b, rej({ remoteCommId: commId }));
    assert.deepEqual([b.takeNames(), b.manager.counters.rxDropped], ['', 1]);
  });
});
