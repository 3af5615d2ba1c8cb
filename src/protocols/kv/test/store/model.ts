import assert from 'node:assert/strict';
import { type KeyHash, type Mode, Partition, Span, Status } from '../../store/index.js';

interface Known {
  readonly value: Buffer;
  readonly version: bigint;
  readonly expiresAtMs: number;
}

export type Step =
  | { readonly do: 'get' | 'has' | 'delete' | 'explain'; readonly key: number }
  | { readonly do: 'set' | 'add'; readonly key: number; readonly length: number; readonly ttlMs: number }
  | {
      readonly do: 'cas';
      readonly key: number;
      readonly length: number;
      readonly ttlMs: number;
      readonly isRight: boolean;
    }
  | { readonly do: 'number'; readonly key: number; readonly value: bigint }
  | { readonly do: 'incr'; readonly key: number; readonly delta: bigint }
  | { readonly do: 'touch'; readonly key: number; readonly ttlMs: number }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'sweep'; readonly buckets: number }
  | { readonly do: 'scan'; readonly count: number };

const MAX = 2n ** 63n - 1n;
const MIN = -(2n ** 63n);

/** Keys of all lengths, many of which are equal but for a byte. */
export function keyOf(number: number): Buffer {
  const key = Buffer.alloc(1 + ((number * 7) % 40), 'k');
  key[key.length - 1] = number & 0xff;
  return key.length > 1 ? key : Buffer.from([number & 0xff, number >> 8]);
}

/** A partition beside a `Map`, which must agree: in store mode always; in cache mode but for keys that were evicted, of which it must be told. */
export class Modelled {
  readonly partition: Partition;
  readonly map = new Map<string, Known>();
  nowMs = 1000;
  #fill = 0;
  #lastVersion = 0n;
  #gone = 0;

  constructor(
    private readonly mode: Mode,
    memoryBytes: number,
    buckets: number,
    hash?: KeyHash,
  ) {
    // Neither aligned to a page nor zero at first.
    const memory = new Uint8Array(new SharedArrayBuffer(memoryBytes + 8), 8).fill(0xff);
    this.partition = new Partition({ mode, memory, seed: 42n, buckets, hash });
  }

