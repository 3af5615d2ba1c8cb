import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Context,
  type DeviceAttr,
  GidType,
  gidsEqual,
  LinkLayer,
  Mtu,
  portSpeed,
  PortState,
} from '../../src/entry/index.js';
import { administer } from '../../src/entry/sim.js';
import { conformance } from './provider.js';
import { assertErrno, pendingEvents, useDevices } from './support.js';

const PAGE = 4096;

/** Numbers of which every device has some. */
const COUNTS = ['maxQp', 'maxQpWr', 'maxSge', 'maxCq', 'maxCqe', 'maxMr', 'maxPd', 'maxPkeys'] as const;

function assertPlausible(attr: DeviceAttr): void {
  assert.notEqual(attr.nodeGuid, 0n);
  assert.notEqual(attr.sysImageGuid, 0n);
  assert.ok(attr.maxMrSize > BigInt(PAGE));
  assert.ok(attr.pageSizeCap >= PAGE);
  // Memory is registered byte by byte: pages of 4 KiB, and of each power of two above.
  assert.equal(attr.pageSizeCap, 0xfffff000);
  assert.notEqual(attr.vendorId, 0);
  for (const name of COUNTS) assert.ok(attr[name] > 0, name);
}

const isOneOf = (values: Readonly<Record<string, number>>, value: number): boolean =>
  Object.values(values).includes(value);

conformance('what a device tells of itself', (provider) => {
  const devices = useDevices(provider, 1);

  test('has plausible limits and names', () => {
    assertPlausible(devices[0].queryDevice());
  });

  test('is the same in the extended query', () => {
    const [context] = devices;
    const { origAttr } = context.queryDeviceEx();
    assertPlausible(origAttr);
    assert.deepEqual(origAttr, context.queryDevice());
  });

  test('counts its ports in both queries', () => {
    const [context] = devices;
    assert.equal(context.queryDeviceEx().physPortCntEx, context.queryDevice().physPortCnt);
  });
});

conformance('what a device tells of its ports', (provider) => {
  const devices = useDevices(provider, 1);
  const ports = (context: Context): number[] =>
    Array.from({ length: context.queryDevice().physPortCnt }, (_, i) => i + 1);

  test('is known of each', () => {
    const [context] = devices;
    for (const portNum of ports(context)) {
      const port = context.queryPort(portNum);
      assert.ok(isOneOf(PortState, port.state));
      assert.ok(isOneOf(Mtu, port.maxMtu));
      assert.ok(isOneOf(Mtu, port.activeMtu));
      assert.ok(port.activeMtu <= port.maxMtu);
      assert.equal(port.linkLayer, LinkLayer.ETHERNET);
      // Of a width and a speed that mean nothing, there is none.
      assert.ok(portSpeed(port) > 0);
      assert.ok(port.maxMsgSz > PAGE);
    }
  });

  test('has their speed', () => {
    const [context] = devices;
    for (const portNum of ports(context))
      assert.equal(context.queryPortSpeed(portNum), portSpeed(context.queryPort(portNum)));
  });

  test('does not exist of others', () => {
    const [context] = devices;
    const { physPortCnt } = context.queryDevice();
    assertErrno('EINVAL', () => context.queryPort(0));
    for (let beyond = 1; beyond <= 10; beyond += 1) {
      assertErrno('EINVAL', () => context.queryPort(physPortCnt + beyond));
      assertErrno('EINVAL', () => context.queryPortSpeed(physPortCnt + beyond));
    }
  });

  test('has a P_Key at index 0, which is found by its value', () => {
    const [context] = devices;
    for (const portNum of ports(context)) {
      const pkey = context.queryPkey(portNum, 0);
      assert.equal(context.getPkeyIndex(portNum, pkey), 0);
    }
  });

  test('has no P_Keys beyond its table, nor an index for those that are not there', () => {
    const [context] = devices;
    assertErrno('EINVAL', () => context.queryPkey(1, context.queryPort(1).pkeyTblLen));
    assertErrno('EINVAL', () => context.getPkeyIndex(1, 0x1234));
  });

  test('has a GID at index 0', () => {
    const [context] = devices;
    for (const portNum of ports(context)) {
      assert.ok(context.queryPort(portNum).gidTblLen > 0);
      assert.ok(context.queryGid(portNum, 0).some((byte) => byte !== 0));
    }
  });

  test('has the same GID with its type and its place', () => {
    const [context] = devices;
    const entry = context.queryGidEntry(1, 0);
    const { gidIndex, portNum, gidType } = entry;
    assert.deepEqual({ gidIndex, portNum, gidType }, { gidIndex: 0, portNum: 1, gidType: GidType.ROCE_V2 });
    assert.ok(gidsEqual(entry.gid, context.queryGid(1, 0)));
  });

  test('has all GIDs in one table', () => {
    const [context] = devices;
    const table = context.queryGidTable();
    assert.ok(table.length > 0);
    for (const { portNum, gidIndex, gid } of table) assert.deepEqual(context.queryGid(portNum, gidIndex), gid);
    const room = ports(context).reduce((sum, portNum) => sum + context.queryPort(portNum).gidTblLen, 0);
    assert.ok(table.length <= room);
  });

  test('has no GIDs beyond their table', () => {
    const [context] = devices;
    const { gidTblLen } = context.queryPort(1);
    assertErrno('EINVAL', () => context.queryGidEntry(1, gidTblLen));
    assertErrno('EINVAL', () => context.queryGid(1, gidTblLen));
  });

  test('has no GID where the table is empty', () => {
    const [context] = devices;
    const gids = Array.from({ length: context.queryPort(1).gidTblLen - 1 }, (_, i) => context.queryGid(1, i + 1));
    administer(context, { gids: [undefined, context.queryGid(1, 0)] });
    assert.equal(context.queryPort(1).gidTblLen, 3);
    assertErrno('ENODATA', () => context.queryGidEntry(1, 1));
    assertErrno('ENODATA', () => context.queryGid(1, 1));
    assert.deepEqual(
      context.queryGidTable().map(({ gidIndex }) => gidIndex),
      [0, 2],
    );
    administer(context, { gids });
    pendingEvents(context);
  });
});
