import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Meter } from '../ucx/perftest/meter.js';
import { checkOneSided, memoryBytesOf, type Plan, placesOf, planFacts, planFrom } from '../ucx/perftest/plan.js';
import { boxText, headText, rowText, type TableStyle } from '../ucx/perftest/table.js';
import { testOf } from '../ucx/perftest/tests.js';

function known(name: string) {
  const test = testOf(name);
  assert.ok(test !== undefined);
  return test;
}

const STYLE: TableStyle = { rank: 50, csv: false, finalOnly: false, numeric: false };
const PLAN: Plan = {
  test: known('tag_lat'),
  sizes: [8],
  stride: 0,
  sendLayout: 'contig',
  receiveLayout: 'contig',
  iterations: 1000,
  warmUp: 10,
  outstanding: 1,
  headerBytes: 0,
  wildcard: false,
  unexpected: false,
  transport: 'rc',
  atomics: 'messages',
  oneSided: false,
};

/** What UCX 1.13.1 prints. */
const BOX = `
+----------------------------------------------------------------------------------------------------------+
| API:          protocol layer                                                                             |
| Test:         tag match latency                                                                          |
| Data layout:  (automatic)                                                                                |
| Send memory:  host                                                                                       |
| Recv memory:  host                                                                                       |
| Message size: 8                                                                                          |
+----------------------------------------------------------------------------------------------------------+
`.slice(1);
const UCT_BOX = `
+----------------------------------------------------------------------------------------------------------+
| API:          transport layer                                                                            |
| Test:         active message bandwidth / message rate                                                    |
| Data layout:  zcopy                                                                                      |
| Send memory:  host                                                                                       |
| Recv memory:  host                                                                                       |
| Message size: 100                                                                                        |
+----------------------------------------------------------------------------------------------------------+
`.slice(1);
const HEAD = `
+--------------+--------------+------------------------------+---------------------+-----------------------+
|              |              |        latency (usec)        |   bandwidth (MB/s)  |  message rate (msg/s) |
+--------------+--------------+----------+---------+---------+----------+----------+-----------+-----------+
|    Stage     | # iterations | 50.0%ile | average | overall |  average |  overall |  average  |  overall  |
+--------------+--------------+----------+---------+---------+----------+----------+-----------+-----------+
`.slice(1);
const ROWS = `
[thread 0]               679      7.533   787.598  1492.375        0.01       0.01        1270         670
Final:                  1000      7.423   509.282  1176.802        0.01       0.01        1964         850
`.slice(1);
const HEAD_OF_FINAL = `
+--------------+--------------+------------------------------+---------------------+-----------------------+
|              |              |       overhead (usec)        |   bandwidth (MB/s)  |  message rate (msg/s) |
+--------------+--------------+----------+---------+---------+----------+----------+-----------+-----------+
|     Test     | # iterations | 50.0%ile | average | overall |  average |  overall |  average  |  overall  |
+--------------+--------------+----------+---------+---------+----------+----------+-----------+-----------+
`.slice(1);

describe("ucx_perftest's table", () => {
  it("has UCX's box", () => assert.equal(boxText(PLAN), BOX));

  it("has UCX's box of a transport", () => {
    const zcopy = { sendLayout: 'zcopy', receiveLayout: 'zcopy', sizes: [100], headerBytes: 16 } as const;
    assert.equal(boxText({ ...PLAN, ...zcopy, test: known('am_bw') }), UCT_BOX);
  });

  it("has UCX's head", () => {
    assert.equal(headText('latency', STYLE), HEAD);
    assert.equal(headText('overhead', { ...STYLE, finalOnly: true }), HEAD_OF_FINAL);
  });

  it("has UCX's rows", () => {
    const first = {
      iterations: 679,
      latencyUs: { percentile: 7.533, average: 787.598, overall: 1492.375 },
      bandwidthMiBs: { average: 0.01, overall: 0.01 },
      messageRate: { average: 1270, overall: 670 },
    };
    const last = {
      iterations: 1000,
      latencyUs: { percentile: 7.423, average: 509.282, overall: 1176.802 },
      bandwidthMiBs: { average: 0.01, overall: 0.01 },
      messageRate: { average: 1964, overall: 850 },
    };
    assert.equal(rowText(first, false, STYLE) + rowText(last, true, STYLE), ROWS);
  });

  it('separates thousands by -N', () => {
    const meter = new Meter(1 << 20, 50, false);
    meter.begin(0);
    for (let i = 1; i <= 2000; i += 1) meter.tick(i / 10);
    const row = rowText(meter.figures(), true, { ...STYLE, numeric: true });
    assert.match(row, /^Final: +2,000 +100\.000 +100\.000 +100\.000 +10,000\.00 +10,000\.00 +10,000 +10,000\n$/);
  });
});

