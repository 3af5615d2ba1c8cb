import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { PERF_TESTS } from '../perftest/tests.js';
import { playTest, rowsOf } from './perftest-play.js';
import { clientAt, serverAt } from './pingpong-play.js';
import { run, Tool } from './tool.js';
import { freePort } from '../../../test/support/ports.js';

for (const { name } of PERF_TESTS) {
  test(`${name} --help describes the test`, async () => {
    const { code, stdout, stderr } = await run([name, '--help']);
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    assert.match(stdout, new RegExp(`^Usage: verbena ${name} `));
    assert.match(stdout, new RegExp(`^  verbena ${name} 127\\.0\\.0\\.1 `, 'm'));
  });
}

const ALL_SIZES = [
  { tool: 'ib_send_bw', flags: ['-b'], serverRows: 23 },
  { tool: 'ib_write_bw', flags: ['-b'], serverRows: 23 },
  { tool: 'ib_read_bw', flags: [], serverRows: 1 },
  { tool: 'ib_send_lat', flags: [], serverRows: 23 },
  { tool: 'ib_write_lat', flags: [], serverRows: 23 },
];
for (const [index, { tool, flags, serverRows }] of ALL_SIZES.entries()) {
  test(`${tool} -a goes through all sizes`, async () => {
    const { server, client } = await playTest(tool, 40 + index, ['-a', '-n', '5', ...flags]);
    const rows = rowsOf(client);
    assert.deepEqual(
      rows.map(([size]) => Number(size)),
      Array.from({ length: 23 }, (_, i) => 2 ** (i + 1)),
    );
    assert.equal(rowsOf(server).length, serverRows);
  });
}

for (const [index, { name, measure }] of PERF_TESTS.entries()) {
  test(`${name} -D measures for so long`, async () => {
    const { client } = await playTest(name, 46 + index, ['-D', '1', '-F']);
    const [[, count, ...figures]] = rowsOf(client);
    assert.ok(Number(count) > 0);
    // Peak, average and rate; or average and rate.
    assert.equal(figures.length, measure === 'bw' ? 3 : 2);
  });
}

test('a datagram test ends whatever gets lost, and tells how many did', async () => {
  // The receiver has room for two messages, and the sender does not wait.
  const flags = ['-c', 'UD', '-n', '400', '-s', '4K', '-r', '2'];
  const { server, client } = await playTest('ib_send_bw', 54, flags);
  assert.equal(server.code, 0, server.stderr);
  assert.equal(client.code, 0, client.stderr);
  const note = /^(?:(\d+) messages did not come: nobody repeats what is lost over UD\.\n)?$/.exec(server.stderr);
  const lost = Number(note?.[1] ?? 0);
  const arrived = Number(/^ 4096 +(\d+) /m.exec(server.stdout)?.[1]);
  assert.equal(lost + arrived, 400);
});

