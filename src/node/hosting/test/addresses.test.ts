import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import {
  formatGid,
  getDeviceList,
  gidFromIp,
  GidType,
  LinkLayer,
  Mtu,
  openDevice,
  PortState,
  VerbsError,
} from '../../../entry/index.js';
import { endWithTest } from '../../../../test/support/children.js';
import { NET, openWhenFree } from '../../../../test/support/loopback.js';

for (const host of ['inline', 'thread'] as const) {
  describe(`addresses, hosted ${host}`, () => {
    test('one that is taken is refused with EADDRINUSE', () => {
      using context = openDevice({ host, address: `${NET}.1` });
      assert.throws(
        () => openDevice({ host, address: `${NET}.1` }),
        (error) =>
          error instanceof VerbsError &&
          error.errno === 'EADDRINUSE' &&
          error.message.includes(`${context.address} is taken: this program has a NIC at that address`),
      );
    });

    test('one that another thread of the program has taken is named as its own, and one of another program is not', async () => {
      const address = `${NET}.3`;
      const refused = (whose: string): void =>
        assert.throws(() => openDevice({ host, address }), new RegExp(`is taken: ${whose} program has a NIC`));
      const entry = JSON.stringify(new URL('../../../entry/index.js', import.meta.url).href);
      const source = (ready: string): string =>
        `import(${entry}).then(({ openDevice }) => { openDevice({ host: '${host}', address: '${address}' }); ${ready}; setInterval(() => {}, 1000); });`;
      const worker = new Worker(source("require('node:worker_threads').parentPort.postMessage(0)"), { eval: true });
      await once(worker, 'message');
      refused('this');
      await worker.terminate();
      openWhenFree(() => openDevice({ host, address })).close();
      const program = endWithTest(
        spawn(process.execPath, ['-e', source('process.send(0)')], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] }),
      );
      await once(program, 'message');
      refused('another');
      program.kill('SIGKILL');
    });

    test('one that is not of this machine is refused with EADDRNOTAVAIL', () => {
      assert.throws(() => openDevice({ host, address: '192.0.2.1' }), {
        errno: 'EADDRNOTAVAIL',
        call: 'ibv_open_device',
      });
    });

    test('one that is not an address is refused with EINVAL', () => {
      assert.throws(() => openDevice({ host, address: 'localhost:4791' }), { errno: 'EINVAL' });
    });

    test('without one, each program of a machine gets a loopback address of its own', () => {
      using first = openDevice({ host });
      using second = openDevice({ host });
      assert.match(first.address, /^127\.0\.0\./);
      assert.match(second.address, /^127\.0\.0\./);
      assert.notEqual(first.address, second.address);
    });

    test('VERBENA_ADDR names one', () => {
      process.env['VERBENA_ADDR'] = `${NET}.3`;
      try {
        using context = openDevice({ host });
        assert.equal(context.address, `${NET}.3`);
      } finally {
        delete process.env['VERBENA_ADDR'];
      }
    });

    test('an IPv6 address is a device as well', (t) => {
      let context;
      try {
        context = openWhenFree(() => openDevice({ host, address: '::1' }));
      } catch (error) {
        if (error instanceof VerbsError && ['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes(error.errno)) {
          t.skip('this machine has no IPv6');
          return;
        }
        throw error;
      }
      assert.equal(formatGid(context.queryGid(1, 0)), formatGid(gidFromIp('::1')));
      context.close();
    });
  });
}

test('VERBENA_HOST chooses the host, and nothing else is one', () => {
  process.env['VERBENA_HOST'] = 'inline';
  try {
    using context = openDevice({ address: `${NET}.4` });
    assert.equal(context.host, 'inline');
    process.env['VERBENA_HOST'] = 'cloud';
    assert.throws(() => openDevice({ address: `${NET}.5` }), { errno: 'EINVAL' });
  } finally {
    delete process.env['VERBENA_HOST'];
  }
});

describe('what a device tells of itself', () => {
  test('one device is listed, and opens', () => {
    const devices = getDeviceList();
    assert.deepEqual(
      devices.map(({ name }) => name),
      ['verbena0'],
    );
    using context = devices[0].open({ host: 'inline', address: `${NET}.6` });
    assert.equal(context.device.name, 'verbena0');
  });

  test('its GUID belongs to its address: the same again, another elsewhere', () => {
    const guidAt = (address: string): bigint => {
      using context = openDevice({ host: 'inline', address });
      return context.queryDevice().nodeGuid;
    };
    assert.equal(guidAt(`${NET}.7`), guidAt(`${NET}.7`));
    assert.notEqual(guidAt(`${NET}.7`), guidAt(`${NET}.8`));
    // 02:…:ff:fe:…, an EUI-64 of a locally administered address.
    assert.equal(guidAt(`${NET}.7`) >> 56n, 2n);
    assert.equal((guidAt(`${NET}.7`) >> 24n) & 0xffffn, 0xfffen);
  });

  test('its port is an active Ethernet port, its tables have one entry', () => {
    using context = openDevice({ host: 'inline', address: `${NET}.9` });
    const port = context.queryPort();
    assert.deepEqual(
      [port.state, port.linkLayer, port.activeMtu, port.gidTblLen, port.pkeyTblLen],
      [PortState.ACTIVE, LinkLayer.ETHERNET, Mtu.MTU_4096, 1, 1],
    );
    assert.deepEqual(context.queryGidTable(), [
      { gid: gidFromIp(`${NET}.9`), gidIndex: 0, portNum: 1, gidType: GidType.ROCE_V2 },
    ]);
    assert.equal(context.queryPkey(1, 0), 0xffff);
    assert.equal(context.getPkeyIndex(1, 0xffff), 0);
    for (const call of [
      () => context.queryPort(2),
      () => context.queryGid(1, 1),
      () => context.queryGid(0, 0),
      () => context.queryGidEntry(1, -1),
      () => context.queryPkey(1, 1),
      () => context.getPkeyIndex(1, 0x7fff),
    ])
      assert.throws(call, { errno: 'EINVAL' });
  });

  test('its version is the package’s', async () => {
    using context = openDevice({ host: 'inline', address: `${NET}.9` });
    const { createRequire } = await import('node:module');
    const manifest: unknown = createRequire(import.meta.url)('verbena/package.json');
    assert.equal(context.queryDevice().fwVer, (manifest as { version: string }).version);
  });
});
