import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CmEventType, PortSpace, RejectReason } from '../../ibta/index.js';
import { CmAttribute } from '../../wire/index.js';
import { dreq, guidInfo, mra, rej, rep, req, rtu } from './support/messages.js';
import { RawPeer } from './support/network.js';
import { ask, connected, deviceAndRawPeer, PORT, twoDevices } from './support/two-devices.js';
import { NOTHING_HELD } from './support/cm-device.js';

const { CONNECT_REQUEST, CONNECT_RESPONSE, DISCONNECTED, REJECTED } = CmEventType;

/** An identifier in some state, with a raw peer at the other end, and what was said until then. */
function begun(state: (of: ReturnType<typeof deviceAndRawPeer>) => number) {
  const of = deviceAndRawPeer();
  const id = state(of);
  of.b.take();
  return { ...of, id, before: of.network.log.length };
}

type Haunted = ReturnType<typeof deviceAndRawPeer>;
const reqSent = ({ network, b, rawPeer }: Haunted): number => {
  const { id } = b.connect(rawPeer, PORT);
  network.settle();
  return id;
};
const mraReqRcvd = (of: Haunted): number => {
  const id = reqSent(of);
  of.rawPeer.say(of.b, mra({ remoteCommId: of.rawPeer.heard(CmAttribute.REQ).localCommId }, 0, 20));
  return id;
};
const reqRcvd = ({ b, rawPeer }: Haunted): number => {
  rawPeer.say(b, req({ from: rawPeer, to: b }));
  return b.takeOnly(CONNECT_REQUEST).id;
};
const repSent = (of: Haunted): number => {
  const id = reqRcvd(of);
  of.b.accept(id, { qp: of.b.qp({ qpNum: 0x42 }) });
  of.network.settle();
  return id;
};
const commIdOf = ({ rawPeer }: Haunted): number => rawPeer.heard(CmAttribute.REP).localCommId;
const mraRepRcvd = (of: Haunted): number => {
  const id = repSent(of);
  of.rawPeer.say(of.b, mra({ remoteCommId: commIdOf(of) }, 1, 20));
  return id;
};
const repRcvd = (of: Haunted): number => {
  const { id } = of.b.connect(of.rawPeer, PORT, { qp: of.b.qp({ managed: false }) });
  of.network.settle();
  of.rawPeer.say(of.b, rep({ remoteCommId: of.rawPeer.heard(CmAttribute.REQ).localCommId }));
  of.b.takeOnly(CONNECT_RESPONSE);
  return id;
};
const established = (of: Haunted): number => {
  const id = repSent(of);
  of.rawPeer.say(of.b, rtu({ remoteCommId: commIdOf(of) }));
  return id;
};
const dreqRcvd = (of: Haunted): number => {
  const id = established(of);
  of.rawPeer.say(of.b, dreq({ remoteCommId: commIdOf(of) }, 0x42));
  return id;
};
const dreqSent = (of: Haunted): number => {
  const id = established(of);
  of.b.disconnect(id);
  of.network.settle();
  return id;
};
const timewait = (of: Haunted): number => {
  const id = dreqRcvd(of);
  of.b.disconnect(id);
  of.network.settle();
  return id;
};

const cases = [
  { state: 'REQ_SENT', begin: reqSent, says: 'b REJ', reason: RejectReason.TIMEOUT },
  { state: 'MRA_REQ_RCVD', begin: mraReqRcvd, says: 'b REJ', reason: RejectReason.TIMEOUT },
  { state: 'REQ_RCVD', begin: reqRcvd, says: 'b REJ', reason: RejectReason.CONSUMER_DEFINED },
  { state: 'REP_SENT', begin: repSent, says: 'b REJ', reason: RejectReason.CONSUMER_DEFINED },
  { state: 'MRA_REP_RCVD', begin: mraRepRcvd, says: 'b REJ', reason: RejectReason.CONSUMER_DEFINED },
  { state: 'REP_RCVD', begin: repRcvd, says: 'b REJ', reason: RejectReason.CONSUMER_DEFINED },
  { state: 'ESTABLISHED', begin: established, says: 'b DREQ', reason: undefined },
  { state: 'DREQ_RCVD', begin: dreqRcvd, says: 'b DREP', reason: undefined },
  { state: 'DREQ_SENT', begin: dreqSent, says: '', reason: undefined },
  { state: 'TIMEWAIT', begin: timewait, says: '', reason: undefined },
] as const;

