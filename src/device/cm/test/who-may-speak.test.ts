import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CmEventType } from '../../ibta/index.js';
import { CmAttribute, type CmMessage, encodeCmMessage } from '../../wire/index.js';
import { dreq, GHOST_COMM_ID, GHOST_QPN, mra, rej, rep, req, rtu } from './support/messages.js';
import { RawPeer } from './support/network.js';
import { deviceAndRawPeer, PORT } from './support/two-devices.js';

const { CONNECT_REQUEST, ESTABLISHED } = CmEventType;

/** A connection that waits for its RTU, and one that waits for its REP, with the peer and somebody else. */
function waiting() {
  const { network, b, rawPeer } = deviceAndRawPeer();
  const stranger = new RawPeer(network, '10.0.0.66', 'stranger');
  rawPeer.say(b, req({ from: rawPeer, to: b }));
  const { qpNum } = b.accept(b.takeOnly(CONNECT_REQUEST).id);
  const { qp } = b.connect(rawPeer, PORT);
  network.settle();
  const passive = rawPeer.heard(CmAttribute.REP).localCommId;
  const active = rawPeer.heard(CmAttribute.REQ).localCommId;
  return { network, b, rawPeer, stranger, passive, active, qpNum, activeQpNum: qp.qpNum, before: network.log.length };
}

type Waiting = ReturnType<typeof waiting>;
const messages: readonly (readonly [string, (of: Waiting) => CmMessage])[] = [
  ['RTU', ({ passive }) => rtu({ remoteCommId: passive })],
  ['REJ', ({ passive }) => rej({ remoteCommId: passive })],
  ['MRA', ({ passive }) => mra({ remoteCommId: passive }, 1, 31)],
  ['DREQ', ({ passive, qpNum }) => dreq({ remoteCommId: passive }, qpNum)],
  ['REP', ({ active }) => rep({ localCommId: GHOST_COMM_ID + 7, remoteCommId: active }, { localQpn: GHOST_QPN + 7 })],
  ['REJ of the request', ({ active }) => rej({ localCommId: 0, remoteCommId: active }, { messageRejected: 0 })],
];

describe('a message about a connection', () => {
  for (const [name, make] of messages) {
    test(`from another address than the peer’s is dropped and counted: ${name}`, () => {
      const of = waiting();
      of.stranger.say(of.b, make(of));
      of.network.settle();
      assert.deepEqual([of.b.takeNames(), of.network.story(of.before)], ['', '']);
      assert.equal(of.b.manager.counters.rxDropped, 1);
    });

    test(`from the peer is not: ${name}`, () => {
      const of = waiting();
      of.rawPeer.say(of.b, make(of));
      assert.equal(of.b.manager.counters.rxDropped, 0);
    });
  }

  test('from the peer’s address that calls it by another name is dropped', () => {
    const of = waiting();
    of.rawPeer.say(of.b, rtu({ localCommId: 1, remoteCommId: of.passive }));
    of.rawPeer.say(of.b, rej({ localCommId: 1, remoteCommId: of.passive }));
    assert.deepEqual([of.b.takeNames(), of.b.manager.counters.rxDropped], ['', 2]);
  });

  test('cannot be answered by a REP from somebody else, and the peer’s still counts', () => {
    const of = waiting();
    const answer = messages[4][1](of);
    of.stranger.say(of.b, answer);
    of.rawPeer.say(of.b, answer);
    assert.equal(of.b.takeNames(), 'ESTABLISHED');
  });
});

