import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { nameOf } from '../../ibta/index.js';
import {
  CM_PRIVATE_DATA_BYTES,
  CmAttribute,
  type CmMessage,
  decodeCmMessage,
  encodeCmMessage,
  MAD_BYTES,
  MAD_HEADER_BYTES,
} from '../index.js';
import { bitOwners, documented } from './cm-document.js';
import { checkProperty } from './support.js';

const MESSAGE_BITS = 8 * (MAD_BYTES - MAD_HEADER_BYTES);

function datagramOf(attribute: number): Uint8Array {
  const bytes = new Uint8Array(MAD_BYTES);
  bytes.set([1, 7, 2, 3]);
  bytes[17] = attribute;
  return bytes;
}

function decoded(bytes: Uint8Array): CmMessage {
  const message = decodeCmMessage(bytes);
  assert.ok(message);
  return message;
}

function flat(value: unknown, path = ''): [string, bigint][] {
  if (value instanceof Uint8Array) return [[path, BigInt(`0x${Buffer.from(value).toString('hex')}`)]];
  if (typeof value === 'bigint') return [[path, value]];
  if (typeof value !== 'object' || value === null) return [[path, BigInt(Number(value))]];
  return Object.entries(value).flatMap(([name, member]) => flat(member, path === '' ? name : `${path}.${name}`));
}

/** What of a message is not zero, the attribute aside. */
const filled = (message: CmMessage): [string, bigint][] =>
  flat(message).filter(([path, value]) => path !== 'attribute' && value !== 0n);

describe('messages of the connection manager', () => {
  for (const [attribute, fields] of documented) {
    const name = nameOf(CmAttribute, attribute);
    const owners = bitOwners(fields);

    it(`have the fields that are documented, and no others: ${name}`, () => {
      const paths = flat(decoded(datagramOf(attribute))).map(([path]) => path);
      assert.deepEqual(paths.sort(), ['attribute', 'transactionId', ...Object.keys(fields)].sort());
    });

    it(`are read and written with every bit in its documented place: ${name}`, () => {
      for (let bit = 0; bit < MESSAGE_BITS; bit += 1) {
        const bytes = datagramOf(attribute);
        bytes[MAD_HEADER_BYTES + (bit >> 3)] = 0x80 >> (bit & 7);
        const message = decoded(bytes);
        const owner = owners.get(bit);
        const where = `byte ${bit >> 3} bit ${7 - (bit & 7)}`;
        assert.deepEqual(filled(message), owner ? [[owner.field, owner.weight]] : [], where);
        assert.deepEqual(encodeCmMessage(message), owner ? bytes : datagramOf(attribute), where);
      }
    });

    it(`come back from bytes as they were: ${name}`, (test) => {
      const rest = fc.uint8Array({ minLength: MAD_BYTES - MAD_HEADER_BYTES, maxLength: MAD_BYTES - MAD_HEADER_BYTES });
      const transactionId = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
      checkProperty(
        test,
        fc.property(rest, transactionId, (values, id) => {
          const bytes = datagramOf(attribute);
          bytes.set(values, MAD_HEADER_BYTES);
          const message: CmMessage = { ...decoded(bytes), transactionId: id };
          assert.deepEqual(decoded(encodeCmMessage(message)), message);
        }),
      );
    });

    it(`say how much private data they take: ${name}`, () => {
      const { privateData } = decoded(datagramOf(attribute));
      assert.equal(privateData.length, CM_PRIVATE_DATA_BYTES[attribute]);
    });
  }

  it('are documented one and all', () => {
    assert.deepEqual([...documented.keys()].sort(), Object.values(CmAttribute).sort());
  });
});
