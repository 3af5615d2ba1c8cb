import assert from 'node:assert/strict';
import { networkInterfaces } from 'node:os';
import { describe, it } from 'node:test';
import { gidFromIp, ipFromGid } from '../../../device/ibta/index.js';
import { interfaceAddresses, nativeHostProblem } from '../index.js';

describe('the addresses of the machine', { skip: nativeHostProblem() ?? false }, () => {
  it('are all that Node tells, and as it tells them', () => {
    const line = (name: string, ip: Uint8Array, bits: number, scopeId: number, loopback: boolean): string =>
      `${name} ${ipFromGid(ip)}/${bits} ${scopeId} ${loopback}`;
    const ours = (interfaceAddresses() ?? []).map(({ name, ip, prefixBits, scopeId, loopback }) =>
      line(name, ip, prefixBits, scopeId, loopback),
    );
    const theirs = Object.entries(networkInterfaces()).flatMap(([name, addresses = []]) =>
      addresses.map((address) => {
        const ipv6 = address.family === 'IPv6';
        const bits = Number(address.cidr?.replace(/.*\//, '')) + (ipv6 ? 0 : 96);
        return line(name, gidFromIp(address.address), bits, ipv6 ? address.scopeid : 0, address.internal);
      }),
    );
    assert.ok(theirs.length > 0);
    assert.deepEqual(
      theirs.filter((address) => !ours.includes(address)),
      [],
    );
  });
});
