import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = new URL('../../..', import.meta.url);
const FOLDER = new URL('docs/protocol/', ROOT);
const PAGES = new Map(readdirSync(FOLDER).map((name) => [name, readFileSync(new URL(name, FOLDER), 'utf8')] as const));
const FOLDERS = ['src', 'test', 'test-machine', 'labs', 'bench', 'docs'];

/** `protocol/reliable.md 2.3, row 4` and `protocol/kv.md 6.2, 6.5`. */
const CITATION = /protocol\/([\w-]+\.md)(?:`|\))?,? ((?:\d+(?:\.\d+)?(?:, | and | to )?)+)(?:row (\d+))?/g;

const headings = new Set(
  [...PAGES].flatMap(([name, page]) =>
    [...page.matchAll(/^##? (\d+(?:\.\d+)?)\.? /gm)].map(([, number]) => `${name} ${number}`),
  ),
);
/** Rows are numbered in the first column of a section's table. */
const rows = new Set(
  [...PAGES].flatMap(([name, page]) =>
    page.split(/^##? /m).flatMap((section) => {
      const [number] = section.split(' ', 1);
      return [...section.matchAll(/^\| (\d+) \|/gm)].map(([, row]) => `${name} ${number} row ${row}`);
    }),
  ),
);

function textFiles(): string[] {
  return FOLDERS.flatMap((folder) =>
    readdirSync(new URL(`${folder}/`, ROOT), { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.ts$|\.md$|mutants\.json$/.test(path))
      .map((path) => `${folder}/${path}`),
  );
}

describe('a section of docs/protocol that a comment cites', () => {
  it('is a heading of the page that it names, and a row of its table', () => {
    const lost = textFiles().flatMap((file) => {
      const text = readFileSync(new URL(file, ROOT), 'utf8').replaceAll(/\n\s*(?:\/\/|\*) ?/g, ' ');
      return [...text.matchAll(CITATION)].flatMap((match) => {
        const [citation, page, sections] = match;
        const row = match.at(3);
        const numbers = sections.match(/\d+(?:\.\d+)?/g) ?? [];
        const found =
          numbers.every((number) => headings.has(`${page} ${number}`)) &&
          (row === undefined || rows.has(`${page} ${numbers.at(-1)} row ${row}`));
        return found ? [] : [`${file}: ${citation}`];
      });
    });
    assert.deepEqual(lost, []);
  });

  it('names the page', () => {
    const others = textFiles().filter((file) =>
      /(?<!\/)protocol[.]md/i.test(readFileSync(new URL(file, ROOT), 'utf8')),
    );
    assert.deepEqual(others, []);
  });

  it('is implemented in files that exist', () => {
    const named = [...PAGES.values()].flatMap((page) =>
      [...page.matchAll(/^Code: (.*?)\.\s+Source/gms)].flatMap(([, list]) =>
        [...list.matchAll(/`([\w/.*-]+)`/g)].map(([, path]) => path),
      ),
    );
    assert.ok(named.length > 40);
    // A name without a folder is in the folder of the one before it.
    let folder = '';
    const missing = named.flatMap((path) => {
      const plain = path.replace(/[^/]*\*$/, '');
      const full = plain.includes('/') ? plain : `${folder}${plain}`;
      folder = full.slice(0, full.lastIndexOf('/') + 1);
      const places = [new URL(`src/${full}`, ROOT), new URL(full, ROOT)];
      return places.some((place) => existsSync(fileURLToPath(place))) ? [] : [path];
    });
    assert.deepEqual(missing, []);
  });
});
