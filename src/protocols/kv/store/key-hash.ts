/** A hash of keys: 64 bits, in halves. */
export interface KeyHash {
  /** Of the key that was hashed last, 32 bits, signed. */
  readonly low: number;
  readonly high: number;
  of(bytes: Uint8Array, at: number, length: number): void;
}

const NO_KEY = new Uint8Array(0);
/** Rounds at the end, before each half of the result. */
const FINAL = 3;

/**
 * HalfSipHash-1-3 with 64 bits of result (Aumasson and Bernstein, "SipHash: a fast short-input PRF"): who does not know the seed cannot tell which keys
 * collide, however many hashes he has seen. It takes sums, shifts and exclusive ors of 32 bits, and allocates nothing.
 */
export class SipHash implements KeyHash {
  low = 0;
  high = 0;
  readonly #k0: number;
  readonly #k1: number;

  /** @param seed 64 bits */
  constructor(seed: bigint) {
    this.#k0 = Number(BigInt.asIntN(32, seed));
    this.#k1 = Number(BigInt.asIntN(32, seed >> 32n));
  }

  of(bytes: Uint8Array, at: number, length: number): void {
    const words = length >> 2;
    let v0 = this.#k0;
    let v1 = this.#k1 ^ 0xee;
    let v2 = this.#k0 ^ 0x6c796765;
    let v3 = this.#k1 ^ 0x74656462;
    for (let i = 0; i <= words + 2 * FINAL; i += 1) {
      let word = 0;
      if (i < words) word = wordAt(bytes, at + 4 * i);
      else if (i === words) word = lastWord(bytes, at, length);
      else if (i === words + 1) v2 ^= 0xee;
      else if (i === words + 1 + FINAL) {
        this.low = v1 ^ v3;
        v1 ^= 0xdd;
      }
      v3 ^= word;
      v0 = (v0 + v1) | 0;
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
      v0 = (v0 << 16) | (v0 >>> 16);
      v2 = (v2 + v3) | 0;
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
      v0 = (v0 + v3) | 0;
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
      v2 = (v2 + v1) | 0;
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
      v2 = (v2 << 16) | (v2 >>> 16);
      v0 ^= word;
    }
    this.high = v1 ^ v3;
  }
}

function wordAt(bytes: Uint8Array, at: number): number {
  return bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24);
}

function lastWord(bytes: Uint8Array, at: number, length: number): number {
  let word = length << 24;
  for (let i = length & ~3; i < length; i += 1) word |= bytes[at + i] << (8 * (i & 3));
  return word;
}

/**
 * Which of several partitions has a key. Hash it for that with a seed of its own, which clients who choose may know; that of a
 * partition's buckets is nobody's but the partition's.
 */
export function partitionOf(hash: KeyHash, partitions: number): number {
  return Math.floor(((hash.low >>> 0) * partitions) / 2 ** 32);
}

/** The number with which the checks of entries begin: that of no key. Whoever knows the seed knows it. */
export function saltOf(hash: KeyHash): number {
  hash.of(NO_KEY, 0, 0);
  return hash.low;
}
