import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CmEventType, PrivateDataBytes, RejectReason } from '../../ibta/index.js';
import { CmAttribute } from '../../wire/index.js';
import { rej, req } from './support/messages.js';
import { ask, connected, deviceAndRawPeer, PORT, twoDevices } from './support/two-devices.js';

const { CONNECT_REQUEST, CONNECT_RESPONSE, REJECTED } = CmEventType;
const NO = Buffer.from('no, thank you');

function padded(bytes: Uint8Array, length: number): Uint8Array {
  const result = new Uint8Array(length);
  result.set(bytes);
  return result;
}

describe('a program that rejects a request', () => {
  test('has the peer told so, with its private data, padded to 148 bytes', () => {
    const s = twoDevices();
    const { active, childId } = ask(s);
    s.b.commands.cmReject({ id: childId, privateData: NO });
    s.network.settle();
    const event = s.a.takeOnly(REJECTED);
    assert.deepEqual([event.id, event.status], [active.id, RejectReason.CONSUMER_DEFINED]);
    assert.deepEqual(event.privateData, padded(NO, PrivateDataBytes.REJECT));
  });

  test('says no to the REQ, by name', () => {
    const { network, b, rawPeer } = deviceAndRawPeer();
    rawPeer.say(b, req({ from: rawPeer, to: b }));
    b.commands.cmReject({ id: b.takeOnly(CONNECT_REQUEST).id, privateData: NO });
    network.settle();
    const { messageRejected, localCommId } = rawPeer.heard(CmAttribute.REJ);
    assert.equal(messageRejected, 0);
    assert.notEqual(localCommId, 0);
  });

  test('may give another reason', () => {
    const s = twoDevices();
    const { childId } = ask(s);
    s.b.commands.cmReject({ id: childId, privateData: NO, reason: RejectReason.NO_RESOURCES });
    s.network.settle();
    assert.equal(s.a.takeOnly(REJECTED).status, RejectReason.NO_RESOURCES);
  });

  test('leaves nothing behind but the identifiers, on either side', () => {
    const s = twoDevices();
    const { childId } = ask(s);
    s.b.commands.cmReject({ id: childId, privateData: NO });
    s.network.settle();
    assert.deepEqual(s.a.holdings, { identifiers: 1, connections: 0, timers: 0 });
    assert.deepEqual(s.b.holdings, { identifiers: 2, connections: 0, timers: 0 });
  });

  test('cannot accept it any more, nor reject it again', () => {
    const s = twoDevices();
    const { childId } = ask(s);
    s.b.commands.cmReject({ id: childId, privateData: NO });
    assert.throws(() => s.b.accept(childId), { errno: 'EINVAL' });
    assert.throws(() => s.b.commands.cmReject({ id: childId, privateData: NO }), { errno: 'EINVAL' });
  });

  test('may be asked once more, when the REJ is lost', () => {
    const s = twoDevices();
    const { childId } = ask(s);
    s.network.script = ({ message }) => (message.attribute === CmAttribute.REJ ? 'drop' : 'pass');
    s.b.commands.cmReject({ id: childId, privateData: NO });
    s.network.pass(5_000_000);
    assert.equal(s.b.takeNames(), 'CONNECT_REQUEST');
  });
});

describe('a rejection by a peer', () => {
  for (const reason of Object.values(RejectReason))
    test(`with reason ${reason} says so to the program, and ends the request`, () => {
      const { network, b, rawPeer } = deviceAndRawPeer();
      const { id } = b.connect(rawPeer, PORT);
      network.settle();
      const names = { localCommId: 0, remoteCommId: rawPeer.heard(CmAttribute.REQ).localCommId };
      rawPeer.say(b, rej(names, { messageRejected: 0, reason }));
      const event = b.takeOnly(REJECTED);
      assert.deepEqual([event.id, event.status], [id, reason]);
      const before = network.log.length;
      network.passAll();
      assert.equal(network.story(before), '');
    });
});

describe('a program that rejects an answer', () => {
  test('has the peer told so, with its private data', () => {
    const s = twoDevices();
    const { id } = s.a.connect(s.b, PORT, { qp: s.a.qp({ managed: false }) });
    s.network.settle();
    const { id: childId } = s.b.takeOnly(CONNECT_REQUEST);
    const qp = s.b.accept(childId);
    s.network.settle();
    s.a.takeOnly(CONNECT_RESPONSE);
    s.a.commands.cmReject({ id, privateData: NO });
    s.network.settle();
    const event = s.b.takeOnly(REJECTED);
    assert.deepEqual([event.id, event.status], [childId, RejectReason.CONSUMER_DEFINED]);
    assert.deepEqual(event.privateData, padded(NO, PrivateDataBytes.REJECT));
    assert.equal(s.b.statesOf(qp), 'RTR RTS ERR');
    const last = s.network.log.at(-1)?.message;
    assert.ok(last?.attribute === CmAttribute.REJ);
    assert.equal(last.messageRejected, 1);
  });

  test('is refused before there is one, and when the connection is there', () => {
    const s = twoDevices();
    const { id } = s.a.connect(s.b, PORT);
    assert.throws(() => s.a.commands.cmReject({ id, privateData: NO }), { errno: 'EINVAL' });
    const { active } = connected(twoDevices());
    assert.throws(() => s.a.commands.cmReject({ id: active.id, privateData: NO }), { errno: 'EINVAL' });
  });
});
