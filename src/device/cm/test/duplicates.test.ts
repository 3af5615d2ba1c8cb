import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CmEventType, QpState, RejectReason } from '../../ibta/index.js';
import { CmAttribute } from '../../wire/index.js';
import { dreq, GHOST_COMM_ID, GHOST_QPN, mra, rej, rep, req, rtu } from './support/messages.js';
import { RawPeer, type TestNetwork } from './support/network.js';
import { ask, connected, deviceAndRawPeer, PORT, twoDevices } from './support/two-devices.js';
import type { CmDevice } from './support/cm-device.js';

const { CONNECT_REQUEST, CONNECT_RESPONSE, ESTABLISHED, DISCONNECTED } = CmEventType;

interface Passive {
  readonly network: TestNetwork;
  readonly b: CmDevice;
  readonly rawPeer: RawPeer;
  readonly id: number;
  readonly qpNum: number;
  /** What the passive side calls the connection. */
  readonly commId: number;
}

/** A connection whose active side is a raw peer, once accepted. */
function accepted(): Passive {
  const { network, b, rawPeer } = deviceAndRawPeer();
  rawPeer.say(b, req({ from: rawPeer, to: b }));
  const { id } = b.takeOnly(CONNECT_REQUEST);
  const { qpNum } = b.accept(id);
  network.settle();
  return { network, b, rawPeer, id, qpNum, commId: rawPeer.heard(CmAttribute.REP).localCommId };
}

function established(): Passive {
  const of = accepted();
  of.rawPeer.say(of.b, rtu({ remoteCommId: of.commId }));
  of.b.takeOnly(ESTABLISHED);
  return of;
}

/** What a passive side says to a REQ that comes again. */
function saidToRepeat({ network, b, rawPeer }: Pick<Passive, 'network' | 'b' | 'rawPeer'>): string {
  const before = network.log.length;
  rawPeer.say(b, req({ from: rawPeer, to: b }));
  network.settle();
  assert.equal(b.takeNames(), '', 'the program hears of a request once');
  assert.equal(b.manager.counters.snapshot()['cm_rx_duplicates_req'], 1);
  return network.story(before);
}

describe('a REQ that comes again', () => {
  test('while the program thinks is answered by MRA', () => {
    const of = deviceAndRawPeer();
    of.rawPeer.say(of.b, req({ from: of.rawPeer, to: of.b }));
    of.b.takeOnly(CONNECT_REQUEST);
    assert.equal(saidToRepeat(of), 'b MRA');
    const { messageMraed, serviceTimeout, remoteCommId } = of.rawPeer.heard(CmAttribute.MRA);
    assert.deepEqual([messageMraed, serviceTimeout, remoteCommId], [0, 24, GHOST_COMM_ID]);
  });

  test('after the REP is ignored, since that has a timer of its own', () => {
    assert.equal(saidToRepeat(accepted()), '');
  });

  test('to one that was asked for patience with its REP is ignored', () => {
    const of = accepted();
    of.rawPeer.say(of.b, mra({ remoteCommId: of.commId }, 1, 20));
    assert.equal(saidToRepeat(of), '');
  });

  test('when the connection is there is ignored', () => {
    assert.equal(saidToRepeat(established()), '');
  });

  test('when both part is ignored', () => {
    const of = established();
    of.b.disconnect(of.id);
    of.network.settle();
    assert.equal(saidToRepeat(of), '');
  });

  test('when the peer parts is ignored', () => {
    const of = established();
    of.rawPeer.say(of.b, dreq({ remoteCommId: of.commId }, of.qpNum));
    of.b.takeOnly(DISCONNECTED);
    assert.equal(saidToRepeat(of), '');
  });

  test('in timewait is refused with reason 10', () => {
    const of = established();
    of.rawPeer.say(of.b, dreq({ remoteCommId: of.commId }, of.qpNum));
    of.b.takeOnly(DISCONNECTED);
    of.b.disconnect(of.id);
    of.network.settle();
    assert.equal(saidToRepeat(of), 'b REJ');
    const { reason, messageRejected, remoteCommId } = of.rawPeer.heard(CmAttribute.REJ);
    assert.deepEqual([reason, messageRejected, remoteCommId], [RejectReason.STALE_CONN, 0, GHOST_COMM_ID]);
  });

  test('from another address is another request', () => {
    const { network, b, rawPeer } = deviceAndRawPeer();
    const other = new RawPeer(network, '10.0.0.10');
    for (const one of [rawPeer, other]) one.say(b, req({ from: one, to: b }));
    assert.equal(b.takeNames(), 'CONNECT_REQUEST CONNECT_REQUEST');
  });
});

