import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { crc32, datagramIcrc, IcrcVerifier, parseIpPacket, type RoceDatagram, sealIcrc, storedIcrc } from '../index.js';
import { bytesOf, metaOf, pathOf } from './support.js';

/** protocol/packets.md 1.7. */
const VECTORS = {
  'V1: IPv4, UC SEND_ONLY':
    '45010040047840004011b4d5c0a80007c0a80007c00012b7002caca22460ffff000000d300cf17104630818be28935d90e9a95505401be885e50000078f353f3',
  'V2: IPv4, CNP of a ConnectX-4 Lx':
    '45c2003c718c4000401191610a0011010a001201000012b7002800008100ffff40000118000000000000000000000000000000000000000082fd002a',
  'V3: IPv6, UC SEND_ONLY':
    '6e21face002c11ff2022000000000000000000000000102320230000000000000000000000001024c00012b7002ce7c52460ffff000000d300cf17104630818be28935d90e9a95505401be885e5000003e5b743b',
  'V4: RoCEv1, RC WRITE_ONLY':
    '6020000000281b4000000000000000000000ffff0f00000200000000000000000000ffff0f0000020a70ffff0000010a80a788bc000055d4c0726000000047b3000000050000000001000000e3d856bb',
  'V4b: RoCEv1, RC ACK':
    '6020000000141b4000000000000000000000ffff0f00000200000000000000000000ffff0f0000021140ffff0000010900a788c00000000525f0c038',
  'V5: IPv4, RC ACK':
    '4500003000004000401126bb0a0000020a000001c00112b7001c00001100ffff00000011000000011f000001cc12a806',
  'V6: IPv4, RC SEND_ONLY':
    '4500003400004000401126b70a0000010a000002c00012b70020000004b0ffff000000128000000168656c6c6f000000dbe5b646',
};

function datagramOf(packet: Uint8Array): RoceDatagram {
  const datagram = parseIpPacket(packet);
  if (typeof datagram === 'string') throw new Error(datagram);
  return datagram;
}

for (const [name, hex] of Object.entries(VECTORS)) {
  describe(`ICRC vector ${name}`, () => {
    const packet = bytesOf(hex);
    const datagram = datagramOf(packet);
    const { offset, length, ipId } = datagram;

    it('has the ICRC computed from its headers', () => {
      assert.equal(datagramIcrc(crc32, packet, datagram), storedIcrc(packet, offset, length));
    });

    if (datagram.roceVersion === 1) return;

    it('is sealed with the same ICRC', () => {
      const sealed = packet.slice().fill(0, packet.length - 4);
      sealIcrc(crc32, pathOf(datagram), sealed, offset, length, ipId);
      assert.deepEqual(sealed, packet);
    });

    it('verifies, and gives away its IP identification', () => {
      assert.equal(new IcrcVerifier(crc32).verify(packet, offset, length, metaOf(pathOf(datagram))), ipId);
    });
  });
}
