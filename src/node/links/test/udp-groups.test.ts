import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { gidFromIp } from '../../../device/ibta/index.js';
import { LinkError, MAX_GROUPS } from '../../../device/link/index.js';
import { createPath } from '../../../device/wire/index.js';
import { UdpLink } from '../index.js';
import { nativeHostProblem } from '../../system/index.js';
import { loopback, loopbackGroup } from '../../../../test/support/loopback.js';
import { ReceiverProcess } from './receiver-process.js';
import { commit, packet, pathBetween, receiveAll, sealed, verifiedId } from './udp-helpers.js';

const opened: UdpLink[] = [];

function open(address: string): UdpLink {
  const link = UdpLink.open({ address });
  opened.push(link);
  return link;
}

describe('groups of a UdpLink', { skip: nativeHostProblem() ?? false }, () => {
  after(() => {
    for (const link of opened) link.close();
  });

  it('get each packet to every member, the sender included, and to nobody else', () => {
    const [a, b, c, d] = [1, 2, 3, 4].map((n) => open(loopback(n)));
    const group = gidFromIp(loopbackGroup(1));
    for (const member of [a, b, c]) member.joinGroup(group);
    commit(a, pathBetween(a, loopbackGroup(1)), packet(64));
    commit(a, pathBetween(a, d), packet(60));
    a.flush();
    for (const member of [a, b, c]) {
      const [{ bytes, source, destination, sourcePort, hopLimit }] = receiveAll(member, 1);
      assert.deepEqual(bytes, packet(64));
      assert.deepEqual(
        { source, destination, sourcePort, hopLimit },
        { source: loopback(1), destination: loopbackGroup(1), sourcePort: 4791, hopLimit: 64 },
      );
    }
    assert.deepEqual(receiveAll(d, 1)[0].bytes, packet(60));
  });

  it('keep apart what was sent to different groups and to the address itself', () => {
    const [a, b] = [open(loopback(5)), open(loopback(6))];
    const addresses = [loopbackGroup(3), loopback(6), loopbackGroup(4), loopbackGroup(5)];
    b.joinGroup(gidFromIp(addresses[0]));
    b.joinGroup(gidFromIp(addresses[2]));
    addresses.forEach((to, n) => commit(a, pathBetween(a, to), packet(40, n)));
    a.flush();
    const received = receiveAll(b, 3).map(({ destination, bytes }) => [destination, bytes]);
    assert.deepEqual(
      new Map(received as [string, Uint8Array][]),
      new Map([0, 1, 2].map((n) => [addresses[n], packet(40, n)])),
    );
  });

  it('carry packets whose ICRC is right for the group, in trains as well', () => {
    const [a, b] = [open(loopback(9)), open(loopback(10))];
    b.joinGroup(gidFromIp(loopbackGroup(5)));
    const path = pathBetween(a, loopbackGroup(5));
    const ids: number[] = [];
    for (let n = 0; n < 40; n += 1) {
      const offset = a.sink.reserve(path, 1000);
      ids.push(a.sink.ipId);
      a.sink.bytes.set(sealed(path, packet(1000, n), a.sink.ipId), offset);
      a.sink.commit();
    }
    a.flush();
    assert.deepEqual(receiveAll(b, 40).map(verifiedId), ids);
  });

  it('carry hop limit and traffic class of the path', () => {
    const [a, b] = [open(loopback(13)), open(loopback(14))];
    const group = gidFromIp(loopbackGroup(7));
    b.joinGroup(group);
    commit(a, createPath({ sgid: a.gid, dgid: group, hopLimit: 1, trafficClass: 0x62 }), packet(40));
    a.flush();
    const [{ hopLimit, trafficClass }] = receiveAll(b, 1);
    assert.deepEqual({ hopLimit, trafficClass }, { hopLimit: 1, trafficClass: 0x62 });
  });

  it('reach into other processes', async () => {
    const group = loopbackGroup(19);
    const receiver = await ReceiverProcess.start(loopback(38), 3, [group]);
    const link = open(loopback(37));
    const path = pathBetween(link, group);
    for (let n = 0; n < 3; n += 1) {
      const offset = link.sink.reserve(path, 500);
      link.sink.bytes.set(sealed(path, packet(500, n), link.sink.ipId), offset);
      link.sink.commit();
    }
    link.flush();
    const seen = await receiver.packets();
    assert.deepEqual(
      seen.map(({ length, source, destination, ipId }) => [length, source, destination, ipId >= 0]),
      [0, 1, 2].map(() => [500, loopback(37), group, true]),
    );
  });

  it('are left when each join is undone', () => {
    const [a, b] = [open(loopback(17)), open(loopback(18))];
    const group = gidFromIp(loopbackGroup(9));
    const expected = (count: number): void => {
      commit(a, pathBetween(a, loopbackGroup(9)), packet(40));
      commit(a, pathBetween(a, b), packet(44));
      a.flush();
      assert.equal(receiveAll(b, count + 1).length, count + 1);
    };
    b.joinGroup(group);
    b.joinGroup(group);
    b.leaveGroup(group);
    expected(1);
    b.leaveGroup(group);
    expected(0);
    b.leaveGroup(group);
    b.joinGroup(group);
    expected(1);
  });

  it('add to what a sleeper polls', () => {
    const link = open(loopback(21));
    const group = gidFromIp(loopbackGroup(11));
    const before = link.pollFds;
    assert.deepEqual(before, [link.fd]);
    link.joinGroup(group);
    const joined = link.pollFds;
    assert.equal(joined.length, 2);
    link.joinGroup(group);
    assert.equal(link.pollFds, joined);
    link.leaveGroup(group);
    assert.equal(link.pollFds, joined);
    link.leaveGroup(group);
    assert.deepEqual(link.pollFds, before);
  });

  it('are bounded, and free again when the link is closed', () => {
    const link = open(loopback(25));
    for (let n = 0; n < MAX_GROUPS; n += 1) link.joinGroup(gidFromIp(loopbackGroup(100 + n)));
    assert.throws(
      () => link.joinGroup(gidFromIp(loopbackGroup(99))),
      (error) => error instanceof LinkError && error.errno === 'ENOMEM' && error.message.includes('64 groups'),
    );
    link.close();
    link.joinGroup(gidFromIp(loopbackGroup(100)));
    link.leaveGroup(gidFromIp(loopbackGroup(100)));
    assert.equal(link.pollFds.length, 1);
  });

  it('are counted among the packets received', () => {
    const [a, b] = [open(loopback(29)), open(loopback(30))];
    b.joinGroup(gidFromIp(loopbackGroup(15)));
    commit(a, pathBetween(a, loopbackGroup(15)), packet(40));
    commit(a, pathBetween(a, b), packet(60));
    a.flush();
    receiveAll(b, 2);
    b.leaveGroup(gidFromIp(loopbackGroup(15)));
    const { received_packets, received_bytes } = b.statistics();
    assert.deepEqual([received_packets, received_bytes], [2, 100]);
  });

  for (const [what, group] of [
    ['an address of one machine', '10.0.0.1'],
    ['a group of the other IP version', 'ff0e::1'],
  ]) {
    it(`cannot be joined: ${what}`, () => {
      const link = open(loopback(33));
      assert.throws(
        () => link.joinGroup(gidFromIp(group)),
        (error) => error instanceof LinkError && error.errno === 'EINVAL',
      );
      link.close();
    });
  }
});
