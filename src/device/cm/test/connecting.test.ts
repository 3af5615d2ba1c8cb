import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  AccessFlags,
  CmEventType,
  gidFromIp,
  Mtu,
  PortSpace,
  PrivateDataBytes,
  nameOf,
  QpState,
  QpType,
} from '../../ibta/index.js';
import { CmAttribute } from '../../wire/index.js';
import { GHOST_COMM_ID, GHOST_QPN, header, rep, req, rtu } from './support/messages.js';
import { ask, connected, deviceAndRawPeer, PORT, twoDevices } from './support/two-devices.js';
import { CmDevice } from './support/cm-device.js';

const { ESTABLISHED, CONNECT_REQUEST, CONNECT_ERROR } = CmEventType;

/** `text`, and zeros up to the length that the message has. */
function padded(text: string, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  bytes.set(Buffer.from(text));
  return bytes;
}

describe('a connection', () => {
  test('comes up by REQ, REP and RTU', () => {
    const s = twoDevices();
    connected(s);
    assert.equal(s.network.story(), 'a REQ, b REP, a RTU');
  });

  test('moves both queue pairs to RTS before anybody is told', () => {
    const s = twoDevices();
    const { active, passive } = connected(s);
    assert.deepEqual([s.a.statesOf(active.qp), s.b.statesOf(passive.qp)], ['RTR RTS', 'RTR RTS']);
  });

  test('of itself with itself works', () => {
    const { network, b, listenId } = twoDevices();
    const { id } = b.connect(b, PORT);
    network.settle();
    const request = b.takeOnly(CONNECT_REQUEST);
    assert.equal(request.request?.listenId, listenId);
    b.accept(request.id);
    network.settle();
    assert.deepEqual(
      b.take().map((event) => [event.type, event.id]),
      [
        [ESTABLISHED, id],
        [ESTABLISHED, request.id],
      ],
    );
  });

  test('goes between IPv6 addresses as well', () => {
    const { network } = twoDevices();
    const a = new CmDevice(network, 'x', 'fd00::1');
    const b = new CmDevice(network, 'y', 'fd00::2');
    b.listen(PORT);
    a.connect(b, PORT);
    network.settle();
    b.accept(b.takeOnly(CONNECT_REQUEST).id);
    network.settle();
    assert.deepEqual([a.takeNames(), b.takeNames()], ['ESTABLISHED', 'ESTABLISHED']);
  });

  test('leads over another GID of a port when it was asked for there', () => {
    const { b, rawPeer } = deviceAndRawPeer();
    const second = { name: 'b', gid: gidFromIp('10.0.0.77'), receive: b.receive.bind(b) };
    b.gids = [b.gid, undefined, second.gid];
    rawPeer.say(second, req({ from: rawPeer, to: second }));
    const qp = b.accept(b.takeOnly(CONNECT_REQUEST).id);
    assert.equal(b.moveTo(qp, QpState.RTR).ahAttr?.grh?.sgidIndex, 2);
  });
});

