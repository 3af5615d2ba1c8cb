import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { nativeHostProblem } from '../../src/host/index.js';
import { DgramLink, LinkError, UdpLink } from '../../src/link/index.js';
import { gidFromIp } from '../../src/spec/index.js';
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
    const [a, b, c] = [1, 2, 3].map((n) => open(`127.87.1.${n}`));
    const group = gidFromIp('239.87.1.1');
    for (const member of [a, b]) member.joinGroup(group);
    commit(a, pathBetween(a, '239.87.1.1'), packet(64));
    commit(a, pathBetween(a, c), packet(60));
    a.flush();
    for (const member of [a, b]) {
      const [{ bytes, source, destination }] = (await arrivals(member, 1)).packets;
      assert.deepEqual([bytes, source, destination], [packet(64), '127.87.1.1', '239.87.1.1']);
    }
    assert.deepEqual(
      (await arrivals(c, 1)).packets.map(({ destination }) => destination),
      ['127.87.1.3'],
    );
  });

  it('are shared with links that make system calls', { skip: nativeHostProblem() ?? false }, async () => {
    const slow = open('127.87.2.1');
    const quick = UdpLink.open({ address: '127.87.2.2' });
    opened.push(quick);
    const group = gidFromIp('239.87.2.1');
    for (const link of [slow, quick]) link.joinGroup(group);
    for (const link of [slow, quick]) {
      const path = pathBetween(link, '239.87.2.1');
      commit(link, path, sealed(path, packet(64), 0));
      link.flush();
    }
    for (const packets of [receiveAll(quick, 2), (await arrivals(slow, 2)).packets]) {
      assert.deepEqual(packets.map(({ source }) => source).sort(), ['127.87.2.1', '127.87.2.2']);
      assert.ok(packets.every((received) => verifiedId(received) >= 0));
    }
  });

  it('are left when each join is undone', async () => {
    const [a, b] = [open('127.87.3.1'), open('127.87.3.2')];
    const group = gidFromIp('239.87.3.1');
    /** Where packets went to, of one to the group and one to the address itself, when so many arrive. */
    const destinations = async (count: number): Promise<string[]> => {
      commit(a, pathBetween(a, '239.87.3.1'), packet(40));
      commit(a, pathBetween(a, b), packet(44));
      a.flush();
      const { packets } = await arrivals(b, count);
      return packets.map(({ destination }) => destination).sort();
    };
    b.joinGroup(group);
    b.joinGroup(group);
    b.leaveGroup(group);
    assert.deepEqual(await destinations(2), ['127.87.3.2', '239.87.3.1']);
    b.leaveGroup(group);
    b.leaveGroup(group);
    assert.deepEqual(await destinations(1), ['127.87.3.2']);
  });

  it('refuse what is none', () => {
    const link = open('127.87.4.1');
    for (const address of ['127.87.4.1', 'ff0e::1']) {
      assert.throws(
        () => link.joinGroup(gidFromIp(address)),
        (error) => error instanceof LinkError && error.errno === 'EINVAL',
      );
    }
  });

  it('are left by closing', () => {
    const link = open('127.87.5.1');
    link.joinGroup(gidFromIp('239.87.5.1'));
    link.close();
    link.joinGroup(gidFromIp('239.87.5.1'));
    link.leaveGroup(gidFromIp('239.87.5.1'));
  });
});

describe('a DgramLink', () => {
  after(() => {
    for (const link of opened) link.close();
  });

  it('hears itself', async () => {
    const link = open('127.87.6.1');
    commit(link, pathBetween(link, link), packet(40));
    link.flush();
    assert.equal((await arrivals(link, 1)).packets[0].source, '127.87.6.1');
  });

  it('has no Ethernet frames, and says why', () => {
    const link = open('127.87.7.1');
    assert.throws(
      () => link.openFrames(),
      (error) => error instanceof LinkError && error.errno === 'EOPNOTSUPP' && error.message.includes('system calls'),
    );
  });

  it('is up on loopback, where all addresses are its own', () => {
    const link = open('127.87.8.1');
    assert.deepEqual([link.status(), link.refresh()], new Array(2).fill({ up: true, present: true }));
  });
});
