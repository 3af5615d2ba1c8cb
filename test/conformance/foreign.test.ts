import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { conformanceDocument } from './document.js';
import { caseIn, foreignCases } from './foreign.js';
import { suiteTests } from './titles/index.js';

/** As many of the foreign cases, at least, have a test here. */
const LEAST_TESTED = 350;

describe('foreign cases', () => {
  test('have names of their own', () => {
    assert.equal(new Set(foreignCases.map(({ source, name }) => `${source}:${name}`)).size, foreignCases.length);
  });

  test('name tests that every provider has', () => {
    const known = suiteTests();
    const absent = foreignCases.flatMap(({ tests }) => tests.filter((name) => !known.has(name)));
    assert.deepEqual([...new Set(absent)], []);
  });

  test('have tests here, most of them', () => {
    assert.ok(foreignCases.filter(({ tests }) => tests.length > 0).length >= LEAST_TESTED);
  });

  for (const [what, answer] of [
    ['neither tests nor a reason', {}],
    ['tests and a reason', { tests: ['a: b › c'], reason: 'none' }],
    ['a field that there is not', { reason: 'none', why: 'none' }],
  ] as const)
    test(`with ${what} are refused`, () => {
      assert.throws(
        () => caseIn('pyverbs', 'test_qp.py', { name: 'a', checks: 'b', ...answer }),
        /test_qp.py: not a case/,
      );
    });

  test('make a page with a row of three cells for each case', () => {
    const page = conformanceDocument();
    const rows = page.split('\n').filter((line) => /^\| `.* \|$/.test(line));
    assert.deepEqual(
      rows.filter((row) => row.split(/(?<!\\)\|/).length !== 5),
      [],
    );
    const missing = foreignCases.filter(({ name }) => !rows.some((row) => row.startsWith(`| \`${name}\` |`)));
    assert.deepEqual(missing, []);
    assert.equal(rows.length, foreignCases.length);
  });
});
