import { type Partition, SipHash } from '../store/index.js';
import { type Answered, listedBytes, listKey, type RequestView, Status } from '../wire/index.js';

/** Buckets with entries that one request has looked at, at most: nobody else is kept waiting for longer. */
const MOST_BUCKETS = 1024;
const RANKS = 2 ** 32;

/** A key, and its place among those of its bucket. */
interface Ranked {
  readonly key: Uint8Array;
  readonly rank: number;
}

/**
 * Lists the keys of a partition, page by page. A cursor is a bucket and a rank within it: a hash of the key, so that a key that was there all the time keeps its place
 * whatever comes and goes beside it. Where two keys have the same rank, one may be listed twice.
 */
export class Scanner {
  readonly #hash: SipHash;

  /** @param seed 64 bits that no stranger knows: whoever knows them can make keys of the same rank */
  constructor(
    private readonly partition: Partition,
    seed: bigint,
  ) {
    this.#hash = new SipHash(seed);
  }

  /** Answers SCAN. @param roomBytes for keys, at least for the longest one */
  page({ key: prefix, ttlMs: wanted, operand }: RequestView, roomBytes: number, nowMs: number): Answered {
    const cursor = BigInt.asUintN(64, operand);
    const most = wanted === 0 ? Infinity : wanted;
    const value = new Uint8Array(roomBytes);
    const first = Number(cursor >> 32n);
    let rank = Number(cursor & 0xffff_ffffn);
    let at = 0;
    let keys = 0;
    const { partition } = this;
    let bucket = partition.nextOccupied(first);
    if (bucket !== first) rank = 0;
    for (let looks = 0; bucket < partition.buckets && looks < MOST_BUCKETS; looks += 1) {
      for (const { key, rank: ofKey } of this.#ranked(bucket, rank, prefix, nowMs)) {
        if (keys === most || at + listedBytes(key) > roomBytes)
          return answerOf(value.subarray(0, at), onwards(cursor, bucket, ofKey));
        at = listKey(value, at, key);
        keys += 1;
      }
      rank = 0;
      bucket = partition.nextOccupied(bucket + 1);
    }
    return answerOf(value.subarray(0, at), bucket < partition.buckets ? cursorOf(bucket, 0) : 0n);
  }

  #ranked(bucket: number, from: number, prefix: Uint8Array, nowMs: number): readonly Ranked[] {
    const found: Ranked[] = [];
    this.partition.eachOf(bucket, nowMs, (entry) => {
      const key = entry.key();
      if (!prefix.every((byte, i) => byte === key[i])) return;
      this.#hash.of(key, 0, key.length);
      const rank = this.#hash.low >>> 0;
      if (rank >= from) found.push({ key, rank });
    });
    return found.sort((a, b) => a.rank - b.rank);
  }
}

function cursorOf(bucket: number, rank: number): bigint {
  return (BigInt(bucket) << 32n) | BigInt(rank);
}

/** Where a page goes on that has begun at a cursor: never there, or more keys of one rank than fit would be listed for ever. */
function onwards(cursor: bigint, bucket: number, rank: number): bigint {
  const next = cursorOf(bucket, rank);
  if (next !== cursor) return next;
  return rank + 1 < RANKS ? cursorOf(bucket, rank + 1) : cursorOf(bucket + 1, 0);
}

function answerOf(value: Uint8Array, next: bigint): Answered {
  return { status: Status.OK, version: next, value, valueBytes: value.length };
}
