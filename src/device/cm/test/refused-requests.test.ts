import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CmEventType, gidFromIp, Mtu, PortSpace, RejectReason, SidrStatus } from '../../ibta/index.js';
import { CmAttribute, type CmRej, type CmReq, serviceId } from '../../wire/index.js';
import { GHOST_COMM_ID, header, req, sidrReq } from './support/messages.js';
import { RawPeer } from './support/network.js';
import { deviceAndRawPeer, PORT } from './support/two-devices.js';
import type { CmDevice } from './support/cm-device.js';

/** Has a raw peer ask, and gives the rejection. */
function refused(
  overrides: (of: { b: CmDevice; rawPeer: RawPeer }) => Partial<CmReq>,
): CmRej & { readonly cmDevice: CmDevice } {
  const { network, b, rawPeer } = deviceAndRawPeer();
  rawPeer.say(b, req({ from: rawPeer, to: b }, overrides({ b, rawPeer })));
  network.settle();
  assert.equal(b.takeNames(), '', 'the program hears nothing of it');
  return { ...rawPeer.heard(CmAttribute.REJ), cmDevice: b };
}

describe('a REQ is refused', () => {
  test('with reason 8 where nobody listens', () => {
    const { reason } = refused(() => ({ serviceId: serviceId(PortSpace.TCP, PORT + 1) }));
    assert.equal(reason, RejectReason.INVALID_SERVICE_ID);
  });

  test('without a name of ours, as an answer to the REQ, in its transaction', () => {
    const { localCommId, remoteCommId, messageRejected, transactionId } = refused(({ b, rawPeer }) => ({
      serviceId: 0n,
      transactionId: 77n,
      primaryPath: req({ from: rawPeer, to: b }).primaryPath,
    }));
    assert.deepEqual([localCommId, remoteCommId, messageRejected, transactionId], [0, GHOST_COMM_ID, 0, 77n]);
  });

  test('with reason 8 for the port of another port space', () => {
    const { reason } = refused(() => ({ serviceId: serviceId(PortSpace.IB, PORT) }));
    assert.equal(reason, RejectReason.INVALID_SERVICE_ID);
  });

  test('with reason 8 for a service ID that is none of rdma_cm’s', () => {
    assert.equal(refused(() => ({ serviceId: 0xffff_ffff_ffff_ffffn })).reason, RejectReason.INVALID_SERVICE_ID);
  });

  for (const [what, fields] of [
    ['for RD', { transportType: 2 }],
    ['for an extended transport that is not XRC', { transportType: 3, extendedTransportType: 2 }],
  ] as const)
    test(`with reason 9 ${what}`, () => {
      assert.equal(refused(() => fields).reason, RejectReason.INVALID_TRANSPORT_TYPE);
    });

  test('with reason 9 where datagrams are listened for', () => {
    const { network, b, rawPeer } = deviceAndRawPeer();
    b.listen(PORT, { portSpace: PortSpace.UDP });
    rawPeer.say(b, req({ from: rawPeer, to: b }, { serviceId: serviceId(PortSpace.UDP, PORT) }));
    network.settle();
    assert.equal(rawPeer.heard(CmAttribute.REJ).reason, RejectReason.INVALID_TRANSPORT_TYPE);
  });

  for (const [what, path] of [
    ['as the sender', { localGid: gidFromIp('10.0.0.66') }],
    ['as the receiver', { remoteGid: gidFromIp('10.0.0.66') }],
  ] as const)
    test(`with reason 12 when it names another GID ${what}, and told ours`, () => {
      const rejection = refused(({ b, rawPeer }) => ({
        primaryPath: { ...req({ from: rawPeer, to: b }).primaryPath, ...path },
      }));
      assert.deepEqual([rejection.reason, rejection.rejectedInfoLength], [RejectReason.INVALID_GID, 16]);
      assert.deepEqual(rejection.additionalInfo.subarray(0, 16), rejection.cmDevice.gid);
    });

  test('with reason 26 for an MTU above the port’s, and told the port’s', () => {
    const { reason, rejectedInfoLength, additionalInfo } = refused(() => ({ pathMtu: Mtu.MTU_2048 }));
    assert.deepEqual([reason, rejectedInfoLength, additionalInfo[0]], [RejectReason.INVALID_MTU, 1, Mtu.MTU_1024]);
  });

  for (const pathMtu of [0, 6, 15])
    test(`with reason 26 for the MTU code ${pathMtu}, which is none`, () => {
      assert.equal(refused(() => ({ pathMtu })).reason, RejectReason.INVALID_MTU);
    });

  for (const [what, change] of [
    ['another version', (bytes: Uint8Array) => bytes.fill(1, 0, 1)],
    ['IP version 6 between IPv4 addresses', (bytes: Uint8Array) => bytes.fill(0x60, 1, 2)],
    ['IP version 5', (bytes: Uint8Array) => bytes.fill(0x50, 1, 2)],
    ['zeros only', (bytes: Uint8Array) => bytes.fill(0)],
  ] as const)
    test(`with reason 5 when the addresses in its private data have ${what}`, () => {
      const { reason } = refused(({ b, rawPeer }) => ({ privateData: change(header({ from: rawPeer, to: b })) }));
      assert.equal(reason, RejectReason.UNSUPPORTED);
    });

  test('with reason 5 when IPv6 addresses say IP version 4', () => {
    const { network, b } = deviceAndRawPeer();
    const rawPeer = new RawPeer(network, 'fd00::9', 'six');
    b.gids = [b.gid, gidFromIp('fd00::2')];
    const to = { name: 'b', gid: gidFromIp('fd00::2'), receive: b.receive.bind(b) };
    const four = { from: { gid: gidFromIp('10.0.0.9') }, to: b };
    rawPeer.say(to, req({ from: rawPeer, to }, { privateData: header(four, 4) }));
    network.settle();
    assert.equal(rawPeer.heard(CmAttribute.REJ).reason, RejectReason.UNSUPPORTED);
  });
});

