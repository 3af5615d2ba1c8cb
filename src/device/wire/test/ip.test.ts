import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { gidFromIp } from '../../ibta/index.js';
import {
  buildIpUdpHeader,
  crc32,
  createPath,
  datagramAddresses,
  datagramIcrc,
  fillUdpChecksum,
  ipUdpHeaderBytes,
  LinkType,
  NotRoce,
  parseFrame,
  type Path,
  pathHeader,
  type RoceDatagram,
  sealIcrc,
  storedIcrc,
} from '../index.js';
import { bytesOf, checkProperty, ipv4Path, ipv6Path } from './support.js';

const IP_ID = 0x1234;

function ipPacket(path: Path): Uint8Array {
  const ack = bytesOf('1100ffff00000011000000011f00000100000000');
  sealIcrc(crc32, path, ack, 0, ack.length, path.ipv6 ? 0 : IP_ID);
  const headerBytes = ipUdpHeaderBytes(path.ipv6);
  const packet = new Uint8Array(headerBytes + ack.length);
  assert.equal(buildIpUdpHeader(packet, 0, pathHeader(path, IP_ID), ack.length), headerBytes);
  packet.set(ack, headerBytes);
  return packet;
}

function framed(header: string, packet: Uint8Array): Uint8Array {
  return Uint8Array.from([...bytesOf(header), ...packet]);
}

function found(linkType: number, frame: Uint8Array): RoceDatagram {
  const datagram = parseFrame(linkType, frame);
  if (typeof datagram === 'string') throw new Error(datagram);
  return datagram;
}

const MACS = '525845000002525845000003';
const v4 = ipPacket(ipv4Path);
const v6 = ipPacket(ipv6Path);

const FRAMES: readonly (readonly [name: string, linkType: number, frame: Uint8Array])[] = [
  ['raw IPv4', LinkType.RAW, v4],
  ['raw IPv6', LinkType.IPV6, v6],
  ['Ethernet', LinkType.ETHERNET, framed(`${MACS}0800`, v4)],
  ['Ethernet, padded to its shortest frame', LinkType.ETHERNET, framed(`${MACS}0800`, Uint8Array.from([...v4, 0, 0]))],
  ['Ethernet with two VLAN tags', LinkType.ETHERNET, framed(`${MACS}88a8000581000006` + '86dd', v6)],
  ['Linux cooked', LinkType.LINUX_SLL, framed('00000304000600000000000000000800', v4)],
  ['Linux cooked, second edition', LinkType.LINUX_SLL2, framed('86dd0000000000010304060000000000' + '00000000', v6)],
  ['BSD loopback', LinkType.NULL, framed('02000000', v4)],
];

describe('a RoCE packet', () => {
  for (const [name, linkType, frame] of FRAMES) {
    it(`is found behind ${name}, with the ICRC that its headers call for`, () => {
      const datagram = found(linkType, frame);
      assert.equal(datagramIcrc(crc32, frame, datagram), storedIcrc(frame, datagram.offset, datagram.length));
    });
  }

  it('tells what its headers say', () => {
    const path = createPath({
      sgid: gidFromIp('fd00::1'),
      dgid: gidFromIp('fd00::2'),
      sourcePort: 49999,
      trafficClass: 0xa5,
      hopLimit: 3,
      flowLabel: 0x54321,
    });
    const { ipv6, sourcePort, destPort, trafficClass, hopLimit, flowLabel, ipId } = found(LinkType.RAW, ipPacket(path));
    assert.deepEqual(
      { ipv6, sourcePort, destPort, trafficClass, hopLimit, flowLabel, ipId },
      {
        ipv6: true,
        sourcePort: 49999,
        destPort: 4791,
        trafficClass: 0xa5,
        hopLimit: 3,
        flowLabel: 0x54321,
        ipId: 0,
      },
    );
  });

  it('tells its addresses', () => {
    const datagram = found(LinkType.RAW, v4);
    assert.deepEqual(datagramAddresses(datagram), { source: '10.1.2.3', destination: '10.255.0.1' });
  });

  it('is known to be cut when the frame holds less of it than its length says', () => {
    const { length, capturedLength } = found(LinkType.RAW, v4.subarray(0, v4.length - 7));
    assert.deepEqual({ length, capturedLength }, { length: 20, capturedLength: 13 });
  });
});