describe('destroying an identifier', () => {
  for (const { state, begin, says, reason } of cases) {
    test(`in ${state} says ${says === '' ? 'nothing' : says.slice(2)}`, () => {
      const { network, b, rawPeer, id, before } = begun(begin);
      b.destroy(id);
      network.settle();
      assert.equal(network.story(before), says);
      if (reason !== undefined) assert.equal(rawPeer.heard(CmAttribute.REJ).reason, reason);
    });

    test(`in ${state} leaves nothing behind once time has passed, and tells the program nothing more`, () => {
      const { network, b, listenId, id } = begun(begin);
      b.destroy(id);
      network.passAll();
      assert.equal(b.takeNames(), '');
      b.destroy(listenId);
      assert.deepEqual(b.holdings, NOTHING_HELD);
    });
  }

  for (const { state, begin } of cases.filter((one) => one.state.startsWith('MRA_REQ') || one.state === 'REQ_SENT'))
    test(`in ${state} says by our GUID who it was that gave up`, () => {
      const { network, b, rawPeer, id } = begun(begin);
      b.destroy(id);
      network.settle();
      const { additionalInfo, rejectedInfoLength, localCommId, remoteCommId } = rawPeer.heard(CmAttribute.REJ);
      assert.equal(rejectedInfoLength, 8);
      assert.deepEqual(additionalInfo.subarray(0, 8), guidInfo(b.nodeGuid).additionalInfo);
      assert.deepEqual([localCommId, remoteCommId], [rawPeer.heard(CmAttribute.REQ).localCommId, 0]);
    });

  test('ends what waits for its answer, though the DREQ is lost, without the program', () => {
    const { network, b, rawPeer, id, before } = begun(established);
    b.destroy(id);
    network.pass(5_000_000);
    assert.equal(network.story(before), 'b DREQ, b DREQ');
    const { transactionId, localCommId, remoteCommId } = rawPeer.heard(CmAttribute.DREQ);
    const names = { transactionId, localCommId: remoteCommId, remoteCommId: localCommId };
    rawPeer.say(b, { ...names, attribute: CmAttribute.DREP, privateData: new Uint8Array(0) });
    network.passAll();
    assert.deepEqual([b.holdings.connections, b.holdings.timers, b.takeNames()], [0, 0, '']);
  });

  test('takes its events back that were not taken', () => {
    const { b, rawPeer } = deviceAndRawPeer();
    rawPeer.say(b, req({ from: rawPeer, to: b }));
    const { id } = b.takeOnly(CONNECT_REQUEST);
    b.accept(id);
    b.manager.heard(0x100);
    b.destroy(id);
    assert.equal(b.takeNames(), '');
  });

  test('twice is refused', () => {
    const { b, listenId } = deviceAndRawPeer();
    b.destroy(listenId);
    assert.throws(() => b.destroy(listenId), { errno: 'EINVAL' });
  });

  test('of a question for a datagram queue pair asks no more', () => {
    const { network, b, rawPeer } = deviceAndRawPeer();
    const { id } = b.connect(rawPeer, PORT, { portSpace: PortSpace.UDP });
    b.destroy(id);
    network.passAll();
    assert.deepEqual([network.story(), b.holdings.timers], ['b SIDR_REQ', 0]);
  });
});

