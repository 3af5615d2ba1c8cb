import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type AhAttr, type Gid, gidFromIp, QpType } from '../../ibta/index.js';
import type { ManagementDatagram } from '../index.js';
import { bthPkey, crc32, createPath, dethOffset, dethQkey, dethSourceQp, Opcode, sealIcrc } from '../../wire/index.js';
import type { TestHost } from './host.js';
import { Pair, type PairOptions, pattern } from './pair.js';
import { ahAttrTo } from './qp.js';
import { ahTo, craftDatagram, type CraftedDatagram, postTo, udQp } from './ud.js';

const MAD_BYTES = 256;
const GSI_QPN = 1;
const GSI_QKEY = 0x80010000;
const A = '10.0.0.1';
const B = '10.0.0.2';

function madOf(first: number): Uint8Array {
  return pattern(MAD_BYTES).fill(first, 0, 1);
}

function to(gid: Gid, route: Partial<NonNullable<AhAttr['grh']>> = {}): AhAttr {
  const attr = ahAttrTo(gid);
  return { ...attr, grh: { ...attr.grh, ...route } };
}

/** Two NICs, and what comes to queue pair 1 of `b`. */
function servedPair(options: PairOptions = {}) {
  const pair = new Pair(options);
  const received: ManagementDatagram[] = [];
  pair.b.nic.generalServices.receiver = (datagram) => received.push(datagram);
  const send = (mad: Uint8Array): void => pair.a.nic.generalServices.send(to(pair.b.gid), mad);
  return { pair, received, send };
}

/** A datagram to queue pair 1 as it should be, but for some of its fields. */
function datagram(fields: Partial<CraftedDatagram> = {}, from = A, where = B): Uint8Array {
  const good = { opcode: Opcode.UD_SEND_ONLY, destQp: GSI_QPN, psn: 0, qkey: GSI_QKEY, sourceQp: GSI_QPN };
  return craftDatagram(from, where, { ...good, payload: madOf(1), ...fields });
}

/** The counters that tell why packets were dropped, as far as they are not 0. */
function drops({ nic }: TestHost): Record<string, number> {
  const { rxWrongTransport, rxBadPkey, rxBadQkey, rxMessageDropped, rxUnknownQp, rxMalformed } = nic.counters;
  const all = { rxWrongTransport, rxBadPkey, rxBadQkey, rxMessageDropped, rxUnknownQp, rxMalformed };
  return Object.fromEntries(Object.entries(all).filter(([, count]) => count > 0));
}

