/**
 * `npm run bench [-- --quick] [-- --json FILE]`: where the software NIC stands, in one table, beside what the UDP socket
 * alone gives (the floor) and what node:net gives (what programs use today).
 */
import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus, release } from 'node:os';
import { parseArgs } from 'node:util';
import { bareSpinRoundTrip, bareStream } from './bare-udp.js';
import { connectionMemory, connectionRate } from './cm.js';
import type { Effort } from './endpoint.js';
import { netBandwidth, netConnectionRate, netRoundTrip } from './net.js';
import { Peer } from './peers.js';
import { sendRoundTrip, writeBandwidth, writeInTurn, writeRate } from './rdma.js';
import { type Figure, figureOf } from './statistics.js';

const USAGE = `Usage: npm run bench -- [--quick] [--json FILE]

Measures the software NIC beside the bare UDP socket and node:net: round trips, bandwidth, rate, cost of a queue pair.

  --quick      fewer and shorter samples, some 30 s instead of two minutes
  --json FILE  writes the figures there as well
  --help       this text`;

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
if (options.help) {
  console.log(USAGE);
  process.exit(0);
}

const effort: Effort = options.quick
  ? { stretches: 5, stretchMs: 100, warmUpMs: 1000 }
  : { stretches: 15, stretchMs: 400, warmUpMs: 2000 };
const LIST = 64;
const KIB = 1024;

interface Row {
  readonly what: string;
  readonly unit: string;
  readonly measure: () => Promise<readonly number[]>;
}

interface Section {
  readonly title: string;
  readonly rows: readonly Row[];
}

/** A figure that another program finds the median of; asked for again and again, so that its spread is seen as well. */
async function repeat(measure: () => Promise<number>): Promise<readonly number[]> {
  const samples: number[] = [];
  for (let i = 0; i < (options.quick ? 2 : 5); i += 1) samples.push(await measure());
  return samples;
}

async function qpCost(count: number, which: 0 | 1): Promise<number> {
  await using peer = new Peer('qp-cost', [`${count}`]);
  return (await peer.samples({}))[which];
}

const sections: readonly Section[] = [
  {
    title: 'Round trip of 64 bytes between two processes',
    rows: [
      { what: 'bare UDP through koffi, spinning', unit: 'µs', measure: () => repeat(() => bareSpinRoundTrip('calls')) },
      { what: 'RC SEND, inline', unit: 'µs', measure: () => sendRoundTrip('inline', effort) },
      { what: 'RC SEND, thread', unit: 'µs', measure: () => sendRoundTrip('thread', effort) },
      { what: 'node:net', unit: 'µs', measure: () => netRoundTrip(effort) },
    ],
  },
  {
    title: 'Bandwidth, one way',
    rows: [
      {
        what: 'bare UDP through koffi, received',
        unit: 'GB/s',
        measure: () => repeat(async () => (await bareStream('calls')).receivedGBps),
      },
      ...[64 * KIB, KIB * KIB].flatMap((bytes): Row[] => {
        const size = bytes === 64 * KIB ? '64 KiB' : '1 MiB';
        return [
          {
            what: `RDMA WRITE of ${size}, inline`,
            unit: 'GB/s',
            measure: () => writeBandwidth('inline', bytes, effort),
          },
          {
            what: `RDMA WRITE of ${size}, thread`,
            unit: 'GB/s',
            measure: () => writeBandwidth('thread', bytes, effort),
          },
          { what: `node:net, writes of ${size}`, unit: 'GB/s', measure: () => netBandwidth(bytes, effort) },
        ];
      }),
    ],
  },
  {
    title: `Rate of RDMA WRITEs of 8 bytes, in lists of ${LIST}`,
    rows: [
      { what: 'inline', unit: '10^6/s', measure: () => writeRate('inline', LIST, effort) },
      { what: 'thread', unit: '10^6/s', measure: () => writeRate('thread', LIST, effort) },
    ],
  },
  {
    title: 'An RDMA WRITE of 64 bytes, one after the other, each on the next queue pair',
    rows: [1, 100, 10_000].map((count) => ({
      what: `of ${count.toLocaleString('en')}, inline`,
      unit: 'µs',
      measure: () => writeInTurn('inline', count, effort),
    })),
  },
  {
    title: 'A queue pair with 128 send and 128 receive requests',
    rows: [1, 1000, 10_000].flatMap((count): Row[] => [
      { what: `time to create, of ${count}`, unit: 'µs', measure: () => repeat(() => qpCost(count, 0)) },
      { what: `memory, of ${count}`, unit: 'KiB', measure: () => repeat(() => qpCost(count, 1)) },
    ]),
  },
  {
    title: 'Connections by rdma_cm, 1,000 made and ended together, queue pairs and all',
    rows: [
      ...(['inline', 'thread'] as const).map((host): Row => {
        const runs = options.quick ? 2 : 5;
        return { what: `in a second, ${host}`, unit: '1/s', measure: () => connectionRate(host, 1000, runs) };
      }),
      { what: 'in a second, node:net', unit: '1/s', measure: () => netConnectionRate(1000, effort) },
      {
        what: "the connection manager's memory of one end",
        unit: 'KiB',
        measure: () => repeat(() => connectionMemory(10_000)),
      },
    ],
  },
];

const digits = (value: number): string => (value >= 100 ? value.toFixed(0) : value.toFixed(value >= 10 ? 1 : 2));

function line(what: string, figure: Figure, unit: string): string {
  const spread = `${digits(figure.min)} to ${digits(figure.max)}`;
  return `  ${what.padEnd(38)}${digits(figure.median).padStart(8)} ${unit.padEnd(7)} (${spread}, ${figure.samples} samples)`;
}

const machine = `${availableParallelism()} processors (${cpus()[0]?.model.trim() ?? 'unknown'}), Linux ${release()}, Node ${process.version}`;
console.log(`${machine}\nMedian (spread), ${options.quick ? 'quick' : 'full'} run`);
const results: object[] = [];
for (const { title, rows } of sections) {
  console.log(`\n${title}`);
  for (const { what, unit, measure } of rows) {
    const figure = figureOf(await measure());
    console.log(line(what, figure, unit));
    results.push({ section: title, what, unit, ...figure });
  }
}
if (options.json !== undefined)
  writeFileSync(
    options.json,
    `${JSON.stringify({ machine, date: new Date().toISOString(), results }, undefined, 2)}\n`,
  );