test('-U and -H print what the figures are made of', async () => {
  const { client } = await playTest('ib_send_lat', 55, ['-n', '10'], { client: ['-U', '-H'] });
  assert.equal(client.code, 0, client.stderr);
  const samples = [...client.stdout.matchAll(/^#, usec\n((?:\d+, [\d.]+\n)+)/gm)].map(([, lines]) =>
    lines
      .trim()
      .split('\n')
      .map((line) => Number(line.split(', ')[1])),
  );
  assert.deepEqual(
    samples.map(({ length }) => length),
    [9, 7],
  );
  const [unsorted, sorted] = samples;
  assert.deepEqual(sorted, unsorted.toSorted((a, b) => a - b).slice(0, 7));
});

test('--report-both tells each direction', async () => {
  const { client } = await playTest('ib_write_bw', 56, ['-n', '20', '-b', '--report-both']);
  const parts = client.stdout.split(/ (?:Local|Remote) results: \n/);
  const averages = parts.map((part) => Number(/^ 65536 +20 +\S+ +(\S+)/m.exec(part)?.[1]));
  assert.equal(averages.length, 3);
  assert.ok(Math.abs(averages[0] - averages[1] - averages[2]) < 0.05, averages.join());
});

test('--json prints one object', async () => {
  const { server, client } = await playTest('ib_read_bw', 57, ['-n', '20', '--json']);
  for (const { code, stdout, stderr } of [server, client]) {
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    const { test_info, results, counters } = JSON.parse(stdout) as Record<string, Record<string, number | string>>;
    assert.equal(test_info['test'], 'RDMA_Read_BW_Test');
    assert.deepEqual([results['MsgSize'], results['n_iterations']], [65536, 20]);
    assert.ok(Number(counters['rcvd_pkts']) > 0);
  }
});

test('--out_json_file has the report as a file, too', async () => {
  const file = join(tmpdir(), `verbena-perftest-${process.pid}.json`);
  try {
    const { client } = await playTest('ib_send_lat', 58, ['-n', '20'], {
      client: ['--out_json_file', file],
    });
    const [row] = rowsOf(client);
    const { results } = JSON.parse(readFileSync(file, 'utf8')) as {
      results: Record<string, number>;
    };
    assert.deepEqual(Object.keys(results), [
      'MsgSize',
      'n_iterations',
      't_min',
      't_max',
      't_typical',
      't_avg',
      't_stdev',
      'percentile_99',
      'percentile_99.9',
    ]);
    assert.equal(results['t_avg'].toFixed(2), row[5]);
  } finally {
    rmSync(file, { force: true });
  }
});

test('of all sizes the report file has the last as its results, as the C tools do, and all beside it', async () => {
  const file = join(tmpdir(), `verbena-report-${process.pid}-a.json`);
  try {
    const { server } = await playTest('ib_write_lat', 59, ['-n', '10', '-a'], {
      client: ['--out_json_file', file],
    });
    assert.equal(server.code, 0);
    const { results, all_results: all } = JSON.parse(readFileSync(file, 'utf8')) as {
      results: Record<string, number>;
      all_results: Record<string, number>[];
    };
    assert.equal(results['MsgSize'], 2 ** 23);
    assert.deepEqual(
      all.map(({ MsgSize }) => MsgSize),
      Array.from({ length: 23 }, (_, i) => 2 ** (i + 1)),
    );
  } finally {
    rmSync(file, { force: true });
  }
});

test('--output prints one figure only', async () => {
  const { client } = await playTest('ib_write_bw', 60, ['-n', '20'], {
    client: ['--output', 'message_rate'],
  });
  assert.match(client.stdout, /^\d+\.\d{6}\n$/);
});

test('a bandwidth below the limit is a failure of the client alone', async () => {
  const { client, server } = await playTest('ib_write_bw', 61, ['-n', '20', '-w', '10000000', '-y', '10000000']);
  assert.equal(client.code, 1);
  assert.deepEqual({ code: server.code, stderr: server.stderr }, { code: 0, stderr: '' });
  assert.match(client.stderr, /^BW result \d+\.\d\d is below bw limit 10000000\n$/);
});

test('--run_infinitely prints a row every period, until the client ends', async () => {
  const port = String(await freePort());
  const flags = ['ib_send_bw', '-p', port, '--run_infinitely', '-D', '1'];
  const server = new Tool([...flags, '--addr', serverAt(62)]);
  await server.printed('Waiting for client');
  const client = new Tool([...flags, '--addr', clientAt(62), '127.0.0.1']);
  await client.printed(' 65536 ');
  await server.printed(' 65536 ');
  client.child.kill('SIGINT');
  assert.equal((await client.ended).code, 130);
  const { code, stdout, stderr } = await server.ended;
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  assert.match(stdout, / Client closed connection\n-+\n$/);
});

const REFUSALS = [
  {
    flags: ['ib_write_bw', '-c', 'UD'],
    says: /argument 'UD' is invalid\. Allowed choices are RC, UC, XRC\./,
  },
  { flags: ['ib_read_bw', '-c', 'UC'], says: /argument 'UC' is invalid/ },
  { flags: ['ib_send_lat', '-q', '2'], says: /^Multiple QPs only available on bw tests$/m },
  { flags: ['ib_send_lat', '-b'], says: /^Bidirectional is only available in BW test$/m },
  {
    flags: ['ib_write_lat', '--run_inf'],
    says: /^run_infinitely exists only in BW tests for now\.$/m,
  },
  { flags: ['ib_write_bw', '-H'], says: /^Available only on Latency tests$/m },
  { flags: ['ib_write_bw', '-e'], says: /^Events feature not available on WRITE verb$/m },
  { flags: ['ib_read_bw', '-r', '2'], says: /^On RDMA verbs rx depth can be only 1$/m },
  {
    flags: ['ib_read_lat', '-I', '8'],
    says: /^Inline feature not available on READ\/Atomic verbs$/m,
  },
  {
    flags: ['ib_send_bw', '-A', 'FETCH_AND_ADD'],
    says: /^You are not running the atomic_lat\/bw test!/m,
  },
  { flags: ['ib_send_bw', '--force-link', 'IB'], says: /^The link of this device is Ethernet/m },
  { flags: ['ib_atomic_bw', '-s', '16'], says: /^Atomic operations move 8 bytes/m },
  { flags: ['ib_send_bw', '-n', '4'], says: /Give a number from 5 to 100000000/ },
  { flags: ['ib_send_bw', '-s', '2G'], says: /Give a number from 1 to/ },
  { flags: ['ib_send_bw', '-m', '1500'], says: /A path MTU is 256, 512, 1024, 2048 or 4096/ },
  {
    flags: ['ib_send_bw', '-D', '4', '-f', '2'],
    says: /^please check that DURATION > 2\*MARGIN$/m,
  },
  { flags: ['ib_send_bw', '-d', 'mlx5_0'], says: /^IB device mlx5_0 not found$/m },
];
for (const { flags, says } of REFUSALS) {
  test(`${flags.join(' ')} is refused`, async () => {
    const { code, stderr } = await run([...flags, '-p', String(await freePort())]);
    assert.equal(code, 1);
    assert.match(stderr, says);
  });
}

test('a client without a server says so', async () => {
  const { code, stderr } = await run(['ib_send_bw', '-p', String(await freePort()), '127.0.0.1']);
  assert.equal(code, 1);
  assert.match(stderr, /^Couldn't connect to 127\.0\.0\.1:\d+ \(ECONNREFUSED\); is the server running there\?\n$/);
});

test('without an address two sides on one machine find two', async () => {
  const port = String(await freePort());
  const server = new Tool(['ib_send_lat', '-p', port, '-n', '5']);
  await server.printed('Waiting for client');
  const client = await run(['ib_send_lat', '-p', port, '-n', '5', 'localhost']);
  assert.equal(client.code, 0, client.stderr);
  assert.equal((await server.ended).code, 0);
});
