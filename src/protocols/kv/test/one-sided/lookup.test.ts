import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Lookup, MOST_BYTES, Step } from '../../client/one-sided/lookup.js';
import { ServerClock } from '../../client/one-sided/server-clock.js';
import { BUCKET_BYTES, Partition, saltOf, SipHash, Span } from '../../store/index.js';
import { decodeLayout, encodeLayout, type Layout } from '../../wire/index.js';

const SEED = 7n;
const NOW = 1000;
const KEY = new TextEncoder().encode('key');
const span = (text: string | Uint8Array): Span => new Span(Buffer.from(text));

/** A reader of a partition's memory, as it is at each READ. */
class Reader {
  readonly counters = { reads: 0, torn: 0 };
  readonly lookup: Lookup;
  readonly #landing = new Uint8Array(MOST_BYTES);

  constructor(
    readonly layout: Layout,
    private readonly memory: (isBucket: boolean) => Uint8Array,
  ) {
    const hash = new SipHash(layout.seed);
    this.lookup = new Lookup(layout, hash, saltOf(hash), this.#landing, this.counters);
  }

  /** Looks for a key until something has come of it. @param meanwhile is called before each READ */
  find(key = KEY, meanwhile: (read: number) => void = () => undefined): string | undefined {
    const { lookup } = this;
    lookup.begin(key);
    for (let read = 0; ; read += 1) {
      meanwhile(read);
      const { from, offset, length } = lookup;
      assert.ok(offset >= 0 && offset + length <= from.bytes, 'it reads what is not the store');
      assert.ok(length > 0 && length <= MOST_BYTES && read < 100);
      const source = this.memory(from === this.layout.buckets);
      this.#landing.set(source.subarray(offset, offset + length));
      const step = lookup.take(NOW, 128);
      if (step === Step.ASK) return undefined;
      if (step === Step.FOUND) return Buffer.from(lookup.entry.value()).toString();
    }
  }
}

function layoutOf({ memory, bucketMemory }: Partition): Layout {
  const buckets = { addr: 0n, rkey: 1, bytes: bucketMemory.length };
  return { buckets, entries: { addr: 0n, rkey: 2, bytes: memory.length }, seed: SEED, nowMs: NOW };
}

function partition(mode: 'cache' | 'store' = 'store', buckets = 4): Partition {
  return new Partition({ mode, memory: new Uint8Array(8192), seed: SEED, buckets });
}

function readerOf(kv: Partition): Reader {
  return new Reader(layoutOf(kv), (isBucket) => (isBucket ? kv.bucketMemory : kv.memory));
}

describe('a lookup in memory', () => {
  it('finds what is there, and asks for what is not, has expired, or has gone', () => {
    const kv = partition();
    const reader = readerOf(kv);
    assert.equal(reader.find(), undefined);
    kv.set(span('key'), span('value'), NOW);
    assert.equal(reader.find(), 'value');
    kv.touch(span('key'), 5, NOW - 5);
    assert.equal(reader.find(), undefined);
    kv.touch(span('key'), 6, NOW - 5);
    assert.equal(reader.find(), 'value');
    kv.delete(span('key'), NOW);
    assert.equal(reader.find(), undefined);
  });

  it('finds an entry that moves between its READs, once it has come to rest', () => {
    const kv = partition();
    const reader = readerOf(kv);
    kv.set(span('key'), span('value'), NOW);
    const found = reader.find(KEY, (read) => {
      if (read === 1) kv.set(span('key'), span('v'.repeat(80)), NOW);
    });
    assert.equal(found, 'v'.repeat(80));
    assert.equal(reader.counters.reads, 4);
  });

  it('takes no other entry for that of the key, which lies by now where it lay', () => {
    const kv = partition();
    const reader = readerOf(kv);
    kv.set(span('key'), span('value'), NOW);
    const { at } = kv.entry;
    const found = reader.find(KEY, (read) => {
      if (read !== 1) return;
      kv.delete(span('key'), NOW);
      kv.set(span('kex'), span('other'), NOW);
      assert.equal(kv.entry.at, at);
    });
    assert.equal(found, undefined);
  });

  it('takes no value for an entry that holds a copy of one', () => {
    const kv = partition('cache', 1);
    const reader = readerOf(kv);
    kv.set(span('key'), span('value'), NOW);
    const { at, byteLength } = kv.entry;
    const copy = kv.memory.slice(at, at + byteLength);
    const found = reader.find(KEY, (read) => {
      if (read !== 1) return;
      kv.delete(span('key'), NOW);
      // Until the log has come around, and a value with the copy lies there.
      for (let i = 0; i < 8192 / byteLength; i += 1)
        kv.set(span(`k${i}`), span(Buffer.concat([copy, copy, copy, copy])), NOW);
    });
    assert.equal(found, undefined);
  });

  it('gives up an entry that is torn whenever it is read', () => {
    const kv = partition();
    const reader = readerOf(kv);
    kv.set(span('key'), span('value'), NOW);
    kv.memory[kv.entry.at] ^= 1;
    assert.equal(reader.find(), undefined);
    assert.deepEqual(reader.counters, { reads: 8, torn: 7 });
  });

  it('reads on where an entry is longer than was read, up to its limit', () => {
    const kv = new Partition({ mode: 'store', memory: new Uint8Array(1 << 16), seed: SEED, buckets: 4 });
    const reader = readerOf(kv);
    kv.set(span('key'), span('v'.repeat(4000)), NOW);
    assert.equal(reader.find()?.length, 4000);
    assert.equal(reader.counters.reads, 3);
    kv.set(span('key'), span('v'.repeat(4096)), NOW);
    assert.equal(reader.find(), undefined);
  });

  it('has what a partition has, or asks, whatever is done to that in between', () => {
    const deed = fc.record({
      key: fc.nat(5),
      bytes: fc.nat(200),
      ttl: fc.constantFrom(0, 0, -5, 500),
      isDelete: fc.boolean(),
    });
    fc.assert(
      fc.property(
        fc.constantFrom('cache' as const, 'store' as const),
        fc.array(fc.tuple(deed, fc.nat(5)), { minLength: 20, maxLength: 120 }),
        (mode, deeds) => {
          const kv = new Partition({ mode, memory: new Uint8Array(4096), seed: SEED, buckets: 1 });
          const reader = readerOf(kv);
          let next = 0;
          for (const [, asked] of deeds) {
            const key = Buffer.from(`key ${asked}`);
            const isThere = (): string | undefined =>
              kv.get(new Span(key), NOW) === 0 ? Buffer.from(kv.entry.value()).toString() : undefined;
            const moments = [isThere()];
            const found = reader.find(key, () => {
              moments.push(isThere());
              if (next >= deeds.length) return;
              const [{ key: of, bytes, ttl, isDelete }] = deeds[next];
              if (isDelete) kv.delete(span(`key ${of}`), NOW);
              else kv.set(span(`key ${of}`), span(`${next} of key ${of}`.padEnd(bytes, '.')), NOW, ttl);
              next += 1;
              moments.push(isThere());
            });
            assert.ok(found === undefined || moments.includes(found), `${found} was never there`);
            if (next >= deeds.length) return;
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('a lookup in hostile memory', () => {
  it('reads within the store, a bounded number of times, and finds nothing', () => {
    const words = fc.array(fc.tuple(fc.nat(15), fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })), { maxLength: 40 });
    const hash = new SipHash(SEED);
    hash.of(KEY, 0, KEY.length);
    const tag = hash.high | (1 << 31);
    const positions = fc.constantFrom(0, 8, 4, -8, 4096 - 40, 4096 - 32, 4096, 2 ** 31 - 8, -(2 ** 31));
    fc.assert(
      fc.property(words, fc.array(positions, { minLength: 8, maxLength: 8 }), fc.nat(255), (noise, places, state) => {
        const buckets = new Int32Array(16);
        places.forEach((place, i) => buckets.set([tag, place], 2 * i));
        const entries = new Uint8Array(4096);
        const view = new DataView(entries.buffer);
        for (const at of [0, 8, 4096 - 40]) {
          entries[at + 14] = state < 200 ? 1 : state;
          entries[at + 15] = 3;
          if (at + 27 <= 4096) entries.set(KEY, at + 24);
        }
        for (const [at, word] of noise) view.setInt32(at * 4, word, true);
        const bytes = { addr: 0n, rkey: 1 };
        const layout = {
          buckets: { ...bytes, bytes: BUCKET_BYTES },
          entries: { ...bytes, bytes: 4096 },
          seed: SEED,
          nowMs: NOW,
        };
        const reader = new Reader(layout, (isBucket) => (isBucket ? new Uint8Array(buckets.buffer) : entries));
        assert.equal(reader.find(), undefined);
        assert.ok(reader.counters.reads <= 8);
      }),
      { numRuns: 2000 },
    );
  });

  it('is refused a layout that makes no sense', () => {
    const memory = { addr: 8n, rkey: 3 };
    const layout = {
      buckets: { ...memory, bytes: 64 * 4 },
      entries: { ...memory, bytes: 4096 },
      seed: 2n ** 64n - 1n,
      nowMs: 12345,
    };
    const bytes = encodeLayout(layout);
    assert.deepEqual(decodeLayout(bytes), layout);
    assert.equal(decodeLayout(bytes.subarray(1)), undefined);
    const lies: readonly (readonly [number, number])[] = [
      [3, 2],
      [7, 3],
      [7, 0],
      [4, 128],
      [40, 1],
      [48, 255],
    ];
    for (const [at, byte] of lies) assert.equal(decodeLayout(bytes.with(at, byte)), undefined, `${at}`);
    assert.equal(decodeLayout(bytes.with(50, 0).with(51, 8)), undefined);
  });
});

describe("a server's clock", () => {
  it('is never ahead of what a client takes it for', () => {
    const us = fc.nat(1e9);
    fc.assert(
      fc.property(
        us,
        us,
        us,
        fc.nat(1e12),
        fc.double({ min: 0.9991, max: 1.0009, noNaN: true }),
        (sent, on, later, base, rate) => {
          const serverUs = (nowUs: number): number => base + nowUs * rate;
          const clock = new ServerClock();
          clock.told(Math.floor(serverUs(sent + on) / 1000), sent);
          const nowUs = sent + on + later;
          const latest = clock.latestMs(nowUs);
          assert.ok(latest >= Math.floor(serverUs(nowUs) / 1000));
          assert.ok(latest <= serverUs(nowUs) / 1000 + on / 500 + (on + later) / 1e5 + 3);
        },
      ),
    );
  });
});
