import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  CmAttribute,
  type CmMessage,
  type CmPath,
  type CmRtu,
  decodeCmMessage,
  encodeCmMessage,
  MAD_BYTES,
} from '../index.js';
import { checkProperty } from './support.js';

const rtu: CmRtu = {
  attribute: CmAttribute.RTU,
  transactionId: 0x0123456789abcdefn,
  localCommId: 0xfffffffe,
  remoteCommId: 1,
  privateData: new Uint8Array(224).fill(9),
};

const path: CmPath = {
  localLid: 0,
  remoteLid: 0,
  localGid: new Uint8Array(16),
  remoteGid: new Uint8Array(16),
  flowLabel: 0,
  packetRate: 0,
  trafficClass: 0,
  hopLimit: 0,
  sl: 0,
  subnetLocal: false,
  localAckTimeout: 0,
};

const lapBy = (alternatePath: CmPath): CmMessage => ({
  ...rtu,
  attribute: CmAttribute.LAP,
  remoteQpn: 2,
  remoteCmResponseTimeout: 20,
  alternatePath,
  privateData: new Uint8Array(0),
});

describe('a management datagram that is not a message of the connection manager', () => {
  const changed = (offset: number, value: number): Uint8Array => {
    const bytes = encodeCmMessage(rtu);
    bytes[offset] = value;
    return bytes;
  };

  for (const [what, offset, value] of [
    ['another base version', 0, 2],
    ['another class', 1, 3],
    ['another class version', 2, 1],
    ['a method other than Send', 3, 0x81],
    ['an attribute that nobody knows', 17, 0x1b],
    ['an attribute that is known in its low byte only', 16, 1],
  ] as const) {
    it(`is refused: ${what}`, () => {
      assert.equal(decodeCmMessage(changed(offset, value)), undefined);
    });
  }

  it('is refused when a byte is missing', () => {
    assert.equal(decodeCmMessage(encodeCmMessage(rtu).subarray(1)), undefined);
    assert.equal(decodeCmMessage(encodeCmMessage(rtu), 1), undefined);
  });

  it('never throws, whatever the bytes', (test) => {
    checkProperty(
      test,
      fc.property(fc.uint8Array({ maxLength: 600 }), fc.integer(), (bytes, offset) => {
        decodeCmMessage(bytes, offset);
      }),
      1000,
    );
  });

  it('never throws, whatever follows a good header', (test) => {
    const values = fc.uint8Array({ minLength: 20, maxLength: 400 });
    checkProperty(
      test,
      fc.property(fc.constantFrom(...Object.values(CmAttribute)), values, (attribute, bytes) => {
        bytes.set([1, 7, 2, 3]);
        bytes.set([0, attribute], 16);
        const message = decodeCmMessage(bytes);
        assert.equal(message?.attribute, bytes.length < MAD_BYTES ? undefined : attribute);
      }),
      1000,
    );
  });
});

describe('reading a message', () => {
  it('works at any offset, with more bytes behind', () => {
    const bytes = new Uint8Array(300);
    bytes.set(encodeCmMessage(rtu), 30);
    assert.deepEqual(decodeCmMessage(bytes, 30), rtu);
  });

  for (const [kind, from] of [
    ['a Uint8Array', (bytes: Uint8Array) => bytes],
    ['a Buffer', (bytes: Uint8Array) => Buffer.from(bytes)],
  ] as const) {
    it(`gives copies, which stay when the bytes change: ${kind}`, () => {
      const bytes = from(encodeCmMessage(lapBy({ ...path, localGid: new Uint8Array(16).fill(1) })));
      const message = decodeCmMessage(bytes);
      const before = structuredClone(message);
      bytes.fill(0xff);
      assert.deepEqual(message, before);
    });
  }
});

describe('writing a message', () => {
  it('puts the header of the class before it', () => {
    const header = [1, 7, 2, 3, 0, 0, 0, 0, 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0, 0x14, 0, 0, 0, 0, 0, 0];
    assert.deepEqual([...encodeCmMessage(rtu).subarray(0, 24)], header);
  });

  it('fills private data up with zeros', () => {
    const bytes = encodeCmMessage({ ...rtu, privateData: Uint8Array.of(1, 2) });
    assert.equal(bytes.length, MAD_BYTES);
    assert.deepEqual([...bytes.subarray(32, 36)], [1, 2, 0, 0]);
  });

  it('refuses private data that does not fit', () => {
    assert.throws(
      () => encodeCmMessage({ ...rtu, privateData: new Uint8Array(225) }),
      new RangeError('privateData has 225 bytes, and room for 224'),
    );
  });

  for (const [what, id] of [
    ['too large', 2 ** 32],
    ['negative', -1],
    ['broken', 0.5],
    ['not a number', NaN],
  ] as const) {
    it(`refuses a number that is ${what}`, () => {
      assert.throws(
        () => encodeCmMessage({ ...rtu, remoteCommId: id }),
        new RangeError(`remoteCommId is ${id}, which is not an unsigned number of 32 bits`),
      );
    });
  }

  it('refuses a transaction ID of more than 64 bits', () => {
    assert.throws(() => encodeCmMessage({ ...rtu, transactionId: 1n << 64n }), /^RangeError: transactionId is \d+/);
  });

  it('names the field of a path that does not fit', () => {
    assert.throws(() => encodeCmMessage(lapBy({ ...path, sl: 16 })), /^RangeError: alternatePath\.sl is 16/);
  });

  it('refuses a GID that is not whole', () => {
    assert.throws(
      () => encodeCmMessage(lapBy({ ...path, remoteGid: new Uint8Array(15) })),
      /^RangeError: alternatePath\.remoteGid has 15 bytes/,
    );
  });
});
