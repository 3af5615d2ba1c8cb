import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ReceiveBufferPool } from '../../session/receive-buffer-pool.js';

const MIB = 1 << 20;

describe("a session's memory for bodies", () => {
  it('is exactly as long as the body', () => {
    const landings = new ReceiveBufferPool();
    for (const bytes of [1, 8193, 16_384, 16_385, MIB, 5 * MIB]) assert.equal(landings.lend(bytes).length, bytes);
  });

  it('serves the next body once it is given back, and not before', () => {
    const landings = new ReceiveBufferPool();
    const [first, second] = [landings.lend(20_000), landings.lend(20_000)];
    assert.notEqual(first.buffer, second.buffer);
    landings.giveBack(first);
    assert.equal(landings.lend(30_000).buffer, first.buffer);
    assert.notEqual(landings.lend(20_000).buffer, first.buffer);
  });

  it('is given back once, whoever says so again', () => {
    const landings = new ReceiveBufferPool();
    const body = landings.lend(20_000);
    landings.giveBack(body);
    landings.giveBack(body);
    assert.notEqual(landings.lend(20_000).buffer, landings.lend(20_000).buffer);
  });

  it('is none that a program has named', () => {
    const landings = new ReceiveBufferPool();
    const theirs = new Uint8Array(20_000);
    landings.giveBack(theirs);
    landings.giveBack([theirs, theirs]);
    assert.equal(landings.idleBytes, 0);
    assert.notEqual(landings.lend(20_000).buffer, theirs.buffer);
  });

  it('waits up to a bound, and not at all where it is long', () => {
    const landings = new ReceiveBufferPool();
    const bodies = Array.from({ length: 40 }, () => landings.lend(MIB));
    for (const body of bodies) landings.giveBack(body);
    assert.equal(landings.idleBytes, 16 * MIB);
    landings.giveBack(landings.lend(4 * MIB + 1));
    assert.equal(landings.idleBytes, 16 * MIB);
  });
});
