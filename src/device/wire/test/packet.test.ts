import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  aethOffset,
  atomicAckOffset,
  atomicEthOffset,
  decodePacket,
  dethOffset,
  encodePacket,
  fethOffset,
  formatPacket,
  iethOffset,
  immOffset,
  Opcode,
  opcodeHeaderBytes,
  opcodeName,
  type Packet,
  rethOffset,
  xrcethOffset,
} from '../index.js';
import { bytesOf, checkProperty, decoded } from './support.js';

const bits = (count: number) => fc.integer({ min: 0, max: 2 ** count - 1 });
const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const u32 = bits(32);

/** Plain objects, as the decoder makes them; without the option some have no prototype. */
const record = <Fields>(fields: { [Name in keyof Fields]: fc.Arbitrary<Fields[Name]> }) =>
  fc.record(fields, { noNullPrototype: true });

function anyPacketOf(opcode: number): fc.Arbitrary<Packet> {
  const headers = {
    ...(dethOffset[opcode] !== 0 && { deth: record({ qkey: u32, reserved: bits(8), sourceQp: bits(24) }) }),
    ...(xrcethOffset[opcode] !== 0 && { xrceth: record({ reserved: bits(8), srqn: bits(24) }) }),
    ...(fethOffset[opcode] !== 0 && {
      feth: record({ placement: bits(4), selectivity: bits(2), reserved: bits(26) }),
    }),
    ...(rethOffset[opcode] !== 0 && { reth: record({ va: u64, rkey: u32, length: u32 }) }),
    ...(atomicEthOffset[opcode] !== 0 && {
      atomicEth: record({ va: u64, rkey: u32, swap: u64, compare: u64 }),
    }),
    ...(aethOffset[opcode] !== 0 && { aeth: record({ syndrome: bits(8), msn: bits(24) }) }),
    ...(atomicAckOffset[opcode] !== 0 && { atomicAck: record({ original: u64 }) }),
    ...(immOffset[opcode] !== 0 && { immData: u32 }),
    ...(iethOffset[opcode] !== 0 && { invalidateRkey: u32 }),
  };
  return bits(2).chain((padCount) =>
    record({
      name: fc.constant(opcodeName(opcode)),
      bth: record({
        opcode: fc.constant(opcode),
        solicited: fc.boolean(),
        migReq: fc.boolean(),
        padCount: fc.constant(padCount),
        tver: bits(4),
        pkey: bits(16),
        fecn: fc.boolean(),
        becn: fc.boolean(),
        reserved6: bits(6),
        destQp: bits(24),
        ackRequest: fc.boolean(),
        reserved7: bits(7),
        psn: bits(24),
      }),
      ...headers,
      payload: fc.uint8Array({ maxLength: 40 }),
      padding: fc.uint8Array({ minLength: padCount, maxLength: padCount }),
      icrc: u32,
    }),
  );
}

describe('packets as objects', () => {
  for (const [name, opcode] of Object.entries(Opcode)) {
    it(`come back from bytes as they were: ${name}`, (test) => {
      checkProperty(
        test,
        fc.property(anyPacketOf(opcode), (packet) => {
          assert.deepEqual(decodePacket(encodePacket(packet)), packet);
        }),
        30,
      );
    });
  }

  it('are read at any offset', () => {
    const packet = bytesOf('1100ffff00000011000000011f000001cc12a806');
    const within = new Uint8Array(packet.length + 10);
    within.set(packet, 7);
    assert.deepEqual(decodePacket(within, 7, packet.length), decodePacket(packet));
  });

  it('need the headers that their opcode calls for', () => {
    const { aeth, ...rest } = decoded(bytesOf('1100ffff00000011000000011f000001cc12a806'));
    assert.ok(aeth);
    assert.throws(() => encodePacket(rest), new RangeError('RC_ACKNOWLEDGE needs aeth'));
  });
});

describe('what is not a packet', () => {
  const refusalOf = (bytes: Uint8Array): string => {
    const result = decodePacket(bytes);
    return 'refusal' in result ? result.refusal : '';
  };

  it('is refused when it is too short for any packet', () => {
    for (let length = 0; length < 16; length += 1) assert.match(refusalOf(new Uint8Array(length)), /too few/);
  });

  it('is refused when it is too short for the headers of its opcode', () => {
    for (const opcode of Object.values(Opcode)) {
      const bytes = new Uint8Array(opcodeHeaderBytes[opcode] + 3);
      bytes[0] = opcode;
      assert.match(refusalOf(bytes), /too few/, opcodeName(opcode));
    }
  });

  it('is refused when its padding reaches into the headers', () => {
    const bytes = new Uint8Array(18);
    bytes[0] = Opcode.RC_SEND_ONLY;
    bytes[1] = 0x30;
    assert.match(refusalOf(bytes), /3 bytes of padding/);
  });

  it('is refused when nobody defined its opcode', () => {
    const bytes = new Uint8Array(32);
    bytes[0] = 0xe0;
    assert.equal(refusalOf(bytes), 'unknown opcode 0xe0');
  });

  it('is refused when it would reach beyond its bytes', () => {
    assert.deepEqual(decodePacket(new Uint8Array(20), 8, 20), { refusal: 'reaches beyond its bytes' });
  });

  it('never throws, whatever the bytes', (test) => {
    checkProperty(
      test,
      fc.property(fc.uint8Array({ maxLength: 80 }), fc.integer(), fc.integer(), (bytes, offset, length) => {
        decodePacket(bytes, offset, length);
      }),
      2000,
    );
  });
});

describe('a packet on one line', () => {
  const line = (hex: string): string => formatPacket(bytesOf(hex), 0, decoded(bytesOf(hex)).payload.length);

  it('tells an acknowledgement', () => {
    assert.equal(
      line('1100ffff00000011000000011f000001cc12a806'),
      'RC_ACKNOWLEDGE qpn=0x000011 psn=0x000001 aeth{ACK msn=1} payload=0',
    );
  });

  it('tells why a request was refused', () => {
    assert.match(line('1100ffff000000110000000162000001cc12a806'), /aeth\{NAK REMOTE_ACCESS_ERROR msn=1\}/);
    assert.match(line('1100ffff00000011000000012c000001cc12a806'), /aeth\{RNR_NAK timer=12 msn=1\}/);
  });

  it('tells remote memory, flags and payload', () => {
    assert.equal(
      line('0ab0ffff0000001280000001000055d4c0726000000047b300000005' + '68656c6c6f000000' + '00000000'),
      'RC_WRITE_ONLY qpn=0x000012 psn=0x000001 ack_req solicited ' +
        'reth{va=0x55d4c0726000 rkey=0x000047b3 len=5} payload=5',
    );
  });
});
