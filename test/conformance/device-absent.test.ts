import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DeviceCapFlags, QpType, SrqType } from '../../src/entry/index.js';
import { conformance } from './provider.js';
import { Side } from './sides.js';
import { assertErrno, useDevices } from './support.js';

conformance('what this device does not have', (provider) => {
  const devices = useDevices(provider, 1);

  test('flow steering: there are no flows to be made', () => {
    assert.equal(devices[0].queryDevice().deviceCapFlags & DeviceCapFlags.MANAGED_FLOW_STEERING, 0);
    using side = new Side(devices[0], { qpType: QpType.UD });
    assertErrno('EOPNOTSUPP', () => side.qp.createFlow({}));
  });

  test('work queues and spreading over them: the query says 0, and there are none to be made', () => {
    const [context] = devices;
    const { rssCaps, maxWqTypeRq } = context.queryDeviceEx();
    assert.deepEqual(rssCaps, {
      supportedQpts: 0,
      maxRwqIndirectionTables: 0,
      maxRwqIndirectionTableSize: 0,
      rxHashFieldsMask: 0n,
      rxHashFunction: 0,
    });
    assert.equal(maxWqTypeRq, 0);
    assertErrno('EOPNOTSUPP', () => context.createWq({}));
    assertErrno('EOPNOTSUPP', () => context.createRwqIndTable({}));
  });

  test('tag matching: the query says 0, and there are no queues for it', () => {
    const [context] = devices;
    assert.deepEqual(context.queryDeviceEx().tmCaps, {
      maxRndvHdrSize: 0,
      maxNumTags: 0,
      flags: 0,
      maxOps: 0,
      maxSge: 0,
    });
    using pd = context.allocPd();
    assertErrno('EOPNOTSUPP', () => pd.createSrq({ srqType: SrqType.TM, maxWr: 10 }));
  });

  test('memory of its own: more than the query says cannot be had', () => {
    const [context] = devices;
    const { maxDmSize } = context.queryDeviceEx();
    assert.equal(maxDmSize, 0n);
    for (const length of [1, 4096]) assertErrno('EOPNOTSUPP', () => context.allocDm({ length }));
  });
});