describe('a management datagram', () => {
  test('arrives as it was sent, with both addresses', () => {
    const { pair, received, send } = servedPair();
    send(madOf(7));
    pair.drive();
    assert.equal(received.length, 1);
    const [{ mad, source, destination, sourceQpn }] = received;
    assert.deepEqual([mad, source, destination, sourceQpn], [madOf(7), pair.a.gid, pair.b.gid, GSI_QPN]);
  });

  test('goes from queue pair 1 to queue pair 1 as UD SEND Only, with the Q_Key of the general services', () => {
    const { pair, send } = servedPair();
    send(madOf(7));
    pair.drive();
    const [{ bytes, opcode, destQp, padCount, payload }] = pair.wire;
    const deth = dethOffset[Opcode.UD_SEND_ONLY];
    assert.deepEqual([opcode, destQp, padCount, payload.length], [Opcode.UD_SEND_ONLY, GSI_QPN, 0, MAD_BYTES]);
    assert.deepEqual(
      [dethQkey(bytes, deth) >>> 0, dethSourceQp(bytes, deth), bthPkey(bytes, 0)],
      [GSI_QKEY, 1, 0xffff],
    );
    // UDP header, BTH, DETH, the datagram and the ICRC: 288 bytes of UDP (protocol/connections.md 4.1).
    assert.equal(bytes.length + 8, 8 + 12 + 8 + MAD_BYTES + 4);
  });

  test('tells the traffic class that it came with', () => {
    const { pair, received } = servedPair();
    pair.a.nic.generalServices.send(to(pair.b.gid, { trafficClass: 0x68 }), madOf(1));
    pair.drive();
    assert.equal(received[0].trafficClass, 0x68);
  });

  test('goes between IPv6 addresses as well', () => {
    const { pair, received, send } = servedPair({ ipv6: true });
    send(madOf(3));
    pair.drive();
    assert.deepEqual(
      received.map(({ source }) => source),
      [pair.a.gid],
    );
  });

  test('keeps its place among those that were sent before and after it', () => {
    const { pair, received, send } = servedPair();
    for (let i = 0; i < 200; i += 1) send(madOf(i));
    pair.drive();
    assert.deepEqual(
      received.map(({ mad }) => mad[0]),
      Array.from({ length: 200 }, (_, i) => i),
    );
  });

  test('is the receiver’s own: what comes next does not change it', () => {
    const { pair, received, send } = servedPair();
    send(madOf(1));
    pair.drive();
    send(madOf(2).reverse());
    pair.drive();
    assert.deepEqual(received[0].mad, madOf(1));
    assert.deepEqual(received[0].source, pair.a.gid);
  });

  test('has PSNs that follow each other, and end at 24 bits', () => {
    const { pair, send } = servedPair();
    for (let i = 0; i < 3; i += 1) send(madOf(i));
    pair.drive();
    const psns = pair.wire.map(({ psn }) => psn);
    assert.deepEqual(psns, [psns[0], (psns[0] + 1) & 0xffffff, (psns[0] + 2) & 0xffffff]);
  });

  test('of one device to itself arrives', () => {
    const pair = new Pair();
    const received: ManagementDatagram[] = [];
    pair.a.nic.generalServices.receiver = (one) => received.push(one);
    pair.a.nic.generalServices.send(to(pair.a.gid), madOf(9));
    pair.drive();
    assert.deepEqual(
      received.map(({ source }) => source),
      [pair.a.gid],
    );
  });

  test('beyond 4096 that wait is lost, and counted', () => {
    const { pair, received, send } = servedPair({ network: { capture: false } });
    for (let i = 0; i < 5000; i += 1) send(madOf(1));
    assert.equal(pair.a.nic.counters.sendErr, 5000 - 4096);
    pair.drive();
    assert.equal(received.length, 4096);
  });

  test('is work that the NIC wants to be woken for', () => {
    const { pair, send } = servedPair();
    assert.equal(pair.a.nic.nextWakeupUs(), Infinity);
    send(madOf(1));
    assert.equal(pair.a.nic.nextWakeupUs(), pair.a.nic.nowUs);
  });
});

function withoutGrh({ dlid, sl, srcPathBits, staticRate, portNum }: AhAttr): AhAttr {
  return { dlid, sl, srcPathBits, staticRate, portNum, isGlobal: false };
}

describe('a way that leads nowhere refuses a datagram:', () => {
  for (const [what, attr] of [
    ['an empty GID index', to(gidFromIp(B), { sgidIndex: 5 })],
    ['another IP version', to(gidFromIp('fd00::2'))],
    ['no GRH', withoutGrh(to(gidFromIp(B)))],
  ] as const)
    test(what, () => {
      const { pair } = servedPair();
      assert.throws(() => pair.a.nic.generalServices.send(attr, madOf(1)), { name: 'CommandError', errno: 'EINVAL' });
      pair.drive();
      assert.equal(pair.wire.length, 0);
    });
});