describe('an MRA', () => {
  test('is sent in answer to repeats only', () => {
    const s = twoDevices();
    s.a.connect(s.b, PORT);
    s.network.pass(1_000_000);
    assert.equal(s.network.story(), 'a REQ');
  });

  test('of the passive side has the asker wait, and the answer still counts', () => {
    const s = twoDevices();
    const { childId } = ask(s);
    s.network.pass(5_000_000);
    assert.equal(s.network.story(), 'a REQ, a REQ, b MRA');
    s.network.pass(60_000_000);
    assert.equal(s.network.story(), 'a REQ, a REQ, b MRA');
    s.b.accept(childId);
    s.network.settle();
    assert.equal(s.a.takeNames(), 'ESTABLISHED');
  });

  test('holds the next repeat up by its service timeout and the time of a packet, and no other', () => {
    const { network, b, rawPeer } = deviceAndRawPeer();
    b.connect(rawPeer, PORT);
    network.settle();
    const { localCommId } = rawPeer.heard(CmAttribute.REQ);
    rawPeer.say(b, mra({ remoteCommId: localCommId }, 0, 21));
    const since = network.nowUs;
    network.pass(20_000_000);
    const times = network.log.slice(1).map(({ atUs }) => atUs - since);
    assert.deepEqual(times, [8_448_000, 8_448_000 + 4_608_000, 8_448_000 + 2 * 4_608_000]);
  });

  test('counts once for each time that a message was sent, so that nobody waits for ever', () => {
    const { network, b, rawPeer } = deviceAndRawPeer();
    b.connect(rawPeer, PORT);
    network.settle();
    const patience = mra({ remoteCommId: rawPeer.heard(CmAttribute.REQ).localCommId }, 0, 20);
    const since = network.nowUs;
    for (let i = 0; i < 4; i += 1) {
      rawPeer.say(b, patience);
      network.pass(1_000_000);
    }
    network.pass(400_000);
    assert.deepEqual(
      network.log.map(({ atUs }) => atUs - since),
      [-since, 4_352_000],
    );
    rawPeer.say(b, patience);
    network.pass(4_700_000);
    assert.equal(network.log.length, 3);
  });

  test('cannot hold up a request beyond its last repeat', () => {
    const { network, b, rawPeer } = deviceAndRawPeer();
    b.connect(rawPeer, PORT);
    network.script = ({ message }) => {
      if (message.attribute === CmAttribute.REQ) rawPeer.say(b, mra({ remoteCommId: message.localCommId }, 0, 20));
      return 'pass';
    };
    network.passAll();
    assert.equal(b.takeNames(), 'UNREACHABLE');
  });

  test('about another message than the one that waits holds nothing up', () => {
    const { network, b, rawPeer } = deviceAndRawPeer();
    b.connect(rawPeer, PORT);
    network.settle();
    rawPeer.say(b, mra({ remoteCommId: rawPeer.heard(CmAttribute.REQ).localCommId }, 1, 24));
    network.pass(4_700_000);
    assert.equal(network.story(), 'b REQ, b REQ');
  });

  test('holds a REP up as well', () => {
    const of = accepted();
    of.rawPeer.say(of.b, mra({ remoteCommId: of.commId }, 1, 22));
    of.network.pass(16_000_000);
    assert.equal(of.network.story(), 'b REP');
    of.network.pass(1_000_000);
    assert.equal(of.network.story(), 'b REP, b REP');
  });

  test('does nothing to a connection that is there', () => {
    const of = established();
    of.rawPeer.say(of.b, mra({ remoteCommId: of.commId }, 1, 22));
    assert.equal(of.b.manager.counters.rxDropped, 1);
    assert.equal(of.b.timers.nextUs, Infinity);
  });
});