describe('a message to a name that nobody has', () => {
  for (const [name, message] of [
    ['REP', rep({ remoteCommId: 77 })],
    ['RTU', rtu({ remoteCommId: 77 })],
    ['REJ', rej({ remoteCommId: 77 })],
    ['MRA', mra({ remoteCommId: 77 }, 0, 20)],
  ] as const)
    test(`is dropped, counted and not answered: ${name}`, () => {
      const { network, b, rawPeer } = deviceAndRawPeer();
      rawPeer.say(b, message);
      network.settle();
      assert.deepEqual([b.manager.counters.rxDropped, network.log.length, b.takeNames()], [1, 0, '']);
    });

  test('that loads an alternate path is told that there are none', () => {
    const { network, b, rawPeer } = deviceAndRawPeer();
    const { primaryPath } = req({ from: rawPeer, to: b });
    const names = { transactionId: 3n, localCommId: 4, remoteCommId: 5 };
    const rest = { remoteQpn: 0, remoteCmResponseTimeout: 0, alternatePath: primaryPath };
    rawPeer.say(b, { ...names, attribute: CmAttribute.LAP, ...rest, privateData: new Uint8Array(0) });
    network.settle();
    const { status, localCommId, remoteCommId } = rawPeer.heard(CmAttribute.APR);
    assert.deepEqual([status, localCommId, remoteCommId], [2, 5, 4]);
  });
});

describe('a datagram that is not a message of the connection manager', () => {
  const good = (of: ReturnType<typeof deviceAndRawPeer>): Uint8Array =>
    encodeCmMessage(req({ from: of.rawPeer, to: of.b }));

  for (const [what, change] of [
    ['another base version', (mad: Uint8Array) => mad.fill(2, 0, 1)],
    ['another class', (mad: Uint8Array) => mad.fill(3, 1, 2)],
    ['another class version', (mad: Uint8Array) => mad.fill(1, 2, 3)],
    ['the method Get', (mad: Uint8Array) => mad.fill(1, 3, 4)],
    ['the attribute ClassPortInfo', (mad: Uint8Array) => mad.fill(1, 17, 18)],
    ['an attribute that is none', (mad: Uint8Array) => mad.fill(0xff, 16, 18)],
    ['255 bytes', (mad: Uint8Array) => mad.subarray(0, 255)],
    ['no bytes', () => new Uint8Array(0)],
  ] as const)
    test(`is dropped, counted and not answered: ${what}`, () => {
      const of = deviceAndRawPeer();
      const { network, b, rawPeer } = of;
      b.receive({ mad: change(good(of)), source: rawPeer.gid, destination: b.gid, trafficClass: 0 });
      network.settle();
      assert.deepEqual([b.takeNames(), network.log.length], ['', 0]);
      const { rxMalformed, rxDropped } = b.manager.counters;
      assert.deepEqual([rxMalformed, rxDropped], [1, 0]);
    });

  test('does not matter to what comes after it', () => {
    const of = deviceAndRawPeer();
    of.rawPeer.say(of.b, req({ from: of.rawPeer, to: of.b }));
    assert.equal(of.b.takeNames(), 'CONNECT_REQUEST');
  });
});

test('a peer that answers from nowhere, a group, or itself as us, breaks nothing', () => {
  const { network, b } = deviceAndRawPeer();
  for (const address of ['0.0.0.0', '224.0.0.1', '255.255.255.255', '10.0.0.2', '127.0.0.1', '::', 'ff02::1']) {
    const odd = new RawPeer(network, address, address);
    odd.say(b, req({ from: odd, to: b }, { privateData: req({ from: b, to: b }).privateData }));
    odd.say(b, dreq({ remoteCommId: 1 }, 2));
    odd.say(b, rtu({ remoteCommId: 1 }));
  }
  network.settle();
  assert.ok(b.take().every(({ type }) => type === CONNECT_REQUEST));
});

test('counters are named as Linux names them', () => {
  const of = waiting();
  of.rawPeer.say(of.b, rtu({ remoteCommId: of.passive }));
  of.b.takeOnly(ESTABLISHED);
  const counters = of.b.manager.counters.snapshot();
  assert.deepEqual(
    ['cm_rx_msgs_req', 'cm_tx_msgs_rep', 'cm_rx_msgs_rtu', 'cm_tx_msgs_req', 'cm_tx_retries_req'].map(
      (name) => counters[name],
    ),
    [1, 1, 1, 1, 0],
  );
  assert.equal(Object.values(counters).every(Number.isInteger), true);
});
