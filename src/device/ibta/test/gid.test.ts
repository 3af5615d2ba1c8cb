import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { formatGid, gidFromIp, gidsEqual, ipFromGid, isIpv4Gid } from '../index.js';

const gids = fc.uint8Array({ minLength: 16, maxLength: 16 });
/** Mostly zeros, so that runs of zero groups come up. */
const sparseGids = fc.array(fc.oneof(fc.constant(0), fc.constant(0), fc.nat(255)), { minLength: 16, maxLength: 16 });

describe('gidFromIp', () => {
  const addresses: readonly [text: string, hex: string][] = [
    ['127.0.0.1', '00000000000000000000ffff7f000001'],
    ['255.255.255.255', '00000000000000000000ffffffffffff'],
    ['::ffff:10.0.0.2', '00000000000000000000ffff0a000002'],
    ['::', '00000000000000000000000000000000'],
    ['::1', '00000000000000000000000000000001'],
    ['fe80::1', 'fe800000000000000000000000000001'],
    ['fe80::', 'fe800000000000000000000000000000'],
    ['2001:DB8::a:b', '20010db80000000000000000000a000b'],
    ['1:2:3:4:5:6:7:8', '00010002000300040005000600070008'],
    ['1:2:3:4:5:6:7::', '00010002000300040005000600070000'],
    ['64:ff9b::192.0.2.33', '0064ff9b0000000000000000c0000221'],
    ['fe80:0000:0000:0000:0000:0000:0000:0001', 'fe800000000000000000000000000001'],
  ];
  for (const [text, hex] of addresses) {
    it(`reads ${text}`, () => assert.equal(Buffer.from(gidFromIp(text)).toString('hex'), hex));
  }

  const notAddresses = [
    '',
    'localhost',
    '1.2.3',
    '1.2.3.4.5',
    '1.2.3.256',
    '1.2.3.04',
    '1.2.3.-4',
    ' 1.2.3.4',
    ':',
    ':::',
    '1::2::3',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4:5:6:7::8',
    '12345::',
    'g::1',
    '1.2.3.4::',
    '::1.2.3.4:5',
    'fe80::1%eth0',
  ];
  for (const text of notAddresses) {
    it(`refuses '${text}'`, () => assert.throws(() => gidFromIp(text), RangeError));
  }
});

describe('ipFromGid', () => {
  const canonical = ['127.0.0.1', '0.0.0.0', '::', '::1', 'fe80::1', '1:2:3:4:5:6:7:8', '2001:db8:0:1:1:1:1:1'];
  for (const text of [...canonical, '2001:db8::1:0:0:1', '1:0:0:2::', '::2:0:0:1:0']) {
    it(`writes ${text} as RFC 5952 wants it`, () => assert.equal(ipFromGid(gidFromIp(text)), text));
  }

  it('is read back as the same GID', () => {
    fc.assert(fc.property(gids, (gid) => gidsEqual(gidFromIp(ipFromGid(gid)), gid)));
    fc.assert(
      fc.property(sparseGids, (bytes) =>
        gidsEqual(gidFromIp(ipFromGid(Uint8Array.from(bytes))), Uint8Array.from(bytes)),
      ),
    );
  });

  it('refuses what has not 16 bytes', () => assert.throws(() => ipFromGid(new Uint8Array(4)), RangeError));
});

describe('formatGid', () => {
  it('writes eight full groups', () => {
    assert.equal(formatGid(gidFromIp('127.0.0.1')), '0000:0000:0000:0000:0000:ffff:7f00:0001');
  });

  it('is read back as the same GID', () => {
    fc.assert(fc.property(gids, (gid) => gidsEqual(gidFromIp(formatGid(gid)), gid)));
  });
});

describe('isIpv4Gid', () => {
  it('knows a mapped IPv4 address', () => assert.equal(isIpv4Gid(gidFromIp('10.1.2.3')), true));

  it('takes no other address for one', () => {
    for (const text of ['::1', 'fe80::ffff:1:2', '::fffe:1.2.3.4', '1::ffff:1.2.3.4']) {
      assert.equal(isIpv4Gid(gidFromIp(text)), false, text);
    }
  });
});
