import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SendFlags } from '../../ibta/index.js';
import { assertCompleted, dropping, Pair } from './pair.js';
import { FENCED } from './qp.js';

/** protocol/reliable.md 2.7: a fenced request waits until all READs and atomics before it are complete. */

describe('a fenced request', () => {
  it('leaves only when the READ before it has been answered', () => {
    const pair = new Pair();
    const { a } = pair.connect();
    const [local, remote] = [pair.a.mr(8), pair.b.mr(8)];
    const wrIds = [a.read(local, remote), a.write(local, remote, { flags: FENCED })];
    pair.drive();
    assertCompleted(a.sent(), wrIds);
    const [read, write] = pair.fromA();
    assert.ok(write.atUs >= read.atUs + 10, `WRITE at ${String(write.atUs)}`);
  });

  it('waits for atomics too', () => {
    const pair = new Pair();
    const { a } = pair.connect();
    const [local, remote] = [pair.a.mr(8), pair.b.mr(8)];
    a.fetchAdd(local, remote, 1n);
    a.write(local, remote, { flags: FENCED });
    pair.drive();
    const [add, write] = pair.fromA();
    assert.ok(write.atUs >= add.atUs + 10);
  });

  it('waits for a READ whose response was lost', () => {
    const pair = new Pair();
    const { a } = pair.connect({ both: { timeout: 8 } });
    pair.script = dropping(({ isReadResponse }) => isReadResponse, 1);
    const [local, remote] = [pair.a.mr(8), pair.b.mr(8)];
    const wrIds = [a.read(local, remote), a.write(local, remote, { flags: FENCED })];
    pair.drive();
    assertCompleted(a.sent(), wrIds);
    const write = pair.fromA(({ name }) => name === 'RC_WRITE_ONLY')[0];
    assert.ok(write.atUs > 1000);
  });

  it('does not wait for SENDs and WRITEs', () => {
    const pair = new Pair();
    const { a } = pair.connect();
    const [local, remote] = [pair.a.mr(8), pair.b.mr(8)];
    a.write(local, remote);
    a.write(local, remote, { flags: FENCED });
    pair.drive();
    const [first, second] = pair.fromA();
    assert.equal(second.atUs, first.atUs);
  });

  it('holds up those behind it, so that the order stays', () => {
    const pair = new Pair();
    const { a } = pair.connect();
    const [local, remote] = [pair.a.mr(8), pair.b.mr(8)];
    a.read(local, remote);
    a.write(local, remote, { flags: FENCED });
    a.write(local, remote);
    pair.drive();
    const requests = pair.fromA();
    assert.ok(requests[2].atUs >= requests[1].atUs);
    assert.deepEqual(
      requests.map(({ psn }) => psn),
      [0x1000, 0x1001, 0x1002],
    );
  });

  it('may be a READ', () => {
    const pair = new Pair();
    const { a } = pair.connect();
    const [local, remote] = [pair.a.mr(8), pair.b.mr(8)];
    a.read(local, remote);
    a.read(local, remote, { flags: FENCED });
    pair.drive();
    const [first, second] = pair.fromA();
    assert.ok(second.atUs >= first.atUs + 10);
  });
});

describe('a request without a fence', () => {
  it('does not wait for the READ before it', () => {
    const pair = new Pair();
    const { a } = pair.connect();
    const [local, remote] = [pair.a.mr(8), pair.b.mr(8)];
    a.read(local, remote);
    a.write(local, remote, { flags: SendFlags.SIGNALED });
    pair.drive();
    const [first, second] = pair.fromA();
    assert.equal(second.atUs, first.atUs);
  });
});
