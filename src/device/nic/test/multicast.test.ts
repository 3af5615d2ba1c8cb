import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AccessFlags, gidFromIp, QpCreateFlags, QpState, QpType, WcFlags } from '../../ibta/index.js';
import { getU16, Opcode } from '../../wire/index.js';
import type { TestHost } from './host.js';
import { assertCompleted, assertRefused, craft, Pair, pattern, World } from './pair.js';
import type { TestQp } from './qp.js';
import { ahTo, craftDatagram, HEADER_BYTES, payloadOf, postBuffer, postTo, QKEY, udQp } from './ud.js';

const GROUP = '239.1.2.3';
const OTHER = '239.1.2.4';
const GROUP_QPN = 0xffffff;

function attach(qp: TestQp, group = GROUP): void {
  qp.host.nic.control.attachMcast(qp.qpn, gidFromIp(group));
  qp.host.link.joinGroup(gidFromIp(group));
}

/** Sends 8 bytes from `qp` to a group. */
function multicast(qp: TestQp, seed: number, group = GROUP): bigint {
  const to = { ah: ahTo(qp.host, gidFromIp(group)), qpn: GROUP_QPN };
  return postTo(qp, to, { inline: pattern(8, seed) });
}

/** Hosts with a UD QP each. */
function crowd(addresses: readonly string[]): { world: World; qps: TestQp[] } {
  const world = new World();
  const hosts = addresses.map((address) => world.host(address));
  return { world, qps: hosts.map((host) => udQp(host)) };
}

for (const [version, group, addresses] of [
  ['IPv4', GROUP, ['10.0.0.1', '10.0.0.2', '10.0.0.3']],
  ['IPv6', 'ff0e::1:2', ['fd00::1', 'fd00::2', 'fd00::3']],
] as const) {
  test(`a datagram to an ${version} group reaches every QP that is attached to it, and no other`, () => {
    const { world, qps } = crowd(addresses);
    const [sender, member, stranger] = qps;
    const second = udQp(member.host);
    const idle = udQp(member.host);
    const buffers = [member, second].map((qp) => postBuffer(qp, 8));
    for (const qp of [stranger, idle]) postBuffer(qp, 8);
    for (const qp of [member, second]) attach(qp, group);
    const wrId = multicast(sender, 3, group);
    world.drive();
    assertCompleted(sender.sent(), [wrId]);
    [member, second].forEach((qp, i) => {
      const [received] = qp.received();
      assert.equal(received.byteLen, HEADER_BYTES + 8);
      assert.equal(received.wcFlags, WcFlags.GRH);
      assert.equal(received.srcQp, sender.qpn);
      assert.deepEqual(payloadOf(buffers[i]), pattern(8, 3));
    });
    for (const qp of [stranger, idle]) assert.deepEqual(qp.received(), []);
    assert.equal(world.wire[0].destQp, GROUP_QPN);
  });
}

test('the header before the payload names the group', () => {
  const { world, qps } = crowd(['10.0.0.1', '10.0.0.2']);
  const [sender, member] = qps;
  const buffer = postBuffer(member, 8);
  attach(member);
  multicast(sender, 1);
  world.drive();
  const header = buffer.bytes.subarray(20, 40);
  assert.deepEqual([...header.subarray(12)], [10, 0, 0, 1, 239, 1, 2, 3]);
  assert.equal(getU16(header, 2), 20 + 8 + world.wire[0].bytes.length);
});

test('a QP hears each group that it is attached to', () => {
  const { world, qps } = crowd(['10.0.0.1', '10.0.0.2']);
  const [sender, member] = qps;
  const buffers = [0, 1].map(() => postBuffer(member, 8));
  attach(member, GROUP);
  attach(member, OTHER);
  multicast(sender, 1, OTHER);
  multicast(sender, 2, GROUP);
  world.drive();
  assert.deepEqual(
    buffers.map((mr) => payloadOf(mr)),
    [pattern(8, 1), pattern(8, 2)],
  );
});

