import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { gidFromIp } from '../../ibta/index.js';
import { crc32, createPath, IcrcVerifier, type Path, sealIcrc } from '../index.js';
import { checkProperty, ipv4Path, ipv6Path, metaOf } from './support.js';

/** Bytes of any packet, with room for its ICRC; lengths are whole words, as in every RoCE packet. */
const anyPacket = fc
  .integer({ min: 4, max: 80 })
  .chain((words) => fc.uint8Array({ minLength: 4 * words, maxLength: 4 * words }));
const anyId = fc.integer({ min: 0, max: 0xffff });

function sealed(bytes: Uint8Array, path: Path, ipId: number): Uint8Array {
  const packet = bytes.slice();
  sealIcrc(crc32, path, packet, 0, packet.length, ipId);
  return packet;
}

/** Flips one bit of the packet's, counted without those of the one byte that the ICRC leaves out. */
function flipBit(packet: Uint8Array, choice: number): Uint8Array {
  const bit = choice % (8 * (packet.length - 1));
  const byte = bit >> 3 < 4 ? bit >> 3 : (bit >> 3) + 1;
  const flipped = packet.slice();
  flipped[byte] ^= 1 << (bit & 7);
  return flipped;
}

describe('IcrcVerifier', () => {
  it('finds any hidden IP identification', (test) => {
    const verifier = new IcrcVerifier(crc32);
    checkProperty(
      test,
      fc.property(anyPacket, anyId, (bytes, ipId) => {
        const packet = sealed(bytes, ipv4Path, ipId);
        assert.equal(verifier.verify(packet, 0, packet.length, metaOf(ipv4Path)), ipId);
      }),
    );
  });

  it('follows a sender that counts the identification up, across its wrap', () => {
    const verifier = new IcrcVerifier(crc32);
    const ids = Array.from({ length: 40 }, (_, i) => (0xffec + i) & 0xffff);
    const found = ids.map((ipId) => {
      const packet = sealed(new Uint8Array(32), ipv4Path, ipId);
      return verifier.verify(packet, 0, packet.length, metaOf(ipv4Path));
    });
    assert.deepEqual(found, ids);
  });

  it('finds the identification in a packet of the largest size', () => {
    const packet = sealed(new Uint8Array(65504).fill(0xa5), ipv4Path, 0xbeef);
    assert.equal(new IcrcVerifier(crc32).verify(packet, 0, packet.length, metaOf(ipv4Path)), 0xbeef);
  });

  it('tells more senders apart than it remembers', () => {
    const verifier = new IcrcVerifier(crc32);
    const senders = Array.from({ length: 300 }, (_, i) => {
      const path = createPath({ sgid: gidFromIp(`10.0.${i >> 8}.${i & 255}`), dgid: ipv4Path.dgid });
      return { meta: metaOf(path), ipId: i * 7, packet: sealed(new Uint8Array(24).fill(i), path, i * 7) };
    });
    for (let round = 0; round < 2; round += 1) {
      for (const { meta, ipId, packet } of senders) {
        assert.equal(verifier.verify(packet, 0, packet.length, meta), ipId);
      }
    }
  });

  it('notices every flipped bit on IPv6', (test) => {
    const verifier = new IcrcVerifier(crc32);
    checkProperty(
      test,
      fc.property(anyPacket, fc.nat(), (bytes, choice) => {
        const packet = flipBit(sealed(bytes, ipv6Path, 0), choice);
        assert.equal(verifier.verify(packet, 0, packet.length, metaOf(ipv6Path)), -1);
      }),
    );
  });

  it('notices every flipped bit on IPv4 when the identification is known', (test) => {
    const verifier = new IcrcVerifier(crc32);
    checkProperty(
      test,
      fc.property(anyPacket, anyId, fc.nat(), (bytes, ipId, choice) => {
        const packet = flipBit(sealed(bytes, ipv4Path, ipId), choice);
        assert.equal(verifier.verify(packet, 0, packet.length, metaOf(ipv4Path, ipId)), -1);
      }),
    );
  });

  it('refuses nearly all noise even while the identification is hidden', () => {
    // 16 of the 32 bits remain to check with, so about one packet of noise in 65536 passes.
    const verifier = new IcrcVerifier(crc32);
    let state = 1;
    let passed = 0;
    for (let i = 0; i < 20000; i += 1) {
      const packet = new Uint8Array(20);
      for (let at = 0; at < packet.length; at += 1) {
        state = (Math.imul(state, 1103515245) + 12345) | 0;
        packet[at] = state >>> 16;
      }
      if (verifier.verify(packet, 0, packet.length, metaOf(ipv4Path)) >= 0) passed += 1;
    }
    assert.ok(passed <= 3, `${passed} of 20000 passed`);
  });

  it('refuses the identification 5 when the receiver saw 6', () => {
    const packet = sealed(new Uint8Array(24), ipv4Path, 5);
    assert.equal(new IcrcVerifier(crc32).verify(packet, 0, packet.length, metaOf(ipv4Path, 6)), -1);
  });

  it('refuses a packet of another sender', () => {
    const packet = sealed(new Uint8Array(24), ipv6Path, 0);
    const other = createPath({ sgid: gidFromIp('fd00::2'), dgid: ipv6Path.dgid, sourcePort: ipv6Path.sourcePort });
    assert.equal(new IcrcVerifier(crc32).verify(packet, 0, packet.length, metaOf(other)), -1);
  });

  it('does not look at the byte of FECN and BECN', () => {
    const packet = sealed(new Uint8Array(24), ipv4Path, 0);
    packet[4] = 0xc0;
    assert.equal(new IcrcVerifier(crc32).verify(packet, 0, packet.length, metaOf(ipv4Path)), 0);
  });

  it('leaves the packet as it was', () => {
    const packet = sealed(new Uint8Array(24).fill(7), ipv4Path, 9);
    const before = packet.slice();
    new IcrcVerifier(crc32).verify(packet, 0, packet.length, metaOf(ipv4Path));
    assert.deepEqual(packet, before);
  });

  it('refuses what is too short for an ICRC', () => {
    const verifier = new IcrcVerifier(crc32);
    for (let length = 0; length < 16; length += 1) {
      assert.equal(verifier.verify(new Uint8Array(16), 0, length, metaOf(ipv4Path)), -1);
    }
  });
});
