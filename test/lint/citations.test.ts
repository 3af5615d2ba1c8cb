import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = new URL('../../..', import.meta.url);
const PAGE = readFileSync(new URL('docs/protocol.md', ROOT), 'utf8');
const FOLDERS = ['src', 'test', 'labs', 'bench', 'docs'];

/** `protocol.md 2.3, row 4` and `protocol.md 2.7, 3.7`. */
const CITATION = /protocol\.md(?:`|\))? ((?:\d+(?:\.\d+)?(?:, | and | to )?)+)(?:row (\d+))?/g;

const headings = new Set([...PAGE.matchAll(/^##? (\d+(?:\.\d+)?)\.? /gm)].map(([, number]) => number));
/** Rows are numbered in the first column of a section's table. */
const rows = new Set(
  PAGE.split(/^##? /m).flatMap((section) => {
    const [number] = section.split(' ', 1);
    return [...section.matchAll(/^\| (\d+) \|/gm)].map(([, row]) => `${number} row ${row}`);
  }),
);

function textFiles(): string[] {
  return FOLDERS.flatMap((folder) =>
    readdirSync(new URL(`${folder}/`, ROOT), { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.(ts|md)$/.test(path))
      .map((path) => `${folder}/${path}`),
  );
}

describe('what comments cite of the protocol', () => {
  it('stands under a heading of docs/protocol.md, and in its row', () => {
    const lost = textFiles().flatMap((file) => {
      const text = readFileSync(new URL(file, ROOT), 'utf8').replaceAll(/\n\s*(?:\/\/|\*) ?/g, ' ');
      return [...text.matchAll(CITATION)].flatMap((match) => {
        const [citation, sections] = match;
        const row = match.at(2);
        const numbers = sections.match(/\d+(?:\.\d+)?/g) ?? [];
        const found =
          numbers.every((number) => headings.has(number)) &&
          (row === undefined || rows.has(`${numbers.at(-1)} row ${row}`));
        return found ? [] : [`${file}: ${citation}`];
      });
    });
    assert.deepEqual(lost, []);
  });

  it('is called by its own name', () => {
    const others = textFiles().filter((file) => /\bPROTOCOL[.]md/.test(readFileSync(new URL(file, ROOT), 'utf8')));
    assert.deepEqual(others, []);
  });

  it('is kept in files that are there', () => {
    const named = [...PAGE.matchAll(/^Code: (.*?)\. Source/gms)].flatMap(([, list]) =>
      [...list.matchAll(/`([\w/.*-]+)`/g)].map(([, path]) => path),
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
