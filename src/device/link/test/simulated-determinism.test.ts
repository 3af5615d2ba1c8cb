import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SeededRandom, SimulatedNetwork, type SimulatedPacket } from '../index.js';
import { EventQueue } from '../simulated/event-queue.js';
import { packetOf, runAndTake, sendOne } from './simulated-support.js';

const A = '10.0.0.1';
const B = '10.0.0.2';
/** From a second implementation in another language. */
const KNOWN_NUMBERS_OF_SEED_1 = [393288148, 2174103013, 3814759091, 2092745082];

function roughRun(seed: number): unknown {
  const network = new SimulatedNetwork({
    seed,
    conditions: {
      loss: 0.1,
      duplication: 0.1,
      reordering: 0.2,
      corruption: 0.1,
      jitterUs: 20,
      bandwidthBytesPerUs: 10,
    },
  });
  const a = network.attach(A);
  const b = network.attach(B);
  for (let i = 0; i < 500; i += 1) network.at(i * 3, () => sendOne(a, B, packetOf(16, i & 255)));
  return { received: runAndTake(network, b), statistics: network.statistics() };
}

describe('a seed', () => {
  it('gives the same run again, to the byte and the time', () => {
    assert.deepEqual(roughRun(7), roughRun(7));
  });

  it('gives another run than another seed', () => {
    assert.notDeepEqual(roughRun(7), roughRun(8));
  });
});

describe('the seeded generator', () => {
  it('gives the same numbers on every machine', () => {
    const random = new SeededRandom(1);
    const again = new SeededRandom(1);
    const numbers = Array.from({ length: 8 }, () => random.u32());
    assert.deepEqual(
      numbers,
      Array.from({ length: 8 }, () => again.u32()),
    );
    assert.deepEqual(numbers.slice(0, 4), KNOWN_NUMBERS_OF_SEED_1);
  });

  it('spreads evenly', () => {
    const random = new SeededRandom(99);
    const buckets = new Array<number>(16).fill(0);
    for (let i = 0; i < 16_000; i += 1) buckets[random.below(16)] += 1;
    for (const count of buckets) assert.ok(count > 850 && count < 1150, `bucket of ${String(count)}`);
  });

  it('keeps within its bounds, both included', () => {
    const random = new SeededRandom(5);
    const seen = new Set(Array.from({ length: 200 }, () => random.between(3, 6)));
    assert.deepEqual([...seen].sort(), [3, 4, 5, 6]);
  });

  it('draws no number for a chance of nothing', () => {
    const random = new SeededRandom(5);
    const other = new SeededRandom(5);
    random.chance(0);
    assert.equal(random.u32(), other.u32());
  });
});

describe('the event queue', () => {
  it('gives items out by time, and in the order they went in when times are equal', () => {
    const random = new SeededRandom(3);
    const queue = new EventQueue<{ time: number; order: number }>();
    const items = Array.from({ length: 1000 }, (_, order) => ({ time: random.below(50), order }));
    for (const item of items) queue.push(item.time, item);
    const out = [];
    for (let item = queue.popDue(Infinity); item !== undefined; item = queue.popDue(Infinity)) out.push(item);
    assert.deepEqual(
      out,
      [...items].sort((x, y) => x.time - y.time || x.order - y.order),
    );
  });

  it('keeps back what is not due', () => {
    const queue = new EventQueue<string>();
    queue.push(10, 'later');
    assert.equal(queue.popDue(9.9), undefined);
    assert.equal(queue.nextUs, 10);
    assert.equal(queue.popDue(10), 'later');
    assert.equal(queue.nextUs, Infinity);
  });

  it('forgets what was cancelled, wherever it stands', () => {
    const queue = new EventQueue<string>();
    const numbers = ['a', 'b', 'c', 'd'].map((item, i) => queue.push(i, item));
    queue.cancel(numbers[0]);
    queue.cancel(numbers[2]);
    assert.deepEqual([queue.size, queue.nextUs], [2, 1]);
    assert.deepEqual([queue.popDue(Infinity), queue.popDue(Infinity), queue.popDue(Infinity)], ['b', 'd', undefined]);
  });
});

describe('a script', () => {
  it('sees every packet before chance does, with its addresses and time', () => {
    const network = new SimulatedNetwork({ seed: 1, conditions: { loss: 1 } });
    const seen: SimulatedPacket[] = [];
    network.onPacket = (packet) => {
      seen.push(packet);
      return 'pass';
    };
    const a = network.attach(A);
    network.advanceTo(12);
    sendOne(a, B, [1, 2, 3, 4]);
    sendOne(a, B, [5, 6, 7, 8]);
    assert.deepEqual(
      seen.map(({ from, to, index, sentAtUs, bytes }) => ({ from, to, index, sentAtUs, first: bytes[0] })),
      [
        { from: A, to: B, index: 0, sentAtUs: 12, first: 1 },
        { from: A, to: B, index: 1, sentAtUs: 12, first: 5 },
      ],
    );
  });

  it('can drop, double, delay and replace', () => {
    const network = new SimulatedNetwork({ seed: 1 });
    const a = network.attach(A);
    const b = network.attach(B);
    const verdicts = ['drop', 'duplicate', { delayUs: 100 }, { replace: Uint8Array.of(99, 0, 0, 0) }, 'pass'] as const;
    network.onPacket = ({ bytes }) => verdicts[bytes[0]];
    for (let i = 0; i < 5; i += 1) sendOne(a, B, packetOf(4, i));
    assert.deepEqual(
      runAndTake(network, b).map(({ bytes, atUs }) => [bytes[0], atUs]),
      [
        [1, 5],
        [1, 5],
        [99, 5],
        [4, 5],
        [2, 105],
      ],
    );
    assert.equal(network.counts.scripted, 4);
  });
});
