import assert from 'node:assert/strict';
import { networkInterfaces, platform, release } from 'node:os';
import { after, describe, it } from 'node:test';
import { gidFromIp, ipFromGid } from '../../../device/ibta/index.js';
import { LinkError } from '../../../device/link/index.js';
import { createPath } from '../../../device/wire/index.js';
import { UdpLink } from '../index.js';
import { probeSegmentation } from '../udp/udp-segmentation.js';
import { nativeHostProblem } from '../../system/index.js';
import { loopback, openWhenFree } from '../../../../test/support/loopback.js';
import { commit, Inbox, packet, pathBetween, receiveAll } from './udp-helpers.js';

const skip = nativeHostProblem() ?? false;
const hasIpv6 = Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === '::1'));
const opened: UdpLink[] = [];

function open(address?: string, segmentation?: boolean): UdpLink {
  const link = UdpLink.open({ address, segmentation });
  opened.push(link);
  return link;
}

describe('UdpLink', { skip }, () => {
  after(() => {
    for (const link of opened) link.close();
  });

  it('carries a packet, and tells where it came from', () => {
    const [a, b] = [open(loopback(1)), open(loopback(2))];
    commit(a, pathBetween(a, b), packet(64));
    a.flush();
    assert.deepEqual(receiveAll(b, 1), [
      {
        bytes: packet(64),
        source: loopback(1),
        destination: loopback(2),
        sourcePort: 4791,
        trafficClass: 0,
        hopLimit: 64,
        flowLabel: 0,
        ipId: -1,
      },
    ]);
  });

  it('carries packets of IPv6', { skip: hasIpv6 ? false : 'this machine has no IPv6 loopback' }, () => {
    const link = openWhenFree(() => open('::1'));
    assert.ok(link.ipv6);
    const path = createPath({ sgid: link.gid, dgid: link.gid, trafficClass: 0x2e, hopLimit: 9 });
    for (let n = 0; n < 5; n += 1) commit(link, path, packet(100, n));
    link.flush();
    const packets = receiveAll(link, 5);
    assert.deepEqual(
      packets.map(({ bytes }) => bytes),
      [0, 1, 2, 3, 4].map((n) => packet(100, n)),
    );
    const { source, destination, trafficClass, hopLimit } = packets[4];
    assert.deepEqual(
      { source, destination, trafficClass, hopLimit },
      { source: '::1', destination: '::1', trafficClass: 0x2e, hopLimit: 9 },
    );
    link.close();
  });

  // UDP_GRO came with Linux 5.0.
  const segments = platform() === 'linux' && Number(release().split('.')[0]) >= 5;
  it('finds that the kernel cuts packets, and joins them', { skip: !segments && 'needs Linux 5.0' }, () => {
    const text = loopback(3);
    const address = {
      text,
      gid: gidFromIp(text),
      ipv6: false,
      interfaceName: undefined,
      scopeId: 0,
      zone: '',
      maxPacketBytes: 0,
    };
    assert.deepEqual(probeSegmentation(address), { send: true, receive: true });
  });

  for (const segmentation of [true, false]) {
    it(`keeps packets of all sizes apart and in order, ${segmentation ? 'with' : 'without'} segmentation`, () => {
      const first = segmentation ? 5 : 9;
      const [a, b, c] = [0, 1, 2].map((n) => open(loopback(first + n), segmentation));
      const sizes = [16, 100, 100, 100, 60, 100, 4136, 4136, 4136, 20, 20, 21, 64, 64, 64, 64, 63];
      const [toB, toC] = [pathBetween(a, b), pathBetween(a, c)];
      sizes.forEach((size, n) => commit(a, toB, packet(size, n)));
      sizes.forEach((size, n) => commit(a, n % 3 === 0 ? toC : toB, packet(size, n + 100)));
      a.flush();
      const atB = receiveAll(b, sizes.length + sizes.filter((_, n) => n % 3 !== 0).length);
      const atC = receiveAll(c, sizes.filter((_, n) => n % 3 === 0).length);
      const all = sizes.map((size, n) => packet(size, n + 100));
      assert.deepEqual(
        atB.map(({ bytes }) => bytes),
        [...sizes.map((size, n) => packet(size, n)), ...all.filter((_, n) => n % 3 !== 0)],
      );
      assert.deepEqual(
        atC.map(({ bytes }) => bytes),
        all.filter((_, n) => n % 3 === 0),
      );
    });
  }

  it('sends equal packets by one call, each with the identification that the kernel gives it', (test) => {
    const [a, b] = [open(loopback(13)), open(loopback(14))];
    if (!a.sink.segmentation) {
      test.skip('this kernel cuts no datagrams');
      return;
    }
    const path = pathBetween(a, b);
    const ids = [80, 80, 80, 40, 80, 80, 120].map((size, n) => commit(a, path, packet(size, n)));
    assert.deepEqual(ids, [0, 1, 2, 3, 0, 1, 0]);
    a.flush();
    receiveAll(b, 7);
    assert.equal(a.statistics()['send_calls'], 1);
    const many = Array.from({ length: 130 }, (_, n) => commit(a, path, packet(16, n)));
    assert.deepEqual(
      many,
      Array.from({ length: 130 }, (_, n) => n % 64),
    );
    a.flush();
    receiveAll(b, 130);
  });

  it('takes packets apart that the kernel joined, once there are many of them', (test) => {
    const [a, b] = [open(loopback(69)), open(loopback(70))];
    if (!a.sink.segmentation) {
      test.skip('this kernel joins no datagrams');
      return;
    }
    const path = pathBetween(a, b);
    const sizes = Array.from({ length: 45 }, (_, n) => (n === 44 ? 100 : 4136));
    const callsOfRound = [1, 2].map(() => {
      sizes.forEach((size, n) => commit(a, path, packet(size, n)));
      a.flush();
      const before = b.statistics()['receive_calls'];
      assert.deepEqual(
        receiveAll(b, sizes.length).map(({ bytes }) => bytes),
        sizes.map((size, n) => packet(size, n)),
      );
      return b.statistics()['receive_calls'] - before;
    });
    assert.ok(callsOfRound[1] < callsOfRound[0], `${callsOfRound.join(' and then ')} calls`);
  });

  it('gives every packet identification 0 without segmentation', () => {
    const a = open(loopback(17), false);
    const path = pathBetween(a, loopback(18));
    assert.deepEqual(
      [80, 80, 80].map((size) => commit(a, path, packet(size))),
      [0, 0, 0],
    );
    a.flush();
  });

  it('joins connections to one peer, but not packets that differ in hop limit or traffic class', () => {
    const [a, b] = [open(loopback(21)), open(loopback(22))];
    const along = (hopLimit: number, trafficClass: number): number =>
      commit(a, createPath({ sgid: a.gid, dgid: b.gid, hopLimit, trafficClass }), packet(80));
    const joined = a.sink.segmentation ? 1 : 0;
    assert.deepEqual([along(64, 0), along(64, 0), along(5, 0), along(5, 0x62), along(0, 0)], [0, joined, 0, 0, 0]);
    a.flush();
    assert.deepEqual(
      receiveAll(b, 5).map(({ hopLimit, trafficClass }) => [hopLimit, trafficClass]),
      [
        [64, 0],
        [64, 0],
        [5, 0],
        [5, 0x62],
        [64, 0],
      ],
    );
  });

  it('sends as much as fits between two flushes, then wants a flush', () => {
    const [a, b] = [open(loopback(25)), open(loopback(26))];
    const path = pathBetween(a, b);
    for (let round = 0; round < 2; round += 1) {
      let count = 0;
      while (a.sink.reserve(path, 4136) >= 0) {
        a.sink.commit();
        count += 1;
      }
      assert.ok(count >= 16, `${count} packets`);
      a.flush();
      receiveAll(b, count);
    }
  });

  it('forgets a reservation that is not committed', () => {
    const [a, b] = [open(loopback(29)), open(loopback(30))];
    const path = pathBetween(a, b);
    a.sink.reserve(path, 500);
    commit(a, path, packet(40));
    a.sink.reserve(path, 500);
    a.flush();
    a.sink.commit();
    assert.deepEqual(receiveAll(b, 1)[0].bytes, packet(40));
  });

  it('hears itself', () => {
    const link = open(loopback(73));
    commit(link, pathBetween(link, link), packet(40));
    link.flush();
    assert.equal(receiveAll(link, 1)[0].source, loopback(73));
  });

  it('is up on loopback, where all addresses are its own', () => {
    const link = open(loopback(77));
    assert.deepEqual([link.status(), link.refresh()], new Array(2).fill({ up: true, present: true }));
  });

  it('refuses packets that no datagram can carry', () => {
    const link = open(loopback(33));
    assert.throws(() => link.sink.reserve(pathBetween(link, loopback(34)), link.maxPacketBytes + 1), RangeError);
    assert.throws(() => link.sink.reserve(pathBetween(link, loopback(34)), 0), RangeError);
  });

  it('carries the largest datagram there is', () => {
    const [a, b] = [open(loopback(37)), open(loopback(38))];
    assert.ok(a.maxPacketBytes >= 4096 + 64, 'loopback carries a path MTU of 4096');
    commit(a, pathBetween(a, b), packet(a.maxPacketBytes));
    a.flush();
    assert.equal(receiveAll(b, 1)[0].bytes.length, a.maxPacketBytes);
  });

  it('drops and counts what the kernel does not take, and sends the rest', () => {
    const [a, b] = [open(loopback(41)), open(loopback(42))];
    // From a loopback address there is no way out of the machine.
    for (const to of ['198.51.100.1', loopback(42), '203.0.113.1']) commit(a, pathBetween(a, to), packet(40));
    a.flush();
    receiveAll(b, 1);
    const statistics = a.statistics();
    assert.equal(statistics['send_err'], 2);
    assert.equal(statistics['sent_packets'], 1);
    assert.equal(statistics['sent_bytes'], 40);
  });

  it('shrugs off a peer that is not there', () => {
    const [a, b] = [open(loopback(45)), open(loopback(46))];
    for (let n = 0; n < 3; n += 1) {
      commit(a, pathBetween(a, loopback(250)), packet(40));
      a.flush();
      assert.equal(a.receive(new Inbox(), 16), 0);
    }
    commit(a, pathBetween(a, b), packet(40));
    a.flush();
    receiveAll(b, 1);
  });

  it('hands over no more than about what was asked for', () => {
    const [a, b] = [open(loopback(49), false), open(loopback(50), false)];
    for (let n = 0; n < 40; n += 1) commit(a, pathBetween(a, b), packet(40, n));
    a.flush();
    const inbox = new Inbox();
    let most = 0;
    for (let n; (n = b.receive(inbox, 4)) > 0;) most = Math.max(most, n);
    assert.ok(most <= 8, `${most} at once`);
    assert.equal(inbox.packets.length, 40);
  });

  it('counts what the socket had no room for', () => {
    const [a, b] = [open(loopback(53)), open(loopback(54))];
    const path = pathBetween(a, b);
    const rounds = Math.ceil((2 * b.receiveBufferBytes) / (60 * 4136));
    let sent = 0;
    for (let round = 0; round < rounds; round += 1) {
      for (; a.sink.reserve(path, 4136) >= 0; sent += 1) a.sink.commit();
      a.flush();
    }
    const inbox = new Inbox();
    while (b.receive(inbox, 64) > 0);
    const { receive_dropped: dropped, received_packets: received } = b.statistics();
    assert.ok(dropped > 0);
    assert.ok(received < sent);
  });

  it('does nothing more once it is closed', () => {
    const link = open(loopback(57));
    const path = pathBetween(link, link);
    commit(link, path, packet(40));
    link.close();
    link.close();
    for (let n = 0; n < 20; n += 1) {
      while (link.sink.reserve(path, 4136) >= 0) link.sink.commit();
      link.flush();
    }
    assert.equal(link.receive(new Inbox(), 16), 0);
    assert.equal(link.statistics()['send_calls'], 0);
  });
});

