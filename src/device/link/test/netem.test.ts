import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gidFromIp } from '../../ibta/index.js';
import {
  disturb,
  type DisturbedLink,
  type LinkConditions,
  parseNetem,
  type SimulatedLink,
  SimulatedNetwork,
  tap,
} from '../index.js';
import { crc32, createPath, IcrcVerifier, PacketMeta, sealIcrc } from '../../wire/index.js';
import { Inbox, packet } from '../../../node/links/test/udp-helpers.js';

const A = '10.0.0.1';
const B = '10.0.0.2';
const path = createPath({ sgid: gidFromIp(A), dgid: gidFromIp(B) });

/** Two hosts on a wire without delay, the first of them disturbed. */
class Bench {
  readonly network: SimulatedNetwork;
  readonly a: DisturbedLink;
  readonly b: SimulatedLink;
  readonly #inbox = new Inbox();

  constructor(words: string, hideIpId = false) {
    this.network = new SimulatedNetwork({ seed: 1, conditions: { delayUs: 0 }, hideIpId });
    const settings = parseNetem(words, () => 1);
    assert.ok(settings !== undefined);
    const options = { clockUs: () => this.network.nowUs, crc32 };
    this.a = disturb(this.network.attach(A), settings, options);
    this.b = this.network.attach(B);
  }

  /** Sends packets that bear numbers, each in a flush of its own, so many µs apart. */
  send(count: number, everyUs = 1): void {
    for (let n = 0; n < count; n += 1) {
      this.put(n);
      this.a.flush();
      this.network.advanceTo(this.network.nowUs + everyUs);
    }
  }

  put(n: number): void {
    const bytes = packet(64);
    new DataView(bytes.buffer).setUint32(20, n);
    const at = this.a.sink.reserve(path, bytes.length);
    sealIcrc(crc32, path, bytes, 0, bytes.length, this.a.sink.ipId);
    this.a.sink.bytes.set(bytes, at);
    this.a.sink.commit();
  }

