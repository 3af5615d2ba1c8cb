import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CmEventType, RejectReason } from '../../ibta/index.js';
import { CmAttribute } from '../../wire/index.js';
import { GHOST_COMM_ID, GHOST_GUID, rej, rep, req, rtu } from './support/messages.js';
import { RawPeer } from './support/network.js';
import { deviceAndRawPeer, PORT } from './support/two-devices.js';
import type { CmDevice } from './support/cm-device.js';

const { CONNECT_REQUEST, ESTABLISHED, DISCONNECTED, REJECTED } = CmEventType;
const FRESH_COMM_ID = GHOST_COMM_ID + 1;

/** A connection with a raw peer, which has then forgotten it. */
function forgotten() {
  const { network, b, rawPeer } = deviceAndRawPeer();
  rawPeer.say(b, req({ from: rawPeer, to: b }));
  const { id } = b.takeOnly(CONNECT_REQUEST);
  const { qpNum } = b.accept(id);
  network.settle();
  const { localCommId } = rawPeer.heard(CmAttribute.REP);
  rawPeer.say(b, rtu({ remoteCommId: localCommId }));
  b.takeOnly(ESTABLISHED);
  return { network, b, rawPeer, id, qpNum, commId: localCommId };
}

function askAnew(b: CmDevice, rawPeer: RawPeer): void {
  rawPeer.say(b, req({ from: rawPeer, to: b }, { localCommId: FRESH_COMM_ID }));
}

describe('a REQ from a queue pair that is connected as far as we know', () => {
  test('is refused with reason 10, and the old connection is parted from', () => {
    const { network, b, rawPeer, commId } = forgotten();
    const before = network.log.length;
    askAnew(b, rawPeer);
    network.settle();
    assert.equal(network.story(before), 'b REJ, b DREQ');
    const { reason, remoteCommId } = rawPeer.heard(CmAttribute.REJ);
    assert.deepEqual([reason, remoteCommId], [RejectReason.STALE_CONN, FRESH_COMM_ID]);
    assert.equal(rawPeer.heard(CmAttribute.DREQ).localCommId, commId);
    assert.equal(b.takeNames(), '');
  });

  test('is taken once the old connection has ended', () => {
    const { network, b, rawPeer, id } = forgotten();
    askAnew(b, rawPeer);
    network.settle();
    const { transactionId, localCommId, remoteCommId } = rawPeer.heard(CmAttribute.DREQ);
    const names = { transactionId, localCommId: remoteCommId, remoteCommId: localCommId };
    rawPeer.say(b, { ...names, attribute: CmAttribute.DREP, privateData: new Uint8Array(0) });
    assert.equal(b.takeOnly(DISCONNECTED).id, id);
    askAnew(b, rawPeer);
    assert.equal(b.takeNames(), '', 'in timewait it is refused still');
    network.pass(1_000_000);
    b.take();
    askAnew(b, rawPeer);
    assert.equal(b.takeNames(), 'CONNECT_REQUEST');
  });

  test('is another’s from another address, or with another GUID', () => {
    const { network, b, rawPeer } = forgotten();
    const other = new RawPeer(network, '10.0.0.10');
    other.say(b, req({ from: other, to: b }));
    rawPeer.say(b, req({ from: rawPeer, to: b }, { localCommId: FRESH_COMM_ID, localCaGuid: GHOST_GUID + 1n }));
    assert.equal(b.takeNames(), 'CONNECT_REQUEST CONNECT_REQUEST');
  });

  test('that has not answered our own DREQ yet brings it no second one', () => {
    const { network, b, rawPeer, id } = forgotten();
    b.disconnect(id);
    network.settle();
    const before = network.log.length;
    askAnew(b, rawPeer);
    network.settle();
    assert.equal(network.story(before), 'b REJ');
  });
});

describe('a REP from a queue pair that is connected as far as we know', () => {
  const answered = () => {
    const of = forgotten();
    const { id } = of.b.connect(of.rawPeer, PORT);
    of.network.settle();
    const { localCommId } = of.rawPeer.heard(CmAttribute.REQ);
    const before = of.network.log.length;
    of.rawPeer.say(of.b, rep({ localCommId: FRESH_COMM_ID, remoteCommId: localCommId }));
    of.network.settle();
    return { ...of, before, id, asked: localCommId };
  };

  test('is refused with reason 10 about the REP, and the old connection is parted from', () => {
    const { network, rawPeer, before, asked, commId } = answered();
    assert.equal(network.story(before), 'b REJ, b DREQ');
    const { reason, messageRejected, remoteCommId, localCommId } = rawPeer.heard(CmAttribute.REJ);
    assert.deepEqual([reason, messageRejected], [RejectReason.STALE_CONN, 1]);
    assert.deepEqual([localCommId, remoteCommId], [asked, FRESH_COMM_ID]);
    assert.equal(rawPeer.heard(CmAttribute.DREQ).localCommId, commId);
  });

  test('connects nothing; the request goes on waiting', () => {
    const { b, network, before } = answered();
    assert.equal(b.takeNames(), '');
    network.pass(4_700_000);
    assert.match(network.story(before), /b REQ/);
  });
});

describe('a connection that the peer calls stale', () => {
  test('is rejected, and its queue pair waits as after a connection', () => {
    const { network, b, rawPeer } = deviceAndRawPeer();
    const { id, qp } = b.connect(rawPeer, PORT);
    network.settle();
    const { localCommId } = rawPeer.heard(CmAttribute.REQ);
    const about = { messageRejected: 0, reason: RejectReason.STALE_CONN };
    rawPeer.say(b, rej({ localCommId: 0, remoteCommId: localCommId }, about));
    const event = b.takeOnly(REJECTED);
    assert.deepEqual([event.id, event.status, b.statesOf(qp)], [id, 10, 'ERR']);
    network.pass(1_000_000);
    assert.equal(b.takeNames(), 'TIMEWAIT_EXIT');
  });
});
