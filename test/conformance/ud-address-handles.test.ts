import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PortState } from '../../src/entry/index.js';
import { conformance } from './provider.js';
import { assertErrno, useDevices } from './support.js';

conformance('address handles', (provider) => {
  const devices = useDevices(provider);

  test('to the device itself belong to their domain, and tell their address', () => {
    const [context] = devices;
    assert.equal(context.queryPort(1).state, PortState.ACTIVE);
    using pd = context.allocPd();
    const dgid = context.queryGid(1, 0);
    using ah = pd.createAh({ isGlobal: true, portNum: 1, grh: { dgid, hopLimit: 3, trafficClass: 4 } });
    assert.deepEqual([ah.context, ah.pd], [context, pd]);
    const { isGlobal, portNum, grh } = ah.attr;
    assert.deepEqual([isGlobal, portNum], [true, 1]);
    assert.deepEqual(grh, { dgid, hopLimit: 3, trafficClass: 4, flowLabel: 0, sgidIndex: 0 });
  });

  test('end once', () => {
    const [context] = devices;
    using pd = context.allocPd();
    const ah = pd.createAh({ grh: { dgid: context.queryGid(1, 0) } });
    ah.destroy();
    assertErrno('EINVAL', () => ah.destroy());
  });

  test('keep their domain alive', () => {
    const [context] = devices;
    const pd = context.allocPd();
    const ah = pd.createAh({ grh: { dgid: context.queryGid(1, 0) } });
    assertErrno('EBUSY', () => pd.dealloc());
    ah.destroy();
    pd.dealloc();
    assertErrno('EINVAL', () => pd.createAh({ grh: { dgid: context.queryGid(1, 0) } }));
  });

  test('without a GRH are refused, since there are none over Ethernet', () => {
    const [context] = devices;
    using pd = context.allocPd();
    assertErrno('EINVAL', () => pd.createAh({ dlid: 1 }));
    assertErrno('EINVAL', () => pd.createAh({ isGlobal: false, grh: { dgid: context.queryGid(1, 0) } }));
  });

  test('from a port or a GID that the device does not have are refused', () => {
    const [context] = devices;
    using pd = context.allocPd();
    const dgid = context.queryGid(1, 0);
    const { physPortCnt } = context.queryDevice();
    assertErrno('EINVAL', () => pd.createAh({ portNum: physPortCnt + 1, grh: { dgid } }));
    assertErrno('EINVAL', () => pd.createAh({ grh: { dgid, sgidIndex: context.queryPort().gidTblLen } }));
    assertErrno('EINVAL', () => pd.createAh({ grh: { dgid: new Uint8Array(16) } }));
  });
});
