import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Gid, gidFromIp } from '../../ibta/index.js';
import { buildIpUdpHeader, GRH_BYTES, isMulticastGid, PacketMeta, type RoceDatagram, writeGrhArea } from '../index.js';
import { goldenNames, goldenPackets } from './golden.js';

const packets = goldenNames.flatMap(goldenPackets);
const UDP_BYTES = 8;

/** What a link that sees everything would say of a captured packet. */
function metaOf(datagram: RoceDatagram): PacketMeta {
  const meta = new PacketMeta();
  meta.ipv6 = datagram.ipv6;
  meta.source.set(datagram.source);
  meta.destination.set(datagram.destination);
  meta.sourcePort = datagram.sourcePort;
  meta.trafficClass = datagram.trafficClass;
  meta.hopLimit = datagram.hopLimit;
  meta.flowLabel = datagram.flowLabel;
  meta.ipId = datagram.ipId;
  return meta;
}

function metaBetween(source: Gid, destination: Gid): PacketMeta {
  const meta = new PacketMeta();
  meta.ipv6 = destination[0] !== 0;
  meta.source.set(source);
  meta.destination.set(destination);
  return meta;
}

/** Written into dirty memory, with a margin on both sides. */
function written(meta: PacketMeta, udpPayloadBytes: number): Uint8Array {
  const memory = new Uint8Array(GRH_BYTES + 20).fill(0xaa);
  writeGrhArea(memory, 10, meta, udpPayloadBytes);
  assert.deepEqual([...memory.subarray(0, 10), ...memory.subarray(10 + GRH_BYTES)], new Array(20).fill(0xaa));
  return memory.slice(10, 10 + GRH_BYTES);
}

describe('the area before a datagram in its receive buffer', () => {
  it('is the IPv6 header as the golden captures have it', () => {
    const ipv6 = packets.filter(({ datagram }) => datagram.ipv6);
    assert.ok(ipv6.length > 0);
    for (const { label, datagram, frame } of ipv6) {
      const header = frame.slice(datagram.ipOffset, datagram.ipOffset + GRH_BYTES);
      assert.deepEqual(written(metaOf(datagram), datagram.length), header, label);
    }
  });

  it('is 20 bytes of zero and the IPv4 header as the golden captures have it', () => {
    const ipv4 = packets.filter(({ datagram }) => !datagram.ipv6);
    assert.ok(ipv4.length > 0);
    for (const { label, datagram, frame } of ipv4) {
      const header = frame.slice(datagram.ipOffset, datagram.ipOffset + 20);
      assert.deepEqual(
        written(metaOf(datagram), datagram.length),
        Uint8Array.from([...new Uint8Array(20), ...header]),
        label,
      );
    }
  });

  it('is what a capture of the same packet begins with', () => {
    for (const [source, destination] of [
      ['10.1.2.3', '239.1.1.1'],
      ['fd00::1', 'ff0e::7'],
    ]) {
      const meta = metaBetween(gidFromIp(source), gidFromIp(destination));
      meta.trafficClass = 0xfe;
      meta.hopLimit = 255;
      meta.flowLabel = 0xfedcb;
      meta.ipId = 0xffff;
      const frame = new Uint8Array(60);
      const headerBytes = buildIpUdpHeader(frame, 0, meta, 1000) - UDP_BYTES;
      assert.deepEqual(written(meta, 1000).subarray(GRH_BYTES - headerBytes), frame.subarray(0, headerBytes));
    }
  });

  it('has identification 0 and hop limit 64 where the link could not see them', () => {
    const area = written(metaBetween(gidFromIp('10.0.0.1'), gidFromIp('10.0.0.2')), 24);
    assert.deepEqual([...area.subarray(20, 30)], [0x45, 0, 0, 52, 0, 0, 0x40, 0, 64, 17]);
  });
});

describe('a multicast GID', () => {
  for (const [text, expected] of [
    ['223.255.255.255', false],
    ['224.0.0.0', true],
    ['239.255.255.255', true],
    ['240.0.0.1', false],
    ['ff02::1', true],
    ['fe80::1', false],
    ['::', false],
  ] as const) {
    it(`is ${expected ? '' : 'not '}${text}`, () => assert.equal(isMulticastGid(gidFromIp(text)), expected));
  }
});
