import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import * as face from '../../entry/index.js';
import { Page, ROOT } from '../../../test/support/page.js';

for (const path of ['README.md', 'docs/guide/start.md']) {
  const page = new Page(path);
  for (const index of page.programs.keys())
    test(`program ${index + 1} of ${path} runs as it stands`, () => {
      assert.deepEqual(page.run(index), { stdout: 'hello\n', stderr: '' });
    });

  test(`programs of ${path} have right types, by the strictest rules`, () => {
    assert.ok(page.programs.length > 0);
    assert.deepEqual(page.typeProblems(), []);
  });
}

test('docs/settings.md has every setting that the code reads', () => {
  const page = new Page('docs/settings.md');
  const files = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' });
  const settings = files
    .filter((file) => file.endsWith('.ts') && !file.includes('/test/'))
    .flatMap((file) => readFileSync(join(ROOT, 'src', file), 'utf8').match(/'VERBENA_[A-Z_]+'/g) ?? [])
    .map((quoted) => quoted.slice(1, -1))
    // The code of a Node warning, not a setting.
    .filter((name) => name !== 'VERBENA_DGRAM');
  const missing = [...new Set(settings)].filter((name) => !page.text.includes(`| \`${name}\` |`));
  assert.ok(settings.length > 0);
  assert.deepEqual(missing, []);
});

test('what docs/api.md names as a value or a helper is exported', () => {
  const text = readFileSync(join(ROOT, 'docs/api.md'), 'utf8');
  const section = /^## Values\n(.*?)^## /ms.exec(text)?.[1] ?? '';
  const named = [...section.matchAll(/`(\w+)`/g)].map(([, name]) => name).filter((name) => name !== 'vendorErr');
  assert.ok(named.length > 0);
  assert.deepEqual(
    named.filter((name) => !name.endsWith('.h') && !(name in face)),
    [],
  );
});

/** What `npm run docs` writes has a folder of its own. */
const PAGES = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' }).filter(
  (name) => /\.\w+$/.test(name) && !name.startsWith('api/'),
);

/** Flags of others' programs that the documents name. */
const FOREIGN = [
  '--trace-warnings',
  '--omit',
  '--permission',
  '--enable-source-maps',
  '--dev',
  '--ff-only',
  '--cpu-prof',
  '--cpu_util',
  '--recv_post_list',
];

test('documents name no option that nothing here has', () => {
  const folders = ['src', 'test', 'test-machine', 'labs', 'scripts', 'bench'];
  const sources = folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.(?:ts|mjs)$/.test(file) && !file.endsWith('readme.test.ts'))
      .map((file) => readFileSync(join(ROOT, folder, file), 'utf8')),
  );
  const known = sources.join('\n');
  const documents = ['README.md', ...PAGES.map((name) => `docs/${name}`)];
  const unknown = documents.flatMap((name) => {
    const code = readFileSync(join(ROOT, name), 'utf8').match(/`[^`\n]+`/g) ?? [];
    const flags = code.flatMap((text) => text.match(/(?<![\w-])--[a-z][\w-]+/g) ?? []);
    const missing = flags.filter(
      (flag) =>
        !FOREIGN.includes(flag) &&
        !new RegExp(`${flag}(?![\\w-])|'${flag.slice(2)}'|${flag.slice(2)}: \\{`).test(known),
    );
    return missing.map((flag) => `${name}: ${flag}`);
  });
  assert.deepEqual(unknown, []);
});
