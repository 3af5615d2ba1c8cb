import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gidFromIp, nameOf, PortSpace, RDMA_UDP_QKEY, RejectReason } from '../../ibta/index.js';
import {
  CmAttribute,
  type CmMessage,
  decodeCmMessage,
  encodeCmMessage,
  readCmaHeader,
  splitServiceId,
} from '../index.js';
import { goldenPackets } from './golden.js';
import { decoded } from './support.js';

const CLIENT = gidFromIp('198.18.0.3');
const SERVER = gidFromIp('198.18.0.2');

interface GoldenMad {
  readonly label: string;
  readonly bytes: Uint8Array;
}

/** What a capture holds for queue pair 1. */
function madsOf(name: string): GoldenMad[] {
  return goldenPackets(name)
    .map(({ label, bytes }) => ({ label, packet: decoded(bytes) }))
    .filter(({ packet }) => packet.bth.destQp === 1)
    .map(({ label, packet }) => ({ label, bytes: packet.payload.slice() }));
}

function messageOf({ label, bytes }: GoldenMad): CmMessage {
  const message = decodeCmMessage(bytes);
  assert.ok(message, label);
  return message;
}

function isOf<Attribute extends CmAttribute>(
  attribute: Attribute,
): (message: CmMessage) => message is Extract<CmMessage, { readonly attribute: Attribute }> {
  return (message): message is Extract<CmMessage, { readonly attribute: Attribute }> => message.attribute === attribute;
}

function first<Attribute extends CmAttribute>(name: string, attribute: Attribute) {
  const message = madsOf(name).map(messageOf).find(isOf(attribute));
  assert.ok(message, `${name} has no ${nameOf(CmAttribute, attribute)}`);
  return message;
}

/** The messages of each capture, in their order. */
const CONVERSATIONS = {
  rping: 'REQ REP RTU DREQ DREP',
  ucmatose: 'REQ REQ REP RTU REP RTU DREQ DREQ DREP DREP',
  udaddy: 'SIDR_REQ SIDR_REP',
  cm_reject: 'REQ REJ',
  rdma_client: 'REQ REP RTU DREQ DREQ DREP',
  rstream: 'REQ REP RTU DREQ DREP',
} as const;

describe('golden messages of the connection manager', () => {
  for (const [name, conversation] of Object.entries(CONVERSATIONS)) {
    it(`are what they were: ${name}`, () => {
      const names = madsOf(name).map((mad) => nameOf(CmAttribute, messageOf(mad).attribute));
      assert.equal(names.join(' '), conversation);
    });

    it(`encode to the same bytes again: ${name}`, () => {
      for (const mad of madsOf(name)) assert.deepEqual(encodeCmMessage(messageOf(mad)), mad.bytes, mad.label);
    });
  }
});

describe('a golden REQ', () => {
  const { primaryPath, alternatePath, privateData, ...rest } = first('rping', CmAttribute.REQ);

  it('has the numbers that Linux puts into it', () => {
    assert.deepEqual(rest, {
      attribute: CmAttribute.REQ,
      transactionId: (2n << 32n) | 0x474a0fcen,
      localCommId: 0xce0f4a47,
      vendorId: 0,
      serviceId: 0x01061c06n,
      localCaGuid: 0x505845fffe000003n,
      localQkey: 0,
      localQpn: 40,
      responderResources: 1,
      localEecn: 0,
      initiatorDepth: 1,
      remoteEecn: 0,
      remoteCmResponseTimeout: 20,
      transportType: 0,
      endToEndFlowControl: false,
      startingPsn: 0x707825,
      localCmResponseTimeout: 20,
      retryCount: 7,
      pkey: 0xffff,
      pathMtu: 3,
      rdcExists: false,
      rnrRetryCount: 7,
      maxCmRetries: 15,
      srq: false,
      extendedTransportType: 0,
    });
  });

  it('names the path', () => {
    assert.deepEqual(primaryPath, {
      localLid: 0xffff,
      remoteLid: 0xffff,
      localGid: CLIENT,
      remoteGid: SERVER,
      flowLabel: 0xa13b5,
      packetRate: 0,
      trafficClass: 0,
      hopLimit: 64,
      sl: 0,
      subnetLocal: false,
      localAckTimeout: 19,
    });
  });

  it('has no alternate path', () => {
    const { localGid, remoteGid, subnetLocal, ...numbers } = alternatePath;
    assert.deepEqual([localGid, remoteGid], [new Uint8Array(16), new Uint8Array(16)]);
    assert.equal(subnetLocal, false);
    assert.deepEqual(new Set(Object.values(numbers)), new Set([0]));
  });

  it('is for a port of the port space TCP', () => {
    assert.deepEqual(splitServiceId(rest.serviceId), { portSpace: PortSpace.TCP, port: 7174 });
  });

  it('tells the IP addresses before its private data', () => {
    assert.deepEqual(readCmaHeader(privateData), {
      ipVersion: 4,
      sourcePort: 54897,
      source: CLIENT,
      destination: SERVER,
    });
  });
});

describe('golden answers', () => {
  it('REP mirrors the REQ and tells the own queue pair', () => {
    const { privateData, ...rest } = first('rping', CmAttribute.REP);
    assert.deepEqual(rest, {
      attribute: CmAttribute.REP,
      transactionId: first('rping', CmAttribute.REQ).transactionId,
      localCommId: 2400395758,
      remoteCommId: first('rping', CmAttribute.REQ).localCommId,
      localQkey: 0,
      localQpn: 40,
      vendorId: 0,
      localEecn: 0,
      startingPsn: 1747238,
      responderResources: 1,
      initiatorDepth: 1,
      targetAckDelay: 15,
      failoverAccepted: 0,
      endToEndFlowControl: false,
      rnrRetryCount: 7,
      srq: false,
      localCaGuid: 0x505845fffe000002n,
    });
    assert.equal(privateData.length, 196);
  });

  it('REJ says why and to what', () => {
    const { localCommId, remoteCommId, messageRejected, reason } = first('cm_reject', CmAttribute.REJ);
    assert.equal(reason, RejectReason.INVALID_SERVICE_ID);
    assert.equal(messageRejected, 0);
    assert.equal(localCommId, 0);
    assert.equal(remoteCommId, first('cm_reject', CmAttribute.REQ).localCommId);
  });

  it('DREQ names the queue pair of the peer', () => {
    assert.equal(first('rping', CmAttribute.DREQ).remoteQpn, first('rping', CmAttribute.REP).localQpn);
  });
});

describe('golden resolution of a service ID', () => {
  it('asks for a port of the port space UDP', () => {
    const request = first('udaddy', CmAttribute.SIDR_REQ);
    assert.equal(request.requestId, 3289336391);
    assert.equal(request.pkey, 0xffff);
    assert.deepEqual(splitServiceId(request.serviceId), { portSpace: PortSpace.UDP, port: 7174 });
    assert.deepEqual(readCmaHeader(request.privateData)?.source, CLIENT);
  });

  it('answers with the queue pair and the Q_Key of rdma_cm', () => {
    const request = first('udaddy', CmAttribute.SIDR_REQ);
    const { additionalInfo, privateData, ...rest } = first('udaddy', CmAttribute.SIDR_REP);
    assert.deepEqual(rest, {
      attribute: CmAttribute.SIDR_REP,
      transactionId: request.transactionId,
      requestId: request.requestId,
      status: 0,
      infoLength: 0,
      vendorId: 0,
      qpn: 45,
      serviceId: request.serviceId,
      qkey: RDMA_UDP_QKEY,
    });
    assert.deepEqual([additionalInfo.length, privateData.length], [72, 136]);
  });
});