describe('a frame without a RoCE packet', () => {
  const changed = (packet: Uint8Array, offset: number, value: number): Uint8Array => {
    const copy = packet.slice();
    copy[offset] = value;
    return copy;
  };
  const cases: readonly (readonly [string, number, Uint8Array, NotRoce])[] = [
    ['ARP', LinkType.ETHERNET, framed(`${MACS}0806`, new Uint8Array(28)), NotRoce.NOT_IP],
    ['TCP', LinkType.RAW, changed(v4, 9, 6), NotRoce.NOT_UDP],
    ['an IPv6 extension header', LinkType.RAW, changed(v6, 6, 60), NotRoce.NOT_UDP],
    ['an IPv6 fragment', LinkType.RAW, changed(v6, 6, 44), NotRoce.FRAGMENT],
    ['a first fragment', LinkType.RAW, changed(v4, 6, 0x20), NotRoce.FRAGMENT],
    ['a later fragment', LinkType.RAW, changed(v4, 7, 1), NotRoce.FRAGMENT],
    ['another port', LinkType.RAW, changed(v4, 23, 53), NotRoce.OTHER_PORT],
    ['an impossible IP header length', LinkType.RAW, changed(v4, 0, 0x41), NotRoce.NOT_IP],
    ['another IP version', LinkType.RAW, changed(v4, 0, 0x55), NotRoce.NOT_IP],
    ['nothing', LinkType.RAW, new Uint8Array(0), NotRoce.CUT_SHORT],
    ['a link type that nobody knows', 147, v4, NotRoce.UNKNOWN_LINK_TYPE],
  ];
  for (const [name, linkType, frame, reason] of cases) {
    it(`is refused: ${name}`, () => assert.equal(parseFrame(linkType, frame), reason));
  }

  it('never makes anything throw, whatever bytes of it are changed', (test) => {
    const change = fc.tuple(fc.nat(70), fc.integer({ min: 0, max: 255 }));
    checkProperty(
      test,
      fc.property(fc.constantFrom(...FRAMES), fc.array(change, { maxLength: 6 }), ([, linkType, frame], changes) => {
        const copy = frame.slice();
        for (const [at, value] of changes) if (at < copy.length) copy[at] = value;
        const datagram = parseFrame(linkType, copy);
        if (typeof datagram === 'string') return;
        assert.ok(datagram.offset + datagram.capturedLength <= copy.length);
      }),
      3000,
    );
  });

  it('is refused wherever it is cut before the BTH', () => {
    for (const [, linkType, frame] of FRAMES) {
      const { offset } = found(linkType, frame);
      for (let length = 0; length < offset; length += 1) {
        assert.equal(parseFrame(linkType, frame.subarray(0, length)), NotRoce.CUT_SHORT);
      }
    }
  });
});

describe('built headers', () => {
  const sumOfWords = (bytes: Uint8Array): number => {
    let sum = 0;
    for (let i = 0; i < bytes.length; i += 2) sum += (bytes[i] << 8) | (i + 1 < bytes.length ? bytes[i + 1] : 0);
    return sum % 0xffff;
  };

  it('have a right IPv4 header checksum', () => assert.equal(sumOfWords(v4.subarray(0, 20)), 0));

  it('get a right UDP checksum on IPv4 and IPv6', () => {
    for (const [packet, ipv6, ipBytes] of [
      [v4.slice(), false, 20],
      [v6.slice(), true, 40],
    ] as const) {
      fillUdpChecksum(packet, 0, ipv6);
      const addresses = packet.subarray(ipv6 ? 8 : 12, ipBytes);
      const udp = packet.subarray(ipBytes);
      const pseudoHeader = Uint8Array.from([...addresses, 0, 17, udp.length >> 8, udp.length & 255]);
      assert.equal((sumOfWords(pseudoHeader) + sumOfWords(udp)) % 0xffff, 0);
      assert.notEqual((udp[6] << 8) | udp[7], 0);
    }
  });
});

describe('a path', () => {
  it('cannot lead from one IP version to the other', () => {
    assert.throws(() => createPath({ sgid: gidFromIp('10.0.0.1'), dgid: gidFromIp('fd00::1') }), RangeError);
  });
});