test('a QP that was detached hears the group no more', () => {
  const { world, qps } = crowd(['10.0.0.1', '10.0.0.2']);
  const [sender, member] = qps;
  const staying = udQp(member.host);
  for (const qp of [member, staying]) {
    postBuffer(qp, 8);
    attach(qp);
  }
  member.host.nic.control.detachMcast(member.qpn, gidFromIp(GROUP));
  multicast(sender, 1);
  world.drive();
  assert.deepEqual(member.received(), []);
  assert.equal(staying.received().length, 1);
});

test('a datagram to a group that nobody hears is dropped and counted', () => {
  const { world, qps } = crowd(['10.0.0.1', '10.0.0.2']);
  qps[1].host.link.joinGroup(gidFromIp(GROUP));
  multicast(qps[0], 1);
  world.drive();
  assert.equal(qps[1].host.nic.counters.rxUnknownQp, 1);
});

test('each member has keys, a state and receive requests of its own', () => {
  const { world, qps } = crowd(['10.0.0.1', '10.0.0.2']);
  const [sender, { host }] = qps;
  const hears = udQp(host);
  const otherKey = udQp(host, { qkey: QKEY + 1 });
  const notReady = udQp(host, { until: QpState.INIT });
  const empty = udQp(host);
  for (const qp of [hears, otherKey, notReady]) postBuffer(qp, 8);
  for (const qp of [otherKey, notReady, empty, hears]) attach(qp);
  multicast(sender, 1);
  world.drive();
  assert.equal(hears.received().length, 1);
  for (const qp of [otherKey, notReady, empty]) assert.deepEqual(qp.received(), []);
  const { rxBadQkey, rxWrongState, rxNoReceive } = host.nic.counters;
  assert.deepEqual([rxBadQkey, rxWrongState, rxNoReceive], [1, 1, 1]);
});

test('a member whose receive request names memory it may not ends, and the others hear', () => {
  const { world, qps } = crowd(['10.0.0.1', '10.0.0.2']);
  const [sender, { host }] = qps;
  const bad = udQp(host);
  const good = udQp(host);
  bad.recv(host.mr(100, { access: AccessFlags.REMOTE_READ }));
  postBuffer(good, 8);
  for (const qp of [bad, good]) attach(qp);
  multicast(sender, 1);
  world.drive();
  assert.equal(bad.state, QpState.ERR);
  assert.equal(good.received().length, 1);
});

/** A host that is a member of the group, and whose own packets to it come back. */
function member(world: World, createFlags: number): { qp: TestQp; host: TestHost } {
  const host = world.host('10.0.0.1');
  const qp = udQp(host, { createFlags });
  postBuffer(qp, 8);
  attach(qp);
  return { qp, host };
}

test('a QP hears what it sends to a group that it is attached to', () => {
  const world = new World();
  const { qp } = member(world, 0);
  multicast(qp, 1);
  world.drive();
  assert.equal(qp.received().length, 1);
});

test('a QP with BLOCK_SELF_MCAST_LB does not hear itself, and others on its host do', () => {
  const world = new World();
  const { qp, host } = member(world, QpCreateFlags.BLOCK_SELF_MCAST_LB);
  const other = udQp(host, { createFlags: QpCreateFlags.BLOCK_SELF_MCAST_LB });
  postBuffer(other, 8);
  attach(other);
  multicast(qp, 1);
  world.drive();
  assert.deepEqual(qp.received(), []);
  assert.equal(other.received().length, 1);
});

