import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Command } from 'commander';
import { perftestCommand } from '../perftest/command.js';
import { PERF_TESTS } from '../perftest/tests.js';
import { AmbiguousOption, completeOptions } from '../kit/arguments.js';
import { run } from './tool.js';

function program(): Command {
  const sub = new Command('sub').option('--deep', '').option('-d, --depth <n>', '');
  const main = new Command('main')
    .option('-s, --size <bytes>', '')
    .option('--report_gbits', '')
    .option('--report-both', '')
    .option('--report', '')
    .option('-q, --quick', '')
    .option('--json', '')
    .option('--jumbo', '')
    .option('--no-warm-up', '')
    .addCommand(sub);
  return new Command('verbena').addCommand(main);
}

const complete = (...words: string[]): string[] => completeOptions(program(), ['main', ...words], false).slice(1);

describe('a beginning of a long option', () => {
  const CASES: readonly (readonly [name: string, given: string[], completed: string[]])[] = [
    ['stands for the only option that begins so', ['--report_g'], ['--report_gbits']],
    ['takes its value with it', ['--siz=100', '--si', '3'], ['--size=100', '--size', '3']],
    ['that is a name of its own stands for that', ['--report'], ['--report']],
    ['stands for an option of C rather than for one of ours', ['--j'], ['--jumbo']],
    ['stands for one of ours when there is no other', ['--js', '--no-w'], ['--json', '--no-warm-up']],
    ['stands for help', ['--he'], ['--help']],
    ['is left alone as the value of an option', ['--size', '--rep', '-s', '--rep'], ['--size', '--rep', '-s', '--rep']],
    ['is left alone as the value of the last of several letters', ['-qs', '--rep'], ['-qs', '--rep']],
    ['is completed after letters that have their value', ['-s3', '--report_g'], ['-s3', '--report_gbits']],
    ['is left alone after --', ['--', '--report_g'], ['--', '--report_g']],
    ['that begins no option is left to the parser', ['--bogus=1'], ['--bogus=1']],
    ['is completed after a host', ['127.0.0.1', '--report_g'], ['127.0.0.1', '--report_gbits']],
    ['of a subcommand is one of its own options', ['sub', '--dee', '--dept=3'], ['sub', '--deep', '--depth=3']],
  ];
  for (const [name, given, completed] of CASES)
    test(name, () => {
      assert.deepEqual(complete(...given), completed);
    });

  test('that several options have is refused with their names', () => {
    assert.throws(
      () => complete('--rep'),
      new AmbiguousOption('--rep', ['--report_gbits', '--report-both', '--report']),
    );
  });

  test('is left alone where words belong to another program', () => {
    assert.deepEqual(completeOptions(program(), ['main', '--report_g', 'ls', '--report_g'], true), [
      'main',
      '--report_gbits',
      'ls',
      '--report_g',
    ]);
  });
});

/** What the C tools' getopt_long takes from the command lines of public scripts. */
const OF_SCRIPTS = ['--report_gbit', '--bidir', '--dur', '--dont_xchg', '--out_json_f', '--lim', '--cq', '--rdma'];

test('the beginnings that scripts use are unique in the bandwidth tests', () => {
  for (const each of PERF_TESTS.filter(({ measure }) => measure === 'bw')) {
    const root = new Command('verbena').addCommand(perftestCommand(each));
    for (const word of OF_SCRIPTS.filter((beginning) => beginning !== '--lim'))
      assert.notEqual(completeOptions(root, [each.name, word], false)[1], word, `${each.name} ${word}`);
    assert.throws(() => completeOptions(root, [each.name, '--lim'], false), AmbiguousOption);
  }
});

test("the C tools' own spelling of --report-histogram is taken, and its beginnings", () => {
  const [lat] = PERF_TESTS.filter(({ measure }) => measure === 'lat');
  const root = new Command('verbena').addCommand(perftestCommand(lat));
  for (const word of ['--report-histogrm', '--report-hist', '--report-histogram'])
    assert.deepEqual(completeOptions(root, [lat.name, word], false), [lat.name, '--report-histogram']);
});

describe('a tool', () => {
  for (const words of [
    ['ibv_devinfo', '--lis'],
    ['ibv_devinfo', '--ib-d=verbena0', '-l'],
    ['rdma', '--js', 'dev'],
    ['kv', 'get', '--he'],
    ['ib_send_bw', '--he'],
  ])
    test(`takes ${words.join(' ')}`, async () => {
      const { code, stderr } = await run(words);
      assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    });

  test('refuses a beginning that several options have, as it refuses an unknown option', async () => {
    const { code, stderr } = await run(['explain', '--']);
    assert.equal(code, 2, stderr);
    const ambiguous = await run(['ib_send_bw', '--report']);
    assert.equal(ambiguous.code, 1);
    assert.match(
      ambiguous.stderr,
      /^error: option '--report' is ambiguous; possibilities: '--report-counters' '--report-both' '--report_gbits'/,
    );
  });
});
