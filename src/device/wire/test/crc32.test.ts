import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as zlib from 'node:zlib';
import fc from 'fast-check';
import { crc32 } from '../index.js';
import { checkProperty } from './support.js';

describe('crc32', () => {
  it('equals zlib on any bytes at any offset from any running value', (test) => {
    checkProperty(
      test,
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 300 }), fc.nat(40), fc.integer(), (bytes, skip, start) => {
        // Of no bytes at all zlib.crc32 gives 0, whatever the running value.
        const offset = Math.min(skip, bytes.length - 1);
        const expected = zlib.crc32(bytes.subarray(offset), start >>> 0);
        assert.equal(crc32(bytes, offset, bytes.length - offset, start) >>> 0, expected);
      }),
    );
  });

  it('continues where it stopped', (test) => {
    checkProperty(
      test,
      fc.property(fc.uint8Array({ maxLength: 100 }), fc.nat(100), (bytes, cut) => {
        const first = Math.min(cut, bytes.length);
        const running = crc32(bytes, 0, first, 0);
        assert.equal(crc32(bytes, first, bytes.length - first, running), crc32(bytes, 0, bytes.length, 0));
      }),
    );
  });

  it('begins at the state that eight bytes of ones lead to', () => {
    assert.equal(crc32(new Uint8Array(8).fill(0xff), 0, 8, 0), 0x2144df1c);
  });
});
