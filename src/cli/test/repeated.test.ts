import assert from 'node:assert/strict';
import { test } from 'node:test';
import { repeatedly } from '../kit/interrupt.js';

test('equal texts are counted, and told at the 1st, 10th and 100th time', () => {
  const told: string[] = [];
  const tell = repeatedly((text) => told.push(text));
  for (let i = 0; i < 923; i += 1) tell('refused');
  tell('another');
  assert.deepEqual(told, ['refused', 'refused (10 times so far)', 'refused (100 times so far)', 'another']);
});

test('texts that all differ are told, and do not fill memory', () => {
  const told: string[] = [];
  const tell = repeatedly((text) => told.push(text));
  for (let i = 0; i < 1000; i += 1) tell(String(i));
  assert.equal(told.length, 1000);
});