test('a QP with BLOCK_SELF_MCAST_LB hears one of the same number on another host', () => {
  const pair = new Pair();
  const qp = udQp(pair.b, { createFlags: QpCreateFlags.BLOCK_SELF_MCAST_LB });
  postBuffer(qp, 8);
  attach(qp);
  const bytes = craftDatagram(pair.a.ip, GROUP, {
    opcode: Opcode.UD_SEND_ONLY,
    destQp: GROUP_QPN,
    psn: 0,
    payload: pattern(8),
    sourceQp: qp.qpn,
  });
  pair.network.inject(pair.a.ip, pair.b.ip, bytes, { destination: gidFromIp(GROUP) });
  pair.drive();
  assert.equal(qp.received().length, 1);
});

test('messages of other services to a group are dropped', () => {
  const pair = new Pair();
  const qp = udQp(pair.b);
  postBuffer(qp, 8);
  attach(qp);
  for (const opcode of [Opcode.RC_SEND_ONLY, Opcode.UC_SEND_ONLY, Opcode.RC_ACKNOWLEDGE]) {
    const bytes = craft(pair.a.ip, GROUP, { opcode, destQp: GROUP_QPN, psn: 0 });
    pair.network.inject(pair.a.ip, pair.b.ip, bytes, { destination: gidFromIp(GROUP) });
  }
  pair.drive();
  assert.deepEqual(qp.received(), []);
  assert.equal(pair.b.nic.counters.rxWrongTransport, 3);
});

test('a QP that is attached to a group cannot be destroyed', () => {
  const host = new World().host('10.0.0.1');
  const qp = udQp(host);
  attach(qp, GROUP);
  attach(qp, OTHER);
  const { control } = host.nic;
  assertRefused('EBUSY', () => control.destroyQp(qp.qpn));
  control.detachMcast(qp.qpn, gidFromIp(GROUP));
  assertRefused('EBUSY', () => control.destroyQp(qp.qpn));
  control.detachMcast(qp.qpn, gidFromIp(OTHER));
  control.destroyQp(qp.qpn);
});

test('RESET leaves a QP attached', () => {
  const host = new World().host('10.0.0.1');
  const qp = udQp(host);
  attach(qp);
  qp.modify({ qpState: QpState.RESET });
  host.nic.control.detachMcast(qp.qpn, gidFromIp(GROUP));
});

for (const type of [QpType.RC, QpType.UC]) {
  test(`a QP of type ${type} can neither be attached nor detached`, () => {
    const host = new World().host('10.0.0.1');
    const { qpn } = host.qp({ type });
    assertRefused('EINVAL', () => host.nic.control.attachMcast(qpn, gidFromIp(GROUP)));
    assertRefused('EINVAL', () => host.nic.control.detachMcast(qpn, gidFromIp(GROUP)));
  });
}

for (const gid of [gidFromIp('10.0.0.1'), gidFromIp('fe80::1'), gidFromIp('223.255.255.255'), new Uint8Array(16)]) {
  test(`${gid.join('.')} is not a group`, () => {
    const host = new World().host('10.0.0.1');
    const { qpn } = udQp(host);
    assertRefused('EINVAL', () => host.nic.control.attachMcast(qpn, gid));
    assertRefused('EINVAL', () => host.nic.control.detachMcast(qpn, gid));
  });
}

test('a GID of other than 16 bytes is not a group', () => {
  const host = new World().host('10.0.0.1');
  const { qpn } = udQp(host);
  assertRefused('EINVAL', () => host.nic.control.attachMcast(qpn, gidFromIp(GROUP).subarray(0, 15)));
});

test('a QP that does not exist cannot be attached', () => {
  const host = new World().host('10.0.0.1');
  assertRefused('EINVAL', () => host.nic.control.attachMcast(0x4711, gidFromIp(GROUP)));
});

test('a QP that is not attached to a group cannot be detached from it', () => {
  const host = new World().host('10.0.0.1');
  const qp = udQp(host);
  const { control } = host.nic;
  assertRefused('EINVAL', () => control.detachMcast(qp.qpn, gidFromIp(GROUP)));
  attach(udQp(host));
  assertRefused('EINVAL', () => control.detachMcast(qp.qpn, gidFromIp(GROUP)));
});
