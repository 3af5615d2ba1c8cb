import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertRow, playTest, rowsOf } from './perftest-play.js';

/** Which sides have a row to show. */
type Shown = 'both' | 'client';

interface Case {
  readonly tool: string;
  readonly flags: readonly string[];
  readonly sizeBytes: number;
  readonly iterations: number;
  readonly shown?: Shown;
}

const CASES: readonly Case[] = [
  { tool: 'ib_send_bw', flags: ['-n', '50'], sizeBytes: 65536, iterations: 50 },
  { tool: 'ib_send_bw', flags: ['-n', '50', '-b'], sizeBytes: 65536, iterations: 50 },
  { tool: 'ib_send_bw', flags: ['-n', '51', '-c', 'UC', '-s', '2K'], sizeBytes: 2048, iterations: 51 },
  { tool: 'ib_send_bw', flags: ['-n', '50', '-c', 'UD', '-s', '1000'], sizeBytes: 1000, iterations: 50 },
  { tool: 'ib_send_bw', flags: ['-n', '50', '-c', 'XRC', '-b', '-q', '2'], sizeBytes: 65536, iterations: 100 },
  { tool: 'ib_send_bw', flags: ['-n', '50', '-q', '3', '--use-srq'], sizeBytes: 65536, iterations: 150 },
  { tool: 'ib_send_bw', flags: ['-n', '50', '-e', '-Q', '5'], sizeBytes: 65536, iterations: 50 },
  { tool: 'ib_send_bw', flags: ['-n', '50', '--reversed', '-s', '1M'], sizeBytes: 1 << 20, iterations: 50 },
  { tool: 'ib_send_bw', flags: ['-n', '50', '-r', '4', '-t', '2'], sizeBytes: 65536, iterations: 50 },
  { tool: 'ib_send_lat', flags: ['-n', '50'], sizeBytes: 2, iterations: 50 },
  { tool: 'ib_send_lat', flags: ['-n', '50', '-s', '3000', '-m', '256'], sizeBytes: 3000, iterations: 50 },
  { tool: 'ib_send_lat', flags: ['-n', '50', '-c', 'UD', '-I', '0'], sizeBytes: 2, iterations: 50 },
  { tool: 'ib_send_lat', flags: ['-n', '50', '-e'], sizeBytes: 2, iterations: 50 },
  { tool: 'ib_send_lat', flags: ['-n', '50', '-r', '2', '--latency_gap', '10'], sizeBytes: 2, iterations: 50 },
  { tool: 'ib_send_lat', flags: ['-n', '50', '--host', 'inline'], sizeBytes: 2, iterations: 50 },
  { tool: 'ib_write_bw', flags: ['-n', '50', '-q', '2'], sizeBytes: 65536, iterations: 100 },
  { tool: 'ib_write_bw', flags: ['-n', '50', '-b', '--host', 'inline'], sizeBytes: 65536, iterations: 50 },
  { tool: 'ib_write_bw', flags: ['-n', '60', '-l', '20', '-s', '8', '-I', '8'], sizeBytes: 8, iterations: 60 },
  { tool: 'ib_write_bw', flags: ['-n', '50', '-N', '--report_gbits', '--odp'], sizeBytes: 65536, iterations: 50 },
  { tool: 'ib_write_lat', flags: ['-n', '300'], sizeBytes: 2, iterations: 300 },
  { tool: 'ib_write_lat', flags: ['-n', '50', '-c', 'XRC', '-s', '1K'], sizeBytes: 1024, iterations: 50 },
  { tool: 'ib_write_lat', flags: ['-n', '50', '--host', 'inline', '-c', 'UC'], sizeBytes: 2, iterations: 50 },
  { tool: 'ib_read_bw', flags: ['-n', '50', '-o', '2'], sizeBytes: 65536, iterations: 50 },
  { tool: 'ib_read_bw', flags: ['-n', '50', '-b', '--perform_warm_up'], sizeBytes: 65536, iterations: 50 },
  { tool: 'ib_read_lat', flags: ['-n', '50', '-s', '9000'], sizeBytes: 9000, iterations: 50, shown: 'client' },
  { tool: 'ib_read_lat', flags: ['-n', '50', '--host', 'inline'], sizeBytes: 2, iterations: 50, shown: 'client' },
  { tool: 'ib_atomic_bw', flags: ['-n', '50', '-q', '2', '-b'], sizeBytes: 8, iterations: 100 },
  { tool: 'ib_atomic_bw', flags: ['-n', '50', '-A', 'CMP_AND_SWAP'], sizeBytes: 8, iterations: 50 },
  { tool: 'ib_atomic_lat', flags: ['-n', '50', '-e'], sizeBytes: 8, iterations: 50, shown: 'client' },
];

for (const [index, { tool, flags, sizeBytes, iterations, shown = 'both' }] of CASES.entries()) {
  test(`two sides run ${tool} ${flags.join(' ')}`, async () => {
    const { server, client } = await playTest(tool, index, flags);
    const told = rowsOf(client);
    assert.equal(told.length, 1);
    assertRow(told[0], sizeBytes, iterations);
    const rows = rowsOf(server);
    assert.equal(rows.length, shown === 'both' ? 1 : 0);
    for (const row of rows) assertRow(row, sizeBytes, iterations);
  });
}
