import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  CaptureError,
  CaptureReader,
  type CaptureRecord,
  LinkType,
  pcapngHeader,
  pcapngPacket,
  readCapture,
} from '../index.js';
import { goldenFile, goldenNames } from './golden.js';
import { bytesOf, checkProperty } from './support.js';

const joined = (...parts: readonly Uint8Array[]): Uint8Array => Uint8Array.from(parts.flatMap((part) => [...part]));

/** A classic pcap file of one Ethernet frame `aabbcc`, cut from 5 bytes, at 1 s and 2 ticks. */
const pcap = (order: 'big' | 'little', magic: string): Uint8Array => {
  const words = [magic, '00020004', '00000000', '00000000', '00000040', '00000001', '00000001', '00000002', '00000003'];
  const bytes = bytesOf([...words, '00000005'].join(''));
  if (order === 'little') for (let i = 0; i < bytes.length; i += 4) bytes.subarray(i, i + 4).reverse();
  return joined(bytes, bytesOf('aabbcc'));
};

function summary({ timestampNs, linkType, data, originalLength }: CaptureRecord) {
  return { timestampNs, linkType, data: Buffer.from(data).toString('hex'), originalLength };
}

const read = (file: Uint8Array) => [...readCapture(file)].map(summary);

describe('a classic pcap file', () => {
  for (const order of ['big', 'little'] as const) {
    it(`is read in microseconds, ${order}-endian`, () => {
      const record = { timestampNs: 1_000_002_000n, linkType: 1, data: 'aabbcc', originalLength: 5 };
      assert.deepEqual(read(pcap(order, 'a1b2c3d4')), [record]);
    });
    it(`is read in nanoseconds, ${order}-endian`, () => {
      const record = { timestampNs: 1_000_000_002n, linkType: 1, data: 'aabbcc', originalLength: 5 };
      assert.deepEqual(read(pcap(order, 'a1b23c4d')), [record]);
    });
  }
});

describe('a pcapng file', () => {
  const header = pcapngHeader({ linkType: LinkType.RAW, appName: 'a test', snapLength: 4096 });

  it('is read as it was written', () => {
    const file = joined(
      header,
      pcapngPacket(1_700_000_000_123_456_789n, bytesOf('010203'), { direction: 'out', comment: 'dropped' }),
      pcapngPacket(0n, bytesOf('04050607'), { originalLength: 60 }),
    );
    assert.deepEqual(read(file), [
      { timestampNs: 1_700_000_000_123_456_789n, linkType: 101, data: '010203', originalLength: 3 },
      { timestampNs: 0n, linkType: 101, data: '04050607', originalLength: 60 },
    ]);
  });

  it('is read in the other byte order, with its clock and all kinds of packets', () => {
    const section = '0a0d0d0a' + '0000001c' + '1a2b3c4d' + '00010000' + 'ffffffffffffffff' + '0000001c';
    // Raw IP, 2 bytes a packet at most, half seconds (2^-1), counted from one hour after 1970.
    const options = '00090001' + '81000000' + '000e0008' + '0000000000000e10' + '00000000';
    const description = '00000001' + '0000002c' + '00650000' + '00000002' + options + '0000002c';
    const enhanced = '00000006' + '00000024' + '00000000' + '00000000' + '00000003' + '00000002' + '00000009';
    const simple = '00000003' + '00000014' + '00000007' + 'ccdd0000' + '00000014';
    const obsolete = '00000002' + '00000024' + '0000ffff' + '00000000' + '00000005' + '00000002' + '00000002';
    const unknown = '00000bad' + '00000010' + '01020304' + '00000010';
    const tail = '00000024';
    const file = bytesOf(
      section + description + unknown + enhanced + 'aabb0000' + tail + simple + obsolete + 'eeff0000' + tail,
    );
    assert.deepEqual(read(file), [
      { timestampNs: 3_601_500_000_000n, linkType: 101, data: 'aabb', originalLength: 9 },
      { timestampNs: 0n, linkType: 101, data: 'ccdd', originalLength: 7 },
      { timestampNs: 3_602_500_000_000n, linkType: 101, data: 'eeff', originalLength: 2 },
    ]);
  });

  it('tells which packets were sent and which received, where that was noted', () => {
    const packets = (['in', 'out', undefined] as const).map((direction) =>
      pcapngPacket(0n, bytesOf('010203'), { comment: 'of any length', ...(direction && { direction }) }),
    );
    const records = [...readCapture(joined(pcapngHeader({ linkType: LinkType.RAW }), ...packets))];
    assert.deepEqual(
      records.map(({ direction }) => direction),
      ['in', 'out', undefined],
    );
  });

  it('may have several sections, each with interfaces of its own', () => {
    const other = pcapngHeader({ linkType: LinkType.ETHERNET });
    const file = joined(header, pcapngPacket(1n, bytesOf('01')), other, pcapngPacket(2n, bytesOf('02')));
    assert.deepEqual(
      read(file).map(({ linkType }) => linkType),
      [101, 1],
    );
  });
});

