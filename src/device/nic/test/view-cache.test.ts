import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ViewCache } from '../memory/copying/view-cache.js';

const SLOTS = 16;

function memory(first: number): Uint8Array {
  return Uint8Array.from({ length: 1024 }, (_, i) => (first + i) & 0xff);
}

/** More often than it takes until what is asked for is kept. */
function askOften(cache: ViewCache, bytes: Uint8Array, offset: number, lengthBytes: number): Uint8Array {
  for (let i = 0; i < 100; i += 1) cache.of(bytes, offset, lengthBytes);
  return cache.of(bytes, offset, lengthBytes);
}

test('a view shows what was asked for, whatever was asked for before', () => {
  const cache = new ViewCache(SLOTS);
  const memories = [memory(0), memory(100)];
  for (let i = 0; i < 20_000; i += 1) {
    const bytes = memories[(i >> 9) & 1];
    const offset = (i * 37) % 512;
    const length = 1 + ((i * 11) % 300);
    const view = cache.of(bytes, offset, length);
    assert.equal(view.buffer, bytes.buffer);
    assert.equal(view.byteOffset, offset);
    assert.equal(view.length, length);
  }
});

test('a place that is asked for often gives the same view each time', () => {
  const cache = new ViewCache(SLOTS);
  const bytes = memory(0);
  const view = askOften(cache, bytes, 12, 256);
  assert.equal(cache.of(bytes, 12, 256), view);
});

test('a view shows what was written to the memory since', () => {
  const cache = new ViewCache(SLOTS);
  const bytes = memory(0);
  askOften(cache, bytes, 12, 256);
  bytes[13] = 77;
  assert.equal(cache.of(bytes, 12, 256)[1], 77);
});

test('views of memory that was transferred away are not given', () => {
  const cache = new ViewCache(SLOTS);
  const buffer = new ArrayBuffer(1024);
  const bytes = new Uint8Array(buffer);
  askOften(cache, bytes, 12, 256);
  structuredClone(buffer, { transfer: [buffer] });
  assert.throws(() => cache.of(bytes, 12, 256), TypeError);
});

test('two memories that are asked for in turns keep the views of the first', () => {
  const cache = new ViewCache(SLOTS);
  const [first, second] = [memory(0), memory(100)];
  const view = askOften(cache, first, 12, 256);
  for (let i = 0; i < 100; i += 1) {
    assert.equal(cache.of(second, 12, 256)[0], 112);
    assert.equal(cache.of(first, 12, 256), view);
  }
});
