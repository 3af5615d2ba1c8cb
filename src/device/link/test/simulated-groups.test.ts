import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gidFromIp } from '../../ibta/index.js';
import { LinkError, MAX_GROUPS, type SimulatedLink, SimulatedNetwork } from '../index.js';
import { packetOf, runAndTake, sendOne, take } from './simulated-support.js';

const A = '10.0.0.1';
const B = '10.0.0.2';
const C = '10.0.0.3';
const GROUP = '239.0.0.1';

/** Three hosts, of which those named are in the group. */
function world(members: readonly string[]): { network: SimulatedNetwork; hosts: Record<string, SimulatedLink> } {
  const network = new SimulatedNetwork({ seed: 1 });
  const hosts = Object.fromEntries([A, B, C].map((address) => [address, network.attach(address)]));
  for (const address of members) hosts[address].joinGroup(gidFromIp(GROUP));
  return { network, hosts };
}

/** How many packets each host has got. */
function counts(network: SimulatedNetwork, hosts: Record<string, SimulatedLink>): number[] {
  network.advanceTo(network.nowUs + 1000);
  return Object.values(hosts).map((host) => take(network, host).length);
}

describe('a group of a simulated network', () => {
  it('gets each packet to every member, the sender included, and to nobody else', () => {
    const { network, hosts } = world([A, C]);
    sendOne(hosts[A], GROUP, [1, 2, 3, 4]);
    network.advanceTo(100);
    const expected = [{ atUs: 100, bytes: [1, 2, 3, 4], from: A, to: GROUP, ipId: 0 }];
    assert.deepEqual(
      [A, B, C].map((address) => take(network, hosts[address])),
      [expected, [], expected],
    );
  });

  it('takes packets of those who are not in it', () => {
    const { network, hosts } = world([B]);
    sendOne(hosts[A], GROUP, packetOf(4));
    assert.deepEqual(counts(network, hosts), [0, 1, 0]);
  });

  it('loses packets for each member apart', () => {
    const { network, hosts } = world([A, B, C]);
    network.setDirection(A, B, { partitioned: true });
    network.setDirection(A, C, { delayUs: 50 });
    sendOne(hosts[A], GROUP, packetOf(4));
    assert.equal(network.nextEventUs(), 5);
    network.advanceTo(49);
    assert.equal(take(network, hosts[C]).length, 0);
    assert.deepEqual(counts(network, hosts), [1, 0, 1]);
    assert.deepEqual([network.counts.sent, network.counts.partitioned, network.counts.delivered], [3, 1, 2]);
  });

  it('is shown to the script once for each member', () => {
    const { network, hosts } = world([B, C]);
    network.onPacket = ({ to }) => (to === C ? 'drop' : 'pass');
    sendOne(hosts[A], GROUP, packetOf(4));
    assert.deepEqual(counts(network, hosts), [0, 1, 0]);
  });

  it('gives each member bytes of its own', () => {
    const { network, hosts } = world([B, C]);
    network.setDirection(A, B, { corruption: 1 });
    sendOne(hosts[A], GROUP, packetOf(8, 7));
    network.advanceTo(100);
    assert.notDeepEqual(take(network, hosts[B])[0].bytes, packetOf(8, 7));
    assert.deepEqual(take(network, hosts[C])[0].bytes, packetOf(8, 7));
  });

  it('counts what is sent to it while nobody is in it', () => {
    const { network, hosts } = world([]);
    sendOne(hosts[A], GROUP, packetOf(4));
    assert.deepEqual([network.counts.sent, network.counts.unroutable], [1, 1]);
  });

  it('is left when each join is undone', () => {
    const { network, hosts } = world([B, B]);
    hosts[B].leaveGroup(gidFromIp(GROUP));
    sendOne(hosts[A], GROUP, packetOf(4));
    assert.deepEqual(counts(network, hosts), [0, 1, 0]);
    hosts[B].leaveGroup(gidFromIp(GROUP));
    hosts[B].leaveGroup(gidFromIp(GROUP));
    sendOne(hosts[A], GROUP, packetOf(4));
    assert.deepEqual(counts(network, hosts), [0, 0, 0]);
  });

  it('does not reach whoever leaves while a packet is under way', () => {
    const { network, hosts } = world([B]);
    sendOne(hosts[A], GROUP, packetOf(4));
    hosts[B].leaveGroup(gidFromIp(GROUP));
    assert.deepEqual(counts(network, hosts), [0, 0, 0]);
  });

  it('is left by a host that closes, and not joined afterwards', () => {
    const { network, hosts } = world([B]);
    hosts[B].close();
    hosts[B].joinGroup(gidFromIp(GROUP));
    sendOne(hosts[A], GROUP, packetOf(4));
    assert.equal(network.counts.unroutable, 1);
  });

  it('can be of IPv6', () => {
    const network = new SimulatedNetwork({ seed: 1 });
    const [a, b] = [network.attach('fd00::1'), network.attach('fd00::2')];
    b.joinGroup(gidFromIp('ff0e::1'));
    sendOne(a, 'ff0e::1', packetOf(4));
    assert.deepEqual(
      runAndTake(network, b).map(({ from, to }) => [from, to]),
      [['fd00::1', 'ff0e::1']],
    );
  });

  it('gets a hand-made packet to every member', () => {
    const { network, hosts } = world([B, C]);
    network.inject('10.9.9.9', GROUP, Uint8Array.of(1, 2, 3, 4));
    assert.deepEqual(counts(network, hosts), [0, 1, 1]);
  });

  it('must be one, and of the IP version of the host', () => {
    const { hosts } = world([]);
    for (const address of [B, 'ff0e::1', 'fd00::1']) {
      assert.throws(
        () => hosts[A].joinGroup(gidFromIp(address)),
        (error) => error instanceof LinkError && error.errno === 'EINVAL',
      );
    }
  });

  it('is one of a bounded number', () => {
    const { hosts } = world([]);
    for (let n = 0; n < MAX_GROUPS; n += 1) hosts[A].joinGroup(gidFromIp(`239.1.0.${n}`));
    hosts[A].joinGroup(gidFromIp('239.1.0.0'));
    assert.throws(
      () => hosts[A].joinGroup(gidFromIp('239.2.0.0')),
      (error) => error instanceof LinkError && error.errno === 'ENOMEM',
    );
  });
});

describe('a simulated host', () => {
  it('hears itself', () => {
    const { network, hosts } = world([]);
    sendOne(hosts[A], A, packetOf(4));
    assert.deepEqual(counts(network, hosts), [1, 0, 0]);
  });

  it('is up and present until it is closed', () => {
    const { hosts } = world([]);
    assert.deepEqual(hosts[A].refresh(), { up: true, present: true });
    hosts[A].close();
    assert.deepEqual(hosts[A].status(), { up: false, present: false });
  });
});
