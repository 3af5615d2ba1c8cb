import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  aethOffset,
  atomicAckOffset,
  atomicEthOffset,
  dethOffset,
  fethOffset,
  iethOffset,
  immOffset,
  Opcode,
  OpcodeBit,
  opcodeBits,
  opcodeHeaderBytes,
  opcodeName,
  rethOffset,
  xrcethOffset,
} from '../index.js';

const PLACE = OpcodeBit.FIRST | OpcodeBit.MIDDLE | OpcodeBit.LAST | OpcodeBit.ONLY;
const known = Object.entries(Opcode);

/** protocol/packets.md 1.2 and 1.3: bytes of all headers. */
const HEADER_BYTES: readonly (readonly [number, number])[] = [
  [Opcode.RC_SEND_MIDDLE, 12],
  [Opcode.RC_SEND_ONLY_IMM, 16],
  [Opcode.RC_SEND_LAST_INVALIDATE, 16],
  [Opcode.RC_WRITE_FIRST, 28],
  [Opcode.RC_WRITE_ONLY_IMM, 32],
  [Opcode.RC_READ_REQUEST, 28],
  [Opcode.RC_READ_RESP_MIDDLE, 12],
  [Opcode.RC_READ_RESP_LAST, 16],
  [Opcode.RC_ACKNOWLEDGE, 16],
  [Opcode.RC_ATOMIC_ACKNOWLEDGE, 24],
  [Opcode.RC_COMPARE_SWAP, 40],
  [Opcode.RC_FLUSH, 32],
  [Opcode.RC_ATOMIC_WRITE, 28],
  [Opcode.UC_WRITE_LAST_IMM, 16],
  [Opcode.UD_SEND_ONLY, 20],
  [Opcode.UD_SEND_ONLY_IMM, 24],
  [Opcode.CNP, 12],
  [Opcode.XRC_SEND_ONLY, 16],
  [Opcode.XRC_WRITE_ONLY_IMM, 36],
  [Opcode.XRC_FETCH_ADD, 44],
  [Opcode.XRC_ACKNOWLEDGE, 16],
  [Opcode.XRC_READ_RESP_FIRST, 16],
];

describe('opcode tables', () => {
  for (const [opcode, bytes] of HEADER_BYTES) {
    it(`${opcodeName(opcode)} has ${bytes} bytes of headers`, () => assert.equal(opcodeHeaderBytes[opcode], bytes));
  }

  it('know no opcode but those that have a name', () => {
    const values = new Set<number>(known.map(([, opcode]) => opcode));
    const strangers = Array.from({ length: 256 }, (_, opcode) => opcode).filter((opcode) => !values.has(opcode));
    assert.deepEqual(
      strangers.filter((opcode) => opcodeBits[opcode] !== 0 || opcodeHeaderBytes[opcode] !== 0),
      [],
    );
  });

  it('name every opcode, and the unknown ones by their number', () => {
    for (const [name, opcode] of known) assert.equal(opcodeName(opcode), name);
    assert.equal(opcodeName(0x15), 'UNKNOWN_0x15');
  });

  it('give each opcode one place in its message', () => {
    for (const [name, opcode] of known) {
      const place = opcodeBits[opcode] & PLACE;
      assert.ok(place !== 0 && (place & (place - 1)) === 0, name);
    }
  });

  it('give each opcode one direction, but congestion notifications none', () => {
    for (const [name, opcode] of known) {
      const direction = opcodeBits[opcode] & (OpcodeBit.REQUEST | OpcodeBit.RESPONSE);
      const expected = opcode === Opcode.CNP ? [0] : [OpcodeBit.REQUEST, OpcodeBit.RESPONSE];
      assert.ok((expected as readonly number[]).includes(direction), name);
    }
  });

  it('put the headers in the order of the wire', () => {
    const { XRC_WRITE_ONLY_IMM, RC_FLUSH, RC_ATOMIC_ACKNOWLEDGE, UD_SEND_ONLY_IMM, XRC_SEND_LAST_INVALIDATE } = Opcode;
    assert.deepEqual(
      [xrcethOffset[XRC_WRITE_ONLY_IMM], rethOffset[XRC_WRITE_ONLY_IMM], immOffset[XRC_WRITE_ONLY_IMM]],
      [12, 16, 32],
    );
    assert.deepEqual([fethOffset[RC_FLUSH], rethOffset[RC_FLUSH]], [12, 16]);
    assert.deepEqual([aethOffset[RC_ATOMIC_ACKNOWLEDGE], atomicAckOffset[RC_ATOMIC_ACKNOWLEDGE]], [12, 16]);
    assert.deepEqual([dethOffset[UD_SEND_ONLY_IMM], immOffset[UD_SEND_ONLY_IMM]], [12, 20]);
    assert.deepEqual([xrcethOffset[XRC_SEND_LAST_INVALIDATE], iethOffset[XRC_SEND_LAST_INVALIDATE]], [12, 16]);
    assert.equal(atomicEthOffset[Opcode.RC_COMPARE_SWAP], 12);
  });

  it('say of UC and XRC what they say of RC, with XRCETH before all else of XRC requests and in no response', () => {
    const others = known.filter(([name]) => /^(UC|XRC)_/.test(name));
    for (const [name, opcode] of others) {
      const twin = opcode & 0x1f;
      const isXrcRequest = name.startsWith('XRC') && (opcodeBits[opcode] & OpcodeBit.REQUEST) !== 0;
      assert.equal(opcodeBits[opcode] & ~OpcodeBit.XRCETH, opcodeBits[twin], name);
      assert.equal(xrcethOffset[opcode], isXrcRequest ? 12 : 0, name);
      const shift = isXrcRequest ? 4 : 0;
      assert.equal(opcodeHeaderBytes[opcode], opcodeHeaderBytes[twin] + shift, name);
      for (const offsets of [rethOffset, atomicEthOffset, aethOffset, atomicAckOffset, immOffset, iethOffset]) {
        assert.equal(offsets[opcode], offsets[twin] === 0 ? 0 : offsets[twin] + shift, name);
      }
    }
  });

  it('give ATOMIC_WRITE its address and a payload, and FLUSH no payload', () => {
    const { RC_ATOMIC_WRITE, RC_FLUSH } = Opcode;
    assert.equal(rethOffset[RC_ATOMIC_WRITE], 12);
    assert.notEqual(opcodeBits[RC_ATOMIC_WRITE] & OpcodeBit.PAYLOAD, 0);
    assert.equal(opcodeBits[RC_FLUSH] & OpcodeBit.PAYLOAD, 0);
  });

  it('give absent headers no place', () => {
    const offsets = [dethOffset, xrcethOffset, fethOffset, rethOffset, atomicEthOffset, aethOffset, immOffset];
    assert.deepEqual(
      offsets.map((table) => table[Opcode.RC_SEND_MIDDLE]),
      offsets.map(() => 0),
    );
  });
});