describe('a queue pair is given', () => {
  test('the PSNs crosswise: what one announces it expects, the other sends', () => {
    const s = twoDevices();
    const { active, passive } = connected(s);
    const ofA = { ...s.a.moveTo(active.qp, QpState.RTR), ...s.a.moveTo(active.qp, QpState.RTS) };
    const ofB = { ...s.b.moveTo(passive.qp, QpState.RTR), ...s.b.moveTo(passive.qp, QpState.RTS) };
    assert.deepEqual([ofA.rqPsn, ofA.sqPsn], [ofB.sqPsn, ofB.rqPsn]);
    assert.notEqual(ofA.rqPsn, ofA.sqPsn);
  });

  test('the peer, the MTU, and access as its responder resources allow', () => {
    const { network, b, rawPeer } = deviceAndRawPeer();
    rawPeer.say(b, req({ from: rawPeer, to: b }, { pathMtu: Mtu.MTU_512, localQpn: 0xfffffe }));
    const qp = b.accept(b.takeOnly(CONNECT_REQUEST).id, { responderResources: 2 });
    network.settle();
    const { destQpNum, pathMtu, maxDestRdAtomic, qpAccessFlags, ahAttr } = b.moveTo(qp, QpState.RTR);
    const { REMOTE_WRITE, REMOTE_READ, REMOTE_ATOMIC } = AccessFlags;
    const expected = REMOTE_WRITE | REMOTE_READ | REMOTE_ATOMIC;
    assert.deepEqual([destQpNum, pathMtu, maxDestRdAtomic], [0xfffffe, Mtu.MTU_512, 2]);
    assert.equal((qpAccessFlags ?? 0) & expected, expected);
    assert.deepEqual(ahAttr?.grh?.dgid, rawPeer.gid);
  });

  test('no access to READ when it has no responder resources', () => {
    const { b, rawPeer } = deviceAndRawPeer();
    rawPeer.say(b, req({ from: rawPeer, to: b }));
    const qp = b.accept(b.takeOnly(CONNECT_REQUEST).id, { responderResources: 0 });
    assert.equal(b.moveTo(qp, QpState.RTR).qpAccessFlags, AccessFlags.REMOTE_WRITE);
  });

  test('the retries that the REQ asks of the passive side', () => {
    const { b, rawPeer } = deviceAndRawPeer();
    rawPeer.say(b, req({ from: rawPeer, to: b }, { retryCount: 3, rnrRetryCount: 2 }));
    const { retryCnt, rnrRetry } = b.moveTo(b.accept(b.takeOnly(CONNECT_REQUEST).id), QpState.RTS);
    assert.deepEqual([retryCnt, rnrRetry], [3, 2]);
  });

  test('its own retries, and the RNR retries that the REP asks of the active side', () => {
    const { network, b, rawPeer } = deviceAndRawPeer();
    const { qp } = b.connect(rawPeer, PORT, { retryCount: 4, rnrRetryCount: 1 });
    network.settle();
    const { localCommId } = rawPeer.heard(CmAttribute.REQ);
    rawPeer.say(b, rep({ remoteCommId: localCommId }, { rnrRetryCount: 6 }));
    const { retryCnt, rnrRetry } = b.moveTo(qp, QpState.RTS);
    assert.deepEqual([retryCnt, rnrRetry], [4, 6]);
  });

  test('no more READs under way than the peer has room for', () => {
    const { network, b, rawPeer } = deviceAndRawPeer();
    const { qp } = b.connect(rawPeer, PORT, { initiatorDepth: 16, responderResources: 16 });
    network.settle();
    const { localCommId } = rawPeer.heard(CmAttribute.REQ);
    rawPeer.say(b, rep({ remoteCommId: localCommId }, { responderResources: 5, initiatorDepth: 7 }));
    assert.equal(b.moveTo(qp, QpState.RTS).maxRdAtomic, 5);
    assert.equal(b.moveTo(qp, QpState.RTR).maxDestRdAtomic, 7);
  });

  test('for XRC by the EECN of the REP, where the number of a target queue pair is', () => {
    const { network, b, rawPeer } = deviceAndRawPeer();
    const { qp } = b.connect(rawPeer, PORT, { qp: b.qp({ qpType: QpType.XRC_SEND }), portSpace: PortSpace.IB });
    network.settle();
    const { localCommId, transportType, extendedTransportType } = rawPeer.heard(CmAttribute.REQ);
    assert.deepEqual([transportType, extendedTransportType], [3, 1]);
    rawPeer.say(b, rep({ remoteCommId: localCommId }, { localQpn: 0, localEecn: 0x777 }));
    assert.equal(b.moveTo(qp, QpState.RTR).destQpNum, 0x777);
    assert.equal(b.takeOnly(ESTABLISHED).conn?.qpNum, 0x777);
  });
});

describe('a REP for XRC', () => {
  test('names the target queue pair as EECN, and says that it has a shared receive queue', () => {
    const { network, b, rawPeer } = deviceAndRawPeer();
    rawPeer.say(b, req({ from: rawPeer, to: b }, { transportType: 3, extendedTransportType: 1 }));
    b.accept(b.takeOnly(CONNECT_REQUEST).id, { qp: b.qp({ qpType: QpType.XRC_RECV, qpNum: 0x4711 }) });
    network.settle();
    const { localQpn, localEecn, srq } = rawPeer.heard(CmAttribute.REP);
    assert.deepEqual([localQpn, localEecn, srq], [0, 0x4711, true]);
  });
});

describe('CONNECT_REQUEST', () => {
  test('names the listener, both ends, and the type of queue pair', () => {
    const { b, rawPeer, listenId } = deviceAndRawPeer();
    rawPeer.say(b, req({ from: rawPeer, to: b }));
    const { request, id } = b.takeOnly(CONNECT_REQUEST);
    assert.notEqual(id, listenId);
    assert.deepEqual(request, {
      listenId,
      localGid: b.gid,
      localPort: PORT,
      remoteGid: rawPeer.gid,
      remotePort: 40000,
      qpType: QpType.RC,
    });
  });

  test('turns the depths round, since they are the receiver’s view', () => {
    const { b, rawPeer } = deviceAndRawPeer();
    rawPeer.say(b, req({ from: rawPeer, to: b }, { responderResources: 3, initiatorDepth: 2 }));
    const { conn } = b.takeOnly(CONNECT_REQUEST);
    assert.deepEqual([conn?.initiatorDepth, conn?.responderResources, conn?.qpNum], [3, 2, GHOST_QPN]);
    assert.deepEqual([conn?.retryCount, conn?.rnrRetryCount, conn?.srq], [6, 5, false]);
  });
});

