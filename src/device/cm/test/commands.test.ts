import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CmAccept, CmConnect } from '../index.js';
import { CmEventType, gidFromIp, PortSpace, PrivateDataBytes, QpState, QpType } from '../../ibta/index.js';
import { req, sidrReq } from './support/messages.js';
import { ask, connected, deviceAndRawPeer, PORT, twoDevices } from './support/two-devices.js';
import { PARAMETERS, type CmDevice } from './support/cm-device.js';

const NOTHING = new Uint8Array(0);
const { CONNECT_REQUEST } = CmEventType;
const EINVAL = { name: 'CmError', errno: 'EINVAL' } as const;

describe('a command for an identifier that is none', () => {
  for (const [name, command] of [
    ['cmBind', (b: CmDevice) => b.commands.cmBind({ id: 99, port: 0, reuseAddr: false })],
    ['cmListen', (b: CmDevice) => b.commands.cmListen({ id: 99, backlog: 0 })],
    ['cmConnect', (b: CmDevice) => b.connect(b, PORT, { id: 99 })],
    ['cmTaken', (b: CmDevice) => b.commands.cmTaken(99)],
    ['cmAccept', (b: CmDevice) => b.accept(99)],
    ['cmReject', (b: CmDevice) => b.commands.cmReject({ id: 99, privateData: NOTHING })],
    ['cmEstablish', (b: CmDevice) => b.commands.cmEstablish(99)],
    ['cmNotify', (b: CmDevice) => b.commands.cmNotify(99)],
    ['cmDisconnect', (b: CmDevice) => b.commands.cmDisconnect(99)],
    ['cmInitQpAttr', (b: CmDevice) => b.commands.cmInitQpAttr({ id: 99, qpType: QpType.RC, qpState: QpState.INIT })],
    ['cmDestroyId', (b: CmDevice) => b.commands.cmDestroyId(99)],
  ] as const)
    test(`is refused: ${name}`, () => {
      const { b } = deviceAndRawPeer();
      assert.throws(() => command(b), EINVAL);
    });
});

describe('what no request can say is refused', () => {
  for (const [what, overrides] of [
    ['private data of 57 bytes', { privateData: new Uint8Array(PrivateDataBytes.CONNECT + 1) }],
    ['port 0', { port: 0 }],
    ['port 65536', { port: 65536 }],
    ['8 retries', { retryCount: 8 }],
    ['8 RNR retries', { rnrRetryCount: 8 }],
    ['256 responder resources', { responderResources: 256 }],
    ['an initiator depth of -1', { initiatorDepth: -1 }],
    ['half a traffic class', { trafficClass: 0.5 }],
    ['an ACK timeout of 32', { ackTimeout: 32 }],
    ['a destination of another IP version', { destination: gidFromIp('fd00::1') }],
    ['a queue pair’s number of 25 bits', { qp: { qpNum: 2 ** 24, qpType: QpType.RC, srq: false, managed: true } }],
    ['a queue pair for datagrams of raw packets', { qp: rawQp() }],
    ['no queue pair', { qp: undefined }],
  ] satisfies readonly (readonly [string, Partial<CmConnect>])[])
    test(`${what}, and nothing has changed`, () => {
      const { network, b, rawPeer } = deviceAndRawPeer();
      const id = b.newId();
      const before = b.holdings;
      const facts = { id, qp: b.qp(), destination: rawPeer.gid, port: PORT, retryCount: 7, trafficClass: 0 };
      assert.throws(() => b.commands.cmConnect({ ...PARAMETERS, ...facts, ...overrides }), EINVAL);
      assert.deepEqual([b.holdings, network.log.length], [before, 0]);
      assert.equal(b.bind(id, 0) > 0, true, 'it has no port');
      b.connect(rawPeer, PORT, { id });
    });

  test('181 bytes of private data for datagrams', () => {
    const { b, rawPeer } = deviceAndRawPeer();
    const most = new Uint8Array(PrivateDataBytes.RESOLVE);
    b.connect(rawPeer, PORT, { portSpace: PortSpace.UDP, privateData: most });
    const more = new Uint8Array(most.length + 1);
    assert.throws(() => b.connect(rawPeer, PORT, { portSpace: PortSpace.UDP, privateData: more }), EINVAL);
  });
});

function rawQp() {
  return { qpNum: 5, qpType: QpType.RAW_PACKET, srq: false, managed: true } as const;
}

