import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PerfFlags } from '../perftest/flags.js';
import { fitToMtu, type Settings, settle, sizesOf } from '../perftest/settings.js';
import { PERF_TESTS } from '../perftest/tests.js';
import { ToolError } from '../kit/errors.js';
import { Mtu } from '../../entry/index.js';

const FLAGS: PerfFlags = {
  connection: 'RC',
  ibPort: 1,
  port: 18515,
  sl: 0,
  qpTimeout: 14,
  pkey_index: 0,
  retry_count: 7,
  tclass: 0,
};

function settled(name: string, flags: Partial<PerfFlags> = {}, client = true): Settings {
  const found = PERF_TESTS.find((each) => each.name === name);
  assert.ok(found !== undefined);
  return settle(found, { ...FLAGS, ...flags }, client);
}

interface Case {
  readonly name: string;
  readonly is: Settings;
  readonly expected: Partial<Settings>;
}

const CASES: readonly Case[] = [
  {
    name: 'ib_send_bw moves 1000 messages of 64 KiB',
    is: settled('ib_send_bw'),
    expected: { sizeBytes: 65536, iterations: 1000, txDepth: 128, rxDepth: 512, peak: true, inlineBytes: 0 },
  },
  { name: 'ib_write_bw moves 5000', is: settled('ib_write_bw'), expected: { iterations: 5000, rxDepth: 1 } },
  {
    name: 'ib_send_lat passes messages of 2 bytes, in the request itself',
    is: settled('ib_send_lat'),
    expected: { sizeBytes: 2, iterations: 1000, txDepth: 1, cqMod: 1, inlineBytes: 236, peak: false },
  },
  {
    name: 'datagrams take less along',
    is: settled('ib_send_lat', { connection: 'UD' }),
    expected: { inlineBytes: 188 },
  },
  { name: 'a WRITE takes 220 bytes along', is: settled('ib_write_lat'), expected: { inlineBytes: 220 } },
  {
    name: 'memory of a device does not go along in the request',
    is: settled('ib_send_lat', { use_opencl: 0 }),
    expected: { inlineBytes: 0 },
  },
  { name: 'atomics have 8 bytes', is: settled('ib_atomic_bw'), expected: { sizeBytes: 8 } },
  {
    name: 'depths are no more than the messages',
    is: settled('ib_send_bw', { iters: 10, size: 64 }),
    expected: { txDepth: 10, rxDepth: 10, cqMod: 10 },
  },
  { name: 'a depth of receives is even', is: settled('ib_send_bw', { iters: 5 }), expected: { rxDepth: 6 } },
  {
    name: 'unless all sizes take turns, so that none is left over',
    is: settled('ib_send_bw', { iters: 5, all: true }),
    expected: { rxDepth: 5 },
  },
  {
    name: 'whoever loses what finds no room has room for all messages',
    is: settled('ib_send_bw', { connection: 'UD', iters: 3000 }),
    expected: { rxDepth: 3000 },
  },
  {
    name: 'small messages complete by the hundred',
    is: settled('ib_write_bw', { size: 8192 }),
    expected: { cqMod: 100 },
  },
  { name: 'large ones one by one', is: settled('ib_write_bw', { size: 8193 }), expected: { cqMod: 1 } },
  { name: 'unless asked otherwise', is: settled('ib_write_bw', { cqMod: 7 }), expected: { cqMod: 7 } },
  { name: 'or all sizes take turns', is: settled('ib_write_bw', { all: true }), expected: { cqMod: 100 } },
  {
    name: 'of a list the last completes',
    is: settled('ib_write_bw', { post_list: 20 }),
    expected: { postList: 20, cqMod: 20 },
  },
  {
    name: 'a rate has the unit Gbit/s and bursts of the depth, unless asked otherwise',
    is: settled('ib_write_bw', { rate_limit: 2, txDepth: 16 }),
    expected: { rate: { limit: 2, units: 'g', burst: 16 } },
  },
  {
    name: 'how busy processors are is measured over a duration',
    is: settled('ib_write_bw', { cpu_util: true, duration: 5 }),
    expected: { cpuUtil: true },
  },
  {
    name: 'and over nothing else',
    is: settled('ib_write_bw', { cpu_util: true }),
    expected: { cpuUtil: false },
  },
  {
    name: 'the side that only receives looks for no peak',
    is: settled('ib_send_bw', {}, false),
    expected: { active: false, peak: false },
  },
  {
    name: 'of very many messages nobody does',
    is: settled('ib_write_bw', { iters: 20001 }),
    expected: { peak: false },
  },
  {
    name: 'reversed, the server sends',
    is: settled('ib_send_bw', { reversed: true }, false),
    expected: { active: true },
  },
  {
    name: 'a duration has a quarter as its margins',
    is: settled('ib_send_bw', { duration: 10 }),
    expected: { period: { durationMs: 10_000, marginMs: 2000 }, iterations: Infinity, peak: false, txDepth: 128 },
  },
  {
    name: 'without end, periods of 5 s follow each other',
    is: settled('ib_write_bw', { run_infinitely: true }),
    expected: { period: { durationMs: 5000, marginMs: 0 }, endless: true },
  },
  {
    name: 'XRC shares its receive queue',
    is: settled('ib_send_bw', { connection: 'XRC' }),
    expected: { sharedReceives: true },
  },
  {
    name: 'with -R the sides talk by rdma_cm',
    is: settled('ib_send_bw', { rdma_cm: true }),
    expected: { byCm: true, talkByCm: true },
  },
  {
    name: 'with -z they only talk',
    is: settled('ib_send_bw', { comm_rdma_cm: true }),
    expected: { byCm: false, talkByCm: true },
  },
];
for (const { name, is, expected } of CASES) {
  test(name, () => {
    // The names are those of the expected settings.
    const own = Object.fromEntries(Object.keys(expected).map((key) => [key, is[key as keyof Settings]]));
    assert.deepEqual(own, expected);
  });
}

