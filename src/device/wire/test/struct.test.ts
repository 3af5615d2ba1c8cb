import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  be16,
  be24,
  be32,
  be53,
  be64,
  bits,
  constant,
  flag,
  handshake,
  i32,
  i8,
  nested,
  octets,
  oneOf,
  range,
  reserved,
  struct,
  u16,
  u24,
  u32,
  u53,
  u64,
  u8,
  viewOf,
} from '../index.js';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

describe('a struct', () => {
  it('has its fields one behind the other, in either byte order', () => {
    const all = struct({ u8, i8, u16, be16, u24, be24, i32, u32, be32, u53, be53, u64, be64 });
    const values = { u8: 1, i8: -2, u16: 0x0102, be16: 0x0102, u24: 0x010203, be24: 0x010203, i32: -2 };
    const more = { u32: 0x01020304, be32: 0xf1020304, u53: 2 ** 32 + 5, be53: 2 ** 32 + 5, u64: 1n, be64: 2n ** 63n };
    const bytes = all.encode({ ...values, ...more });
    assert.equal(
      hex(bytes),
      '01fe' +
        '0201' +
        '0102' +
        '030201' +
        '010203' +
        'feffffff' +
        '04030201' +
        'f1020304' +
        '0500000001000000' +
        '0000000100000005' +
        '0100000000000000' +
        '8000000000000000',
    );
    assert.deepEqual(all.decode(Uint8Array.of(...bytes, 0)), { ...values, ...more });
    assert.deepEqual(all.readPadded(bytes), { ...values, ...more });
  });

  it('has fields at offsets, bits, bytes and structs inside', () => {
    const inner = struct({ a: u8, b: be16 });
    const outer = struct({
      first: u8(2),
      bits: bits(3, 6, 4),
      on: flag(3, 0),
      inner: nested(4, inner),
      raw: octets(8, 3),
    });
    const values = { first: 7, bits: 5, on: true, inner: { a: 1, b: 2 }, raw: Uint8Array.of(9, 8, 0) };
    const bytes = outer.encode({ ...values, raw: Uint8Array.of(9, 8) });
    assert.equal(hex(bytes), '0000' + '07' + '51' + '010002' + '00' + '090800');
    assert.deepEqual(outer.decode(bytes), values);
    bytes[3] = 0xff;
    outer.write(viewOf(bytes), 0, { ...values, bits: 0, on: false });
    assert.equal(bytes[3], 0x8e);
  });

  it('of an older program reads as zeros at its end, and what is not given is written as zeros', () => {
    const two = struct({ a: u16, b: u32 }, 8);
    assert.deepEqual(two.readPadded(Uint8Array.of(1, 2, 3)), { a: 0x201, b: 3 });
    assert.equal(hex(two.encodePadded({ b: 1 })), '0000010000000000');
  });

  it('says which field is wrong', () => {
    const limits = struct({
      kind: oneOf(u8, { ONE: 1, TWO: 2 }),
      zero: reserved(u8),
      count: range(be16, 1, 4),
      length: u53,
    });
    const good = limits.encode({ kind: 2, count: 4, length: 1 });
    assert.deepEqual(limits.decode(good), { kind: 2, count: 4, length: 1 });
    assert.equal(limits.decode(good.subarray(1)), 'it has 11 bytes, and 12 are needed');
    assert.equal(limits.decode(good.with(0, 3)), 'kind is 3, which does not exist');
    assert.equal(limits.decode(good.with(1, 3)), 'reserved is 3, and must be 0');
    assert.equal(limits.decode(good.with(3, 5)), 'count is 5, which is not 1 to 4');
    assert.equal(limits.decode(good.with(10, 0x20)), 'length is more than 2^53 - 1');
  });

  it('says which field of a struct inside is wrong, however deep', () => {
    const inner = struct({ few: range(u8, 1, 3), many: u8 });
    const outer = struct({ first: u8, deep: nested(2, struct({ inner: nested(1, inner) })) });
    assert.deepEqual(outer.decode(Uint8Array.of(9, 9, 9, 3, 9)), { first: 9, deep: { inner: { few: 3, many: 9 } } });
    assert.equal(outer.decode(Uint8Array.of(9, 9, 9, 4, 9)), 'deep: inner: few is 4, which is not 1 to 3');
    const version = struct({ version: constant(u8, 2, (other) => `version ${other} is not known`) });
    assert.equal(struct({ version: nested(0, version) }).decode(Uint8Array.of(3)), 'version: version 3 is not known');
  });

  it('refuses values without room, by the names of their fields', () => {
    const inner = struct({ deep: bits(0, 3, 0), raw: octets(1, 2) });
    const outer = struct({ inner: nested(0, inner), id: u64 });
    const raw = new Uint8Array(2);
    outer.check({ inner: { deep: 15, raw }, id: 2n ** 64n - 1n }, '');
    for (const [values, problem] of [
      [{ inner: { deep: 16, raw }, id: 0n }, 'inner.deep is 16, which is not an unsigned number of 4 bits'],
      [{ inner: { deep: 0.5, raw }, id: 0n }, 'inner.deep is 0.5, which is not an unsigned number of 4 bits'],
      [{ inner: { deep: 1, raw: new Uint8Array(3) }, id: 0n }, 'inner.raw has 3 bytes, and room for 2'],
      [{ inner: { deep: 1, raw }, id: -1n }, 'id is -1, which is not an unsigned number of 64 bits'],
    ] as const)
      assert.throws(() => outer.check(values, ''), new RangeError(problem));
  });
});

describe('a handshake', () => {
  const hello = handshake('ABCD', 3, { window: range(u16, 1, 9), kind: constant(u8, 7, () => 'another kind') });

  it('begins with magic and version, which are not among the values', () => {
    assert.equal(hex(hello.encode({ window: 2 })), '41424344' + '03' + '0200' + '07');
    assert.deepEqual(hello.decode(Uint8Array.of(...hello.encode({ window: 2 }), 0, 0)), { window: 2 });
  });

  it('tells a stranger, another version and a lie apart', () => {
    const good = hello.encode({ window: 2 });
    assert.equal(hello.decode(good.subarray(1)), 'the peer does not speak this protocol');
    assert.equal(hello.decode(good.with(0, 0)), 'the peer does not speak this protocol');
    assert.equal(hello.decode(good.with(4, 9)), 'the peer speaks version 9 of the protocol, this end version 3');
    assert.equal(hello.decode(good.with(5, 0)), 'window is 0, which is not 1 to 9');
    assert.equal(hello.decode(good.with(7, 0)), 'another kind');
  });

  it('of any bytes is right or wrong, and nothing is thrown', () =>
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 10 }), (bytes) => {
        const said = hello.decode(bytes);
        if (typeof said !== 'string') assert.equal(hex(hello.encode(said)), hex(bytes.subarray(0, 8)));
      }),
    ));
});
