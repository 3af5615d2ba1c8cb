import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  CmEventType,
  PortSpace,
  PrivateDataBytes,
  QpState,
  QpType,
  RDMA_UDP_QKEY,
  SidrStatus,
} from '../../ibta/index.js';
import { CmAttribute } from '../../wire/index.js';
import { GHOST_COMM_ID, header, sidrRep, sidrReq } from './support/messages.js';
import { RawPeer } from './support/network.js';
import { deviceAndRawPeer, PORT, twoDevices } from './support/two-devices.js';
import { NOTHING_HELD } from './support/cm-device.js';

const { CONNECT_REQUEST, ESTABLISHED, UNREACHABLE, ADDR_ERROR } = CmEventType;
const { UDP } = PortSpace;
const UD = { qpType: QpType.UD } as const;

function padded(text: string, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  bytes.set(Buffer.from(text));
  return bytes;
}

/** Two devices; `b` listens for datagrams. */
function udScene() {
  const s = twoDevices();
  s.b.destroy(s.listenId);
  return { ...s, listenId: s.b.listen(PORT, { portSpace: UDP }) };
}

/** Has `a` ask, and gives the identifiers of both. */
function asked(s: ReturnType<typeof udScene>) {
  const { id } = s.a.connect(s.b, PORT, { portSpace: UDP, privateData: Buffer.from('who?') });
  s.network.settle();
  return { id, request: s.b.takeOnly(CONNECT_REQUEST) };
}

/** A device that listens for datagrams, and a raw peer that asks it. */
function haunted(limits: Parameters<typeof deviceAndRawPeer>[0] = {}) {
  const of = deviceAndRawPeer(limits);
  return { ...of, udListenId: of.b.listen(PORT, { portSpace: UDP }) };
}

