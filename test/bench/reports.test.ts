import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseRedisBenchmark } from '../../bench/measure/kv.js';
import { percentile } from '../../bench/measure/latency.js';
import { parseFabric } from '../../bench/measure/libfabric.js';
import { parseQperf } from '../../bench/measure/qperf.js';
import { parsePerftest } from '../../bench/measure/run.js';
import { evaluateShares } from '../../bench/measure/shares.js';
import { parseUcx } from '../../bench/measure/ucx.js';
import { type Aim, AIMS, standingOf } from '../../bench/report/aims.js';
import { curvesOf } from '../../bench/report/curves.js';
import { MESSAGE_SIZES, plotSvg, ticksFor } from '../../src/cli/kit/plot.js';
import { FULL, QUICK, sectionsOf } from '../../bench/sections/index.js';
import { LINKS } from '../../bench/sections/section.js';

const idsOf = (extent: typeof FULL): readonly string[] =>
  sectionsOf(extent).flatMap(({ rows }) => rows.map(({ id }) => id));

test('each row of the bench has an id of its own', () => {
  const ids = idsOf(FULL);
  assert.deepEqual(ids, [...new Set(ids)]);
});

for (const [name, extent] of [
  ['full', FULL],
  ['quick', QUICK],
] as const)
  test(`a ${name} run measures all that aims over the links there are need`, () => {
    const ids = new Set(idsOf(extent));
    const needed = AIMS.flatMap(({ of }) => of.map((id) => id.replace('@p99', ''))).filter(
      (id) => LINKS.includes('shm') || !id.endsWith('.shm'),
    );
    assert.deepEqual(
      needed.filter((id) => !ids.has(id)),
      [],
    );
  });

test('the last line of ucx_perftest is read, whatever it printed before', () => {
  const output = `iterations,99.0_percentile_lat,avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,overall_mr
[thread 0] 125,3999.730,4015.760,4015.760,0.02,0.02,249,249
100000,4.397,5.708,16.468,10.69,3.71,175192,60723
`;
  assert.deepEqual(parseUcx(output), { percentileUs: 4.397, perSecond: 60723 });
});

test('a ucx_perftest that printed no figures is not taken for one with figures', () => {
  assert.throws(() => parseUcx('Failed to connect'), /no figures: Failed to connect/);
});

test("libfabric's column is found by its title", () => {
  const output = `bytes   #sent   #ack     total       time     MB/sec    usec/xfer   Mxfers/sec
64k     20k     =20k     2.4g        0.43s   6115.22      10.72       0.09
`;
  assert.equal(parseFabric(output), 10.72);
});

test('libfabric without figures is not taken for one with figures', () => {
  assert.throws(() => parseFabric('fi_getinfo: -61'), /no figures/);
});

test('qperf chooses its units, and all are understood', () => {
  assert.deepEqual(
    [
      parseQperf('tcp_lat:\n    latency  =  8.11 us\n', 'latency'),
      parseQperf('tcp_lat:\n    latency  =  1.2 ms\n', 'latency'),
      parseQperf('tcp_bw:\n    bw  =  4.26 GB/sec\n', 'bw'),
      parseQperf('tcp_bw:\n    bw  =  870 MB/sec\n', 'bw'),
    ].map((value) => Number(value.toPrecision(6))),
    [8.11e-6, 1.2e-3, 4.26e9, 870e6],
  );
});

test('redis-benchmark tells its figures by their names', () => {
  const names = '"test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms"';
  assert.deepEqual(parseRedisBenchmark(`${names}\n"GET","13505.24","0.051","0.008","0.023"\n`), {
    perSecond: 13_505.24,
    p50Ms: 0.023,
  });
  assert.throws(() => parseRedisBenchmark('Could not connect'), /no figures/);
});

test('a percentile is the time that this share does not exceed', () => {
  const times = Array.from({ length: 1000 }, (_, i) => i);
  assert.deepEqual([percentile(times, 0.5), percentile(times, 0.99), percentile(times, 0.999)], [500, 990, 999]);
});

test('goodput of many senders is all together, and shares are of an equal one', () => {
  const { goodput, leastShare, largestShare } = evaluateShares([[1e6], [2e6], [3e6]], 1);
  assert.deepEqual([goodput.samples, leastShare.samples, largestShare.samples], [[6], [0.5], [1.5]]);
});

test('many senders of whom nothing arrived have no share at all', () => {
  assert.deepEqual(evaluateShares([[0], [0]], 1).leastShare.samples, [0]);
});

const ratio: Aim = { what: '', of: ['a', 'b'], number: (a, b) => a / b, unit: 'times', bound: { atMost: 2 } };
const standing = (aim: Aim, figures: Record<string, number>): string => standingOf(aim, (id) => figures[id]).verdict;

test('an aim within its bound is met', () => {
  assert.equal(standing(ratio, { a: 4, b: 2 }), 'met');
});

test('an aim beyond its upper bound says by how much', () => {
  assert.equal(standing(ratio, { a: 5, b: 2 }), 'missed by 25 %');
});

test('an aim below its lower bound says by how much', () => {
  assert.equal(standing({ ...ratio, bound: { atLeast: 4 } }, { a: 2, b: 2 }), 'missed by 75 %');
});

test('an aim whose figures are missing says which', () => {
  assert.equal(standing(ratio, { a: 5 }), 'not measured: b');
});

test('curves are made of the rows of one kind, by who was measured', () => {
  const results = [
    { id: 'write.4096.net', what: 'node:net', median: 1 },
    { id: 'latency.64.net', what: 'node:net', median: 9 },
    { id: 'write.4096.ucx.tcp', what: 'UCX', median: 2 },
    { id: 'write.8192.net', what: 'node:net', median: 3 },
  ];
  assert.deepEqual(curvesOf('write', results), [
    {
      name: 'node:net',
      points: [
        [4096, 1],
        [8192, 3],
      ],
    },
    { name: 'UCX', points: [[4096, 2]] },
  ]);
});

test('ticks of an axis enclose all values', () => {
  assert.deepEqual(ticksFor([0.3, 7]), [0.2, 0.5, 1, 2, 5, 10]);
});

test('ticks of one round value enclose it', () => {
  assert.deepEqual(ticksFor([5]), [5]);
});

test('a plot escapes names, and leaves out what has no logarithm', () => {
  const svg = plotSvg({
    title: 'a < b',
    unit: 'µs',
    x: MESSAGE_SIZES,
    curves: [
      {
        name: '"x" & y',
        points: [
          [1, 0],
          [2, 4],
        ],
      },
    ],
  });
  assert.match(svg ?? '', /<title>a &#60; b<\/title>[^]*&#34;x&#34; &#38; y/);
  assert.doesNotMatch(svg ?? '', /NaN|Infinity/);
});

test('without a point there is no plot', () => {
  assert.equal(plotSvg({ title: '', unit: '', x: MESSAGE_SIZES, curves: [{ name: '', points: [] }] }), undefined);
});

test('the figures of perftest are those of its last line of numbers, latency or bandwidth', () => {
  const latency = ` #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]
 64      5000          16.70          5627.14      26.55    	       121.08
---------------------------------------------------------------------------------------
`;
  assert.equal(parsePerftest(latency).typicalUs, 26.55);
  const bandwidth = ` #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]
 65536      5000             1559.20            1000.00 		   0.016000
`;
  const { average, rate } = parsePerftest(bandwidth);
  assert.deepEqual([average, rate], [1.048576, 0.016]);
  assert.throws(() => parsePerftest("Couldn't connect to 127.0.0.1:18515"), /no figures of perftest/);
});
