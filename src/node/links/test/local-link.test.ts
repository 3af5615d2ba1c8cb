import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { ipFromGid } from '../../../device/ibta/index.js';
import { type PolledLink, tap } from '../../../device/link/index.js';
import {
  crc32,
  createPath,
  datagramIcrc,
  Opcode,
  OpcodeService,
  parseFrame,
  readCapture,
  storedIcrc,
  writeBth,
} from '../../../device/wire/index.js';
import { openNativeLink, PcapngFile } from '../index.js';
import { nativeHostProblem } from '../../system/index.js';
import { loopback, loopbackGroup } from '../../../../test/support/loopback.js';
import {
  assertWay,
  contents,
  expected,
  isReadable,
  localPackets,
  LocalWorld,
  received,
  send,
} from './local-support.js';
import { commit, Inbox, packet, pathBetween } from './udp-helpers.js';

describe('links of one user on one machine', { skip: nativeHostProblem() ?? false }, () => {
  test('packets go by memory, from the first one on, both ways', () => {
    using world = new LocalWorld();
    const [a, b] = [world.open(1), world.open(2)];
    assertWay(a, b, true);
    assertWay(b, a, true);
    assert.equal(b.statistics()['received_packets'], 0);
  });

  test('a packet tells who sent it, to whom, and how', () => {
    using world = new LocalWorld();
    const [a, b] = [world.open(1), world.open(2)];
    const path = createPath({ sgid: a.gid, dgid: b.gid, trafficClass: 0x62, hopLimit: 9, flowLabel: 5 });
    commit(a, path, packet(40));
    a.flush();
    const [{ source, destination, sourcePort, trafficClass, hopLimit, flowLabel }] = received(b);
    assert.deepEqual([source, destination, sourcePort], [a.address, b.address, 4791]);
    assert.deepEqual([trafficClass, hopLimit, flowLabel], [0x62, 9, 5]);
  });

  test('a hop limit of 0 means the usual one, as it does by UDP', () => {
    using world = new LocalWorld();
    const [a, b] = [world.open(1), world.open(2)];
    commit(a, createPath({ sgid: a.gid, dgid: b.gid, hopLimit: 0 }), packet(40));
    a.flush();
    assert.equal(received(b)[0].hopLimit, 64);
  });

  test('of a packet of a reliable service the payload stays in the ring; of others, and for records, nothing does', () => {
    using world = new LocalWorld();
    const [a, b, recording] = [world.open(1), world.open(2), world.open(3, 'auto', world.parent, true)];
    const isApart = (to: PolledLink, opcode: number): boolean => {
      commit(a, pathBetween(a, to), packet(1000, opcode));
      a.flush();
      const seen: boolean[] = [];
      to.receive({ receive: (_bytes, _offset, _length, { payload }) => seen.push(payload !== undefined) }, 64);
      assert.equal(seen.length, 1);
      return seen[0];
    };
    assert.equal(isApart(b, Opcode.RC_SEND_ONLY), true);
    assert.equal(isApart(b, OpcodeService.XRC << 5), true);
    assert.equal(isApart(b, OpcodeService.UC << 5), false);
    assert.equal(isApart(b, Opcode.UD_SEND_ONLY), false);
    assert.equal(isApart(recording, Opcode.RC_SEND_ONLY), false);
  });

  test('a link sends to itself by memory', () => {
    using world = new LocalWorld();
    const a = world.open(1);
    assertWay(a, a, true);
  });

  test('packets of all sizes stay whole and in order while the ring goes round', () => {
    using world = new LocalWorld();
    const [a, b] = [world.open(1), world.open(2)];
    let count = 0;
    for (let round = 0; round < 200; round += 1) {
      const lengths = [20, 4136, 60 + 4 * round, 1500, 260, 4224];
      send(a, b, lengths);
      const inbox = new Inbox();
      while (b.receive(inbox, 64) > 0);
      assert.deepEqual(contents(inbox.packets), expected(lengths), `round ${round}`);
      count += lengths.length;
    }
    assert.equal(localPackets(b), count);
  });

  test('what finds the ring full is dropped and counted, and nothing else is harmed', () => {
    using world = new LocalWorld();
    const [a, b] = [world.open(1), world.open(2)];
    const path = pathBetween(a, b);
    const sent = 2000;
    for (let n = 0; n < sent; n += 1) commit(a, path, packet(1000, n));
    a.flush();
    const full = a.statistics()['local_full'];
    const packets = received(b);
    assert.ok(full > 0 && full < sent, `${full} found it full`);
    assert.equal(packets.length + full, sent);
    assert.deepEqual(contents(packets.slice(-1)), [packet(1000, packets.length - 1).subarray(0, -4)]);
    assertWay(a, b, true);
  });

  test('a link without memory to share is reached by UDP, and answers by UDP', () => {
    using world = new LocalWorld();
    const [a, b] = [world.open(1), world.open(2, 'udp')];
    assertWay(a, b, false);
    const before = localPackets(a);
    send(b, a, [64]);
    assert.equal(received(a).length, 1);
    assert.equal(localPackets(a), before);
  });

  test('links that see different directories talk by UDP', () => {
    using world = new LocalWorld();
    using other = new LocalWorld();
    assertWay(world.open(1), other.open(2), false);
  });

  test('a group is reached by UDP', () => {
    using world = new LocalWorld();
    const [a, b] = [world.open(1), world.open(2)];
    const path = pathBetween(a, loopbackGroup(1));
    b.joinGroup(path.dgid);
    commit(a, path, packet(64));
    a.flush();
    assert.deepEqual(
      received(b).map(({ destination }) => destination),
      [ipFromGid(path.dgid)],
    );
  });

  test('a link that was opened after the first packets is found when the next look comes', () => {
    using world = new LocalWorld();
    const a = world.open(1);
    const path = createPath({ sgid: a.gid, dgid: pathBetween(a, loopback(2)).dgid });
    commit(a, path, packet(64));
    a.flush();
    const b = world.open(2);
    a.refresh();
    commit(a, path, packet(64));
    a.flush();
    received(b);
    assert.equal(localPackets(b), 1);
  });

  test('one that begins to send is answered by memory at once', () => {
    using world = new LocalWorld();
    const a = world.open(1);
    const path = pathBetween(a, loopback(2));
    commit(a, path, packet(64));
    a.flush();
    const b = world.open(2);
    send(b, a, [64]);
    received(a);
    commit(a, path, packet(64));
    a.flush();
    received(b);
    assert.equal(localPackets(b), 1);
  });

  test('a link that was closed leaves no file, and packets to its address go by UDP', () => {
    using world = new LocalWorld();
    const [a, b] = [world.open(1), world.open(2)];
    assertWay(a, b, true);
    b.close();
    assert.equal(world.files.length, 1);
    const before = a.statistics();
    send(a, b, [64]);
    assert.equal(a.statistics()['local_sent_packets'], before['local_sent_packets']);
    assert.equal(a.statistics()['sent_packets'], before['sent_packets'] + 1);
  });

  test('what a link sent before it was closed still arrives', () => {
    using world = new LocalWorld();
    const [a, b] = [world.open(1), world.open(2)];
    send(a, b, [20, 64]);
    a.close();
    assert.deepEqual(contents(received(b)), expected([20, 64]));
  });

  test('a successor at the same address is reached by memory, and reaches', () => {
    using world = new LocalWorld();
    const [a, b] = [world.open(1), world.open(2)];
    assertWay(a, b, true);
    assertWay(b, a, true);
    b.close();
    const successor = world.open(2);
    assertWay(successor, a, true);
    assertWay(a, successor, true);
  });

  test('slots are given back: more neighbours come and go than there are slots', () => {
    using world = new LocalWorld();
    const a = world.open(1);
    for (let n = 0; n < 80; n += 1) {
      const b = world.open(2);
      assertWay(b, a, true);
      b.close();
      received(a);
    }
  });

  test('one neighbour too many sends by UDP', () => {
    using world = new LocalWorld();
    const a = world.open(1);
    // Claimed and not yet opened, as by others who are about to.
    const [name] = world.files;
    const file = new Int32Array(Uint8Array.from(readFileSync(join(world.directory, name)).subarray(0, 20480)).buffer);
    for (let slot = 0; slot < 64; slot += 1) file[1024 + 64 * slot] = (slot << 2) | 1;
    writeFileSync(join(world.directory, name), new Uint8Array(file.buffer), { flag: 'r+' });
    const b = world.open(2);
    assertWay(b, a, false);
    // They never open, and lose their claims.
    for (let looks = 0; looks < 10; looks += 1) a.refresh();
    b.refresh();
    assertWay(b, a, true);
  });
});

