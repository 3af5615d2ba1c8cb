import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { partitionOf, SipHash } from '../../store/index.js';

/** HalfSipHash by its paper, for any number of rounds, with bigints; 4 or 8 bytes of result. */
function reference(key: Buffer, text: Uint8Array, [c, d]: [number, number], resultBytes: 4 | 8): Buffer {
  const rotate = (x: bigint, n: bigint): bigint => BigInt.asUintN(32, (x << n) | (x >> (32n - n)));
  const sum = (x: bigint, y: bigint): bigint => BigInt.asUintN(32, x + y);
  const k0 = BigInt(key.readUInt32LE(0));
  const k1 = BigInt(key.readUInt32LE(4));
  const v = [k0, k1, k0 ^ 0x6c796765n, k1 ^ 0x74656462n];
  if (resultBytes === 8) v[1] ^= 0xeen;
  const half = (to: number, from: number, left: bigint, right: bigint): void => {
    v[to] = sum(v[to], v[from]);
    v[from] = rotate(v[from], left) ^ v[to];
    if (right > 0n) v[to] = rotate(v[to], right);
  };
  const rounds = (times: number): void => {
    for (let i = 0; i < times; i += 1) {
      half(0, 1, 5n, 16n);
      half(2, 3, 8n, 0n);
      half(0, 3, 7n, 0n);
      half(2, 1, 13n, 16n);
    }
  };
  const padded = Buffer.alloc(Math.floor(text.length / 4) * 4 + 4);
  padded.set(text);
  padded[padded.length - 1] = text.length & 0xff;
  for (let at = 0; at < padded.length; at += 4) {
    const word = BigInt(padded.readUInt32LE(at));
    v[3] ^= word;
    rounds(c);
    v[0] ^= word;
  }
  const result = Buffer.alloc(resultBytes);
  v[2] ^= resultBytes === 8 ? 0xeen : 0xffn;
  rounds(d);
  result.writeUInt32LE(Number(v[1] ^ v[3]), 0);
  if (resultBytes === 4) return result;
  v[1] ^= 0xddn;
  rounds(d);
  result.writeUInt32LE(Number(v[1] ^ v[3]), 4);
  return result;
}

function hashOf(seed: bigint, text: Uint8Array): Buffer {
  const hash = new SipHash(seed);
  hash.of(text, 0, text.length);
  const result = Buffer.alloc(8);
  result.writeInt32LE(hash.low, 0);
  result.writeInt32LE(hash.high, 4);
  return result;
}

describe('the hash of keys', () => {
  it('is HalfSipHash-1-3', () => {
    const key = Buffer.from([0, 1, 2, 3, 4, 5, 6, 7]);
    // The authors' vectors are of HalfSipHash-2-4 with 32 bits.
    const vectors = ['a9359f5b', '27475ab8', 'fa62a603', '8afee704', '2a6e4689', 'c5fab669'];
    for (const [length, expected] of vectors.entries())
      assert.equal(reference(key, key.subarray(0, length), [2, 4], 4).toString('hex'), expected);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 250 }), fc.uint8Array({ minLength: 8, maxLength: 8 }), (text, seed) => {
        const bytes = Buffer.from(seed);
        assert.deepEqual(hashOf(bytes.readBigUInt64LE(), text), reference(bytes, text, [1, 3], 8));
      }),
    );
  });

  it('spreads keys that differ little over buckets, tags and partitions', () => {
    const hash = new SipHash(7n);
    const counts = { low: new Uint32Array(256), high: new Uint32Array(256), partition: new Uint32Array(5) };
    const keys = 51_200;
    for (let i = 0; i < keys; i += 1) {
      const key = Buffer.from(`user:${i}`);
      hash.of(key, 0, key.length);
      counts.low[hash.low & 255] += 1;
      counts.high[hash.high & 255] += 1;
      counts.partition[partitionOf(hash, 5)] += 1;
    }
    for (const [name, count] of Object.entries(counts)) {
      const mean = keys / count.length;
      const chiSquare = count.reduce((sum, n) => sum + (n - mean) ** 2 / mean, 0);
      const degrees = count.length - 1;
      assert.ok(chiSquare < degrees + 5 * Math.sqrt(2 * degrees), `${name}: ${chiSquare}`);
    }
  });

  it('puts other keys together under another seed', () => {
    const together = (seed: bigint): string[] =>
      Array.from({ length: 1000 }, (_, i) => `${i}`).filter((key) => (hashOf(seed, Buffer.from(key))[0] & 63) === 0);
    const [one, other] = [together(1n), together(2n)];
    assert.ok(one.filter((key) => other.includes(key)).length < 4);
  });
});
