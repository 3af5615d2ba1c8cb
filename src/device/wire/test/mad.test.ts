import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { MAD_HEADER_BYTES, type MadHeader, readMadHeader, writeMadHeader } from '../index.js';
import { bytesOf, checkProperty } from './support.js';

const header: MadHeader = {
  baseVersion: 1,
  mgmtClass: 0x81,
  classVersion: 2,
  method: 3,
  status: 0x0405,
  classSpecific: 0x0607,
  transactionId: 0xf8f9fafbfcfdfeffn,
  attributeId: 0x1011,
  attributeModifier: 0xf4f5f6f7,
};
const written = bytesOf('018102030405' + '0607' + 'f8f9fafbfcfdfeff' + '1011' + '0000' + 'f4f5f6f7');

describe('the header of management datagrams', () => {
  it('is written with its fields in their places', () => {
    const bytes = new Uint8Array(MAD_HEADER_BYTES);
    writeMadHeader(bytes, 0, header);
    assert.deepEqual(bytes, written);
  });

  it('is written over whatever was there, and touches nothing beside it', () => {
    const bytes = new Uint8Array(MAD_HEADER_BYTES + 2).fill(0xaa);
    writeMadHeader(bytes, 1, header);
    assert.deepEqual(bytes, Uint8Array.of(0xaa, ...written, 0xaa));
  });

  it('is read from its places', () => {
    assert.deepEqual(readMadHeader(Uint8Array.of(0, 0, 0, ...written), 3), header);
  });

  it('is read without throwing, whatever is there', (test) => {
    checkProperty(
      test,
      fc.property(fc.uint8Array({ maxLength: 30 }), fc.integer({ min: -5, max: 40 }), (bytes, offset) => {
        readMadHeader(bytes, offset);
      }),
    );
  });

  it('takes no value that has no room', () => {
    assert.throws(
      () => writeMadHeader(new Uint8Array(MAD_HEADER_BYTES), 0, { ...header, attributeId: 0x10000 }),
      new RangeError('attributeId is 65536, which is not an unsigned number of 16 bits'),
    );
  });
});
