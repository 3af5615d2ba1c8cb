import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { gidFromIp } from '../../../device/ibta/index.js';
import { LinkError } from '../../../device/link/index.js';
import { DgramLink, UdpLink } from '../index.js';
import { nativeHostProblem } from '../../system/index.js';
import { loopback, loopbackGroup } from '../../../../test/support/loopback.js';
import { commit, Inbox, packet, pathBetween, receiveAll, sealed, verifiedId } from './udp-helpers.js';

const opened: { close(): void }[] = [];

function open(address: string): DgramLink {
  const link = DgramLink.open({ address, warn: () => undefined });
  opened.push(link);
  return link;
}

/** Waits until so many packets have arrived. */
async function arrivals(link: DgramLink, count: number): Promise<Inbox> {
  const inbox = new Inbox();
  link.ref();
  await new Promise<void>((resolve) => {
    const take = (): void => {
      while (link.receive(inbox, 4) > 0);
      if (inbox.packets.length >= count) resolve();
    };
    link.onReadable = take;
    take();
  });
  link.unref();
  return inbox;
}

describe('groups of a DgramLink', () => {
  after(() => {
    for (const link of opened) link.close();
  });

  it('get each packet to every member, the sender included, and to nobody else', async () => {
    const [a, b, c] = [1, 2, 3].map((n) => open(loopback(n)));
    const group = gidFromIp(loopbackGroup(1));
    for (const member of [a, b]) member.joinGroup(group);
    commit(a, pathBetween(a, loopbackGroup(1)), packet(64));
    commit(a, pathBetween(a, c), packet(60));
    a.flush();
    for (const member of [a, b]) {
      const [{ bytes, source, destination }] = (await arrivals(member, 1)).packets;
      assert.deepEqual([bytes, source, destination], [packet(64), loopback(1), loopbackGroup(1)]);
    }
    assert.deepEqual(
      (await arrivals(c, 1)).packets.map(({ destination }) => destination),
      [loopback(3)],
    );
  });

  it('are shared with links that make system calls', { skip: nativeHostProblem() ?? false }, async () => {
    const slow = open(loopback(5));
    const quick = UdpLink.open({ address: loopback(6) });
    opened.push(quick);
    const group = gidFromIp(loopbackGroup(3));
    for (const link of [slow, quick]) link.joinGroup(group);
    for (const link of [slow, quick]) {
      const path = pathBetween(link, loopbackGroup(3));
      commit(link, path, sealed(path, packet(64), 0));
      link.flush();
    }
    for (const packets of [receiveAll(quick, 2), (await arrivals(slow, 2)).packets]) {
      assert.deepEqual(packets.map(({ source }) => source).sort(), [loopback(5), loopback(6)]);
      assert.ok(packets.every((received) => verifiedId(received) >= 0));
    }
  });

  it('are left when each join is undone', async () => {
    const [a, b] = [open(loopback(9)), open(loopback(10))];
    const group = gidFromIp(loopbackGroup(5));
    /** Where packets went to, of one to the group and one to the address itself, when so many arrive. */
    const destinations = async (count: number): Promise<string[]> => {
      commit(a, pathBetween(a, loopbackGroup(5)), packet(40));
      commit(a, pathBetween(a, b), packet(44));
      a.flush();
      const { packets } = await arrivals(b, count);
      return packets.map(({ destination }) => destination).sort();
    };
    b.joinGroup(group);
    b.joinGroup(group);
    b.leaveGroup(group);
    assert.deepEqual(await destinations(2), [loopback(10), loopbackGroup(5)]);
    b.leaveGroup(group);
    b.leaveGroup(group);
    assert.deepEqual(await destinations(1), [loopback(10)]);
  });

  it('refuse what is none', () => {
    const link = open(loopback(13));
    for (const address of [loopback(13), 'ff0e::1']) {
      assert.throws(
        () => link.joinGroup(gidFromIp(address)),
        (error) => error instanceof LinkError && error.errno === 'EINVAL',
      );
    }
  });

  it('are left by closing', () => {
    const link = open(loopback(17));
    link.joinGroup(gidFromIp(loopbackGroup(9)));
    link.close();
    link.joinGroup(gidFromIp(loopbackGroup(9)));
    link.leaveGroup(gidFromIp(loopbackGroup(9)));
  });
});

describe('a DgramLink', () => {
  after(() => {
    for (const link of opened) link.close();
  });

  it('hears itself', async () => {
    const link = open(loopback(21));
    commit(link, pathBetween(link, link), packet(40));
    link.flush();
    assert.equal((await arrivals(link, 1)).packets[0].source, loopback(21));
  });

  it('has no Ethernet frames, and says why', () => {
    const link = open(loopback(25));
    assert.throws(
      () => link.openFrames(),
      (error) => error instanceof LinkError && error.errno === 'EOPNOTSUPP' && error.message.includes('system calls'),
    );
  });

  it('is up on loopback, where all addresses are its own', () => {
    const link = open(loopback(29));
    assert.deepEqual([link.status(), link.refresh()], new Array(2).fill({ up: true, present: true }));
  });
});
