import assert from 'node:assert/strict';
import { test } from 'node:test';
import { conformance } from './provider.js';
import { assertErrno, useDevices } from './support.js';

conformance('memory that this device does not have', (provider) => {
  const devices = useDevices(provider, 1);

  test('its own: the query says 0, and asking for some is refused', () => {
    const [context] = devices;
    assert.equal(context.queryDeviceEx().maxDmSize, 0n);
    assertErrno('EOPNOTSUPP', () => context.allocDm({ length: 4096 }));
  });
});
