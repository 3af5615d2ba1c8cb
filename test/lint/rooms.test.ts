import assert from 'node:assert/strict';
import { test } from 'node:test';

const { importProblem } = (await import(new URL('../../../scripts/lint/rooms.mjs', import.meta.url).href)) as {
  importProblem: (fromFile: string, specifier: string) => string | undefined;
};

const ALLOWED = [
  ['src/nic/responder.ts', '../wire/index.js'],
  ['src/nic/responder.ts', './layout.js'],
  ['src/link/simulation/clock.ts', '../link.js'],
  ['src/machine/links/udp/udp-link.ts', '../host/index.js'],
  ['src/device/link/tap.ts', 'node:fs'],
  ['src/api/soft/driver/posting/work-ring.ts', '../../nic/index.js'],
  ['src/apps/cli/transfer/sender.ts', '../../index.js'],
  ['src/api/sim/host.ts', '../rdmacm/index.js'],
  ['src/apps/cli/dump/command.ts', '../wire/index.js'],
  ['src/apps/cli/main.ts', 'commander'],
  ['labs/lab-a.ts', '../src/index.js'],
  ['test/nic/responder.test.ts', '../../src/nic/responder.js'],
] as const;
for (const [file, specifier] of ALLOWED) {
  test(`${file} may import ${specifier}`, () => {
    assert.equal(importProblem(file, specifier), undefined);
  });
}

const FORBIDDEN = [
  ['src/device/wire/bth.ts', '../nic/index.js', /wire may not lean on nic/],
  ['src/device/nic/nic.ts', '../wire/bth.js', /through its index\.ts/],
  ['src/device/nic/nic.ts', 'node:crypto', /must run anywhere/],
  ['src/device/ibta/gid.ts', 'koffi', /must run anywhere/],
  ['src/device/link/simulated/simulated-link.ts', 'node:fs', /must run anywhere/],
  ['src/device/link/simulated/simulated-link.ts', '../host/index.js', /may not lean on host/],
  ['src/device/link/tap.ts', 'koffi', /no package/],
  ['src/api/verbs/context.ts', '../soft/index.js', /may not lean on soft/],
  ['src/apps/cli/lab/command.ts', '../verbs/index.js', /may not lean on verbs/],
  ['src/apps/cli/lab/command.ts', '../wire/index.js', /may not lean on wire/],
  ['labs/lab-a.ts', '../src/verbs/index.js', /may not lean on verbs/],
  ['src/index.ts', './nic/index.js', /may not lean on nic/],
  ['src/device/nic/nic.ts', '../../test/pair.js', /belongs to no room/],
] as const;
for (const [file, specifier, problem] of FORBIDDEN) {
  test(`${file} may not import ${specifier}`, () => {
    assert.match(importProblem(file, specifier) ?? '', problem);
  });
}
