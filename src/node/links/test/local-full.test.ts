import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PolledLink } from '../../../device/link/index.js';
import { inboxDirectory } from '../local/local-directory.js';
import { gidWordsOf, Neighbour } from '../local/local-neighbour.js';
import { nativeHostProblem } from '../../system/index.js';
import { contents, isReadable, LocalWorld } from './local-support.js';
import { Inbox, packet, pathBetween } from './udp-helpers.js';

/** Sends packets that may wait, until one has to. @returns how many left */
function fill(from: PolledLink, to: PolledLink): number {
  const path = pathBetween(from, to);
  const { sink } = from;
  for (let n = 0; ; n += 1) {
    const bytes = packet(1000, n);
    const offset = sink.reserve(path, bytes.length, false, true);
    if (offset < 0) {
      from.flush();
      return n;
    }
    sink.bytes.set(bytes, offset);
    sink.commit();
  }
}

function take(link: PolledLink, packets: number): Inbox {
  const inbox = new Inbox();
  while (inbox.packets.length < packets) link.receive(inbox, 64);
  return inbox;
}

describe('a ring that is full', { skip: nativeHostProblem() ?? false }, () => {
  test('has packets wait that may wait, and loses none of them', () => {
    using world = new LocalWorld();
    const [a, b] = [world.open(1), world.open(2)];
    const sent = fill(a, b);
    const way = a.sink.fullWay ?? 0;
    assert.ok(way > 0, 'a flush would make no room');
    assert.equal(a.sink.roomOf?.(way), 0);
    const { packets } = take(b, sent);
    assert.ok(a.sink.roomOf(way) > 0);
    assert.deepEqual(contents(packets.slice(-1)), [packet(1000, sent - 1).subarray(0, -4)]);
    assert.equal(a.statistics()['local_full'], 0);
    assert.ok(fill(a, b) > 0);
  });

  test('has room for acknowledgements, which may be the last word of a queue pair', () => {
    using world = new LocalWorld();
    const [a, b] = [world.open(1), world.open(2)];
    const sent = fill(a, b);
    const path = pathBetween(a, b);
    for (let n = 0; n < 500; n += 1) {
      assert.ok(a.sink.reserve(path, 24, false, true) >= 0, `${n} had room`);
      a.sink.commit();
    }
    a.flush();
    assert.equal(take(b, sent + 500).packets.length, sent + 500);
  });

  test('is a way of its own: to others there is room', () => {
    using world = new LocalWorld();
    const [a, b, c] = [world.open(1), world.open(2), world.open(3)];
    fill(a, b);
    const toB = a.sink.fullWay;
    assert.ok(fill(a, c) > 0);
    assert.notEqual(a.sink.fullWay, toB);
  });

  test('keeps its sender asleep until there is room that is worth while, and has it woken then', () => {
    using world = new LocalWorld();
    const [a, b] = [world.open(1), world.open(2)];
    fill(b, a);
    take(a, 100);
    const sent = fill(a, b);
    while (a.receive(new Inbox(), 64) > 0);
    assert.equal(a.fallAsleep(), true);
    take(b, 40);
    assert.equal(isReadable(a), false, 'woken for next to nothing');
    take(b, sent - 64);
    assert.equal(isReadable(a), true, 'not woken');
  });

  test('does not let its sender fall asleep once there is room', () => {
    using world = new LocalWorld();
    const [a, b] = [world.open(1), world.open(2)];
    const sent = fill(a, b);
    take(b, sent);
    assert.equal(a.fallAsleep(), false);
  });

  test('is not waited for when its owner stands still, and again as soon as it goes on', () => {
    using world = new LocalWorld();
    const [a, b] = [world.open(1), world.open(2)];
    const directory = inboxDirectory(world.parent);
    assert.ok('path' in directory);
    const neighbour = Neighbour.open(directory, b.gid);
    assert.ok(neighbour !== undefined);
    assert.ok(neighbour.connect({ gidWords: gidWordsOf(a.gid), nonce: [1, 2] }, 1));
    while (neighbour.reserve(1000, 0, 0) >= 0) neighbour.commit();
    neighbour.publish();
    assert.equal(neighbour.awaitRoom(1_000_000), 0);
    assert.equal(neighbour.awaitRoom(1_400_000), 0);
    assert.equal(neighbour.awaitRoom(1_500_000), Infinity);
    b.receive(new Inbox(), 64);
    assert.equal(neighbour.awaitRoom(1_600_000), 0);
    assert.equal(neighbour.awaitRoom(2_000_000), 0);
    neighbour.close();
  });
});
