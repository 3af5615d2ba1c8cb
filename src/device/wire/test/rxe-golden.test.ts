import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  crc32,
  datagramIcrc,
  encodePacket,
  headersTwiceCrc,
  IcrcVerifier,
  Opcode,
  rethOffset,
  rethVaHi,
  rethVaLo,
  sealIcrc,
} from '../index.js';
import { goldenPackets } from './golden.js';
import { decoded, metaOf, pathOf } from './support.js';

/** FLUSH and ATOMIC_WRITE between Linux 7.2's Soft-RoCE hosts, and with a NIC of ours that knew IBTA's ICRC alone. */
const packets = ['rxe-7.2/flush-rxe-to-rxe', 'rxe-7.2/flush-rxe-to-verbena'].flatMap(goldenPackets);
const flushes = packets.filter(({ bytes }) => bytes[0] === Opcode.RC_FLUSH);

describe('golden packets of Linux 7.2', () => {
  it('encode to the same bytes again', () => {
    for (const { label, bytes } of packets) assert.deepEqual(encodePacket(decoded(bytes)), bytes, label);
  });

  it('have IBTA’s ICRC, except FLUSHes, whose headers it covers twice', () => {
    assert.ok(flushes.length > 0);
    for (const { label, bytes, frame, datagram } of packets) {
      const icrc = datagramIcrc(crc32, frame, datagram);
      const isFlush = flushes.some((flush) => flush.bytes === bytes);
      const expected = isFlush ? headersTwiceCrc(crc32, icrc, bytes, 0, bytes.length) : icrc;
      assert.equal(expected >>> 0, decoded(bytes).icrc, label);
    }
  });

  it('are sealed so for their path', () => {
    for (const { label, bytes, datagram } of flushes) {
      const sealed = bytes.slice().fill(0, bytes.length - 4);
      sealIcrc(crc32, pathOf(datagram), sealed, 0, sealed.length, datagram.ipId, true);
      assert.deepEqual(sealed, bytes, label);
    }
  });

  it('verify, whether the IP identification is known or hidden', () => {
    for (const isHidden of [false, true]) {
      const verifier = new IcrcVerifier(crc32);
      for (const { label, bytes, datagram } of packets) {
        const meta = isHidden ? metaOf(pathOf(datagram)) : metaOf(pathOf(datagram), datagram.ipId);
        assert.equal(verifier.verify(bytes, 0, bytes.length, meta), datagram.ipId, label);
        if (bytes[0] === Opcode.RC_FLUSH) assert.equal(verifier.headersTwice, true, label);
      }
    }
  });

  it('tell FLUSHes of the standard from those of rxe', () => {
    for (const isHidden of [false, true]) {
      const verifier = new IcrcVerifier(crc32);
      for (const { bytes, datagram } of flushes) {
        const sealed = bytes.slice();
        sealIcrc(crc32, pathOf(datagram), sealed, 0, sealed.length, datagram.ipId);
        const meta = isHidden ? metaOf(pathOf(datagram)) : metaOf(pathOf(datagram), datagram.ipId);
        assert.equal(verifier.verify(sealed, 0, sealed.length, meta), datagram.ipId);
        assert.equal(verifier.headersTwice, false);
        sealed[20] ^= 1;
        assert.equal(verifier.verify(sealed, 0, sealed.length, metaOf(pathOf(datagram), datagram.ipId)), -1);
      }
    }
  });

  it('have address 0 where rxe repeats a FLUSH', () => {
    const seen = new Set<number>();
    let repeats = 0;
    for (const { bytes } of goldenPackets('rxe-7.2/flush-rxe-to-verbena')) {
      if (bytes[0] !== Opcode.RC_FLUSH) continue;
      const { psn } = decoded(bytes).bth;
      const reth = rethOffset[Opcode.RC_FLUSH];
      const isZero = rethVaHi(bytes, reth) === 0 && rethVaLo(bytes, reth) === 0;
      assert.equal(isZero, seen.has(psn));
      if (seen.has(psn)) repeats += 1;
      seen.add(psn);
    }
    assert.ok(repeats > 0);
  });
});
