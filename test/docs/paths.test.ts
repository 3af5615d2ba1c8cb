import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from '../support/page.js';

const pagesOf = (folder: string): string[] =>
  readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`);

const PAGES = ['ARCHITECTURE.md', 'CONTRIBUTING.md', ...['docs/internals', 'docs/decisions'].flatMap(pagesOf)];

/** Every file and folder of the repository, its folders with a slash at the end, each with a slash before it. */
const FOLDERS = ['src', 'test', 'test-machine', 'scripts', 'bench', 'examples', 'labs', 'docs'];
const paths = FOLDERS.flatMap((folder) => [
  `/${folder}/`,
  ...readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true }).map(
    (entry) => `${entry.parentPath.slice(ROOT.length - 1)}/${entry.name}${entry.isDirectory() ? '/' : ''}`,
  ),
]);

test('pages about the inside name files and folders that exist', () => {
  const missing = PAGES.flatMap((page) => {
    const text = readFileSync(join(ROOT, page), 'utf8');
    const named = [...text.matchAll(/`([\w./-]+(?:\.(?:ts|mjs|json)|\/))`/g)].map(([, path]) => path);
    return named
      .filter((path) => !/^[/.]|^dist\/|^node_modules\/|^shm\//.test(path))
      .filter((path) => !paths.some((known) => known.endsWith(`/${path}`)))
      .map((path) => `${page}: ${path}`);
  });
  assert.deepEqual(missing, []);
});
