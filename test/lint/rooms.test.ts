import assert from 'node:assert/strict';
import { test } from 'node:test';

const { importProblem } = (await import(new URL('../../../scripts/lint/rooms.mjs', import.meta.url).href)) as {
  importProblem: (fromFile: string, specifier: string) => string | undefined;
};

const ALLOWED = [
  ['src/device/nic/reliable/responder.ts', '../../wire/index.js'],
  ['src/device/nic/reliable/responder.ts', '../rings/layout.js'],
  ['src/device/link/simulated/event-queue.ts', '../link.js'],
  ['src/node/links/udp/udp-link.ts', '../../system/index.js'],
  ['src/node/links/udp/udp-link.ts', 'koffi'],
  ['src/node/hosting/device.ts', 'node:dns/promises'],
  ['src/providers/soft/driver/posting/work-ring.ts', '../../../../device/nic/index.js'],
  ['src/cli/transfer/sender.ts', '../../entry/index.js'],
  ['src/sim/host.ts', '../api/rdmacm/index.js'],
  ['src/cli/dump/command.ts', '../../device/wire/index.js'],
  ['src/cli/ucx/perftest/uct/plays.ts', '../../../../protocols/ucp/bare/index.js'],
  ['src/protocols/messages/connect.ts', '../core/index.js'],
  ['src/protocols/core/progress/engine.ts', '../../../api/verbs/index.js'],
  ['src/cli/commands.ts', 'commander'],
  ['labs/lab-a.ts', 'verbena'],
  ['examples/rpc.ts', 'verbena/sim'],
  ['src/device/nic/test/responder.test.ts', '../../../api/verbs/objects/queue-pair.js'],
  ['test/sim/run.ts', '../../src/device/nic/reliable/responder.js'],
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
  ['src/device/link/tap.ts', '../../node/system/index.js', /may not lean on node\/system/],
  ['src/api/verbs/context.ts', '../../providers/soft/index.js', /may not lean on providers\/soft/],
  ['src/api/rdmacm/addresses/devices.ts', '../../../providers/soft/index.js', /may not lean on providers\/soft/],
  ['src/sim/ambient.ts', 'node:async_hooks', /must run anywhere/],
  ['src/device/adapter/adapter.ts', '../../node/hosting/index.js', /may not lean on node\/hosting/],
  ['src/device/adapter/client.ts', '../../api/verbs/index.js', /may not lean on api\/verbs/],
  ['src/providers/soft/shared-devices.ts', '../../sim/index.js', /may not lean on sim/],
  ['src/node/hosting/chores.ts', 'koffi', /no package/],
  ['src/protocols/core/progress/engine.ts', '../../../providers/soft/index.js', /may not lean on providers\/soft/],
  ['src/protocols/core/progress/engine.ts', 'node:timers', /must run anywhere/],
  ['src/protocols/core/progress/engine.ts', '../../messages/index.js', /may not lean on protocols\/messages/],
  ['src/cli/lab/command.ts', '../../api/verbs/index.js', /may not lean on api\/verbs/],
  ['src/cli/lab/command.ts', '../../device/wire/index.js', /may not lean on device\/wire/],
  ['src/cli/ucx/perftest/sides.ts', '../../../protocols/ucp/bare/index.js', /may not lean on protocols\/ucp\/bare/],
  ['src/cli/ucx/perftest/uct/plays.ts', '../../../../protocols/ucp/uct/index.js', /lean on protocols\/ucp\/uct/],
  ['labs/lab-a.ts', '../src/api/verbs/index.js', /may not lean on api\/verbs/],
  ['examples/rpc.ts', '../src/entry/index.js', /may not lean on entry/],
  ['src/cli/lab/command.ts', 'verbena', /import by path/],
  ['src/entry/index.ts', '../device/nic/index.js', /may not lean on device\/nic/],
  ['src/device/nic/nic.ts', '../../../test/pair.js', /belongs to no room/],
] as const;
for (const [file, specifier, problem] of FORBIDDEN) {
  test(`${file} may not import ${specifier}`, () => {
    assert.match(importProblem(file, specifier) ?? '', problem);
  });
}