describe('waking', { skip: nativeHostProblem() ?? false }, () => {
  test('a link that says that it sleeps is woken, once', () => {
    using world = new LocalWorld();
    const [a, b] = [world.open(1), world.open(2)];
    assertWay(a, b, true);
    assert.equal(b.fallAsleep(), true);
    send(a, b, [64]);
    send(a, b, [64]);
    assert.equal(isReadable(b), true);
    b.wakeUp();
    assert.equal(received(b).length, 2);
    assert.equal(isReadable(b), false);
  });

  test('a link that is awake is not disturbed', () => {
    using world = new LocalWorld();
    const [a, b] = [world.open(1), world.open(2)];
    assertWay(a, b, true);
    send(a, b, [64]);
    assert.equal(isReadable(b), false);
    assert.equal(a.statistics()['send_calls'], 0);
  });

  test('a link for which something waits does not fall asleep', () => {
    using world = new LocalWorld();
    const [a, b] = [world.open(1), world.open(2)];
    assertWay(a, b, true);
    send(a, b, [64]);
    assert.equal(b.fallAsleep(), false);
    received(b);
    assert.equal(b.fallAsleep(), true);
  });

  test('the first packet of a new neighbour wakes as well', () => {
    using world = new LocalWorld();
    const [a, b] = [world.open(1), world.open(2)];
    assert.equal(b.fallAsleep(), true);
    send(a, b, [64]);
    assert.equal(isReadable(b), true);
  });

  test('an event loop that waits is woken again and again, whoever else looks meanwhile', () => {
    using world = new LocalWorld();
    const [a, b] = [world.open(1), world.open(2)];
    assertWay(a, b, true);
    assert.equal(b.setWatched(true), false);
    for (let round = 0; round < 3; round += 1) {
      send(a, b, [64]);
      assert.equal(isReadable(b), true, `round ${round}`);
      b.fallAsleep();
      b.wakeUp();
      assert.equal(received(b).length, 1);
    }
    b.setWatched(false);
    send(a, b, [64]);
    assert.equal(isReadable(b), false);
  });

  test('what comes while an event loop looks at what came before wakes it as well', () => {
    using world = new LocalWorld();
    const [a, b] = [world.open(1), world.open(2)];
    assertWay(a, b, true);
    b.setWatched(true);
    let packets = 0;
    const receiver = {
      receive: () => {
        packets += 1;
        if (packets === 2) send(a, b, [64]);
      },
    };
    for (const sofar of [1, 2]) {
      send(a, b, [64]);
      b.receive(receiver, 64);
      assert.equal(packets, sofar);
    }
    assert.equal(isReadable(b), true);
    b.receive(receiver, 64);
    assert.equal(packets, 3);
  });

  test('an event loop is told at once of what came before it waited', () => {
    using world = new LocalWorld();
    const [a, b] = [world.open(1), world.open(2)];
    assertWay(a, b, true);
    send(a, b, [64]);
    assert.equal(b.setWatched(true), true);
  });
});

