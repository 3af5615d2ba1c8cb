import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { EntryView, Partition, Reading, saltOf, SipHash, Span, Status } from '../../store/index.js';

const span = (text: string | Uint8Array): Span => new Span(Buffer.from(text));
const NOW = 1;
const SALT = saltOf(new SipHash(1n));

function partition(mode: 'cache' | 'store' = 'cache'): Partition {
  return new Partition({ mode, memory: new Uint8Array(1 << 16), seed: 1n, lastVersion: 0x0102030405060707n });
}

function read({ bytes, at, byteLength }: EntryView): Uint8Array {
  return bytes.slice(at, at + byteLength);
}

describe('an entry in memory', () => {
  it('has this layout', () => {
    const kv = partition();
    kv.set(span('key'), span('some value'), 0x0a0b0c0d0e00, 0x0f);
    assert.equal(
      Buffer.from(read(kv.entry)).toString('hex'),
      [
        '0807060504030201', // version
        '0f0e0d0c0b0a', // expires
        '01', // live
        '03', // bytes of the key
        '0a000000', // bytes of the value
        '46887e20', // check
        '6b6579', // key
        '736f6d652076616c7565', // value
        '000000', // up to a multiple of 8
        '0807060504030201', // version
      ].join(''),
    );
  });

  it('says so when it is read after it has gone, expired or was replaced', () => {
    const kv = partition('store');
    kv.set(span('key'), span('value'), NOW, 10);
    const { at } = kv.entry;
    const view = new EntryView(kv.memory, SALT);
    view.at = at;
    assert.deepEqual([view.verify(span('key'), NOW), view.verify(span('kez'), NOW)], [Reading.OK, Reading.GONE]);
    assert.equal(view.verify(span('key'), NOW + 10), Reading.EXPIRED);
    kv.touch(span('key'), 100, NOW);
    assert.equal(view.verify(span('key'), NOW + 10), Reading.OK);
    kv.set(span('key'), span('a longer value, which goes elsewhere'), NOW);
    assert.equal(view.verify(span('key'), NOW), Reading.GONE);
    view.at = kv.entry.at;
    assert.notEqual(view.at, at);
    kv.delete(span('key'), NOW);
    assert.equal(view.verify(span('key'), NOW), Reading.GONE);
  });

  it('is seen torn, or as it was before or after, whatever mixture of the two is read', () => {
    const kv = partition();
    const before = fc.uint8Array({ minLength: 1, maxLength: 64 });
    fc.assert(
      fc.property(
        before,
        fc.nat(),
        fc.infiniteStream(fc.boolean()),
        fc.integer({ min: 0, max: 5 }),
        (a, salt, picks, ttl) => {
          const b = a.map((byte, i) => byte ^ (i % 3 === salt % 3 ? 1 + (salt & 0x7f) : 0));
          kv.set(span('key'), span(a), NOW, ttl);
          const first = read(kv.entry);
          kv.set(span('key'), span(b), NOW, ttl);
          const second = read(kv.entry);
          assert.equal(first.length, second.length);
          const mixture = first.slice();
          const words = new Uint32Array(mixture.buffer);
          const others = new Uint32Array(second.buffer);
          for (let i = 0; i < words.length; i += 1) if (picks.next().value === true) words[i] = others[i];
          const view = new EntryView(mixture, SALT);
          const isWhole = [first, second].some((whole) => Buffer.compare(whole, mixture) === 0);
          assert.equal(view.verify(span('key'), 0, kv.entry.at), isWhole ? Reading.OK : Reading.TORN);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('is none elsewhere than where it was written, nor in another store', () => {
    const kv = partition();
    kv.set(span('key'), span('value'), NOW);
    const { at } = kv.entry;
    const copy = new EntryView(read(kv.entry), SALT);
    assert.equal(copy.verify(span('key'), NOW, at), Reading.OK);
    assert.equal(copy.verify(span('key'), NOW, at + 8), Reading.TORN);
    assert.equal(new EntryView(copy.bytes, SALT ^ 1).verify(span('key'), NOW, at), Reading.TORN);
    for (let room = 0; room < copy.bytes.length; room += 1)
      assert.equal(copy.verify(span('key'), NOW, at, room), Reading.GONE);
  });

  it('is none where anything else lies', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(40), (garbage, eighths) => {
        const bytes = new Uint8Array(Math.ceil(garbage.length / 8) * 8);
        bytes.set(garbage);
        // Often enough as if it were live.
        if (bytes.length > 24) bytes.set([1, 1], 14);
        const view = new EntryView(bytes);
        view.at = eighths * 8;
        assert.notEqual(view.verify(new Span(Uint8Array.of(bytes[view.keyAt] ?? 0)), NOW), Reading.OK);
      }),
    );
  });

  it('gives its value by copies and by views, short and long', () => {
    const kv = partition();
    for (const length of [0, 1, 127, 128, 1000]) {
      const value = Buffer.alloc(length, 7);
      kv.set(span('key'), new Span(value), NOW);
      const target = Buffer.alloc(length + 2, 9);
      assert.equal(kv.entry.copyValue(target, 1), length);
      assert.deepEqual(target, Buffer.concat([Buffer.of(9), value, Buffer.of(9)]));
      assert.ok(value.equals(kv.entry.value()));
    }
    assert.equal(kv.get(span('key'), NOW), Status.OK);
  });
});