describe('a capture that comes in pieces', () => {
  it('gives the same packets however it is cut', () => {
    const files = [...goldenNames.slice(0, 3).map(goldenFile), pcapngOf(goldenFile('rping'))];
    for (const file of files) {
      const whole = read(file);
      for (const pieceBytes of [1, 7, 1000]) {
        const reader = new CaptureReader();
        const records: CaptureRecord[] = [];
        for (let at = 0; at < file.length; at += pieceBytes) {
          records.push(...reader.push(file.subarray(at, at + pieceBytes)));
        }
        reader.end();
        assert.deepEqual(records.map(summary), whole);
      }
    }
  });

  function pcapngOf(pcapFile: Uint8Array): Uint8Array {
    const packets = [...readCapture(pcapFile)].map(({ timestampNs, data }) => pcapngPacket(timestampNs, data));
    return joined(pcapngHeader({ linkType: LinkType.ETHERNET }), ...packets);
  }
});

describe('a damaged capture', () => {
  const header = pcapngHeader({ linkType: LinkType.RAW });
  const packet = pcapngPacket(0n, bytesOf('0102030405'));
  const withWord = (bytes: Uint8Array, at: number, word: string): Uint8Array => {
    const copy = bytes.slice();
    copy.set(bytesOf(word), at);
    return copy;
  };
  const cases: readonly (readonly [string, Uint8Array, RegExp])[] = [
    ['empty', new Uint8Array(0), /empty/],
    ['three bytes', new Uint8Array(3), /neither/],
    ['another kind of file', new TextEncoder().encode('#!/bin/sh\n'), /neither/],
    ['a cut packet', pcap('big', 'a1b2c3d4').subarray(0, 41), /cut short.*after packet 0 \(byte 24\)/],
    ['a cut pcapng packet', joined(header, packet, packet.subarray(0, 20)), /cut short.*after packet 1/],
    ['an absurd packet length', withWord(pcap('big', 'a1b2c3d4'), 32, '7fffffff'), /2147483647 bytes.*byte 24/],
    ['an absurd block length', joined(header, withWord(packet, 4, 'ffffff7f')), /block of 2147483647 bytes/],
    ['a block length of no whole words', joined(header, withWord(packet, 4, '2b000000')), /block of 43 bytes/],
    ['unequal block lengths', joined(header, withWord(packet, packet.length - 4, '00000000')), /another length/],
    ['a packet longer than its block', joined(header, withWord(packet, 20, 'ff000000')), /longer than its block/],
    ['an unknown interface', joined(header, withWord(packet, 8, '01000000')), /interface 1/],
    ['no byte order', withWord(header, 8, '00000000'), /byte order/],
  ];
  for (const [name, file, message] of cases) {
    it(`is refused with a sentence: ${name}`, () => {
      assert.throws(
        () => [...readCapture(file)],
        (error) => error instanceof CaptureError && message.test(error.message),
      );
    });
  }

  it('never fails in another way, whatever bytes of it are changed', (test) => {
    const files = [pcap('little', 'a1b2c3d4'), joined(header, packet, packet)];
    const change = fc.tuple(fc.nat(160), fc.integer({ min: 0, max: 255 }));
    checkProperty(
      test,
      fc.property(fc.constantFrom(...files), fc.array(change, { maxLength: 4 }), (file, changes) => {
        const copy = file.slice();
        for (const [at, value] of changes) if (at < copy.length) copy[at] = value;
        try {
          for (const { data } of readCapture(copy)) assert.ok(data.length <= copy.length);
        } catch (error) {
          assert.ok(error instanceof CaptureError);
        }
      }),
      3000,
    );
  });

  it('gives the packets before the damage', () => {
    const reader = new CaptureReader();
    const records: CaptureRecord[] = [];
    assert.throws(() => {
      for (const record of reader.push(joined(header, packet, withWord(packet, 4, '00000000')))) records.push(record);
    }, CaptureError);
    assert.equal(records.length, 1);
  });
});
