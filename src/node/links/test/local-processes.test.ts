import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gidFromIp } from '../../../device/ibta/index.js';
import type { PolledLink } from '../../../device/link/index.js';
import { nativeHostProblem } from '../../system/index.js';
import { endWithTest } from '../../../../test/support/children.js';
import { loopback } from '../../../../test/support/loopback.js';
import { assertWay, contents, expected, localPackets, LocalWorld, received, send } from './local-support.js';
import { Inbox } from './udp-helpers.js';

const PROGRAM = fileURLToPath(new URL('./local-peer-program.js', import.meta.url));

/** A process with a link at address `n`, which takes packets to or from address 1. */
class PeerProcess implements AsyncDisposable {
  private constructor(private readonly child: ChildProcess) {}

  static async start(world: LocalWorld, n: number, what: string): Promise<PeerProcess> {
    const args = [PROGRAM, loopback(n), world.parent, what, loopback(1)];
    const child = endWithTest(spawn(process.execPath, args));
    child.stderr.pipe(process.stderr);
    const started = new PeerProcess(child);
    const [said] = (await once(child.stdout, 'data')) as [Buffer]; // of a stream without an encoding
    assert.equal(String(said), 'ready\n');
    return started;
  }

  get isRunning(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.isRunning) return;
    const gone = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await gone;
  }
}

/** Looks until so many packets have come. */
function receiveSome(link: PolledLink, count: number): Inbox {
  const inbox = new Inbox();
  while (inbox.packets.length < count) link.receive(inbox, 64);
  return inbox;
}

describe('links of two processes', { skip: nativeHostProblem() ?? false }, () => {
  test('talk by memory', async () => {
    using world = new LocalWorld();
    const a = world.open(1);
    await using peer = await PeerProcess.start(world, 2, 'echo');
    for (let round = 0; round < 1000; round += 1) {
      const lengths = [20, 64, 4 * round + 20];
      send(a, { gid: gidFromIp(loopback(2)) }, lengths);
      assert.deepEqual(contents(receiveSome(a, 3).packets), expected(lengths));
    }
    assert.equal(localPackets(a), 3000);
    assert.ok(peer.isRunning);
  });

  test('one that is killed while it sends leaves whole packets, and its place to others', async () => {
    using world = new LocalWorld();
    const a = world.open(1);
    for (let round = 0; round < 3; round += 1) {
      const peer = await PeerProcess.start(world, 2, 'flood');
      receiveSome(a, 1000);
      await peer[Symbol.asyncDispose]();
      for (const { bytes } of received(a)) assert.ok(bytes.length === 1000 && bytes[500] === 7);
      a.refresh();
      assert.equal(a.statistics()['local_neighbours'], 0);
      const successor = world.open(2);
      assertWay(successor, a, true);
      assertWay(a, successor, true);
      successor.close();
    }
  });

  test('of one that is killed in the middle of a packet nothing arrives but what was complete', async () => {
    using world = new LocalWorld();
    const a = world.open(1);
    await (await PeerProcess.start(world, 2, 'half'))[Symbol.asyncDispose]();
    assert.equal(received(a).length, 1);
    a.refresh();
    assert.equal(a.statistics()['local_neighbours'], 0);
  });

  test('packets to one that was killed go by UDP once that is seen', async () => {
    using world = new LocalWorld();
    const a = world.open(1);
    const peer = await PeerProcess.start(world, 2, 'echo');
    const gone = { gid: gidFromIp(loopback(2)) };
    send(a, gone, [64]);
    receiveSome(a, 1);
    await peer[Symbol.asyncDispose]();
    a.refresh();
    const before = a.statistics()['sent_packets'];
    send(a, gone, [64]);
    assert.equal(a.statistics()['sent_packets'], before + 1);
  });

  test('what was left by one that was killed does not keep its successor from the address', async () => {
    using world = new LocalWorld();
    await (await PeerProcess.start(world, 2, 'half'))[Symbol.asyncDispose]();
    assert.equal(world.files.length, 1);
    const [a, b] = [world.open(1), world.open(2)];
    assertWay(a, b, true);
    assert.equal(world.files.length, 2);
  });
});