const REFUSALS: readonly (readonly [string, string, Partial<PerfFlags>])[] = [
  ["Duration mode doesn't work with events.", 'ib_send_bw', { duration: 5, events: true }],
  ["Duration mode currently doesn't support running on all sizes.", 'ib_send_bw', { duration: 5, all: true }],
  [
    'run_infinitely mode is not supported in SEND Bidirectional BW test',
    'ib_send_bw',
    { run_infinitely: true, bidirectional: true },
  ],
  ['please check that DURATION > 2*MARGIN', 'ib_send_bw', { duration: 4, margin: 2 }],
  ['UC is not supported in librdmacm', 'ib_send_bw', { rdma_cm: true, connection: 'UC' }],
  ['XRC does not support RDMA_CM', 'ib_send_bw', { rdma_cm: true, connection: 'XRC' }],
  ['TOS only valid for rdma_cm based QP', 'ib_send_bw', { tos: 32 }],
  ['ODP does not support UC', 'ib_send_bw', { odp: true, connection: 'UC' }],
  ['Using SRQ depth should be greater than number of QPs.', 'ib_send_bw', { useSrq: true, qp: 9, rxDepth: 8 }],
  ['Number of iterations must be a multiple of post list size', 'ib_send_bw', { iters: 10, post_list: 3 }],
  ['Number of iterations must be a multiple of receive post list size', 'ib_send_bw', { iters: 10, recv_post_list: 3 }],
  [
    'Receive post list size must not be greater than the rx depth of a QP: it is 20, and the depth 10',
    'ib_send_bw',
    { iters: 20, recv_post_list: 20, rxDepth: 10 },
  ],
  ["Can't enable burst mode when rate limiter is off", 'ib_send_bw', { burst_size: 5 }],
  ['--rate_limit_type needs a rate: give --rate_limit as well', 'ib_send_bw', { rate_limit_type: 'SW' }],
  ['Packet Pacing is only supported for Raw Ethernet.', 'ib_send_bw', { rate_limit: 1, rate_limit_type: 'PP' }],
  [
    'The QP failed to accept HW rate limit: this device has none. Give --rate_limit_type SW.',
    'ib_send_bw',
    { rate_limit: 1, rate_limit_type: 'HW' },
  ],
  ['run_infinitely does not support rate limit feature yet', 'ib_write_bw', { rate_limit: 1, run_infinitely: true }],
  [
    "SW Rate limiter cann't be executed on non-BW, ATOMIC or bidirectional SEND / SEND_IMM tests",
    'ib_send_bw',
    { rate_limit: 1, bidirectional: true },
  ],
  ['Post list size must be a multiple of CQ moderation', 'ib_send_bw', { iters: 12, post_list: 6, cqMod: 4 }],
  ['Post list size must not be greater than the tx depth', 'ib_send_bw', { iters: 200, post_list: 200 }],
  [
    'Output verbosity level for BW can be: bandwidth, message_rate; for LAT: latency',
    'ib_send_lat',
    { output: 'bandwidth' },
  ],
  [
    'The memory of one device can be used: give --use_cuda or --use_opencl',
    'ib_send_bw',
    { use_cuda: 0, use_opencl: 0 },
  ],
  [
    'The latency of WRITEs is measured by looking at memory, which a program cannot do with that of a device',
    'ib_write_lat',
    { use_opencl: 0 },
  ],
  [
    'Memory of a device is not sent inline, nor registered for on-demand paging',
    'ib_send_bw',
    { use_cuda: 0, odp: true },
  ],
  ['Memory of a device is not supported with -R -c UD', 'ib_send_bw', { use_cuda: 1, rdma_cm: true, connection: 'UD' }],
];
for (const [says, name, flags] of REFUSALS) {
  test(`${Object.keys(flags).join(' and ')} may be refused: ${says}`, () => {
    assert.throws(() => settled(name, flags), new ToolError(says));
  });
}

test('all sizes are the powers of two up to 8 MiB', () => {
  const sizes = sizesOf(settled('ib_write_bw', { all: true }));
  assert.deepEqual([sizes.length, sizes[0], sizes.at(-1)], [23, 2, 1 << 23]);
});

test('of datagrams up to the MTU', () => {
  const settings = fitToMtu(settled('ib_send_bw', { all: true, connection: 'UD' }), Mtu.MTU_1024, false, () => {});
  assert.deepEqual(sizesOf(settings), [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]);
});

test('a datagram that nobody asked to be longer than the MTU is made to fit', () => {
  const notes: string[] = [];
  const settings = settled('ib_send_bw', { connection: 'UD' });
  assert.equal(fitToMtu(settings, Mtu.MTU_2048, false, (text) => notes.push(text)).sizeBytes, 2048);
  assert.deepEqual(notes, ['Max msg size in UD is MTU 2048; changing to this MTU']);
});

test('one that somebody asked for is refused', () => {
  const settings = settled('ib_send_bw', { connection: 'UD', size: 2049 });
  assert.throws(() => fitToMtu(settings, Mtu.MTU_2048, true, () => {}), /cannot be greater than MTU/);
});
