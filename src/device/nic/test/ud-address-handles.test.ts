import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AhAttr, gidFromIp } from '../../ibta/index.js';
import { assertRefused, Pair, pattern, World } from './pair.js';
import { ahAttrTo } from './qp.js';
import { ahTo, payloadOf, postBuffer, postTo, udQp } from './ud.js';

const PEER = gidFromIp('10.0.0.2');

/** Attributes of a handle for {@link PEER}, with changes. */
function attrWith(changes: Partial<AhAttr>, route: Partial<NonNullable<AhAttr['grh']>> = {}): AhAttr {
  const attr = ahAttrTo(PEER);
  return { ...attr, grh: { ...attr.grh, ...route }, ...changes };
}

const withoutRoute: AhAttr = (() => {
  const { grh, ...attr } = ahAttrTo(PEER);
  assert.ok(grh.dgid.length === 16);
  return attr;
})();

for (const [what, attr] of [
  ['a GRH', withoutRoute],
  ['isGlobal', attrWith({ isGlobal: false })],
  ['the right port', attrWith({ portNum: 2 })],
  ['a port', attrWith({ portNum: 0 })],
  ['an entry at its GID index', attrWith({}, { sgidIndex: 1 })],
  ['a destination', attrWith({}, { dgid: new Uint8Array(16) })],
  ['a destination of 16 bytes', attrWith({}, { dgid: new Uint8Array(4) })],
  ['two addresses of one IP version', attrWith({}, { dgid: gidFromIp('fd00::2') })],
  ['a hop limit of 8 bits', attrWith({}, { hopLimit: 256 })],
  ['a service level of 4 bits', attrWith({ sl: 16 })],
] as const) {
  test(`an address handle without ${what} is EINVAL, and its domain is not held`, () => {
    const host = new World().host('10.0.0.1');
    const { control } = host.nic;
    const pd = control.allocPd();
    assertRefused('EINVAL', () => control.createAh(pd, attr));
    control.deallocPd(pd);
  });
}

test('an address handle of no domain is EINVAL', () => {
  const host = new World().host('10.0.0.1');
  assertRefused('EINVAL', () => host.nic.control.createAh(4711, ahAttrTo(PEER)));
});

test('a domain cannot go while it has address handles', () => {
  const { control } = new World().host('10.0.0.1').nic;
  const pd = control.allocPd();
  const ah = control.createAh(pd, ahAttrTo(PEER));
  assertRefused('EBUSY', () => control.deallocPd(pd));
  control.destroyAh(ah);
  control.deallocPd(pd);
});

test('an address handle can be destroyed once', () => {
  const { control } = new World().host('10.0.0.1').nic;
  const ah = control.createAh(control.allocPd(), ahAttrTo(PEER));
  control.destroyAh(ah);
  assertRefused('EINVAL', () => control.destroyAh(ah));
});

test('a device has so many address handles and no more', () => {
  const host = new World().host('10.0.0.1', { limits: { maxAh: 3 } });
  const handles = [0, 1, 2].map(() => ahTo(host, PEER));
  assertRefused('ENOMEM', () => ahTo(host, PEER));
  host.nic.control.destroyAh(handles[1]);
  const fresh = ahTo(host, PEER);
  assert.ok(!handles.includes(fresh));
});

test('a handle keeps its way when the attributes that it was made from change', () => {
  const pair = new Pair();
  const sender = udQp(pair.a);
  const receiver = udQp(pair.b);
  const target = postBuffer(receiver, 8);
  const dgid = Uint8Array.from(pair.b.gid);
  const ah = ahTo(pair.a, dgid);
  dgid.fill(0xee);
  postTo(sender, { ah, qpn: receiver.qpn }, { inline: pattern(8) });
  pair.drive();
  assert.deepEqual(payloadOf(target), pattern(8));
});