  /** Lets everything happen that is going to. @returns the numbers of the packets that `link` got, in their order */
  arrivals(link: Pick<SimulatedLink, 'receive'> = this.b): number[] {
    const { network, a } = this;
    for (;;) {
      a.flush();
      link.receive(this.#inbox, Infinity);
      const dueUs = Math.min(network.nextEventUs(), a.nextDueUs());
      if (dueUs === Infinity) break;
      network.advanceTo(dueUs);
    }
    return this.#inbox.packets.map(({ bytes }) => new DataView(bytes.buffer).getUint32(20));
  }

  get packets(): readonly Uint8Array[] {
    return this.#inbox.packets.map(({ bytes }) => bytes);
  }

  count(name: string): number {
    return this.a.statistics()[`netem_${name}`];
  }
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

function icrcIsRight(bytes: Uint8Array): boolean {
  const meta = new PacketMeta();
  meta.source.set(gidFromIp(A));
  meta.destination.set(gidFromIp(B));
  return new IcrcVerifier(crc32).verify(bytes, 0, bytes.length, meta) >= 0;
}

describe('a link that is disturbed', () => {
  it('loses as many packets as was said, and counts them', () => {
    const bench = new Bench('loss 10% seed 3');
    bench.send(2000);
    const lost = 2000 - bench.arrivals().length;
    assert.ok(lost > 150 && lost < 250, `${lost} lost`);
    assert.equal(bench.count('lost'), lost);
  });

  it('loses packets in a row when bursts are asked for, and on the average as many', () => {
    const bench = new Bench('loss burst 10% 8 seed 3');
    bench.send(20000);
    const there = new Set(bench.arrivals());
    const lost = 20000 - there.size;
    const bursts = upTo(20000).filter((n) => !there.has(n) && (n === 0 || there.has(n - 1))).length;
    assert.ok(lost > 1500 && lost < 2500, `${lost} lost`);
    assert.ok(lost / bursts > 6 && lost / bursts < 10, `${lost / bursts} in a row`);
  });

  it('doubles packets', () => {
    const bench = new Bench('dup 100% seed 3');
    bench.send(10);
    const arrived = bench.arrivals();
    assert.deepEqual([arrived.length, new Set(arrived).size, bench.count('duplicated')], [20, 10, 10]);
  });

  it('lets packets overtake those that it holds back', () => {
    const bench = new Bench('reorder 20% seed 3');
    bench.send(200);
    const arrived = bench.arrivals();
    assert.notDeepEqual(arrived, upTo(200));
    assert.deepEqual(
      arrived.toSorted((x, y) => x - y),
      upTo(200),
    );
  });

  it('holds back by the delay, in order also with jitter', () => {
    const bench = new Bench('delay 200us 100us seed 3');
    bench.send(50);
    assert.ok(bench.a.nextDueUs() >= 100 && bench.a.nextDueUs() <= 300, `due at ${bench.a.nextDueUs()}`);
    assert.deepEqual([bench.arrivals(), bench.count('delayed')], [upTo(50), 50]);
    assert.equal(bench.a.nextDueUs(), Infinity);
  });

  it('spreads packets by the rate', () => {
    const bench = new Bench('rate 8mbit');
    bench.send(3, 0);
    bench.arrivals();
    // A byte in a µs, IP and UDP headers included.
    assert.equal(bench.network.nowUs, 3 * (64 + 28));
  });

  it('drops what finds no room among those held back', () => {
    const bench = new Bench('delay 1s limit 4');
    bench.send(10);
    assert.deepEqual([bench.arrivals(), bench.count('dropped')], [upTo(4), 6]);
  });

  it('changes packets after they were sealed, so that the receiver sees it', () => {
    const bench = new Bench('corrupt 50% seed 3');
    bench.send(100);
    bench.arrivals();
    const wrong = bench.packets.filter((bytes) => !icrcIsRight(bytes)).length;
    assert.ok(wrong > 30, `${wrong} wrong`);
    // Some bits are those that routers may change, and not covered.
    assert.ok(wrong <= bench.count('corrupted'));
  });

  it('seals packets anew that leave with another identification', () => {
    const bench = new Bench('delay 10us', true);
    for (let n = 0; n < 8; n += 1) bench.put(n);
    bench.a.flush();
    assert.deepEqual(bench.arrivals(), upTo(8));
    assert.deepEqual(
      bench.packets.map((bytes) => icrcIsRight(bytes)),
      Array<boolean>(8).fill(true),
    );
    // The last of a burst of eight: its ICRC is of that identification and no other.
    const meta = new PacketMeta();
    meta.source.set(gidFromIp(A));
    meta.destination.set(gidFromIp(B));
    assert.equal(new IcrcVerifier(crc32).verify(bench.packets[7], 0, 64, meta), 7);
  });

  it('leaves alone what arrives, unless that is asked for', () => {
    const got = ['loss 100%', 'loss 100% in', 'loss 100% both', 'delay 10us in'].map((words) => {
      const bench = new Bench(words);
      bench.network.inject(B, A, packet(64));
      return bench.arrivals(bench.a).length;
    });
    assert.deepEqual(got, [1, 0, 0, 1]);
  });

  it('sends what it holds back when it is closed', () => {
    const bench = new Bench('delay 1s');
    bench.send(5);
    bench.a.close();
    assert.deepEqual(bench.arrivals(), upTo(5));
  });

  it('is asked through a capture when it wants to be moved on, and the capture has what was sent', () => {
    const bench = new Bench('delay 1s');
    let recorded = 0;
    const record = (): boolean => (recorded += 1) > 0;
    const tapped = tap(bench.a, { record, sync: () => {}, close: () => {} }, { clockNs: () => 0n });
    const at = tapped.sink.reserve(path, 64);
    tapped.sink.bytes.set(packet(64), at);
    tapped.sink.commit();
    tapped.flush();
    assert.deepEqual([recorded, tapped.nextDueUs()], [1, 1_000_000]);
  });

  it('decides the same for the same seed, and otherwise for another', () => {
    const words = 'loss 5% dup 5% reorder 10% corrupt 5% delay 20us 10us';
    const run = (seed: number): number[] => {
      const bench = new Bench(`${words} seed ${seed}`);
      bench.send(300);
      return bench.arrivals();
    };
    assert.deepEqual(run(7), run(7));
    assert.notDeepEqual(run(7), run(8));
  });
});

describe('the words of disturbance', () => {
  const conditionsOf = (words: string): Partial<LinkConditions> => parseNetem(words, () => 1)?.conditions ?? {};
  const meanings: readonly [string, Partial<LinkConditions>][] = [
    ['loss 1%', { loss: 0.01, lossBurstPackets: 0 }],
    ['loss random 2.5', { loss: 0.025 }],
    ['loss burst 20% 4', { loss: 0.2, lossBurstPackets: 4 }],
    ['loss gemodel 10% 40%', { loss: 0.2, lossBurstPackets: 2.5 }],
    ['duplicate 3%', { duplication: 0.03 }],
    ['dup 3%', { duplication: 0.03 }],
    ['reorder 2% 100us', { reordering: 0.02, reorderDelayUs: 100 }],
    ['corrupt 0%', { corruption: 0 }],
    ['delay 200us', { delayUs: 200, jitterUs: 0 }],
    ['delay 1.5ms 0.5msec', { delayUs: 1000, jitterUs: 1000 }],
    ['delay 10 20', { delayUs: 0, jitterUs: 30 }],
    ['delay 1s loss 1%', { delayUs: 1_000_000, loss: 0.01 }],
    ['rate 100mbit', { bandwidthBytesPerUs: 12.5 }],
    ['rate 2.5Gbit', { bandwidthBytesPerUs: 312.5 }],
  ];
  for (const [words, meaning] of meanings) {
    it(`takes '${words}'`, () => {
      const found = conditionsOf(words);
      assert.deepEqual({ ...found, ...meaning }, found);
    });
  }

  it('is nothing when there is none', () => {
    assert.equal(
      parseNetem('  ', () => 1),
      undefined,
    );
  });

  it('chooses a seed where none is named, and tells it', () => {
    const { seed, text } = parseNetem(' loss 1% ', () => 42) ?? {};
    assert.deepEqual({ seed, text }, { seed: 42, text: 'loss 1% seed 42' });
  });

  it('goes out, with a limit of 1000 packets, unless it says otherwise', () => {
    const { direction, limitPackets } = parseNetem('loss 1%', () => 1) ?? {};
    assert.deepEqual({ direction, limitPackets }, { direction: 'out', limitPackets: 1000 });
  });

  for (const [words, named] of [
    ['lose 1%', /'lose' is none of its words, which are loss,/],
    ['loss', /nothing behind 'loss'/],
    ['loss 101%', /'101%' behind 'loss'/],
    ['loss 1% 25%', /'25%' is none/],
    ['loss burst 80% 2', /bursts of 2 packets.*4\.0 at least/],
    ['loss gemodel 1% 0%', /never ends/],
    ['delay soon', /'soon' behind 'delay', where a time such as/],
    ['delay 10parsec', /'10parsec'/],
    ['rate 0', /'0' behind 'rate'/],
    ['limit 1.5', /'1\.5' behind 'limit'/],
    ['seed -1', /'-1' behind 'seed'/],
    ['ecn', /'ecn'/],
  ] as const) {
    it(`refuses '${words}' by naming what is wrong`, () => {
      assert.throws(() => parseNetem(words, () => 1), { errno: 'EINVAL', message: named });
    });
  }
});
