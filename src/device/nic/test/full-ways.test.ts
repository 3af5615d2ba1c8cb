import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { QpState, WcStatus } from '../../ibta/index.js';
import type { PacketSink } from '../../wire/index.js';
import type { Path } from '../../wire/index.js';
import type { TestHost } from './host.js';
import type { TestQp } from './qp.js';
import { World } from './world.js';

const WAY = 7;
const PACKET = 4096;

/** A link whose way to one address has room for so many bytes. */
class NarrowSink implements PacketSink {
  room = 0;
  fullWay = 0;
  looks = 0;
  #taken = 0;

  constructor(
    private readonly inner: PacketSink,
    private readonly isNarrow: (path: Path) => boolean,
  ) {}

  get bytes(): Uint8Array {
    return this.inner.bytes;
  }

  get ipId(): number {
    return this.inner.ipId;
  }

  reserve(path: Path, lengthBytes: number, large = false, waits = false): number {
    const narrow = this.isNarrow(path) && waits;
    this.fullWay = narrow && this.room < lengthBytes ? WAY : 0;
    this.#taken = narrow ? lengthBytes : 0;
    return this.fullWay === 0 ? this.inner.reserve(path, lengthBytes, large) : -1;
  }

  commit(): void {
    this.room -= this.#taken;
    this.inner.commit();
  }

  roomOf(way: number): number {
    assert.equal(way, WAY);
    this.looks += 1;
    return this.room < 2 * PACKET ? 0 : this.room;
  }
}

/** A host `a` that has a narrow way to `b`, and a wide one to `c`. */
class Narrow extends World {
  readonly b = this.host('10.0.0.2');
  readonly c = this.host('10.0.0.3');
  readonly a: TestHost;
  readonly sink: NarrowSink;

  constructor() {
    super();
    let sink: NarrowSink | undefined;
    const around = (inner: PacketSink): PacketSink => (sink = new NarrowSink(inner, ({ dgid }) => dgid[15] === 2));
    this.a = this.host('10.0.0.1', { sink: around });
    assert.ok(sink !== undefined);
    this.sink = sink;
  }

  connect(to: TestHost): { near: TestQp; far: TestQp } {
    const [near, far] = [this.a.qp(), to.qp()];
    near.toRts(far.peer, { sqPsn: 0x1000, rqPsn: 0x2000 });
    far.toRts(near.peer, { sqPsn: 0x2000, rqPsn: 0x1000 });
    return { near, far };
  }
}

describe('queue pairs whose way is full', () => {
  it('wait for room, send nothing twice, and hold nobody up who goes elsewhere', () => {
    const world = new Narrow();
    const { near: held } = world.connect(world.b);
    const { near: free } = world.connect(world.c);
    const source = world.a.mr(8 * PACKET);
    held.write(source, world.b.mr(8 * PACKET));
    free.write(source, world.c.mr(8 * PACKET));
    world.run(10e6);
    assert.equal(free.sendCq.poll()[0].status, WcStatus.SUCCESS);
    assert.deepEqual(held.sendCq.poll(), []);
    world.sink.room = Infinity;
    world.drive();
    assert.equal(held.sendCq.poll()[0].status, WcStatus.SUCCESS);
    assert.equal(world.a.nic.counters.retransmittedPkts, 0);
  });

  it('do not have the NIC look again and again, but when it has a turn', () => {
    const world = new Narrow();
    world.connect(world.b).near.write(world.a.mr(PACKET), world.b.mr(PACKET));
    world.turn();
    assert.ok(world.a.nic.nextWakeupUs() > world.nowUs);
    world.sink.room = Infinity;
    assert.equal(world.a.nic.nextWakeupUs(), world.nowUs);
  });

  it('that have packets under way are not asked about, and do not take them for lost', () => {
    const world = new Narrow();
    const { near } = world.connect(world.b);
    // The acknowledgement of what has left takes its time, and the rest waits.
    world.script = ({ from }) => (from === '10.0.0.2' ? { delayUs: 3e6 } : 'pass');
    world.sink.room = 3 * (PACKET + 64);
    near.write(world.a.mr(8 * PACKET), world.b.mr(8 * PACKET));
    world.run(2e6);
    world.sink.room = Infinity;
    world.drive({ until: () => world.a.nic.counters.sentPkts >= 8 });
    assert.equal(world.a.nic.counters.retransmittedPkts, 0);
  });

  it('share what room there is in turns', () => {
    const world = new Narrow();
    const pairs = Array.from({ length: 5 }, () => world.connect(world.b));
    const [source, target] = [world.a.mr(64 * PACKET), world.b.mr(64 * PACKET)];
    for (const { near } of pairs) for (let i = 0; i < 8; i += 1) near.write(source, target);
    for (let round = 0; round < 25; round += 1) {
      world.sink.room = 32 * (PACKET + 64);
      world.run(2000);
    }
    const sent = pairs.map(({ far }) => world.packets(({ destQp }) => destQp === far.qpn).length);
    assert.ok(Math.min(...sent) > 100, sent.join());
    assert.ok(Math.max(...sent) - Math.min(...sent) <= 40, sent.join());
  });

  it('that are connected to somebody else meanwhile do not go on waiting', () => {
    const world = new Narrow();
    const { near } = world.connect(world.b);
    near.write(world.a.mr(PACKET), world.b.mr(PACKET));
    world.turn();
    near.modify({ qpState: QpState.RESET });
    const far = world.c.qp();
    near.toRts(far.peer, { sqPsn: 0x1000, rqPsn: 0x2000 });
    far.toRts(near.peer, { sqPsn: 0x2000, rqPsn: 0x1000 });
    near.write(world.a.mr(PACKET), world.c.mr(PACKET));
    world.drive();
    assert.equal(near.sendCq.poll()[0].status, WcStatus.SUCCESS);
  });
});
