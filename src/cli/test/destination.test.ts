import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodeDestination, DESTINATION_BYTES, encodeDestination } from '../pingpong/exchange/destination.js';
import { decodeXsrqDestination, encodeXsrqDestination, XSRQ_DESTINATION_BYTES } from '../pingpong/xsrq/destination.js';
import { gidFromIp } from '../../entry/index.js';

test('a destination is the 52 bytes that the C tools exchange', () => {
  const bytes = encodeDestination({ lid: 0, qpn: 0x11, psn: 0x7560c3, gid: gidFromIp('10.0.0.1') });
  assert.equal(bytes.length, DESTINATION_BYTES);
  assert.equal(bytes.toString('latin1'), '0000:000011:7560c3:00000000000000000000ffff0a000001\0');
});

test('what is encoded decodes to the same', () => {
  const u24 = fc.integer({ min: 0, max: 0xffffff });
  const gids = fc.uint8Array({ minLength: 16, maxLength: 16 });
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 0xffff }), u24, u24, gids, (lid, qpn, psn, gid) => {
      const decoded = decodeDestination(encodeDestination({ lid, qpn, psn, gid }), 'ibv_rc_pingpong');
      assert.deepEqual(decoded, { lid, qpn, psn, gid: Uint8Array.from(gid) });
    }),
  );
});

test('bytes of another form are refused', () => {
  assert.throws(
    () => decodeDestination(Buffer.alloc(52, 'x'), 'ibv_rc_pingpong'),
    /was expected; is it an ibv_rc_pingpong\?/,
  );
});

const XSRQ = { lid: 1, recvQpn: 0x11, sendQpn: 0x12, psn: 0x7560c3, srqn: 0xabcdef, gid: gidFromIp('10.0.0.1') };

test('a destination of XRC is the 66 bytes that the C tools exchange', () => {
  const bytes = encodeXsrqDestination(XSRQ);
  assert.equal(bytes.length, XSRQ_DESTINATION_BYTES);
  assert.equal(bytes.toString('latin1'), '0001:000011:000012:7560c3:abcdef:00000000000000000000ffff0a000001\0');
});

test('what is encoded for XRC decodes to the same', () => {
  assert.deepEqual(decodeXsrqDestination(encodeXsrqDestination(XSRQ)), XSRQ);
});
