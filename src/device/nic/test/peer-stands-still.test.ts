import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ackTimeoutUs, WcStatus } from '../../ibta/index.js';
import type { PacketSink } from '../../wire/index.js';
import type { TestHost } from './host.js';
import { assertCompleted, statusName } from './pair.js';
import type { TestQp } from './qp.js';
import { World } from './world.js';

const TIMEOUT = 12;
const TIMEOUT_US = ackTimeoutUs(TIMEOUT);
const RETRIES = 2;

/** A link that sees the turns of the peer, as one through memory does. */
class WatchingSink implements PacketSink {
  beat = 1;
  reserve: PacketSink['reserve'];
  commit: PacketSink['commit'];

  constructor(private readonly inner: PacketSink) {
    this.reserve = (...args) => inner.reserve(...args);
    this.commit = () => inner.commit();
  }

  get bytes(): Uint8Array {
    return this.inner.bytes;
  }

  get ipId(): number {
    return this.inner.ipId;
  }

  look(): number {
    return this.beat;
  }
}

/** A requester, and a peer whose packets the test lets through. */
class Watched extends World {
  readonly a: TestHost;
  readonly b: TestHost = this.host('10.0.0.2');
  readonly sink: WatchingSink;
  readonly near: TestQp;
  passes = false;

  constructor(retryCnt = RETRIES) {
    super();
    let sink: WatchingSink | undefined;
    this.a = this.host('10.0.0.1', { sink: (inner) => (sink = new WatchingSink(inner)) });
    assert.ok(sink !== undefined);
    this.sink = sink;
    this.near = this.a.qp();
    const far = this.b.qp();
    this.near.toRts(far.peer, { timeout: TIMEOUT, retryCnt });
    far.toRts(this.near.peer);
    this.script = ({ to }) => (this.passes || to !== '10.0.0.2' ? 'pass' : 'drop');
  }

  write(): bigint {
    return this.near.write(this.a.mr(100), this.b.mr(100));
  }
}

describe('a requester that sees the turns of its peer', () => {
  for (const retryCnt of [0, 2, 7])
    it(`waits for one that takes none, with ${retryCnt} retries`, () => {
      const world = new Watched(retryCnt);
      const wrId = world.write();
      world.run(1000 * TIMEOUT_US);
      assert.deepEqual(world.near.sent(), []);
      assert.equal(
        world.packets(({ to }) => to === '10.0.0.2').length,
        2,
        'the packet, and once more to wake the peer',
      );
      world.passes = true;
      world.sink.beat += 1;
      world.run(4 * TIMEOUT_US);
      if (retryCnt > 0) assertCompleted(world.near.sent(), [wrId]);
    });

  it('counts the retries of one that takes turns and does not answer', () => {
    const world = new Watched();
    world.write();
    for (let i = 0; i < 10 * (RETRIES + 2); i += 1) {
      world.sink.beat += 1;
      world.run(TIMEOUT_US / 5);
    }
    assert.deepEqual(
      world.near.sent().map(({ status }) => statusName(status)),
      [statusName(WcStatus.RETRY_EXC_ERR)],
    );
  });

  it('gives up on one that takes none for minutes', () => {
    const world = new Watched();
    world.write();
    world.run(400e6);
    assert.deepEqual(
      world.near.sent().map(({ status }) => statusName(status)),
      [statusName(WcStatus.RETRY_EXC_ERR)],
    );
  });
});
