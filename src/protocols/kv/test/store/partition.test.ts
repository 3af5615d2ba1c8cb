import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Operation, operationRules, Partition, Span, Status, statusRules } from '../../store/index.js';

const span = (text: string): Span => new Span(Buffer.from(text));

function partition(mode: 'cache' | 'store' = 'store'): Partition {
  return new Partition({ mode, memory: new Uint8Array(1 << 16), seed: 1n });
}

describe('a partition', () => {
  it('gives back what was set, until it is deleted', () => {
    const kv = partition();
    assert.equal(kv.set(span('key'), span('value'), 1), Status.OK);
    assert.equal(kv.get(span('key'), 2), Status.OK);
    assert.equal(Buffer.from(kv.entry.value()).toString(), 'value');
    assert.equal(kv.delete(span('key'), 3), Status.OK);
    assert.equal(kv.get(span('key'), 4), Status.NOT_FOUND);
    assert.deepEqual(kv.explain(span('key'), 4), { is: 'deleted', whenMs: 3 });
    assert.deepEqual(kv.explain(span('other'), 4), { is: 'never', isCertain: true });
  });

  it('sets with CAS only what has the version named', () => {
    const kv = partition();
    kv.set(span('key'), span('a'), 1);
    const { version } = kv.entry;
    assert.equal(kv.cas(span('key'), span('b'), version, 1), Status.OK);
    assert.equal(kv.cas(span('key'), span('c'), version, 1), Status.EXISTS);
    assert.equal(Buffer.from(kv.entry.value()).toString(), 'b');
    assert.equal(kv.cas(span('other'), span('c'), version, 1), Status.NOT_FOUND);
  });

  it('adds to decimal text as Redis does', () => {
    const kv = partition();
    assert.equal(kv.incr(span('n'), 5n, 1), Status.OK);
    assert.equal(kv.incr(span('n'), -7n, 1), Status.OK);
    assert.equal(Buffer.from(kv.entry.value()).toString(), '-2');
    assert.equal(kv.incr(span('n'), -(2n ** 63n), 1), Status.OVERFLOW);
    for (const text of ['', '1.5', ' 1', '+1', '01', '-0', '-', '9223372036854775808', 'x'])
      assert.equal((kv.set(span('n'), span(text), 1), kv.incr(span('n'), 1n, 1)), Status.NOT_A_NUMBER, text);
  });

  it('ends keys when their time has come', () => {
    const kv = partition();
    kv.set(span('key'), span('value'), 100, 10);
    assert.equal(kv.get(span('key'), 109), Status.OK);
    assert.equal(kv.touch(span('key'), 5, 109), Status.OK);
    assert.equal(kv.get(span('key'), 113), Status.OK);
    assert.equal(kv.get(span('key'), 114), Status.NOT_FOUND);
    assert.deepEqual(kv.explain(span('key'), 200), { is: 'expired', whenMs: 114 });
  });

  it('keeps the life of a number that it adds to, and the version of a value that is touched', () => {
    const kv = partition();
    kv.set(span('n'), span('9'), 100, 10);
    const { version } = kv.entry;
    assert.equal(kv.touch(span('n'), 20, 100), Status.OK);
    assert.equal(kv.entry.version, version);
    assert.equal(kv.incr(span('n'), 1n, 110), Status.OK);
    assert.deepEqual([Buffer.from(kv.entry.value()).toString(), kv.entry.expiresAtMs], ['10', 120]);
    assert.equal(kv.touch(span('n'), 0, 110), Status.OK);
    assert.equal(kv.get(span('n'), 2 ** 40), Status.OK);
  });

  it('takes any time to live: none is too long, and what is less than 0 has been', () => {
    const kv = partition();
    for (const [ttlMs, status] of [
      [2 ** 60, Status.OK],
      [0.5, Status.OK],
      [-1, Status.NOT_FOUND],
      [-1000, Status.NOT_FOUND],
      [-(2 ** 60), Status.NOT_FOUND],
    ] as const) {
      assert.equal(kv.set(span('key'), span('value'), 999.75, ttlMs), Status.OK);
      assert.equal(kv.get(span('key'), 999.75), status, String(ttlMs));
    }
  });

  it('adds a value only where none is', () => {
    const kv = partition();
    assert.equal(kv.add(span('key'), span('a'), 1, 5), Status.OK);
    assert.equal(kv.add(span('key'), span('b'), 2), Status.EXISTS);
    assert.equal(Buffer.from(kv.entry.value()).toString(), 'a');
    assert.equal(kv.add(span('key'), span('b'), 6), Status.OK);
  });

  it('takes keys of 1 to 250 bytes, and values up to the length given', () => {
    const kv = new Partition({ mode: 'store', memory: new Uint8Array(1 << 16), seed: 1n, maxValueBytes: 100 });
    for (const [length, status] of [
      [0, Status.BAD_KEY],
      [1, Status.OK],
      [250, Status.OK],
      [251, Status.BAD_KEY],
    ] as const) {
      const key = new Span(Buffer.alloc(length, 1));
      assert.equal(kv.set(key, span('value'), 1), status);
      assert.equal(kv.get(key, 1), status);
      assert.equal(kv.explain(key, 1).is, status === Status.OK ? 'present' : 'never');
    }
    assert.equal(kv.set(span('key'), new Span(Buffer.alloc(100)), 1), Status.OK);
    assert.equal(kv.set(span('key'), new Span(Buffer.alloc(101)), 1), Status.TOO_LARGE);
    assert.equal(kv.get(span('key'), 1), Status.OK);
    assert.equal(kv.entry.valueLength, 100);
  });

  it('takes keys and values from the midst of what arrived', () => {
    const kv = partition();
    const slot = Buffer.from('--key-value--');
    assert.equal(kv.set(new Span(slot, 2, 3), new Span(slot, 6, 5), 1), Status.OK);
    assert.equal(kv.get(span('key'), 1), Status.OK);
    assert.equal(Buffer.from(kv.entry.value()).toString(), 'value');
    assert.equal(Buffer.from(kv.entry.key()).toString(), 'key');
  });

  it('goes on with versions where another has stopped, also beyond 32 bits', () => {
    const lastVersion = 2n ** 32n - 2n;
    const kv = new Partition({ mode: 'cache', memory: new Uint8Array(1 << 16), seed: 1n, lastVersion });
    for (const version of [lastVersion + 1n, lastVersion + 2n, lastVersion + 3n]) {
      kv.set(span('key'), span('value'), 1);
      assert.equal(kv.entry.version, version);
    }
  });

  it('shows a key that stays once in a scan, whatever comes and goes meanwhile', () => {
    const kv = new Partition({ mode: 'store', memory: new Uint8Array(1 << 20), seed: 1n, buckets: 64 });
    for (let i = 0; i < 1000; i += 1) kv.set(span(`stays-${i}`), span('value'), 1);
    const seen: string[] = [];
    let cursor = 0;
    for (let i = 0; i === 0 || cursor !== 0; i += 1) {
      cursor = kv.scan(cursor, 10, 1, (entry) => seen.push(Buffer.from(entry.key()).toString()));
      for (let n = 0; n < 50; n += 1) kv.set(span(`comes-${50 * i + n}`), span('value'), 1);
      for (let n = 0; n < 20; n += 1) kv.delete(span(`comes-${7 * i + n}`), 1);
      for (let n = 0; n < 20; n += 1) kv.set(span(`stays-${13 * i + n}`), span('a longer value'), 1);
    }
    const stayed = seen.filter((key) => key.startsWith('stays-'));
    assert.deepEqual([stayed.length, new Set(seen).size], [1000, seen.length]);
    assert.equal(
      kv.scan(1e9, 10, 1, () => assert.fail()),
      0,
    );
  });

  it('sweeps so many buckets as it is told, one after the other', () => {
    const kv = new Partition({ mode: 'store', memory: new Uint8Array(1 << 20), seed: 1n, buckets: 64 });
    for (let i = 0; i < 1000; i += 1) kv.set(span(`key-${i}`), span('value'), 1, i % 2 === 0 ? 5 : 0);
    assert.equal(kv.sweep(1000, 5), 0);
    let ended = 0;
    for (let i = 0; i < 64; i += 1) {
      const now = kv.sweep(1, 6);
      assert.ok(now < 100);
      ended += now;
    }
    assert.deepEqual([ended, kv.statistics.keys, kv.statistics.expirations], [500, 500, 500]);
    assert.deepEqual(kv.explain(span('key-0'), 100), { is: 'expired', whenMs: 6 });
  });

  it('says that it is not certain about a key in whose place it remembers another', () => {
    const kv = new Partition({ mode: 'store', memory: new Uint8Array(1 << 16), seed: 1n, remembered: 1 });
    kv.set(span('a'), span(''), 1);
    kv.delete(span('a'), 2);
    assert.deepEqual(kv.explain(span('a'), 3), { is: 'deleted', whenMs: 2 });
    assert.deepEqual(kv.explain(span('b'), 3), { is: 'never', isCertain: false });
  });

  it('counts what it did', () => {
    const kv = partition();
    kv.set(span('key'), span('value'), 1);
    kv.get(span('key'), 1);
    kv.get(span('other'), 1);
    kv.set(span('key'), span('valuf'), 1);
    const { entry } = kv;
    assert.deepEqual(Object.fromEntries(Object.entries(kv.statistics)), {
      hits: 1,
      misses: 1,
      sets: 2,
      deletes: 0,
      evictions: 0,
      expirations: 0,
      refusals: 0,
      keys: 1,
      bytes: entry.byteLength,
    });
  });

  it('refuses options that make no sense', () => {
    const memory = new Uint8Array(1 << 16);
    const good = { mode: 'store', memory, seed: 1n } as const;
    for (const wrong of [
      { memory: new Uint8Array(4095) },
      { memory: memory.subarray(4) },
      { seed: -1n },
      { seed: 2n ** 64n },
      { buckets: 3 },
      { buckets: 0 },
      { remembered: 2 ** 25 },
      { maxValueBytes: -1 },
      { lastVersion: 2n ** 64n },
      { mode: 'both' as 'store' },
      { moed: 'store' },
    ])
      assert.throws(() => new Partition({ ...good, ...wrong }), { code: 'EINVAL' }, Object.keys(wrong).join());
  });
});

