import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type LinkConditions, SimulatedNetwork } from '../index.js';
import { packetOf, put, type Received, runAndTake, sendOne } from './simulated-support.js';

const A = '10.0.0.1';
const B = '10.0.0.2';
const IP_UDP_BYTES = 28;

function network(conditions: Partial<LinkConditions>, seed = 42) {
  const net = new SimulatedNetwork({ seed, conditions });
  return { net, a: net.attach(A), b: net.attach(B) };
}

/** Sends `count` numbered packets, one each `everyUs`. */
function stream(
  conditions: Partial<LinkConditions>,
  count: number,
  everyUs = 0,
  seed = 42,
): { net: SimulatedNetwork; got: Received[] } {
  const { net, a, b } = network(conditions, seed);
  for (let i = 0; i < count; i += 1) net.at(i * everyUs, () => sendOne(a, B, [i >> 8, i & 255, 0, 0]));
  return { net, got: runAndTake(net, b) };
}

const numbers = (packets: readonly Received[]): number[] => packets.map(({ bytes }) => (bytes[0] << 8) | bytes[1]);
const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

describe('conditions of a simulated link', () => {
  it('add the delay of their own direction', () => {
    const { net, a, b } = network({});
    net.setDirection(A, B, { delayUs: 100 });
    net.setDirection(B, A, { delayUs: 7 });
    sendOne(a, B, packetOf(4));
    sendOne(b, A, packetOf(4));
    assert.deepEqual(
      runAndTake(net, a).map(({ atUs }) => atUs),
      [7],
    );
    assert.equal(net.nowUs, 100);
  });

  it('spread arrivals by jitter without letting packets overtake each other', () => {
    const { got } = stream({ delayUs: 10, jitterUs: 40 }, 200, 1);
    assert.deepEqual(numbers(got), upTo(200));
    const delays = got.map(({ atUs }, i) => atUs - i);
    assert.ok(delays.every((delay) => delay >= 10 && delay <= 50));
    assert.ok(new Set(delays).size > 10);
  });

  it('serialise packets at the bandwidth, IP and UDP headers counted', () => {
    const { net, a, b } = network({ delayUs: 0, bandwidthBytesPerUs: 2 });
    put(a, B, packetOf(100 - IP_UDP_BYTES));
    put(a, B, packetOf(200 - IP_UDP_BYTES));
    a.flush();
    assert.deepEqual(
      runAndTake(net, b).map(({ atUs }) => atUs),
      [50, 150],
    );
  });

  it('drop from the tail of a full queue', () => {
    const { net, a, b } = network({ bandwidthBytesPerUs: 1, queueLimitBytes: 250 });
    for (let i = 0; i < 5; i += 1) put(a, B, packetOf(100 - IP_UDP_BYTES, i));
    a.flush();
    assert.deepEqual(
      runAndTake(net, b).map(({ bytes }) => bytes[0]),
      [0, 1],
    );
    assert.equal(net.counts.queueDropped, 3);
  });

  it('make room in the queue as it drains', () => {
    const { net, a, b } = network({ bandwidthBytesPerUs: 1, queueLimitBytes: 250, delayUs: 0 });
    for (let i = 0; i < 5; i += 1) net.at(i * 100, () => sendOne(a, B, packetOf(100 - IP_UDP_BYTES, i)));
    assert.equal(runAndTake(net, b).length, 5);
  });

  it('lose packets with the given probability', () => {
    const { net, got } = stream({ loss: 0.25 }, 4000);
    assert.ok(Math.abs(net.counts.lost - 1000) < 120, `lost ${String(net.counts.lost)} of 4000`);
    assert.equal(got.length, 4000 - net.counts.lost);
  });

  it('double packets with the given probability', () => {
    const { net, got } = stream({ duplication: 0.25 }, 4000);
    assert.ok(Math.abs(net.counts.duplicated - 1000) < 120);
    assert.equal(got.length, 4000 + net.counts.duplicated);
    assert.deepEqual(
      [...new Set(numbers(got))].sort((x, y) => x - y),
      upTo(4000),
    );
  });

  it('let packets overtake those that are held back', () => {
    const { net, got } = stream({ reordering: 0.1, reorderDelayUs: 30 }, 1000, 1);
    assert.ok(net.counts.reordered > 50);
    assert.equal(got.length, 1000);
    assert.notDeepEqual(numbers(got), upTo(1000));
    assert.deepEqual(
      [...numbers(got)].sort((x, y) => x - y),
      upTo(1000),
    );
    for (const { atUs, bytes } of got) assert.ok(atUs - ((bytes[0] << 8) | bytes[1]) <= 35);
  });

  it('turn over one to three bits of a corrupted packet', () => {
    const { net, a, b } = network({ corruption: 1 });
    for (let i = 0; i < 300; i += 1) sendOne(a, B, packetOf(64));
    const flipped = runAndTake(net, b).map(({ bytes }) => bytes.reduce((sum, byte) => sum + bitCount(byte), 0));
    assert.equal(flipped.length, 300);
    assert.deepEqual([...new Set(flipped)].sort(), [1, 2, 3]);
    assert.equal(net.counts.corrupted, 300);
  });

  it('corrupt one copy of a doubled packet, not both', () => {
    const { net, a, b } = network({ duplication: 1, corruption: 1 });
    sendOne(a, B, packetOf(64));
    const bits = runAndTake(net, b).map(({ bytes }) => bytes.reduce((sum, byte) => sum + bitCount(byte), 0));
    assert.equal(bits.length, 2);
    assert.equal(Math.min(...bits), 0);
  });

  it('drop packets above the MTU', () => {
    const { net, a, b } = network({ mtuBytes: 100 });
    sendOne(a, B, packetOf(100 - IP_UDP_BYTES));
    sendOne(a, B, packetOf(104 - IP_UDP_BYTES));
    assert.equal(runAndTake(net, b).length, 1);
    assert.equal(net.counts.tooBig, 1);
  });

  it('partition one way', () => {
    const { net, a, b } = network({});
    net.setDirection(A, B, { partitioned: true });
    sendOne(a, B, packetOf(4));
    sendOne(b, A, packetOf(4));
    assert.equal(runAndTake(net, a).length, 1);
    assert.deepEqual([net.counts.partitioned, net.counts.delivered], [1, 1]);
  });

  it('partition both ways until healed', () => {
    const { net, a, b } = network({});
    net.partition(A, B);
    sendOne(a, B, packetOf(4));
    sendOne(b, A, packetOf(4));
    assert.equal(net.counts.partitioned, 2);
    net.heal();
    sendOne(a, B, packetOf(4));
    assert.equal(runAndTake(net, b).length, 1);
  });

  it('keep what one direction was given when all of them change', () => {
    const { net, a, b } = network({});
    net.setDirection(A, B, { delayUs: 90 });
    net.setConditions({ jitterUs: 0, duplication: 1 });
    sendOne(a, B, packetOf(4));
    const got = runAndTake(net, b);
    assert.equal(got.length, 2);
    assert.ok(got.every(({ atUs }) => atUs >= 90));
  });

  it('refuse values that make no sense', () => {
    const { net } = network({});
    for (const bad of [
      { loss: 1.5 },
      { corruption: -0.1 },
      { delayUs: -1 },
      { bandwidthBytesPerUs: 0 },
      { jitterUs: NaN },
    ])
      assert.throws(() => net.setConditions(bad), RangeError, JSON.stringify(bad));
  });
});

function bitCount(byte: number): number {
  let count = 0;
  for (let rest = byte; rest !== 0; rest >>= 1) count += rest & 1;
  return count;
}
