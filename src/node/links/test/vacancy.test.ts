import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gidFromIp } from '../../../device/ibta/index.js';
import { isVacant, UdpLink } from '../index.js';
import { nativeHostProblem, ownAddresses } from '../../system/index.js';
import { loopback, openWhenFree } from '../../../../test/support/loopback.js';

const hasNoSystemCalls = nativeHostProblem() ?? false;
const hasNoIpv6 = ownAddresses().some(({ address }) => address === '::1') ? false : 'this machine has no IPv6';

describe('an address of this machine', { skip: hasNoSystemCalls }, () => {
  test('is vacant as long as no device is there', () => {
    const own = UdpLink.open({ address: loopback(3) });
    const gid = gidFromIp(loopback(1));
    assert.equal(isVacant(gid), true);
    const link = UdpLink.open({ address: loopback(1) });
    assert.equal(isVacant(gid), false);
    assert.equal(isVacant(gidFromIp(loopback(2))), true);
    link.close();
    assert.equal(isVacant(gid), true);
    own.close();
  });

  test('of IPv6 is looked for among the sockets of IPv6', { skip: hasNoIpv6 }, (t) => {
    const own = UdpLink.open({ address: loopback(4) });
    t.after(() => own.close());
    const gid = gidFromIp('::1');
    const link = openWhenFree(() => UdpLink.open({ address: '::1' }));
    assert.equal(isVacant(gid), false);
    link.close();
  });
});

test('an address of another machine is not known to be vacant', () => {
  for (const host of ['192.0.2.1', '2001:db8::1']) assert.equal(isVacant(gidFromIp(host)), false);
});
