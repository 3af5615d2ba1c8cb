import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createRing, exchangeWord, isShared, readChanged, readWord, writeWord } from '../index.js';

const BYTES = 64;

for (const shared of [true, false]) {
  describe(`a ring whose ends are in ${shared ? 'two threads' : 'one thread'}`, () => {
    const ring = (): Int32Array => new Int32Array(createRing(BYTES, shared));

    test('is memory of its own kind, full of zeros', () => {
      const memory = createRing(BYTES, shared);
      assert.equal(isShared(memory), shared);
      assert.deepEqual(new Uint8Array(memory), new Uint8Array(BYTES));
    });

    test('gives back the word that was written, and changes no other', () => {
      const words = ring();
      writeWord(words, 3, -7, shared);
      assert.equal(readWord(words, 3, shared), -7);
      assert.deepEqual(
        [...words].filter((word) => word !== 0),
        [-7],
      );
    });

    test('tells a word that is no longer the known one, and one that is', () => {
      const words = ring();
      assert.equal(readChanged(words, 3, 0, shared), 0);
      writeWord(words, 3, 5, shared);
      assert.equal(readChanged(words, 3, 0, shared), 5);
      assert.equal(readChanged(words, 3, 5, shared), 5);
    });

    test('exchanges a word for what stood there', () => {
      const words = ring();
      assert.equal(exchangeWord(words, 3, 1, shared), 0);
      assert.equal(exchangeWord(words, 3, 1, shared), 1);
      assert.equal(words[3], 1);
    });
  });
}
