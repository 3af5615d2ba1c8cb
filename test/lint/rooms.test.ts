import assert from 'node:assert/strict';
import { test } from 'node:test';

const { importProblem } = (await import(new URL('../../../scripts/lint/rooms.mjs', import.meta.url).href)) as {
  importProblem: (fromFile: string, specifier: string) => string | undefined;
};

const ALLOWED = [
  ['src/nic/responder.ts', '../wire/index.js'],
  ['src/nic/responder.ts', './layout.js'],
  ['src/link/simulation/clock.ts', '../link.js'],
  ['src/link/udp-link.ts', '../host/index.js'],
  ['src/link/tap.ts', 'node:fs'],
  ['src/soft/driver/work-ring.ts', '../../nic/index.js'],
  ['src/cli/transfer/sender.ts', '../../index.js'],
  ['src/sim/host.ts', '../rdmacm/index.js'],
  ['src/cli/dump.ts', '../wire/index.js'],
  ['src/cli/main.ts', 'commander'],
  ['labs/lab-a.ts', '../src/index.js'],
  ['test/nic/responder.test.ts', '../../src/nic/responder.js'],
] as const;
for (const [file, specifier] of ALLOWED) {
  test(`${file} may import ${specifier}`, () => {
    assert.equal(importProblem(file, specifier), undefined);
  });
}

const FORBIDDEN = [
  ['src/wire/bth.ts', '../nic/index.js', /wire may not lean on nic/],
  ['src/nic/nic.ts', '../wire/bth.js', /through its index\.ts/],
  ['src/nic/nic.ts', 'node:crypto', /must run anywhere/],
  ['src/spec/gid.ts', 'koffi', /must run anywhere/],
  ['src/link/simulated-link.ts', 'node:fs', /must run anywhere/],
  ['src/link/simulated-link.ts', '../host/index.js', /may not lean on host/],
  ['src/link/tap.ts', 'koffi', /no package/],
  ['src/verbs/context.ts', '../soft/index.js', /may not lean on soft/],
  ['src/cli/lab.ts', '../verbs/index.js', /may not lean on verbs/],
  ['src/cli/lab.ts', '../wire/index.js', /may not lean on wire/],
  ['labs/lab-a.ts', '../src/verbs/index.js', /may not lean on verbs/],
  ['src/index.ts', './nic/index.js', /may not lean on nic/],
  ['src/nic/nic.ts', '../../test/pair.js', /belongs to no room/],
] as const;
for (const [file, specifier, problem] of FORBIDDEN) {
  test(`${file} may not import ${specifier}`, () => {
    assert.match(importProblem(file, specifier) ?? '', problem);
  });
}