describe("ucx_perftest's meter", () => {
  it('counts half of what there and back takes', () => {
    const meter = new Meter(8, 50, true);
    meter.begin(100);
    meter.tick(100.01);
    meter.tick(100.02);
    const { latencyUs, messageRate } = meter.figures();
    assert.equal(latencyUs.overall.toFixed(3), '5.000');
    assert.equal(latencyUs.percentile.toFixed(3), '5.000');
    assert.equal(messageRate.overall.toFixed(0), '200000');
  });

  it('gives averages since the figures before, and of all', () => {
    const meter = new Meter(8, 50, false);
    meter.begin(0);
    meter.tick(1);
    meter.figures();
    meter.tick(4);
    const { latencyUs } = meter.figures();
    assert.deepEqual([latencyUs.average, latencyUs.overall], [3000, 2000]);
  });

  it('takes the percentile that it is asked for, and 0 of nothing', () => {
    const meter = new Meter(8, 90, false);
    meter.begin(0);
    assert.equal(meter.figures().latencyUs.percentile, 0);
    for (let i = 1, at = 0; i <= 10; i += 1) meter.tick((at += i));
    assert.equal(meter.figures().latencyUs.percentile, 10_000);
  });

  it('says once a second that it is time for figures', () => {
    const meter = new Meter(8, 50, false);
    meter.begin(0);
    const due = [500, 999, 1000].map((at) => meter.tick(at));
    assert.deepEqual(due, [false, false, true]);
    meter.figures();
    assert.equal(meter.tick(1500), false);
  });
});

describe("ucx_perftest's plan", () => {
  const uct = { ...PLAN, test: known('am_bw'), sendLayout: 'zcopy', receiveLayout: 'zcopy', headerBytes: 8 } as const;
  const said = { ...planFacts(uct) };

  it('is what the client has said', () => assert.deepEqual(planFrom(said), uct));

  for (const [name, value] of [
    ['transport', 'self'],
    ['sendLayout', 'iov'],
    ['receiveLayout', 'short'],
    ['headerBytes', 9],
    ['wildcard', true],
    ['stride', 7],
    ['oneSided', true],
  ] as const)
    it(`is refused where ${name} is ${value}`, () =>
      assert.throws(() => planFrom({ ...said, [name]: value }), { name: 'ToolError' }));
});

describe("ucx_perftest's pieces", () => {
  it('follow each other, or begin so many bytes apart', () => {
    const sizes = [16, 48];
    assert.deepEqual(placesOf({ sizes, stride: 0 }).places, [
      { from: 0, to: 16 },
      { from: 16, to: 64 },
    ]);
    assert.deepEqual(placesOf({ sizes, stride: 64 }).places, [
      { from: 0, to: 16 },
      { from: 64, to: 112 },
    ]);
  });

  it('need memory for what lies between them, where they are several', () => {
    const pieces = { sizes: [16, 48], stride: 64 };
    assert.deepEqual([memoryBytesOf(pieces, 'iov'), memoryBytesOf(pieces, 'contig')], [112, 64]);
  });
});

describe("ucx_perftest's server that sleeps", () => {
  const plan = { ...PLAN, test: known('ucp_put_bw'), oneSided: true };

  it('may do so where the adapter does all', () => {
    checkOneSided(plan);
    checkOneSided({ ...plan, test: known('ucp_fadd'), atomics: 'device' });
    checkOneSided({ ...PLAN, transport: 'ud' });
  });

  for (const [what, changes] of Object.entries({
    'all goes by messages': { transport: 'ud' },
    'atomics go by messages': { test: known('ucp_fadd') },
  } as const))
    it(`is refused where ${what}`, () =>
      assert.throws(() => checkOneSided({ ...plan, ...changes }), { name: 'ToolError', message: /-o/ }));
});
