import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  aethOffset,
  bthMigReq,
  type CaptureRecord,
  crc32,
  datagramAddresses,
  datagramIcrc,
  decodePacket,
  Direction,
  Ecn,
  encodePacket,
  getU32,
  IcrcVerdict,
  immOffset,
  LinkType,
  opcodeHeaderBytes,
  PacketBit,
  PacketCursor,
  PacketTable,
  parseFrame,
  pcapngHeader,
  pcapngPacket,
  readCapture,
  rethOffset,
  storedIcrc,
} from '../index.js';
import { goldenFile, goldenNames } from './golden.js';

/** What both readers say of a packet. */
function decodedRow({ linkType, data, timestampNs }: CaptureRecord, frame: number, startNs: bigint) {
  const datagram = parseFrame(linkType, data);
  if (typeof datagram === 'string') return undefined;
  const { offset, length, trafficClass } = datagram;
  const packet = decodePacket(data, offset, length);
  if ('refusal' in packet) throw new Error(packet.refusal);
  const { bth, payload, aeth } = packet;
  const { source, destination } = datagramAddresses(datagram);
  return {
    frame,
    timeNs: Number(timestampNs - startNs),
    source,
    destination,
    opcode: bth.opcode,
    qpn: bth.destQp,
    psn: bth.psn,
    pkey: bth.pkey,
    ipId: datagram.ipId,
    ackRequest: bth.ackRequest,
    solicited: bth.solicited,
    migReq: bth.migReq,
    fecn: bth.fecn,
    becn: bth.becn,
    padCount: bth.padCount,
    ecn: trafficClass & Ecn.MASK,
    payloadBytes: payload.length,
    icrc: packet.icrc,
    isRight: datagramIcrc(crc32, data, datagram) === storedIcrc(data, offset, length),
    aeth: aeth === undefined ? -1 : aeth.syndrome * 0x1000000 + aeth.msn,
    rkey: packet.reth?.rkey,
    immData: packet.immData,
    headers: Buffer.from(encodePacket(packet).subarray(12, opcodeHeaderBytes[bth.opcode])).toString('hex'),
  };
}

function tableRow(table: PacketTable, row: number) {
  const bits = table.bits(row);
  const has = (bit: number): boolean => (bits & bit) !== 0;
  const opcode = table.opcode(row);
  const headers = table.headers(row);
  const at = table.headerAt(row);
  const word = (offset: number): number | undefined => (offset === 0 ? undefined : getU32(headers, at + offset) >>> 0);
  const flow = table.flow(row);
  return {
    frame: table.frame(row),
    timeNs: table.timeNs(row),
    source: table.flows.source(flow),
    destination: table.flows.destination(flow),
    opcode,
    qpn: table.flows.qpn(flow),
    psn: table.psn(row),
    pkey: table.pkey(row),
    ipId: table.ipId(row),
    ackRequest: has(PacketBit.ACK_REQUEST),
    solicited: has(PacketBit.SOLICITED),
    migReq: has(PacketBit.MIG_REQ),
    fecn: has(PacketBit.FECN),
    becn: has(PacketBit.BECN),
    padCount: table.padCount(row),
    ecn: table.ecn(row),
    payloadBytes: table.payloadBytes(row),
    icrc: table.icrc(row) >>> 0,
    isRight: !has(PacketBit.WRONG_ICRC),
    aeth: table.aeth(row),
    rkey: rethOffset[opcode] === 0 ? undefined : word(rethOffset[opcode] + 8),
    immData: word(immOffset[opcode]),
    headers: Buffer.from(headers.subarray(at + 12, at + opcodeHeaderBytes[opcode])).toString('hex'),
  };
}

function tableOf(file: Uint8Array, pieceBytes = file.length): { table: PacketTable; cursor: PacketCursor } {
  const table = new PacketTable();
  const cursor = new PacketCursor();
  // One buffer for all pieces, as a program has that reads a file.
  const piece = new Uint8Array(pieceBytes);
  for (let at = 0; at < file.length; at += pieceBytes) {
    const length = Math.min(pieceBytes, file.length - at);
    piece.set(file.subarray(at, at + length));
    cursor.feed(piece.subarray(0, length));
    while (cursor.next()) table.add(cursor.packet, cursor.timeNs, cursor.frames.count, cursor.direction);
  }
  cursor.end();
  return { table, cursor };
}

