import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ahAttrFromWc, type GidEntry, parseGrh } from '../index.js';
import { formatGid, type Gid, gidFromIp, GidType, ipFromGid, WcFlags } from '../../../device/ibta/index.js';

const UDP = 17;

/** The 40 bytes before a datagram from 10.0.0.1 to `destination` over IPv4 (protocol/packets.md 1.6). */
function ipv4(destination = '10.0.0.2', prefix = 0): Uint8Array {
  const bytes = new Uint8Array(40);
  bytes.fill(prefix, 0, 20);
  bytes.set([0x45, 0x12, 0, 60, 0, 0, 0x40, 0, 63, UDP, 0, 0, 10, 0, 0, 1], 20);
  bytes.set(gidFromIp(destination).subarray(12), 36);
  let sum = 0;
  for (let i = 20; i < 40; i += 2) sum += (bytes[i] << 8) | bytes[i + 1];
  sum = (sum & 0xffff) + (sum >>> 16);
  bytes.set([~(sum >>> 8) & 0xff, ~sum & 0xff], 30);
  return bytes;
}

/** The same from fd00::1 over IPv6, with traffic class 0x12 and flow label 0xabcde. */
function ipv6(destination = 'fd00::2', nextHeader = UDP, source = 'fd00::1'): Uint8Array {
  const bytes = new Uint8Array(40);
  bytes.set([0x61, 0x2a, 0xbc, 0xde, 0, 40, nextHeader, 61]);
  bytes.set(gidFromIp(source), 8);
  bytes.set(gidFromIp(destination), 24);
  return bytes;
}

const entry = (gid: Gid, gidIndex: number, gidType: GidType): GidEntry => ({ gid, gidIndex, portNum: 1, gidType });
const gids = [
  entry(gidFromIp('10.0.0.9'), 0, GidType.ROCE_V2),
  entry(gidFromIp('10.0.0.2'), 1, GidType.ROCE_V2),
  entry(gidFromIp('fd00::2'), 2, GidType.ROCE_V2),
  entry(gidFromIp('fd00::2'), 3, GidType.ROCE_V1),
];
const wc = { wcFlags: WcFlags.GRH, slid: 0, sl: 3, dlidPathBits: 0 };

function reverse(grh: Uint8Array): ReturnType<typeof ahAttrFromWc> {
  return ahAttrFromWc(1, wc, grh, gids);
}

function refusal(grh: Uint8Array): string | undefined {
  const answer = reverse(grh);
  return 'problem' in answer ? answer.problem.errno : undefined;
}

describe('the header before a datagram', () => {
  it('is IPv4 when the first 20 bytes are zeros', () => {
    const header = parseGrh(ipv4());
    assert.equal(header?.version, 4);
    assert.deepEqual([ipFromGid(header.sourceGid), ipFromGid(header.destinationGid)], ['10.0.0.1', '10.0.0.2']);
  });

  it('is IPv6 when it begins so', () => {
    const header = parseGrh(ipv6());
    assert.equal(header?.version, 6);
    assert.deepEqual([ipFromGid(header.sourceGid), ipFromGid(header.destinationGid)], ['fd00::1', 'fd00::2']);
  });

  it('is IPv4 behind a prefix that looks like IPv6, when the checksum is right', () => {
    assert.equal(parseGrh(ipv4('10.0.0.2', 0x60))?.version, 4);
  });

  it('is IPv6 when an address looks like IPv4 without its checksum', () => {
    // Byte 20 of the header is byte 12 of the sender's address.
    assert.equal(parseGrh(ipv6('fd00::2', UDP, 'fd00::4500:1'))?.version, 6);
  });

  it('has the fields of IPv4', () => {
    const { trafficClass, hopLimit, flowLabel, nextHeader } = parseGrh(ipv4()) ?? assert.fail();
    assert.deepEqual([trafficClass, hopLimit, flowLabel, nextHeader], [0x12, 63, 0, UDP]);
  });

  it('has the fields of IPv6', () => {
    const { trafficClass, hopLimit, flowLabel, nextHeader } = parseGrh(ipv6()) ?? assert.fail();
    assert.deepEqual([trafficClass, hopLimit, flowLabel, nextHeader], [0x12, 61, 0xabcde, UDP]);
  });

  it('is none in other bytes, or too few', () => {
    assert.equal(parseGrh(new Uint8Array(40)), undefined);
    assert.equal(parseGrh(ipv4().subarray(0, 39)), undefined);
  });

  it('can stand anywhere in a buffer, and is copied out', () => {
    const buffer = new Uint8Array(64);
    buffer.set(ipv6(), 24);
    const header = parseGrh(buffer.subarray(24));
    buffer.fill(0);
    assert.equal(formatGid(header?.sourceGid ?? new Uint8Array(16)), formatGid(gidFromIp('fd00::1')));
  });
});

describe('the way back to a datagram’s sender (protocol/packets.md 1.6)', () => {
  it('is the way that it came, over IPv4', () => {
    assert.deepEqual(reverse(ipv4()), {
      attr: {
        dlid: 0,
        sl: 3,
        srcPathBits: 0,
        staticRate: 0,
        portNum: 1,
        isGlobal: true,
        grh: { dgid: gidFromIp('10.0.0.1'), flowLabel: 0, sgidIndex: 1, hopLimit: 63, trafficClass: 0x12 },
      },
    });
  });

  it('is the way that it came, over IPv6', () => {
    const answer = reverse(ipv6());
    assert.deepEqual('attr' in answer && answer.attr.grh, {
      dgid: gidFromIp('fd00::1'),
      flowLabel: 0xabcde,
      sgidIndex: 2,
      hopLimit: 61,
      trafficClass: 0x12,
    });
  });

  it('takes the GID of RoCEv1 when it came so', () => {
    const answer = reverse(ipv6('fd00::2', 0x1b));
    assert.equal('attr' in answer && answer.attr.grh?.sgidIndex, 3);
  });

  it('has no route when the completion has no header', () => {
    const answer = ahAttrFromWc(1, { ...wc, wcFlags: 0 }, new Uint8Array(0), gids);
    assert.equal('attr' in answer && answer.attr.isGlobal, false);
  });

  const none: readonly [what: string, grh: Uint8Array, errno: string][] = [
    ['an IPv4 group', ipv4('224.0.0.5'), 'EINVAL'],
    ['the last IPv4 group', ipv4('239.255.255.255'), 'EINVAL'],
    ['an IPv6 group', ipv6('ff0e::5'), 'EINVAL'],
    ['an address that is not ours', ipv4('10.0.0.3'), 'EINVAL'],
  ];
  for (const [what, grh, errno] of none) {
    it(`does not exist for what went to ${what}`, () => assert.equal(refusal(grh), errno));
  }

  it('does not exist without the header', () => assert.equal(refusal(new Uint8Array(39)), 'EINVAL'));

  it('does not exist for bytes that are no header', () => {
    assert.equal(refusal(new Uint8Array(40)), 'EPROTONOSUPPORT');
    assert.equal(refusal(ipv6('fd00::2', 6)), 'EPROTONOSUPPORT');
  });
});