  play(step: Step): void {
    const { partition, nowMs } = this;
    if ('key' in step) {
      const key = new Span(keyOf(step.key));
      this.#settle(key);
      const known = this.map.get(this.#name(key));
      switch (step.do) {
        case 'get':
        case 'has':
          this.#expect(step.do === 'get' ? partition.get(key, nowMs) : partition.has(key, nowMs), known !== undefined);
          if (known !== undefined) this.#same(known);
          return;
        case 'delete':
          this.#expect(partition.delete(key, nowMs), known !== undefined);
          this.map.delete(this.#name(key));
          return;
        case 'explain':
          assert.equal(partition.explain(key, nowMs).is === 'present', known !== undefined);
          return;
        case 'set': {
          this.#put(key, this.#bytes(step.length), step.ttlMs, (value) => partition.set(key, value, nowMs, step.ttlMs));
          return;
        }
        case 'number': {
          this.#put(key, Buffer.from(String(step.value)), 0, (value) => partition.set(key, value, nowMs));
          return;
        }
        case 'add':
          if (known === undefined) {
            this.#put(key, this.#bytes(step.length), step.ttlMs, (value) =>
              partition.add(key, value, nowMs, step.ttlMs),
            );
            return;
          }
          assert.equal(partition.add(key, new Span(this.#bytes(step.length)), nowMs), Status.EXISTS);
          {
            this.#same(known);
            return;
          }
        case 'cas': {
          const version = (known?.version ?? 0n) + (step.isRight ? 0n : 1n);
          const value = this.#bytes(step.length);
          const cas = (span: Span): Status => partition.cas(key, span, version, nowMs, step.ttlMs);
          if (known === undefined) {
            assert.equal(cas(new Span(value)), Status.NOT_FOUND);
            return;
          }
          if (step.isRight) {
            this.#put(key, value, step.ttlMs, cas);
            return;
          }
          assert.equal(cas(new Span(value)), Status.EXISTS);
          return;
        }
        case 'incr': {
          const text = known?.value.toString('latin1') ?? '0';
          if (!/^(0|-?[1-9][0-9]*)$/.test(text) || BigInt(text) > MAX || BigInt(text) < MIN) {
            assert.equal(partition.incr(key, step.delta, nowMs), Status.NOT_A_NUMBER);
            return;
          }
          const sum = BigInt(text) + step.delta;
          if (sum > MAX || sum < MIN) {
            assert.equal(partition.incr(key, step.delta, nowMs), Status.OVERFLOW);
            return;
          }
          const ttlMs = known === undefined || known.expiresAtMs === 0 ? 0 : known.expiresAtMs - nowMs;
          this.#put(key, Buffer.from(String(sum)), ttlMs, () => partition.incr(key, step.delta, nowMs));
          return;
        }
        case 'touch': {
          this.#expect(partition.touch(key, step.ttlMs, nowMs), known !== undefined);
          const expiresAtMs = step.ttlMs === 0 ? 0 : nowMs + step.ttlMs;
          if (known !== undefined) this.map.set(this.#name(key), { ...known, expiresAtMs });
          return;
        }
      }
    }
    if (step.do === 'wait') this.nowMs += step.ms;
    if (step.do === 'sweep') partition.sweep(step.buckets, nowMs);
    if (step.do === 'scan') this.#scan(step.count);
  }

  check(): void {
    this.#scan(1_000_000);
    this.partition.sweep(1 << 24, this.nowMs);
    for (const name of this.map.keys()) this.#settle(new Span(Buffer.from(name, 'latin1')));
    const { statistics } = this.partition;
    // Neither more nor less than it has told of.
    assert.equal(statistics.evictions + statistics.expirations, this.#gone);
    assert.equal(statistics.keys, this.map.size);
    let bytes = 0;
    for (const [name, known] of this.map) {
      assert.equal(this.partition.get(new Span(Buffer.from(name, 'latin1')), this.nowMs), Status.OK);
      this.#same(known);
      bytes += this.partition.entry.byteLength;
    }
    assert.equal(statistics.bytes, bytes);
  }

  /** Forgets a key that has expired or, in cache mode, was evicted. */
  #settle(key: Span): void {
    const name = this.#name(key);
    const known = this.map.get(name);
    if (known === undefined) return;
    const isExpired = known.expiresAtMs !== 0 && known.expiresAtMs <= this.nowMs;
    if (!isExpired && (this.mode === 'store' || this.partition.has(key, this.nowMs) === Status.OK)) return;
    this.#gone += 1;
    this.map.delete(name);
  }

  #put(key: Span, value: Buffer, ttlMs: number, put: (value: Span) => Status): void {
    const status = put(new Span(value));
    if (status === Status.NO_SPACE && this.mode === 'store') return;
    assert.equal(status, Status.OK);
    const { version } = this.partition.entry;
    assert.ok(version > this.#lastVersion, 'a version is given twice');
    this.#lastVersion = version;
    const known = { value, version, expiresAtMs: ttlMs === 0 ? 0 : this.nowMs + ttlMs };
    this.map.set(this.#name(key), known);
    this.#same(known);
  }

  #same({ value, version, expiresAtMs }: Known): void {
    const { entry } = this.partition;
    assert.deepEqual([entry.version, entry.expiresAtMs], [version, expiresAtMs]);
    assert.ok(value.equals(entry.value()), 'another value');
  }

  #scan(count: number): void {
    const seen = new Set<string>();
    let cursor = 0;
    do
      cursor = this.partition.scan(cursor, count, this.nowMs, (entry) => {
        const name = Buffer.from(entry.key()).toString('latin1');
        assert.ok(!seen.has(name), 'a key is shown twice');
        assert.ok(this.map.get(name)?.value.equals(entry.value()), 'a key is shown that is not there');
        seen.add(name);
      });
    while (cursor !== 0);
    if (this.mode === 'cache') return;
    for (const [name, { expiresAtMs }] of this.map)
      assert.equal(seen.has(name), expiresAtMs === 0 || expiresAtMs > this.nowMs);
  }

  #expect(status: Status, isThere: boolean): void {
    assert.equal(status, isThere ? Status.OK : Status.NOT_FOUND);
  }

  #name(key: Span): string {
    return Buffer.from(key.bytes).toString('latin1');
  }

  #bytes(length: number): Buffer {
    this.#fill += 1;
    return Buffer.alloc(length, this.#fill & 0xff);
  }
}
