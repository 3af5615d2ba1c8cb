import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { conformanceDocument } from './document.js';
import { foreignCases } from './foreign/index.js';
import { loadMappings, mappedCases, stemOf, testsNamedBy } from './mapping/index.js';
import { suiteTests } from './titles/index.js';

/** As many of the foreign cases, at least, have a test here. */
const LEAST_TESTED = 350;

describe('the mapping of foreign cases', () => {
  test('has an entry for each', async () => {
    const missing = mappedCases(await loadMappings())
      .filter(({ entry }) => entry === undefined)
      .map(({ foreign }) => `${stemOf(foreign)}: ${foreign.name}`);
    assert.deepEqual(missing, []);
  });

  test('has entries for nothing else', async () => {
    const known = new Set(foreignCases.map((foreign) => `${stemOf(foreign)}: ${foreign.name}`));
    const unknown = [...(await loadMappings())]
      .flatMap(([stem, mapping]) => Object.keys(mapping).map((name) => `${stem}: ${name}`))
      .filter((name) => !known.has(name));
    assert.deepEqual(unknown, []);
  });

  test('names tests that every provider has', async () => {
    const tests = suiteTests();
    const absent = mappedCases(await loadMappings()).flatMap(({ entry }) =>
      testsNamedBy(entry).filter((name) => !tests.has(name)),
    );
    assert.deepEqual([...new Set(absent)], []);
  });

  test('gives tests for most, and reasons for the others', async () => {
    const cases = mappedCases(await loadMappings());
    const untested = cases.filter(({ entry }) => testsNamedBy(entry).length === 0);
    for (const { foreign, entry } of untested)
      assert.ok(entry !== undefined && 'reason' in entry && entry.reason !== '', foreign.name);
    assert.ok(cases.length - untested.length >= LEAST_TESTED);
  });

  test('makes a page with a row of three cells for each case', async () => {
    const page = await conformanceDocument();
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