describe('a packet to queue pair 1 is dropped and counted', () => {
  const cases: readonly (readonly [string, Partial<CraftedDatagram>, string])[] = [
    ['with another Q_Key', { qkey: 0x01234567 }, 'rxBadQkey'],
    ['with Q_Key 0', { qkey: 0 }, 'rxBadQkey'],
    ['of another partition', { pkey: 0x8001 }, 'rxBadPkey'],
    ['with a P_Key that is none', { pkey: 0x8000 }, 'rxBadPkey'],
    ['with 255 bytes', { payload: pattern(255) }, 'rxMessageDropped'],
    ['with 257 bytes', { payload: pattern(257) }, 'rxMessageDropped'],
    ['with 512 bytes', { payload: pattern(512) }, 'rxMessageDropped'],
    ['with no bytes', { payload: new Uint8Array(0) }, 'rxMessageDropped'],
    ['with bytes that are padding', { payload: pattern(253), padCount: 3 }, 'rxMessageDropped'],
    ['with immediate data', { opcode: Opcode.UD_SEND_ONLY_IMM, imm: 1 }, 'rxWrongTransport'],
  ];
  for (const [what, fields, counter] of cases)
    test(what, () => {
      const { pair, received } = servedPair();
      pair.deliver(A, B, datagram(fields));
      assert.deepEqual([received.length, drops(pair.b)], [0, { [counter]: 1 }]);
    });

  test('that is of another transport', () => {
    const { pair, received } = servedPair();
    const path = createPath({ sgid: gidFromIp(A), dgid: gidFromIp(B) });
    for (const opcode of [Opcode.RC_SEND_ONLY, Opcode.UC_SEND_ONLY, Opcode.RC_ACKNOWLEDGE]) {
      const bytes = datagram();
      bytes[0] = opcode;
      sealIcrc(crc32, path, bytes, 0, bytes.length, 0);
      pair.deliver(A, B, bytes);
    }
    assert.deepEqual([received.length, drops(pair.b)], [0, { rxWrongTransport: 3 }]);
  });

  test('that goes to a group', () => {
    const { pair, received } = servedPair();
    const group = '224.0.0.99';
    pair.b.link.joinGroup(gidFromIp(group));
    pair.deliver(A, group, datagram({}, A, group));
    assert.deepEqual([received.length, drops(pair.b)], [0, { rxUnknownQp: 1 }]);
  });

  test('when nobody takes care of queue pair 1', () => {
    const pair = new Pair();
    pair.deliver(A, B, datagram());
    assert.deepEqual(drops(pair.b), { rxUnknownQp: 1 });
  });

  test('whose ICRC is wrong', () => {
    const { pair, received } = servedPair();
    const bytes = datagram();
    bytes[100] ^= 1;
    pair.deliver(A, B, bytes);
    assert.equal(received.length, 0);
  });

  test('though the next arrives', () => {
    const { pair, received } = servedPair();
    for (const [, fields] of cases) pair.deliver(A, B, datagram(fields));
    pair.deliver(A, B, datagram());
    assert.equal(received.length, 1);
  });
});

describe('queue pair 1', () => {
  test('takes limited members of its partition, as a full member does', () => {
    const { pair, received } = servedPair();
    pair.deliver(A, B, datagram({ pkey: 0x7fff }));
    assert.equal(received.length, 1);
  });

  test('is given to no program', () => {
    const { a } = new Pair();
    const qpns = Array.from({ length: 500 }, () => a.qp({ cap: { maxSendWr: 1, maxRecvWr: 1 } }).qpn);
    assert.ok(qpns.every((qpn) => qpn > 1));
  });

  test('does not hear programs: they have no privileged Q_Key', () => {
    const { pair, received } = servedPair();
    const sender = udQp(pair.a, { type: QpType.UD });
    const request = { inline: pattern(MAD_BYTES) };
    postTo(sender, { ah: ahTo(pair.a, pair.b.gid), qpn: GSI_QPN, qkey: GSI_QKEY | 0 }, request);
    pair.drive();
    assert.deepEqual([received.length, drops(pair.b)], [0, { rxBadQkey: 1 }]);
  });

  test('sends nothing while the port is down, and hears nothing', () => {
    const { pair, received, send } = servedPair();
    pair.a.nic.control.administer({ linkUp: false });
    send(madOf(1));
    pair.drive();
    assert.equal(pair.wire.length, 0);
    pair.a.nic.control.administer({ linkUp: true });
    pair.b.nic.control.administer({ linkUp: false });
    send(madOf(2));
    pair.drive();
    assert.equal(received.length, 0);
  });
});
