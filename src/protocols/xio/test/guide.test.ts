import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import * as xio from '../../../entry/xio.js';
import { Page, ROOT } from '../../../../test/support/page.js';

const page = new Page('docs/guide/xio.md');
const guide = page.text;
const libxio = new Page('docs/internals/libxio.md');
const OUTPUTS = ['hello world\n', 'received 300000 bytes\n1048576 7\n', '9 7\n'];

test('the guide has as many programs as are known', () => assert.equal(page.programs.length, OUTPUTS.length));

for (const [index, stdout] of OUTPUTS.entries())
  test(`the guide's program ${index + 1} runs as it stands`, () => {
    assert.deepEqual(page.run(index), { stdout, stderr: '' });
  });

test("the program in libxio's names runs as it stands", () => {
  assert.deepEqual(libxio.run(0), { stdout: 'hello world\n', stderr: '' });
});

for (const { name, programs } of [
  { name: 'the guide', programs: page },
  { name: "the page of libxio's names", programs: libxio },
])
  test(`the programs of ${name} have right types, by the strictest rules`, () => {
    assert.deepEqual(programs.typeProblems(), []);
  });

test('the guide names only statuses that exist', () => {
  const named = [...guide.matchAll(/XIO_E_\w+/g)].map(([name]) => name);
  assert.ok(named.length > 15);
  assert.deepEqual(
    named.filter((name) => !(name in xio.XioStatus)),
    [],
  );
});

test('the guide has every call of a session and a server', () => {
  const source = readFileSync(join(ROOT, 'src/protocols/xio/api.ts'), 'utf8');
  const classes = [...source.matchAll(/^export interface Xio(?:Session|Server|Request) .*?^}/gms)].map(
    ([text]) => text,
  );
  const calls = [...classes.join('\n').matchAll(/^ {2}(\w+)(?:<[^(]*>)?\(/gm)].map(([, name]) => name);
  assert.ok(calls.length > 15);
  assert.deepEqual(
    [...new Set(calls)].filter((name) => !new RegExp(`\\b${name}\\b`).test(guide)),
    [],
  );
});

test('the page of libxio has every call, beside its name in C', () => {
  const calls = Object.keys(xio).filter((name) => /^xio[A-Z]/.test(name));
  assert.ok(calls.length > 20);
  const inC = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const rows = libxio.text.split('\n').filter((line) => line.startsWith('| `xio_'));
  const missing = calls.filter(
    (name) => !rows.some((row) => row.includes(`\`${name}\``) && row.includes(`\`${inC(name)}\``)),
  );
  assert.deepEqual(missing, []);
});

test('the page of libxio names only events and flags that exist', () => {
  const known = { ...xio.XioSessionEvent, ...xio.XioMsgFlag };
  const named = [...libxio.text.matchAll(/XIO_(?:SESSION|MSG)_\w+/g)].map(([name]) => name);
  assert.ok(named.length > 15);
  assert.deepEqual(
    named.filter((name) => !(name in known)),
    [],
  );
});
