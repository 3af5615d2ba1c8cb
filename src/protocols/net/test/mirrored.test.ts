import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { DIFFERENT, MIRRORED, WITHOUT_COUNTERPART } from './mirrored.js';

const LEAST_SHARE = 0.9;

function testsOf(file: string): string {
  const source = new URL(`../../../../../src/protocols/net/test/${file}.test.ts`, import.meta.url);
  return readFileSync(source, 'utf8').replaceAll("\\'", "'");
}

describe('what Node tests of net', () => {
  it('is tested here by the tests that are named', () => {
    for (const { node, file, test } of MIRRORED) {
      const tests = testsOf(file);
      assert.ok(
        [`it('${test}'`, `it("${test}"`, `it(\n      '${test}'`].some((text) => tests.includes(text)),
        `${node}: ${test}`,
      );
    }
  });

  it('is named once', () => {
    const names = [
      ...MIRRORED.map(({ node }) => node),
      ...DIFFERENT.keys(),
      ...[...WITHOUT_COUNTERPART.values()].flat(),
    ];
    assert.deepEqual([...new Set(names)], names);
  });

  it('behaves the same for the most part', () => {
    const share = MIRRORED.length / (MIRRORED.length + DIFFERENT.size);
    assert.ok(share >= LEAST_SHARE, `${share}`);
  });
});
