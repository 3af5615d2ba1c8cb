import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { crc32, datagramIcrc, encodePacket, IcrcVerifier, sealIcrc } from '../index.js';
import { goldenNames, goldenOpcodes, goldenPackets } from './golden.js';
import { decoded, metaOf, pathOf } from './support.js';

const packets = goldenNames.flatMap(goldenPackets);

describe('golden packets of Soft-RoCE', () => {
  it('decode to the opcodes that another program counted', () => {
    const counts = Object.fromEntries(
      goldenNames.map((name) => {
        const count: Record<string, number> = {};
        for (const { bytes } of goldenPackets(name)) {
          const opcode = decoded(bytes).name;
          count[opcode] = (count[opcode] ?? 0) + 1;
        }
        return [name, count];
      }),
    );
    assert.deepEqual(counts, goldenOpcodes());
  });

  it('encode to the same bytes again', () => {
    for (const { label, bytes } of packets) {
      assert.deepEqual(encodePacket(decoded(bytes)), bytes, label);
    }
  });

  it('carry the ICRC that their headers call for', () => {
    for (const { label, bytes, frame, datagram } of packets) {
      assert.equal(datagramIcrc(crc32, frame, datagram) >>> 0, decoded(bytes).icrc, label);
    }
  });

  it('get the same ICRC when sealed for their path', () => {
    for (const { label, bytes, datagram } of packets) {
      const sealed = bytes.slice().fill(0, bytes.length - 4);
      sealIcrc(crc32, pathOf(datagram), sealed, 0, sealed.length, datagram.ipId);
      assert.deepEqual(sealed, bytes, label);
    }
  });

  it('verify when the IP identification is known', () => {
    const verifier = new IcrcVerifier(crc32);
    for (const { label, bytes, datagram } of packets) {
      const meta = metaOf(pathOf(datagram), datagram.ipId);
      assert.equal(verifier.verify(bytes, 0, bytes.length, meta), datagram.ipId, label);
    }
  });

  it('give away the IP identification when it is hidden', () => {
    const verifier = new IcrcVerifier(crc32);
    for (const { label, bytes, datagram } of packets) {
      const meta = metaOf(pathOf(datagram));
      assert.equal(verifier.verify(bytes, 0, bytes.length, meta), datagram.ipId, label);
    }
  });

  it('keep connection management MADs as 256 bytes of payload to QP 1', () => {
    const mads = packets.map(({ bytes }) => decoded(bytes)).filter(({ bth }) => bth.destQp === 1);
    assert.ok(mads.length > 0);
    for (const { name, payload, deth } of mads) {
      const seen = { name, payloadBytes: payload.length, deth };
      const deth1 = { qkey: 0x80010000, reserved: 0, sourceQp: 1 };
      assert.deepEqual(seen, { name: 'UD_SEND_ONLY', payloadBytes: 256, deth: deth1 });
    }
  });
});