describe('one way by force', { skip: nativeHostProblem() ?? false }, () => {
  test('UDP: no inbox is made', () => {
    using world = new LocalWorld();
    world.open(1, 'udp');
    assert.equal(existsSync(world.directory), false);
  });

  test('memory: a link that cannot have it is refused, with what is missing and what to do', () => {
    using world = new LocalWorld();
    const options = { address: loopback(1), kind: 'shm', directory: join(world.parent, 'nowhere') } as const;
    assert.throws(() => openNativeLink(options), { errno: 'EOPNOTSUPP', message: /nowhere.*VERBENA_LINK/ });
  });

  test('memory: what cannot go that way is dropped, and said once', () => {
    using world = new LocalWorld();
    const [a, b] = [world.open(1, 'shm'), world.open(2, 'udp')];
    send(a, b, [64, 64]);
    assert.equal(received(b).length, 0);
    assert.equal(a.statistics()['local_stranded'], 2);
    assert.equal(world.warnings.length, 1);
    assert.ok(world.warnings[0].includes(b.address), world.warnings[0]);
  });

  test('a directory that others can write to is not used', () => {
    using world = new LocalWorld();
    mkdirSync(world.directory);
    chmodSync(world.directory, 0o777);
    const [a, b] = [world.open(1), world.open(2)];
    assertWay(a, b, false);
    const options = { address: loopback(3), kind: 'shm', directory: world.parent } as const;
    assert.throws(() => openNativeLink(options), { errno: 'EOPNOTSUPP', message: /open to others/ });
  });
});

describe('a capture of packets that go by memory', { skip: nativeHostProblem() ?? false }, () => {
  test('has all of them on both sides, with right ICRCs', () => {
    using world = new LocalWorld();
    const links = [1, 2].map((n) => {
      const file = new PcapngFile(join(world.parent, `${n}.pcapng`));
      return { file, link: tap(world.open(n, 'auto', world.parent, true), file, { clockNs: () => 0n }) };
    });
    const [{ link: a }, { link: b }] = links;
    const path = pathBetween(a, b);
    for (let psn = 0; psn < 3; psn += 1) {
      const at = a.sink.reserve(path, 16 + 1000 * psn);
      writeBth(a.sink.bytes, at, Opcode.UC_SEND_ONLY, 0, 0, 0, 0xffff, 0x12, psn);
      a.sink.commit();
    }
    a.flush();
    const inbox = new Inbox();
    while (b.receive(inbox, 64) > 0);
    for (const { link } of links) link.close();
    for (const { file } of links) {
      const records = [...readCapture(readFileSync(file.path))];
      assert.equal(records.length, 3);
      for (const { linkType, data } of records) {
        const found = parseFrame(linkType, data);
        assert.ok(typeof found === 'object', 'it is not a RoCE packet');
        assert.equal(datagramIcrc(crc32, data, found), storedIcrc(data, found.offset, found.length));
      }
    }
  });
});