describe('addresses of a UdpLink', { skip }, () => {
  const fails = (address: string, errno: string, message: RegExp): void =>
    assert.throws(
      () => open(address),
      (error) => error instanceof LinkError && error.errno === errno && message.test(error.message),
    );

  it('are loopback ones by default, another for each link', () => {
    const links = [open(), open(), open()];
    const gids = links.map(({ gid }) => ipFromGid(gid));
    assert.equal(new Set(gids).size, 3);
    for (const gid of gids) assert.match(gid, /^127\.0\.0\.\d+$/);
    for (const link of links) link.close();
  });

  it('can be had once', () => {
    const first = open(loopback(61));
    fails(loopback(61), 'EADDRINUSE', new RegExp(`${loopback(61)} is taken.*choose another address`));
    first.close();
    open(loopback(61)).close();
  });

  it('must be of this machine', () => {
    fails('203.0.113.7', 'EADDRNOTAVAIL', /not an address of this machine.*127\.0\.0\.1/);
  });

  it('must be of one machine', () => {
    for (const address of ['0.0.0.0', '255.255.255.255', '224.0.0.1', ...(hasIpv6 ? ['::', 'ff02::1'] : [])]) {
      fails(address, 'EINVAL', /a NIC has exactly one/);
    }
  });

  it('must be addresses', () => {
    for (const text of ['', 'localhost', '127.0.0', '1.2.3.4.5', 'fe80:::1']) fails(text, 'EINVAL', /is not an IPv4/);
  });

  it('say on which interface they are meant, when they are link-local', () => {
    fails('fe80::81:81', 'EINVAL', /link-local address, .* one interface only: no interface of this machine has it\./);
    fails('fe80::81:81%lo', 'EADDRNOTAVAIL', /fe80::81:81%lo is not an address of this machine\. Its addresses are: /);
  });

  it('may be IPv4 in the clothes of IPv6', () => {
    const link = open(`::ffff:${loopback(65)}`);
    assert.ok(!link.ipv6);
    assert.deepEqual(link.gid, gidFromIp(loopback(65)));
    link.close();
  });
});