describe('the table of packets says of every golden packet what the decoder says', () => {
  for (const name of goldenNames)
    it(name, () => {
      const file = goldenFile(name);
      const records = [...readCapture(file)];
      const expected = records
        .map((record, i) => decodedRow(record, i + 1, records[0].timestampNs))
        .filter((row) => row !== undefined);
      for (const pieceBytes of [file.length, 1000, 77]) {
        const { table } = tableOf(file, pieceBytes);
        const rows = Array.from({ length: table.packets }, (_, row) => tableRow(table, row));
        assert.deepEqual(rows, expected);
      }
    });
});

describe('the table of packets', () => {
  const records = [...readCapture(goldenFile('verbs_read'))];
  const frames = records.map(({ data }) => data);
  const fileOf = (packets: readonly Uint8Array[], linkType: number = LinkType.ETHERNET): Uint8Array =>
    Buffer.concat([pcapngHeader({ linkType }), ...packets.map((data, i) => pcapngPacket(BigInt(i), data))]);

  it('takes at most 64 bytes a packet', () => {
    const many = Array.from({ length: 20_000 }, (_, i) => frames[i % frames.length]);
    const { table } = tableOf(fileOf(many));
    assert.equal(table.packets, 20_000);
    assert.ok(table.bytes / 2 ** 15 <= 64, `${table.bytes} bytes for two chunks of 16,384`);
  });

  it('keeps what the capture holds of a cut packet', () => {
    const { table } = tableOf(fileOf(frames.map((frame) => frame.subarray(0, 64))));
    assert.equal(table.packets, frames.length);
    const [row] = [0];
    assert.equal(table.opcode(row), 0x0c);
    assert.ok((table.bits(row) & PacketBit.HEADERS_CUT) !== 0);
    assert.ok((table.bits(row) & PacketBit.CUT) !== 0);
  });

  it('marks wrong ICRCs and keeps the packets', () => {
    const wrong = frames.map((frame) => {
      const copy = frame.slice();
      copy[copy.length - 1] ^= 1;
      return copy;
    });
    const { table } = tableOf(fileOf(wrong));
    for (let row = 0; row < frames.length; row += 1) assert.ok((table.bits(row) & PacketBit.WRONG_ICRC) !== 0);
  });

  it('puts the tables of several files together', () => {
    const one = tableOf(goldenFile('verbs_read')).table;
    const both = new PacketTable(one.flows);
    const first = both.take(one);
    const second = new PacketTable(one.flows);
    const cursor = new PacketCursor();
    cursor.feed(goldenFile('rping'));
    while (cursor.next()) second.add(cursor.packet, cursor.timeNs, cursor.frames.count, Direction.OUT);
    const begin = both.take(second);
    assert.deepEqual([first, begin, both.end], [0, 16_384, 16_384 + second.packets]);
    assert.equal(both.packets, one.packets + second.packets);
    assert.deepEqual(tableRow(both, begin), tableRow(second, 0));
    assert.equal(both.direction(begin), Direction.OUT);
  });
});

/** Wraps a frame or an IP packet in headers of hexadecimal digits. */
const within = (header: string, inner: Uint8Array): Uint8Array => Buffer.concat([Buffer.from(header, 'hex'), inner]);
const MACS = '0200000000020200000000010800';
const outer = (protocol: string): string => `4500000000004000ff${protocol}0000c0000201c0000202`;
const udp = (port: string): string => `c000${port}00000000`;

