import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cmDetailLines, cmJson } from '../dump/cm-fields.js';
import { formatCmMessage } from '../dump/cm-line.js';
import { gidFromIp, PortSpace } from '../../device/ibta/index.js';
import { CmAttribute, type CmMessage, decodeCmMessage, serviceId, writeCmaHeader } from '../../device/wire/index.js';

const PAIR = { localCommId: 0xa0000001, remoteCommId: 0xb0000002 };
const IDS = 'comm_id=0xa0000001 remote=0xb0000002';

/** A message of zeros, as far as nothing else is said. */
function message<Attribute extends CmAttribute>(
  attribute: Attribute,
  fields: Partial<Extract<CmMessage, { readonly attribute: Attribute }>>,
): CmMessage {
  const bytes = new Uint8Array(256);
  bytes.set([1, 7, 2, 3]);
  bytes[17] = attribute;
  const zeros = decodeCmMessage(bytes);
  assert.ok(zeros);
  return { ...zeros, ...fields };
}

const fromIpv6 = writeCmaHeader({
  ipVersion: 6,
  sourcePort: 1000,
  source: gidFromIp('fd00::3'),
  destination: gidFromIp('fd00::2'),
});
const request = { localCommId: 0xa0000001, localQpn: 0x17, startingPsn: 0x1234 };
const tcp = serviceId(PortSpace.TCP, 7174);

const LINES: readonly (readonly [string, CmMessage])[] = [
  [
    'REQ comm_id=0xa0000001 service=TCP:7174 from=[fd00::3]:1000 qpn=0x000017 psn=0x001234',
    message(CmAttribute.REQ, { ...request, serviceId: tcp, privateData: fromIpv6 }),
  ],
  [
    'REQ comm_id=0xa0000001 service=IB:1 transport=UC qpn=0x000017 psn=0x001234',
    message(CmAttribute.REQ, { ...request, serviceId: serviceId(PortSpace.IB, 1), transportType: 1 }),
  ],
  [
    'REQ comm_id=0xa0000001 service=0x1000000000000001 qpn=0x000017 psn=0x001234',
    message(CmAttribute.REQ, { ...request, serviceId: 0x1000000000000001n, privateData: fromIpv6 }),
  ],
  [`REP ${IDS} qpn=0x000017 psn=0x001234`, message(CmAttribute.REP, { ...PAIR, localQpn: 0x17, startingPsn: 0x1234 })],
  [`RTU ${IDS}`, message(CmAttribute.RTU, PAIR)],
  [`DREQ ${IDS} remote_qpn=0x000017`, message(CmAttribute.DREQ, { ...PAIR, remoteQpn: 0x17 })],
  [`DREP ${IDS}`, message(CmAttribute.DREP, PAIR)],
  [`MRA ${IDS} of=REP service_timeout=24`, message(CmAttribute.MRA, { ...PAIR, messageMraed: 1, serviceTimeout: 24 })],
  [
    `REJ ${IDS} of=OTHER reason=CONSUMER_DEFINED`,
    message(CmAttribute.REJ, { ...PAIR, messageRejected: 2, reason: 28 }),
  ],
  [`REJ ${IDS} of=3 reason=34`, message(CmAttribute.REJ, { ...PAIR, messageRejected: 3, reason: 34 })],
  [`LAP ${IDS} remote_qpn=0x000017`, message(CmAttribute.LAP, { ...PAIR, remoteQpn: 0x17 })],
  [`APR ${IDS} status=REDIRECT`, message(CmAttribute.APR, { ...PAIR, status: 4 })],
  [
    'SIDR_REQ request_id=0xc0000003 service=UDP:7174 from=[fd00::3]:1000',
    message(CmAttribute.SIDR_REQ, {
      requestId: 0xc0000003,
      serviceId: serviceId(PortSpace.UDP, 7174),
      privateData: fromIpv6,
    }),
  ],
  [
    'SIDR_REP request_id=0xc0000003 service=UDP:7174 status=NO_QP qpn=0x000017 qkey=0x01234567',
    message(CmAttribute.SIDR_REP, {
      requestId: 0xc0000003,
      serviceId: serviceId(PortSpace.UDP, 7174),
      status: 3,
      qpn: 0x17,
      qkey: 0x01234567,
    }),
  ],
];

describe('a message of the connection manager', () => {
  for (const [line, what] of LINES) {
    it(`is a line: ${line}`, () => {
      assert.equal(formatCmMessage(what), `cm{${line}}`);
    });
  }

  it('has its alternate path among its fields, when there is one', () => {
    const path = {
      localLid: 1,
      remoteLid: 2,
      localGid: gidFromIp('fd00::3'),
      remoteGid: gidFromIp('10.0.0.1'),
      flowLabel: 3,
      packetRate: 4,
      trafficClass: 5,
      hopLimit: 6,
      sl: 7,
      subnetLocal: true,
      localAckTimeout: 8,
    };
    assert.equal(
      cmDetailLines(message(CmAttribute.LAP, { ...PAIR, alternatePath: path }))[1],
      'LAP alternate_path local_lid=0x0001 remote_lid=0x0002 local_gid=fd00::3 remote_gid=10.0.0.1 flow_label=0x00003 ' +
        'packet_rate=4 traffic_class=0x05 hop_limit=6 sl=7 subnet_local=1 local_ack_timeout=8',
    );
  });

  it('shows its bytes up to the zeros that fill them up', () => {
    const shown = (privateData: Uint8Array): string => cmDetailLines(message(CmAttribute.RTU, { privateData }))[1];
    assert.equal(shown(Uint8Array.of(1, 0, 2, 0, 0, 0)), 'RTU private_data 6 bytes: 010002 and 3 zeros');
    assert.equal(shown(Uint8Array.of(1, 2)), 'RTU private_data 2 bytes: 0102');
    assert.equal(shown(new Uint8Array(4)), 'RTU private_data 4 bytes: all zero');
  });

  it('is an object with service, addresses and names for programs', () => {
    const json = cmJson(message(CmAttribute.SIDR_REQ, { requestId: 3, serviceId: tcp, privateData: fromIpv6 }));
    assert.deepEqual(json, {
      message: 'SIDR_REQ',
      requestId: 3,
      pkey: 0,
      serviceId: tcp,
      privateData: Buffer.from(fromIpv6).toString('hex'),
      service: { portSpace: 'TCP', port: 7174 },
      addresses: { ipVersion: 6, sourcePort: 1000, source: 'fd00::3', destination: 'fd00::2' },
    });
  });
});