describe('a SIDR_REQ is answered', () => {
  const status = (overrides: Parameters<typeof sidrReq>[1], portSpace: PortSpace): number => {
    const { network, b, rawPeer } = deviceAndRawPeer();
    b.listen(PORT, { portSpace });
    rawPeer.say(b, sidrReq({ from: rawPeer, to: b }, overrides));
    network.settle();
    assert.equal(b.takeNames(), '');
    return rawPeer.heard(CmAttribute.SIDR_REP).status;
  };

  test('with status 1 where nobody listens', () => {
    assert.equal(status({ serviceId: serviceId(PortSpace.UDP, PORT + 1) }, PortSpace.UDP), SidrStatus.UNSUPPORTED);
  });

  test('with status 1 where connections are listened for', () => {
    assert.equal(status({ serviceId: serviceId(PortSpace.TCP, PORT) }, PortSpace.UDP), SidrStatus.UNSUPPORTED);
  });

  test('with status 1 when its private data has no addresses', () => {
    assert.equal(status({ privateData: new Uint8Array(216) }, PortSpace.UDP), SidrStatus.UNSUPPORTED);
  });

  test('with status 1 when its addresses are of another IP version', () => {
    const { rawPeer, b } = deviceAndRawPeer();
    const privateData = header({ from: rawPeer, to: b }).fill(0x60, 1, 2);
    assert.equal(status({ privateData }, PortSpace.UDP), SidrStatus.UNSUPPORTED);
  });
});

describe('the port space IB', () => {
  test('takes requests for connections and for datagrams', () => {
    const { b, rawPeer } = deviceAndRawPeer();
    b.listen(PORT, { portSpace: PortSpace.IB });
    rawPeer.say(b, req({ from: rawPeer, to: b }, { serviceId: serviceId(PortSpace.IB, PORT) }));
    rawPeer.say(b, sidrReq({ from: rawPeer, to: b }, { serviceId: serviceId(PortSpace.IB, PORT) }));
    assert.equal(b.takeNames(), 'CONNECT_REQUEST CONNECT_REQUEST');
  });
});

describe('a refusal arrives as', () => {
  test('REJECTED with the reason, and nothing is left of the connection', () => {
    const { network, b, rawPeer } = deviceAndRawPeer();
    const { id, qp } = b.connect(rawPeer, PORT + 1);
    network.settle();
    const { localCommId, transactionId } = rawPeer.heard(CmAttribute.REQ);
    rawPeer.say(b, {
      attribute: CmAttribute.REJ,
      transactionId,
      localCommId: 0,
      remoteCommId: localCommId,
      messageRejected: 0,
      rejectedInfoLength: 0,
      reason: RejectReason.INVALID_SERVICE_ID,
      additionalInfo: new Uint8Array(0),
      privateData: new Uint8Array(0),
    });
    const event = b.takeOnly(CmEventType.REJECTED);
    assert.deepEqual([event.id, event.status, b.statesOf(qp)], [id, 8, 'ERR']);
    assert.deepEqual([b.holdings.connections, b.holdings.timers], [0, 0]);
  });
});