describe('a question for a datagram queue pair', () => {
  test('is answered with its number and Q_Key, and private data both ways', () => {
    const s = udScene();
    const { id, request } = asked(s);
    assert.deepEqual(request.privateData, padded('who?', PrivateDataBytes.RESOLVE));
    const { qpNum } = s.b.accept(request.id, { qp: s.b.qp(UD), privateData: Buffer.from('me') });
    s.network.settle();
    const event = s.a.takeOnly(ESTABLISHED);
    assert.deepEqual([event.id, event.ud], [id, { qpNum, qkey: RDMA_UDP_QKEY }]);
    assert.deepEqual(event.privateData, padded('me', PrivateDataBytes.RESOLVED));
    assert.equal(s.network.story(), 'a SIDR_REQ, b SIDR_REP');
  });

  test('names the listener, both ends, and the type of queue pair', () => {
    const s = udScene();
    const { request } = asked(s);
    const { request: facts, id } = request;
    assert.notEqual(id, s.listenId);
    assert.deepEqual([facts?.listenId, facts?.qpType, facts?.localPort], [s.listenId, QpType.UD, PORT]);
    assert.deepEqual([facts?.localGid, facts?.remoteGid], [s.b.gid, s.a.gid]);
  });

  test('moves no queue pair, tells the passive side nothing more, and leaves nothing behind', () => {
    const s = udScene();
    const { id, request } = asked(s);
    const qp = s.b.accept(request.id, { qp: s.b.qp(UD) });
    s.network.settle();
    assert.deepEqual([s.b.takeNames(), s.b.statesOf(qp)], ['', '']);
    s.a.destroy(id);
    for (const one of [request.id, s.listenId]) s.b.destroy(one);
    assert.deepEqual([s.a.holdings, s.b.holdings], [NOTHING_HELD, NOTHING_HELD]);
  });

  test('begins its private data with the addresses', () => {
    const { network, b, rawPeer } = haunted();
    const id = b.newId(UDP);
    b.bind(id, 40000);
    b.connect(rawPeer, PORT, { id });
    network.settle();
    assert.deepEqual(rawPeer.heard(CmAttribute.SIDR_REQ).privateData.subarray(0, 36), header({ from: b, to: rawPeer }));
  });

  test('may be asked in the port space IB, by a datagram queue pair', () => {
    const { network, b, rawPeer } = haunted();
    b.connect(rawPeer, PORT, { portSpace: PortSpace.IB, qp: b.qp(UD) });
    network.settle();
    assert.equal(network.story(), 'b SIDR_REQ');
  });

  test('that nobody listens for ends in UNREACHABLE with status 1', () => {
    const s = udScene();
    const { id } = s.a.connect(s.b, PORT + 1, { portSpace: UDP });
    s.network.settle();
    const event = s.a.takeOnly(UNREACHABLE);
    assert.deepEqual([event.id, event.status, s.a.holdings.timers], [id, 1, 0]);
  });

  for (const status of Object.values(SidrStatus).filter((one) => one !== SidrStatus.SUCCESS))
    test(`that is answered with status ${status} ends in UNREACHABLE with that`, () => {
      const { network, b, rawPeer } = haunted();
      b.connect(rawPeer, PORT, { portSpace: UDP });
      network.settle();
      rawPeer.say(b, sidrRep(rawPeer.heard(CmAttribute.SIDR_REQ).requestId, { status }));
      assert.equal(b.takeOnly(UNREACHABLE).status, status);
    });

  test('that is rejected ends in UNREACHABLE with status 2, and the reason in private data', () => {
    const s = udScene();
    const { request } = asked(s);
    s.b.commands.cmReject({ id: request.id, privateData: Buffer.from('busy') });
    s.network.settle();
    const event = s.a.takeOnly(UNREACHABLE);
    assert.equal(event.status, 2);
    assert.deepEqual(event.privateData, padded('busy', PrivateDataBytes.RESOLVED));
  });

  test('that the program drops is rejected', () => {
    const s = udScene();
    const { request } = asked(s);
    s.b.destroy(request.id);
    s.network.settle();
    assert.equal(s.a.takeOnly(UNREACHABLE).status, 2);
  });

  test('that is answered with another Q_Key than that of its queue pair ends in ADDR_ERROR', () => {
    const s = udScene();
    const { id, request } = asked(s);
    s.a.commands.cmInitQpAttr({ id, qpType: QpType.UD, qpState: QpState.INIT });
    s.b.accept(request.id, { qp: s.b.qp(UD), qkey: 0x1111_1111 });
    s.network.settle();
    assert.equal(s.a.takeOnly(ADDR_ERROR).status, -22);
  });

  test('that is answered with any Q_Key gets it, where there is no queue pair yet', () => {
    const s = udScene();
    const { request } = asked(s);
    s.b.accept(request.id, { qp: s.b.qp(UD), qkey: 0x1111_1111 });
    s.network.settle();
    assert.equal(s.a.takeOnly(ESTABLISHED).ud?.qkey, 0x1111_1111);
  });

  test('that is answered with Q_Key 0 ends in ADDR_ERROR', () => {
    const { network, b, rawPeer } = haunted();
    b.connect(rawPeer, PORT, { portSpace: UDP });
    network.settle();
    rawPeer.say(b, sidrRep(rawPeer.heard(CmAttribute.SIDR_REQ).requestId, { qkey: 0 }));
    b.takeOnly(ADDR_ERROR);
  });

  test('is answered once; what else comes is nobody’s affair', () => {
    const { network, b, rawPeer } = haunted();
    b.connect(rawPeer, PORT, { portSpace: UDP });
    network.settle();
    const { requestId } = rawPeer.heard(CmAttribute.SIDR_REQ);
    for (let i = 0; i < 2; i += 1) rawPeer.say(b, sidrRep(requestId));
    assert.deepEqual([b.takeNames(), b.manager.counters.rxDropped], ['ESTABLISHED', 1]);
    network.passAll();
    assert.equal(network.story(), 'b SIDR_REQ');
  });

  test('is not answered by somebody else, nor by another message', () => {
    const { network, b, rawPeer } = haunted();
    b.connect(rawPeer, PORT, { portSpace: UDP });
    network.settle();
    const { requestId } = rawPeer.heard(CmAttribute.SIDR_REQ);
    new RawPeer(network, '10.0.0.10').say(b, sidrRep(requestId));
    rawPeer.say(b, sidrRep(requestId + 1));
    assert.deepEqual([b.takeNames(), b.manager.counters.rxDropped], ['', 2]);
  });
});