describe('operations', () => {
  it('are in a table, with what each does', () => {
    const kv = partition();
    const request = { key: span('key'), value: span('1'), ttlMs: 0, version: 0n, delta: 5n };
    const run = (operation: Operation): string | undefined => {
      const status = operationRules(operation)?.run?.(kv, { ...request, operation }, 1);
      return status === undefined ? undefined : statusRules(status)?.name;
    };
    const expected: readonly [keyof typeof Operation, string | undefined][] = [
      ['GET', 'NOT_FOUND'],
      ['TOUCH', 'NOT_FOUND'],
      ['ADD', 'OK'],
      ['SET', 'OK'],
      ['ADD', 'EXISTS'],
      ['CAS', 'EXISTS'],
      ['INCR', 'OK'],
      ['TOUCH', 'OK'],
      ['HAS', 'OK'],
      ['GET', 'OK'],
      ['DEL', 'OK'],
      ['DEL', 'NOT_FOUND'],
      ['SCAN', undefined],
    ];
    for (const [name, status] of expected) assert.equal(run(Operation[name]), status, name);
    for (const none of [0, 10, 255, -1]) assert.equal(operationRules(none), undefined);
    for (const [name, operation] of Object.entries(Operation)) assert.equal(operationRules(operation)?.name, name);
    for (const [name, status] of Object.entries(Status)) assert.equal(statusRules(status)?.name, name);
  });
});