describe('destroying a listener', () => {
  test('refuses the requests that the program has not heard of', () => {
    const { network, b, rawPeer, listenId } = deviceAndRawPeer();
    rawPeer.say(b, req({ from: rawPeer, to: b }));
    b.destroy(listenId);
    network.settle();
    assert.equal(rawPeer.heard(CmAttribute.REJ).reason, RejectReason.CONSUMER_DEFINED);
    assert.equal(b.takeNames(), '');
    assert.deepEqual(b.holdings, NOTHING_HELD);
  });

  test('leaves those to the program that it has heard of', () => {
    const s = twoDevices();
    const { childId } = ask(s);
    s.b.destroy(s.listenId);
    s.b.accept(childId);
    s.network.settle();
    assert.equal(s.a.takeNames(), 'ESTABLISHED');
  });

  test('leaves connections alone, and gives the port back', () => {
    const s = twoDevices();
    connected(s);
    s.b.destroy(s.listenId);
    s.network.passAll();
    assert.equal(s.network.story(3), '');
    s.b.listen(PORT);
  });
});

describe('a REJ with reason 4', () => {
  test('finds the passive side by GUID and name of the peer, which never learnt ours', () => {
    const s = twoDevices();
    const { active, childId } = ask(s);
    s.a.destroy(active.id);
    s.network.settle();
    const event = s.b.takeOnly(REJECTED);
    assert.deepEqual([event.id, event.status], [childId, RejectReason.TIMEOUT]);
  });

  test('from another address, or with another GUID, ends nothing', () => {
    const { network, b, rawPeer } = deviceAndRawPeer();
    rawPeer.say(b, req({ from: rawPeer, to: b }));
    b.takeOnly(CONNECT_REQUEST);
    const timeout = { ...rej({ remoteCommId: 0 }), reason: RejectReason.TIMEOUT };
    new RawPeer(network, '10.0.0.10').say(b, { ...timeout, ...guidInfo(0xfeed_f00d_0000_0001n) });
    rawPeer.say(b, { ...timeout, ...guidInfo(1n) });
    assert.equal(b.takeNames(), '');
    rawPeer.say(b, { ...timeout, ...guidInfo(0xfeed_f00d_0000_0001n) });
    assert.equal(b.takeNames(), 'REJECTED');
  });

  test('that names us is for us, even without a GUID', () => {
    const { network, b, rawPeer } = deviceAndRawPeer();
    rawPeer.say(b, req({ from: rawPeer, to: b }));
    b.accept(b.takeOnly(CONNECT_REQUEST).id);
    network.settle();
    const { localCommId } = rawPeer.heard(CmAttribute.REP);
    rawPeer.say(b, rej({ remoteCommId: localCommId }, { reason: RejectReason.TIMEOUT }));
    assert.equal(b.takeNames(), 'REJECTED');
  });
});

test('closing tells every peer, and leaves nothing behind', () => {
  const s = twoDevices();
  connected(s);
  s.a.connect(s.b, PORT);
  s.network.settle();
  s.a.manager.close();
  s.b.manager.close();
  s.network.passAll();
  assert.deepEqual([s.a.holdings, s.b.holdings], [NOTHING_HELD, NOTHING_HELD]);
  assert.match(s.network.story(3), /DREQ/);
});

test('a device that is lost tells every identifier so, and nothing more comes', () => {
  const s = twoDevices();
  const { active } = connected(s);
  const { id } = s.a.connect(s.b, PORT);
  s.a.manager.fail();
  const told = s.a.take();
  assert.deepEqual(told.map((event) => event.id).sort(), [active.id, id].sort());
  assert.ok(told.every(({ type }) => type === CmEventType.DEVICE_REMOVAL));
  s.network.script = () => 'drop';
  s.network.passAll();
  assert.equal(s.a.takeNames(), '');
  for (const event of told) s.a.destroy(event.id);
  s.network.passAll();
  assert.deepEqual(s.a.holdings, NOTHING_HELD);
});

test('DISCONNECTED is said once, whatever comes after it', () => {
  const { network, b, id } = begun(dreqRcvd);
  b.destroy(id);
  network.passAll();
  assert.equal(b.take().filter(({ type }) => type === DISCONNECTED).length, 0);
});
