import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from '../support/page.js';

const pages = [
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'test/porting/preface.md',
  'test/conformance/preface.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !name.startsWith('api/'))
    .map((name) => join('docs', name)),
];

/** Words of these pages that make readers read twice, or for which the field has a term. */
const UNCLEAR = new RegExp(
  `\\b(${[
    'whoever|nobody|somebody|everybody',
    'anew|for ever|in vain|likewise|hence|amid(st)?|in the midst',
    '(is|are|was|were|be) told|tells of|says so',
    'goes? on|begins?|began|begun|beginning',
    'giv(e|es|en|ing) up|gave up|tak(e|es|en|ing) back|gives? way',
    'by (itself|themselves)|of (its|their|your|our) own',
    'ha(s|ve) to|(is|are) to be',
    'under way|such an?|such as have',
  ]
    .join('|')
    .replaceAll(' ', '\\s+')})\\b`,
  'gi',
);

/** A page without its code, on the same lines. */
const prose = (page: string): string =>
  readFileSync(join(ROOT, page), 'utf8').replace(/```[^]*?```|`[^`\n]*`|^ {4}.*$/gm, (code) =>
    code.replace(/[^\n]/g, ''),
  );

test('pages use the terms of the field, and name who acts', () => {
  const unclear = pages.flatMap((page) => {
    const text = prose(page);
    return [...text.matchAll(UNCLEAR)].map(
      ({ 0: words, index }) => `${page}:${text.slice(0, index).split('\n').length}: ${words}`,
    );
  });
  assert.deepEqual(unclear, []);
});

test('pages are no longer than a reader takes in at once', () => {
  const limits = [
    { of: /^README\.md$/, bytes: 6000 },
    { of: /^ARCHITECTURE\.md$/, bytes: 8000 },
    { of: /^docs\/guide\//, bytes: 13_000 },
    { of: /^docs\/tools\//, bytes: 6000 },
    { of: /^docs\/decisions\/\d/, bytes: 2600 },
  ];
  const long = pages.flatMap((page) => {
    const { length } = readFileSync(join(ROOT, page));
    const limit = limits.find(({ of }) => of.test(page));
    return limit !== undefined && length > limit.bytes ? [`${page}: ${length} of ${limit.bytes} bytes`] : [];
  });
  assert.deepEqual(long, []);
});

test('every page of the guide that has programs is named by a test that runs them', () => {
  const tests = ['src', 'test'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.test.ts'))
      .map((name) => readFileSync(join(ROOT, folder, name), 'utf8')),
  );
  const untested = pages
    .filter((page) => page.startsWith('docs/guide/') && /^```(ts|html)$/m.test(readFileSync(join(ROOT, page), 'utf8')))
    .filter((page) => !tests.some((text) => text.includes(`'${page}'`) || text.includes(`}${page}`)));
  assert.deepEqual(untested, []);
});
