import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import * as xio from '../../../entry/xio.js';
import { Page, ROOT } from '../../../../test/support/page.js';

const page = new Page('docs/xio.md');
const guide = page.text;
const OUTPUTS = [
  'hello world\n',
  '300000 bytes came\n1048576 7\n',
  '5000 1\n0\n',
  '9 7\n',
  'log 10\nlast 20000\nread\n',
  'hello world\n',
];

test('the guide has as many programs as are known', () => assert.equal(page.programs.length, OUTPUTS.length));

for (const [index, stdout] of OUTPUTS.entries())
  test(`the guide's program ${index + 1} runs as it stands`, () => {
    assert.deepEqual(page.run(index), { stdout, stderr: '' });
  });

test("the guide's programs have right types, by the strictest rules", () => {
  assert.deepEqual(page.typeProblems(), []);
});

test('the guide names no status that there is not', () => {
  const named = [...guide.matchAll(/XIO_E_\w+/g)].map(([name]) => name);
  assert.ok(named.length > 15);
  assert.deepEqual(
    named.filter((name) => !(name in xio.XioStatus)),
    [],
  );
});

test('the guide has every option, call and property of the API', () => {
  const source = readFileSync(join(ROOT, 'src/protocols/xio/api.ts'), 'utf8');
  const members = [...source.matchAll(/^ {2}(?:readonly )?(\w+)\??(?::|\(|<)/gm)].map(([, name]) => name);
  assert.ok(members.length > 50);
  // Counts have names that say it.
  const statistics = /interface XioStatistics \{(.*?)^\}/ms.exec(source)?.[1] ?? '';
  const missing = members.filter(
    (name) => !new RegExp(`\\b${name}\\b`).test(guide) && !new RegExp(`\\b${name}:`).test(statistics),
  );
  assert.deepEqual([...new Set(missing)], []);
});

test('the guide has every call in the names of libxio.h, beside its name in C', () => {
  const calls = Object.keys(xio).filter((name) => /^xio[A-Z]/.test(name));
  assert.ok(calls.length > 20);
  const inC = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const rows = guide.split('\n').filter((line) => line.startsWith('| `xio_'));
  const missing = calls.filter(
    (name) => !rows.some((row) => row.includes(`\`${name}\``) && row.includes(`\`${inC(name)}\``)),
  );
  assert.deepEqual(missing, []);
});

test('the guide names no event or flag of libxio.h that there is not', () => {
  const known = { ...xio.XioSessionEvent, ...xio.XioMsgFlag };
  const named = [...guide.matchAll(/XIO_(?:SESSION|MSG)_\w+/g)].map(([name]) => name);
  assert.ok(named.length > 15);
  assert.deepEqual(
    named.filter((name) => !(name in known)),
    [],
  );
});