describe('a question that comes again', () => {
  test('before the program has answered is a duplicate', () => {
    const { network, b, rawPeer } = haunted();
    for (let i = 0; i < 3; i += 1) rawPeer.say(b, sidrReq({ from: rawPeer, to: b }));
    network.settle();
    assert.deepEqual([b.takeNames(), network.story()], ['CONNECT_REQUEST', '']);
    assert.equal(b.manager.counters.snapshot()['cm_rx_duplicates_sidr_req'], 2);
  });

  test('gets the same answer, and the program does not hear of it', () => {
    const { network, b, rawPeer } = haunted();
    rawPeer.say(b, sidrReq({ from: rawPeer, to: b }));
    b.accept(b.takeOnly(CONNECT_REQUEST).id, { qp: b.qp(UD) });
    rawPeer.say(b, sidrReq({ from: rawPeer, to: b }));
    network.settle();
    assert.deepEqual([b.takeNames(), network.story()], ['', 'b SIDR_REP, b SIDR_REP']);
    assert.deepEqual(rawPeer.inbox[0], rawPeer.inbox[1]);
    assert.equal(rawPeer.heard(CmAttribute.SIDR_REP).requestId, GHOST_COMM_ID);
  });

  test('from another address is another question', () => {
    const { network, b, rawPeer } = haunted();
    const other = new RawPeer(network, '10.0.0.10');
    for (const one of [rawPeer, other]) one.say(b, sidrReq({ from: one, to: b }));
    assert.equal(b.takeNames(), 'CONNECT_REQUEST CONNECT_REQUEST');
  });

  test('is known while it waits, however many others were answered', () => {
    const { b, rawPeer } = haunted({ limits: { maxAnswers: 4 } });
    rawPeer.say(b, sidrReq({ from: rawPeer, to: b }));
    b.takeOnly(CONNECT_REQUEST);
    for (let requestId = 1; requestId < 20; requestId += 1) {
      rawPeer.say(b, sidrReq({ from: rawPeer, to: b }, { requestId }));
      b.commands.cmReject({ id: b.takeOnly(CONNECT_REQUEST).id, privateData: new Uint8Array(0) });
    }
    rawPeer.say(b, sidrReq({ from: rawPeer, to: b }));
    assert.equal(b.takeNames(), '');
    assert.equal(b.manager.answered.size, 5);
  });
});

describe('an identifier for datagrams', () => {
  test('has the attributes of a datagram queue pair for INIT', () => {
    const { b } = haunted();
    const attr = b.commands.cmInitQpAttr({ id: b.newId(UDP), qpType: QpType.UD, qpState: QpState.INIT });
    assert.deepEqual([attr.qkey, attr.portNum, attr.pkeyIndex], [RDMA_UDP_QKEY, 1, 0]);
  });

  test('has no connection to part from, and none to complete', () => {
    const s = udScene();
    const { id } = asked(s);
    assert.throws(() => s.a.disconnect(id), { errno: 'EINVAL' });
    assert.throws(() => s.a.commands.cmEstablish(id), { errno: 'EINVAL' });
    assert.throws(() => s.a.accept(id), { errno: 'EINVAL' });
  });

  test('answers with a datagram queue pair only', () => {
    const s = udScene();
    const { request } = asked(s);
    assert.throws(() => s.b.accept(request.id), { errno: 'EINVAL' });
    s.b.accept(request.id, { qp: s.b.qp(UD) });
  });
});
