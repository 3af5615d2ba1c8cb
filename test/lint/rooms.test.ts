import assert from 'node:assert/strict';
import { test } from 'node:test';

const { importProblem } = (await import(new URL('../../../scripts/lint/rooms.mjs', import.meta.url).href)) as {
  importProblem: (fromFile: string, specifier: string) => string | undefined;
};

const ALLOWED = [
  ['src/device/nic/reliable/responder.ts', '../../wire/index.js'],
  ['src/device/nic/reliable/responder.ts', '../rings/layout.js'],
  ['src/device/link/simulated/event-queue.ts', '../link.js'],
  ['src/machine/links/udp/udp-link.ts', '../../system/index.js'],
  ['src/machine/links/udp/udp-link.ts', 'koffi'],
  ['src/machine/hosting/device.ts', 'node:dns/promises'],
  ['src/api/soft/driver/posting/work-ring.ts', '../../../../device/nic/index.js'],
  ['src/apps/cli/transfer/sender.ts', '../../../index.js'],
  ['src/api/sim/host.ts', '../rdmacm/index.js'],
  ['src/apps/cli/dump/command.ts', '../../../device/wire/index.js'],
  ['src/apps/cli/ucx/perftest/uct/link.ts', '../../../../../layers/ucp/bare/index.js'],
  ['src/layers/messages/connect.ts', '../engine/index.js'],
  ['src/layers/engine/progress/engine.ts', '../../../api/verbs/index.js'],
  ['src/apps/cli/main.ts', 'commander'],
  ['labs/lab-a.ts', 'verbena'],
  ['examples/rpc.ts', 'verbena/sim'],
  ['test/nic/responder.test.ts', '../../src/device/nic/reliable/responder.js'],
] as const;
for (const [file, specifier] of ALLOWED) {
  test(`${file} may import ${specifier}`, () => {
    assert.equal(importProblem(file, specifier), undefined);
  });
}

const FORBIDDEN = [
  ['src/device/wire/packets/bth.ts', '../../nic/index.js', /wire may not lean on device\/nic/],
  ['src/device/nic/nic.ts', '../wire/packets/bth.js', /through its index\.ts/],
  ['src/device/nic/nic.ts', 'node:crypto', /must run anywhere/],
  ['src/device/ibta/gid.ts', 'koffi', /must run anywhere/],
  ['src/device/link/tap.ts', 'node:fs', /must run anywhere/],
  ['src/device/link/tap.ts', '../../machine/system/index.js', /may not lean on machine\/system/],
  ['src/api/verbs/context.ts', '../soft/index.js', /may not lean on api\/soft/],
  ['src/api/rdmacm/addresses/devices.ts', '../../soft/index.js', /may not lean on api\/soft/],
  ['src/api/sim/ambient.ts', 'node:async_hooks', /must run anywhere/],
  ['src/api/soft/adapter/adapter.ts', '../../../machine/hosting/index.js', /may not lean on machine\/hosting/],
  ['src/machine/hosting/chores.ts', 'koffi', /no package/],
  ['src/layers/engine/progress/engine.ts', '../../../api/soft/index.js', /may not lean on api\/soft/],
  ['src/layers/engine/progress/engine.ts', 'node:timers', /must run anywhere/],
  ['src/layers/engine/progress/engine.ts', '../../messages/index.js', /may not lean on layers\/messages/],
  ['src/apps/cli/lab/command.ts', '../../../api/verbs/index.js', /may not lean on api\/verbs/],
  ['src/apps/cli/lab/command.ts', '../../../device/wire/index.js', /may not lean on device\/wire/],
  ['src/apps/cli/ucx/perftest/sides.ts', '../../../../layers/ucp/bare/index.js', /may not lean on layers\/ucp\/bare/],
  ['src/apps/cli/ucx/perftest/uct/link.ts', '../../../../../layers/ucp/uct/index.js', /lean on layers\/ucp\/uct/],
  ['labs/lab-a.ts', '../src/api/verbs/index.js', /may not lean on api\/verbs/],
  ['examples/rpc.ts', '../src/index.js', /may not lean on face/],
  ['src/apps/cli/lab/command.ts', 'verbena', /import by path/],
  ['src/index.ts', './device/nic/index.js', /may not lean on device\/nic/],
  ['src/device/nic/nic.ts', '../../../test/pair.js', /belongs to no room/],
] as const;
for (const [file, specifier, problem] of FORBIDDEN) {
  test(`${file} may not import ${specifier}`, () => {
    assert.match(importProblem(file, specifier) ?? '', problem);
  });
}