describe('what no answer can say is refused, and the request still waits:', () => {
  for (const [what, overrides] of [
    ['197 bytes of private data', { privateData: new Uint8Array(PrivateDataBytes.ACCEPT + 1) }],
    ['256 responder resources', { responderResources: 256 }],
    ['an RNR retry count of 8', { rnrRetryCount: 8 }],
    ['an ACK timeout of 32', { ackTimeout: 32 }],
  ] satisfies readonly (readonly [string, Partial<CmAccept>])[])
    test(what, () => {
      const { b, rawPeer } = deviceAndRawPeer();
      rawPeer.say(b, req({ from: rawPeer, to: b }));
      const { id } = b.takeOnly(CONNECT_REQUEST);
      assert.throws(() => b.accept(id, overrides), EINVAL);
      assert.equal(b.moves.size, 0);
      b.accept(id);
    });

  test('149 bytes of private data with a rejection', () => {
    const { b, rawPeer } = deviceAndRawPeer();
    rawPeer.say(b, req({ from: rawPeer, to: b }));
    const { id } = b.takeOnly(CONNECT_REQUEST);
    const privateData = new Uint8Array(PrivateDataBytes.REJECT + 1);
    assert.throws(() => b.commands.cmReject({ id, privateData }), EINVAL);
    b.accept(id);
  });

  test('137 bytes of private data with an answer for datagrams, and with a rejection of them', () => {
    const { network, b, rawPeer } = deviceAndRawPeer();
    b.listen(PORT, { portSpace: PortSpace.UDP });
    rawPeer.say(b, sidrReq({ from: rawPeer, to: b }));
    const { id } = b.takeOnly(CONNECT_REQUEST);
    const privateData = new Uint8Array(PrivateDataBytes.RESOLVED + 1);
    assert.throws(() => b.commands.cmReject({ id, privateData }), EINVAL);
    assert.throws(() => b.accept(id, { qp: b.qp({ qpType: QpType.UD }), privateData }), EINVAL);
    b.accept(id, { qp: b.qp({ qpType: QpType.UD }) });
    network.settle();
    assert.equal(network.story(), 'b SIDR_REP');
  });
});

describe('a connection', () => {
  test('is asked for once with an identifier', () => {
    const { b, rawPeer } = deviceAndRawPeer();
    const { id } = b.connect(rawPeer, PORT);
    assert.throws(() => b.connect(rawPeer, PORT, { id }), EINVAL);
  });

  test('is not asked for by a listener', () => {
    const { b, rawPeer, listenId } = deviceAndRawPeer();
    assert.throws(() => b.connect(rawPeer, PORT, { id: listenId }), EINVAL);
  });

  test('is not asked for by a device without an address', () => {
    const { b, rawPeer } = deviceAndRawPeer();
    b.gids = [undefined];
    assert.throws(() => b.connect(rawPeer, PORT), { name: 'CmError', errno: 'ENETUNREACH' });
  });

  test('is accepted once', () => {
    const s = twoDevices();
    const { childId } = ask(s);
    s.b.accept(childId);
    assert.throws(() => s.b.accept(childId), EINVAL);
  });

  test('is not accepted by whoever asked, nor by a listener', () => {
    const s = twoDevices();
    const { active } = ask(s);
    assert.throws(() => s.a.accept(active.id), EINVAL);
    assert.throws(() => s.b.accept(s.listenId), EINVAL);
  });

  test('has its request taken by the side that it came to, not by the side that asked, nor by a listener', () => {
    const s = twoDevices();
    const { active, childId } = ask(s);
    s.b.commands.cmTaken(childId);
    assert.throws(() => s.a.commands.cmTaken(active.id), EINVAL);
    assert.throws(() => s.b.commands.cmTaken(s.listenId), EINVAL);
  });

  test('is not said to be there before the peer agreed, nor afterwards', () => {
    const s = twoDevices();
    const { active, passive } = connected(s);
    assert.throws(() => s.a.commands.cmEstablish(active.id), EINVAL);
    assert.throws(() => s.b.commands.cmEstablish(passive.id), EINVAL);
    const { id } = s.a.connect(s.b, PORT, { qp: s.a.qp({ managed: false }) });
    assert.throws(() => s.a.commands.cmEstablish(id), EINVAL);
  });

  test('is not noticed before it was accepted', () => {
    const s = twoDevices();
    const { active, childId } = ask(s);
    assert.throws(() => s.b.commands.cmNotify(childId), EINVAL);
    assert.throws(() => s.a.commands.cmNotify(active.id), EINVAL);
  });
});

describe('attributes for a queue pair', () => {
  const rtr = (cmDevice: CmDevice, id: number) =>
    cmDevice.commands.cmInitQpAttr({ id, qpType: QpType.RC, qpState: QpState.RTR });

  test('of an identifier without a connection are for INIT only', () => {
    const { b } = deviceAndRawPeer();
    const id = b.newId();
    assert.equal(b.commands.cmInitQpAttr({ id, qpType: QpType.RC, qpState: QpState.INIT }).qpState, QpState.INIT);
    assert.throws(() => rtr(b, id), EINVAL);
  });

  test('are not known to whoever asks before the answer, and to whoever is asked they are', () => {
    const s = twoDevices();
    const { active, childId } = ask(s);
    assert.throws(() => rtr(s.a, active.id), EINVAL);
    assert.equal(rtr(s.b, childId).destQpNum, active.qp.qpNum);
  });
});

describe('events', () => {
  test('are taken oldest first, and no more than were asked for', () => {
    const s = twoDevices();
    for (let i = 0; i < 3; i += 1) s.a.connect(s.b, PORT);
    s.network.settle();
    const first = s.b.commands.cmTakeEvents(2);
    const rest = s.b.commands.cmTakeEvents(2);
    assert.deepEqual([first.length, rest.length], [2, 1]);
    assert.ok(first[0].id < first[1].id && first[1].id < rest[0].id);
  });

  test('are announced one by one', () => {
    const s = twoDevices();
    for (let i = 0; i < 3; i += 1) s.a.connect(s.b, PORT);
    s.network.settle();
    assert.equal(s.b.announced, 3);
  });
});
