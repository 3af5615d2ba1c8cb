import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { PACKAGES, SCENARIOS, starter } from './scenarios.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const start = starter(join(ROOT, 'dist', 'examples'), ROOT, 1);
const SOURCES = readdirSync(join(ROOT, 'examples')).filter((name) => name.endsWith('.ts'));

describe('the examples', () => {
  for (const [name, scenario] of SCENARIOS) it(`do what they are for: ${name}`, () => scenario(start));

  it('are all played', () => {
    assert.deepEqual(SOURCES.map((name) => name.replace('.ts', '')).sort(), [...SCENARIOS.keys()].sort());
  });

  it('need nothing but Node, the package, and what is said of them', () => {
    for (const name of SOURCES) {
      const imports = [...readFileSync(join(ROOT, 'examples', name), 'utf8').matchAll(/ from '([^']+)'/g)];
      const others = imports
        .map(([, from]) => from)
        .filter((from) => !/^verbena(\/(kv|messages|net|ucp|xio))?$/.test(from) && !from.startsWith('node:'));
      assert.deepEqual(others, PACKAGES.get(name.replace('.ts', '')) ?? [], name);
    }
  });
});
