import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { AmbiguousOption, completeOptions } from '../kit/arguments.js';
import { perftestCommand } from '../perftest/command.js';
import { PERF_TESTS } from '../perftest/tests.js';
import { Command } from 'commander';
import { playTest, rowsOf } from './perftest-play.js';
import { run } from './tool.js';

/** The options that a C tool's help lists, short and long; undefined: the tool is not installed. */
function optionsOfC(name: string): string[] | undefined {
  const { stdout, stderr, error } = spawnSync(name, ['--help'], { encoding: 'utf8' });
  if (error !== undefined) return undefined;
  return [...(stdout + stderr).matchAll(/^[ \t]+(-\w)?(?:, )?(--[\w-]+)?/gm)]
    .flatMap(([, short = '', long = '']) => [short, long])
    .filter((option) => option !== '');
}

for (const each of PERF_TESTS) {
  const options = optionsOfC(each.name);
  test(
    `${each.name} knows every option that the C tool lists`,
    { skip: options === undefined && `${each.name} of perftest is not installed` },
    () => {
      const command = perftestCommand(each);
      const root = new Command('verbena').addCommand(command);
      const known = new Set(['-h', ...command.options.flatMap(({ short, long }) => [short, long])]);
      const isKnown = (option: string): boolean =>
        known.has(option) || option === '--help' || known.has(completeOptions(root, [each.name, option], false)[1]);
      assert.ok((options ?? []).length > 60);
      assert.deepEqual(
        (options ?? []).filter((option) => !isKnown(option)),
        [],
      );
    },
  );
}

test('options of C that this device cannot serve are no beginnings of those that it serves', () => {
  const [each] = PERF_TESTS.filter(({ measure }) => measure === 'bw');
  const root = new Command('verbena').addCommand(perftestCommand(each));
  const complete = (word: string): string => completeOptions(root, [each.name, word], false)[1];
  assert.equal(complete('--cpu'), '--cpu_util');
  assert.equal(complete('--burst'), '--burst_size');
  assert.throws(() => complete('--rate_'), AmbiguousOption);
});

const REFUSED: readonly (readonly [words: readonly string[], says: RegExp])[] = [
  [['ib_send_bw', '--aes_xts'], /^Encryption by the device \(AES-XTS\) is not supported/],
  [['ib_read_lat', '--kek_path', 'x'], /^Encryption by the device/],
  [['ib_write_bw', '-O'], /^Dual-port mode needs two ports/],
  [['ib_send_lat', '--log_dci_streams', '2'], /^log_dci_streams supported only on DC/],
  [['ib_write_lat', '--mmap', 'x'], /^Messages in a mapped file are not supported/],
  [['ib_send_bw', '--typical_pkt_size', '9'], /^Typical packet size only supports PP rate limiter/],
  [['ib_send_lat', '--rate_limit', '1'], /^SW Rate limiter cann't be executed on non-BW/],
  [['ib_send_lat', '--recv_post_list', '2'], /^Receive post list is supported in BW tests only/],
  [['ib_send_bw', '-C'], /^Available only on Latency tests/],
  [['ib_send_bw', '-W', 'hw_counters/none'], /^--report-counters: no counter is called 'hw_counters\/none'/],
];
describe('an option of C that makes no sense here is refused with the reason', () => {
  for (const [words, says] of REFUSED)
    test(words.join(' '), async () => {
      const { code, stderr } = await run([...words, '-p', '1']);
      assert.equal(code, 1);
      assert.match(stderr, says);
    });
});

test('--cpu_util adds a column to tables of a duration', async () => {
  const { client } = await playTest('ib_write_bw', 1, ['-D', '1', '-f', '0', '-s', '64', '--cpu_util']);
  assert.match(client.stdout, /MsgRate\[Mpps\] {4}CPU_Util\[%\]\n/);
  const [row] = rowsOf(client);
  const percent = Number(row.at(-1));
  assert.equal(row.length, 6);
  assert.ok(percent >= 0 && percent <= 100, String(percent));
});

test('without a duration it says why there is none', async () => {
  const { client } = await playTest('ib_send_lat', 2, ['-n', '20', '--cpu_util']);
  assert.equal(client.code, 0);
  assert.equal(client.stderr, ' CPU Utilization works only with Duration mode.\n');
  assert.doesNotMatch(client.stdout, /CPU_Util/);
});

test('-C reports cycles, and says so above a list of them', async () => {
  const { client } = await playTest('ib_send_lat', 3, ['-n', '20', '-C', '-U']);
  // A machine whose processor has no known frequency refuses.
  if (client.code === 0) assert.match(client.stdout, /^#, cycles\n1, \d/m);
  else assert.match(client.stderr, /does not report the frequency/);
});

test('receive requests in lists take every message', async () => {
  for (const flags of [[], ['--use-srq', '-q', '2'], ['-b']]) {
    const { client, server } = await playTest('ib_send_bw', 4, [
      '-n',
      '200',
      '-s',
      '64',
      '--recv_post_list',
      '8',
      ...flags,
    ]);
    assert.equal(rowsOf(client)[0][0], '64');
    assert.equal(server.code, 0);
    assert.match(server.stdout, /^ Recv Post List {2}: 8$/m);
  }
});

test('a rate is limited by software: messages come no sooner than it says', async () => {
  const rate = ['--rate_limit', '2000', '--rate_units', 'p', '--burst_size', '10', '--rate_limit_type', 'SW'];
  const { client } = await playTest('ib_write_bw', 5, ['-n', '200', '-s', '64'], { client: rate });
  const [, iterations, , , perSecond] = rowsOf(client)[0];
  assert.equal(iterations, '200');
  // The first burst leaves at once.
  assert.ok(Number(perSecond) * 1e6 <= (2000 * 200) / 190 + 1, perSecond);
});

test('-W prints how much counters grew', async () => {
  const { client } = await playTest('ib_write_bw', 6, [
    '-n',
    '100',
    '-s',
    '64',
    '-W',
    'hw_counters/sent_pkts,rcvd_pkts',
  ]);
  assert.equal(client.code, 0);
  const [, sent] = /^\thw_counters\/sent_pkts=(\d+)\n\trcvd_pkts=\d+\n\n/m.exec(client.stdout) ?? [];
  assert.ok(Number(sent) >= 100, client.stdout);
});