describe('a REP that comes again', () => {
  test('is answered by RTU again', () => {
    const s = twoDevices();
    s.network.script = ({ message }) => (message.attribute === CmAttribute.RTU ? 'drop' : 'pass');
    const { childId } = ask(s);
    s.b.accept(childId);
    s.network.settle();
    s.a.takeOnly(ESTABLISHED);
    assert.equal(s.b.takeNames(), '');
    s.network.script = () => 'pass';
    s.network.pass(5_000_000);
    assert.equal(s.network.story(), 'a REQ, b REP, a RTU, b REP, a RTU');
    assert.deepEqual([s.a.takeNames(), s.b.takeNames()], ['', 'ESTABLISHED']);
    assert.equal(s.a.manager.counters.snapshot()['cm_rx_duplicates_rep'], 1);
  });

  test('is answered by MRA while the program has not said that it is ready', () => {
    const { network, b, rawPeer } = deviceAndRawPeer();
    b.connect(rawPeer, PORT, { qp: b.qp({ managed: false }) });
    network.settle();
    const names = { remoteCommId: rawPeer.heard(CmAttribute.REQ).localCommId };
    rawPeer.say(b, rep(names));
    b.takeOnly(CONNECT_RESPONSE);
    rawPeer.say(b, rep(names));
    network.settle();
    assert.deepEqual([network.story(), b.takeNames()], ['b REQ, b MRA', '']);
    assert.equal(rawPeer.heard(CmAttribute.MRA).messageMraed, 1);
  });
});

describe('a lost RTU', () => {
  const withoutRtu = () => {
    const of = accepted();
    return { ...of, before: of.network.log.length };
  };

  test('does not matter once the peer’s first packet was heard', () => {
    const { b, id, qpNum, network } = withoutRtu();
    b.manager.heard(qpNum);
    assert.equal(b.takeOnly(ESTABLISHED).id, id);
    network.passAll();
    assert.equal(network.story(), 'b REP');
  });

  test('does not matter once the program says that it heard the peer', () => {
    const { b, id } = withoutRtu();
    b.commands.cmNotify(id);
    assert.equal(b.takeOnly(ESTABLISHED).id, id);
    assert.throws(() => b.commands.cmNotify(id), { errno: 'EISCONN' });
  });

  test('that comes late after all is a duplicate', () => {
    const { b, rawPeer, id, commId } = withoutRtu();
    b.commands.cmNotify(id);
    b.take();
    rawPeer.say(b, rtu({ remoteCommId: commId }));
    assert.equal(b.takeNames(), '');
    assert.equal(b.manager.counters.snapshot()['cm_rx_duplicates_rtu'], 1);
  });

  test('of a queue pair that nobody connects is nobody’s affair', () => {
    const { b } = withoutRtu();
    b.manager.heard(0x999999);
    assert.equal(b.takeNames(), '');
  });

  test('is no reason to say twice that the connection is there', () => {
    const of = established();
    of.b.manager.heard(of.qpNum);
    assert.equal(of.b.takeNames(), '');
  });
});

describe('a late message of an earlier exchange', () => {
  test('REJ to the REQ, overtaken by the REP, ends nothing', () => {
    const { network, b, rawPeer } = deviceAndRawPeer();
    b.connect(rawPeer, PORT);
    network.settle();
    const { localCommId } = rawPeer.heard(CmAttribute.REQ);
    rawPeer.say(b, rep({ remoteCommId: localCommId }));
    b.takeOnly(ESTABLISHED);
    rawPeer.say(b, rej({ localCommId: 0, remoteCommId: localCommId }, { messageRejected: 0, reason: 8 }));
    assert.equal(b.takeNames(), '');
  });
});

test('a connection that was moved to RTS is moved no more by what is repeated', () => {
  const s = twoDevices();
  const { passive } = connected(s);
  const [{ message }] = s.network.log;
  assert.equal(message.attribute, CmAttribute.REQ);
  s.b.manager.heard(passive.qp.qpNum);
  assert.equal(s.b.statesOf(passive.qp), 'RTR RTS');
  assert.equal(s.b.moveTo(passive.qp, QpState.RTR).destQpNum === GHOST_QPN, false);
});
