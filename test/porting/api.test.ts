import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import * as verbena from '../../src/entry/index.js';
import { ownNames } from './own.js';

const text = readFileSync(fileURLToPath(new URL('../../../docs/api.md', import.meta.url)), 'utf8');
const mentioned = new Set(text.match(/\w+/g));

/** What api.md leaves to others: names of constants are in the porting table. */
const elsewhere = new Set(
  ownNames.filter(({ title }) => title.startsWith('Names of constants')).flatMap(({ names }) => names),
);
const isLeftOut = (name: string): boolean => elsewhere.has(name) || name.endsWith('Str') || name === 'adviceFor';

describe('docs/api.md', () => {
  it('names every function and constant that programs use', () => {
    const missing = Object.keys(verbena).filter((name) => !mentioned.has(name) && !isLeftOut(name));
    assert.deepEqual(missing, []);
  });
});
