import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type OwnAddress, parseIpv4Routes, parseIpv6Routes, sourceAmong } from '../interfaces/routes.js';

const OWN: readonly OwnAddress[] = [
  { address: '127.0.0.1', via: 'lo', bits: 8 },
  { address: '::1', via: 'lo', bits: 128 },
  { address: '192.0.2.5', via: 'eth0', bits: 24 },
  { address: '192.0.2.6', via: 'eth0', bits: 24 },
  { address: 'fe80::5', via: 'eth0', bits: 64 },
  { address: '2001:db8:1::5', via: 'eth0', bits: 64 },
  { address: '198.51.100.9', via: 'eth1', bits: 24 },
  { address: '2001:db8:2::9', via: 'eth1', bits: 64 },
];

const IPV4 = [
  'Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT',
  'eth0\t00000000\t010200C0\t0003\t0\t0\t100\t00000000\t0\t0\t0',
  'eth1\t00000000\t016433C6\t0003\t0\t0\t50\t00000000\t0\t0\t0',
  'eth0\t000200C0\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0',
  'eth0\t0000000A\t010200C0\t0003\t0\t0\t0\t000000FF\t0\t0\t0',
  'eth1\t0000010A\t00000000\t0201\t0\t0\t0\t0000FFFF\t0\t0\t0',
  '',
].join('\n');

const IPV6 = [
  '20010db8000100000000000000000000 40 00000000000000000000000000000000 00 00000000000000000000000000000000 00000100 00000001 00000000 00000001     eth0',
  '20010db8000300000000000000000000 30 00000000000000000000000000000000 00 20010db8000200000000000000000001 00000400 00000001 00000000 00000003     eth1',
  '00000000000000000000000000000000 00 00000000000000000000000000000000 00 00000000000000000000000000000000 ffffffff 00000001 00000000 00200200       lo',
  '',
].join('\n');

const routes4 = parseIpv4Routes(IPV4);
const routes6 = parseIpv6Routes(IPV6);

describe('the way to a destination over IPv4', () => {
  const cases: readonly (readonly [string, string | undefined, string])[] = [
    ['192.0.2.77', '192.0.2.5', 'is the network that it is on'],
    ['10.2.3.4', '192.0.2.5', 'is the longest match'],
    ['10.1.3.4', '192.0.2.5', 'is none that is refused'],
    ['203.0.113.1', '198.51.100.9', 'is the default route of the lowest metric'],
    ['192.0.2.6', '192.0.2.6', 'is its own address where it is on this machine'],
  ];
  for (const [destination, source, name] of cases)
    it(name, () => assert.equal(sourceAmong(destination, OWN, routes4), source));
});

describe('the way to a destination over IPv6', () => {
  it('is the network that it is on', () => {
    assert.equal(sourceAmong('2001:db8:1::77', OWN, routes6), '2001:db8:1::5');
  });

  it('leads by a route', () => {
    assert.equal(sourceAmong('2001:db8:3:4::1', OWN, routes6), '2001:db8:2::9');
  });

  it('is none where no route leads', () => {
    assert.equal(sourceAmong('2001:db8:9::1', OWN, routes6), undefined);
  });
});

describe('the way to a destination without a table of routes', () => {
  it('is the network that it is on', () => {
    assert.equal(sourceAmong('198.51.100.1', OWN, []), '198.51.100.9');
  });

  it('is otherwise any that leads out', () => {
    assert.equal(sourceAmong('203.0.113.1', OWN, []), '192.0.2.5');
    assert.equal(sourceAmong('2001:db8:9::1', OWN, []), '2001:db8:1::5');
    assert.equal(sourceAmong('203.0.113.1', OWN.slice(0, 2), []), undefined);
  });
});