describe('private data', () => {
  test('of connect arrives padded to 56 bytes', () => {
    const s = twoDevices();
    s.a.connect(s.b, PORT, { privateData: Buffer.from('ask') });
    s.network.settle();
    assert.deepEqual(s.b.takeOnly(CONNECT_REQUEST).privateData, padded('ask', PrivateDataBytes.CONNECT));
  });

  test('of accept arrives padded to 196 bytes', () => {
    const s = twoDevices();
    const { childId } = ask(s);
    s.b.accept(childId, { privateData: Buffer.from('yes') });
    s.network.settle();
    assert.deepEqual(s.a.takeOnly(ESTABLISHED).privateData, padded('yes', PrivateDataBytes.ACCEPT));
  });

  test('of an RTU is not for programs', () => {
    const { network, b, rawPeer } = deviceAndRawPeer();
    rawPeer.say(b, req({ from: rawPeer, to: b }));
    b.accept(b.takeOnly(CONNECT_REQUEST).id);
    network.settle();
    const message = rtu({ remoteCommId: rawPeer.heard(CmAttribute.REP).localCommId });
    rawPeer.say(b, { ...message, privateData: Buffer.from('psst') });
    assert.equal(b.takeOnly(ESTABLISHED).privateData.length, 0);
  });

  test('comes after the addresses in a REQ', () => {
    const { network, b, rawPeer } = deviceAndRawPeer();
    b.connect(rawPeer, PORT, { privateData: Buffer.from('x'), id: boundTo(b, 40000) });
    network.settle();
    const { privateData } = rawPeer.heard(CmAttribute.REQ);
    assert.deepEqual(privateData.subarray(0, 36), header({ from: b, to: rawPeer }));
    assert.equal(privateData[36], 'x'.charCodeAt(0));
  });
});

function boundTo(cmDevice: CmDevice, port: number): number {
  const id = cmDevice.newId();
  cmDevice.bind(id, port);
  return id;
}

describe('a queue pair that cannot be moved', () => {
  const refusal = (state: QpState) => (_: number, attr: { qpState?: QpState }) =>
    attr.qpState === state ? ({ errno: 'EINVAL', message: 'no' } as const) : undefined;

  for (const state of [QpState.RTR, QpState.RTS])
    test(`to ${nameOf(QpState, state)} fails accept, and the peer is rejected`, () => {
      const s = twoDevices();
      const { active, childId } = ask(s);
      s.b.refusal = refusal(state);
      const qp = s.b.qp();
      assert.throws(() => s.b.accept(childId, { qp }), { errno: 'EINVAL', message: 'no' });
      s.network.settle();
      const { id, status } = s.a.takeOnly(CmEventType.REJECTED);
      assert.deepEqual([id, status], [active.id, 28]);
      assert.match(s.b.statesOf(qp), /ERR$/);
      s.b.refusal = () => undefined;
      assert.throws(() => s.b.accept(childId), { errno: 'EINVAL' });
      assert.deepEqual(s.b.holdings, { identifiers: 2, connections: 0, timers: 0 });
    });

  test('fails connect: CONNECT_ERROR here, REJECTED there', () => {
    const s = twoDevices();
    s.a.refusal = refusal(QpState.RTS);
    const { childId } = ask(s);
    s.b.accept(childId);
    s.network.settle();
    assert.deepEqual([s.a.takeOnly(CONNECT_ERROR).status, s.b.takeOnly(CmEventType.REJECTED).status], [-22, 28]);
  });

  test('of another type than the request asks for is refused', () => {
    const { b, rawPeer } = deviceAndRawPeer();
    rawPeer.say(b, req({ from: rawPeer, to: b }, { transportType: 1 }));
    const { id, request } = b.takeOnly(CONNECT_REQUEST);
    assert.equal(request?.qpType, QpType.UC);
    assert.throws(() => b.accept(id), { errno: 'EINVAL' });
    b.accept(id, { qp: b.qp({ qpType: QpType.UC }) });
  });
});

test('an RTU that names nobody completes nothing', () => {
  const { network, b, rawPeer } = deviceAndRawPeer();
  rawPeer.say(b, req({ from: rawPeer, to: b }));
  b.accept(b.takeOnly(CONNECT_REQUEST).id);
  network.settle();
  const { localCommId } = rawPeer.heard(CmAttribute.REP);
  rawPeer.say(b, rtu({ localCommId: GHOST_COMM_ID + 1, remoteCommId: localCommId }));
  rawPeer.say(b, rtu({ remoteCommId: localCommId + 1 }));
  assert.equal(b.takeNames(), '');
  rawPeer.say(b, rtu({ remoteCommId: localCommId }));
  assert.equal(b.takeNames(), 'ESTABLISHED');
});
