import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import { ROOT } from '../support/page.js';

/** Pages that people read in the repository, by their path from the root. */
const pages = [
  ...readdirSync(ROOT).filter((name) => name.endsWith('.md')),
  ...['docs', 'examples', 'labs', 'src', 'test'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md') && !name.startsWith('api/') && !name.endsWith('preface.md'))
      .map((name) => join(folder, name)),
  ),
];

const withoutCode = (text: string): string => text.replace(/^```[^]*?^```$/gm, '');

const anchorOf = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\- _]/gu, '')
    .replaceAll(' ', '-');

const anchors = new Map<string, ReadonlySet<string>>();
function anchorsOf(page: string): ReadonlySet<string> {
  let known = anchors.get(page);
  if (known === undefined) {
    const headings = [...withoutCode(readFileSync(page, 'utf8')).matchAll(/^#+ (.*)$/gm)];
    known = new Set(headings.map(([, heading]) => anchorOf(heading)));
    anchors.set(page, known);
  }
  return known;
}

/** What is wrong with a link of a page, or undefined. */
function problemOf(page: string, link: string): string | undefined {
  if (/^[a-z]+:/.test(link)) return undefined;
  const [path, anchor] = link.split('#');
  const target = path === '' ? join(ROOT, page) : join(ROOT, dirname(page), path);
  if (!existsSync(target)) return `${page}: ${link}: there is no ${relative(ROOT, target)}`;
  if (!link.includes('#') || !target.endsWith('.md')) return undefined;
  return anchorsOf(target).has(anchor) ? undefined : `${page}: ${link}: that page has no such heading`;
}

test('every link of the documentation leads to a file, and every anchor to a heading', () => {
  const problems = pages.flatMap((page) =>
    [...withoutCode(readFileSync(join(ROOT, page), 'utf8')).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(
      ([, link]) => problemOf(page, link) ?? [],
    ),
  );
  assert.deepEqual(problems, []);
});