describe('packets in tunnels', () => {
  const [{ data: frame }] = [...readCapture(goldenFile('verbs_read'))];
  const ip = frame.subarray(14);
  const tunnels: readonly (readonly [tunnel: string, frame: Uint8Array])[] = [
    ['VXLAN', within(`${MACS}${outer('11')}${udp('12b5')}0800000000000100`, frame)],
    ['VXLAN', within(`${MACS}${outer('11')}${udp('2118')}0800000000000100`, frame)],
    ['GENEVE', within(`${MACS}${outer('11')}${udp('17c1')}0100655800000100aabbccdd`, frame)],
    ['GENEVE', within(`${MACS}${outer('11')}${udp('17c1')}0000080000000100`, ip)],
    ['GRE', within(`${MACS}${outer('2f')}00000800`, ip)],
    ['GRE', within(`${MACS}${outer('2f')}b000655800000000000000010000000200000003`.slice(0, -8), frame)],
    ['ERSPAN', within(`${MACS}${outer('2f')}000088be`, frame)],
    ['ERSPAN', within(`${MACS}${outer('2f')}100088be000000011001000000000000`, frame)],
    ['ERSPAN', within(`${MACS}${outer('2f')}100022eb00000001200100000000000000000000`, frame)],
    ['ERSPAN', within(`${MACS}${outer('2f')}100022eb000000012001000000000000000000010000000000000000`, frame)],
    ['IP in IP', within(`${MACS}${outer('04')}`, ip)],
    ['MPLS', within('02000000000202000000000188470001004000020140', ip)],
  ];
  for (const [i, [tunnel, wrapped]] of tunnels.entries())
    it(`are found in ${tunnel} (${i})`, () => {
      const cursor = new PacketCursor();
      cursor.feed(
        Buffer.concat([pcapngHeader({ linkType: LinkType.ETHERNET }), pcapngPacket(0n, Uint8Array.from(wrapped))]),
      );
      assert.ok(cursor.next(), cursor.skipped.toString());
      const { place, icrc, bytes } = cursor.packet;
      assert.deepEqual([place.tunnel, icrc, bytes[place.offset]], [tunnel, IcrcVerdict.OK, 0x0c]);
      assert.equal(bthMigReq(bytes, place.offset), bthMigReq(frame, 42));
    });

  it('are not followed without end, and no byte of them makes anything throw', () => {
    let wrapped: Uint8Array = frame;
    for (let i = 0; i < 6; i += 1) wrapped = within(`${MACS}${outer('11')}${udp('12b5')}0800000000000100`, wrapped);
    const cursor = new PacketCursor();
    const packets = [wrapped, ...tunnels.flatMap(([, one]) => Array.from(one.keys(), (n) => one.subarray(0, n)))];
    cursor.feed(
      Buffer.concat([
        pcapngHeader({ linkType: LinkType.ETHERNET }),
        ...packets.map((one) => pcapngPacket(0n, Uint8Array.from(one))),
      ]),
    );
    while (cursor.next()) assert.notEqual(cursor.packet.icrc, IcrcVerdict.OK);
    assert.equal(cursor.frames.count, packets.length);
  });
});

describe('skipped frames are counted and named', () => {
  const frame = (header: string): Uint8Array => Uint8Array.from(Buffer.from(`${header}${'00'.repeat(40)}`, 'hex'));
  const skipped = (linkType: number, ...frames: readonly Uint8Array[]): string => {
    const cursor = new PacketCursor();
    cursor.feed(Buffer.concat([pcapngHeader({ linkType }), ...frames.map((one) => pcapngPacket(0n, one))]));
    assert.equal(cursor.next(), false);
    return cursor.skipped.toString();
  };
  for (const [linkType, frames, text] of [
    [197, [frame(''), frame('')], '2 other frames skipped (2 of an unknown link type: 197 (ERF))'],
    [1, [frame('0200000000020200000000010806')], '(1 not IP: Ethertype 0x0806 (ARP))'],
    [1, [frame(`${MACS}${outer('06')}`)], '(1 not UDP: protocol 6 (TCP))'],
    [1, [frame(`${MACS}${outer('11')}12b7485300000000`)], 'port 18515; 1 of them from UDP port 4791'],
    [1, [frame(`${MACS}${outer('11')}c000003500000000`)], '(1 another UDP port: port 53)'],
  ] as const)
    it(text, () => {
      const told = skipped(linkType, ...frames);
      assert.ok(told.includes(text), told);
    });
});

// The offsets are those of whole packets, so that the tables of opcode.ts serve rows as well.
it('an offset of opcode.ts finds a header of a row', () => {
  const { table } = tableOf(goldenFile('verbs_read'));
  const at = table.headerAt(1) + aethOffset[table.opcode(1)];
  assert.equal(table.headers(1)[at] * 0x1000000 + (getU32(table.headers(1), at) & 0xffffff), table.aeth(1));
});
