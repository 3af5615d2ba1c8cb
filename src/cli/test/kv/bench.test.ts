import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { run, Tool } from '../tool.js';
import { Serving } from './serving.js';

interface Facts {
  readonly interrupted: boolean;
  readonly seed: number;
  readonly results: readonly {
    readonly window: number;
    readonly operations: number;
    readonly gets: number;
    readonly found: number;
    readonly puts: number;
    readonly latencyUs: Readonly<Record<string, number>>;
  }[];
}

const folder = mkdtempSync(join(tmpdir(), 'verbena-kv-'));
after(() => rmSync(folder, { recursive: true }));

const factsOf = (stdout: string): Facts => JSON.parse(stdout) as Facts;
const QUICK = ['--keys', '500', '--seconds', '1', '--warm-up', '0'];
const ENDLESS = ['--seconds', '3600', '--warm-up', '0', '--no-fill', '--put', '100', '--window', '4'];

describe('kv bench', () => {
  it('measures a store that it begins itself, by each window', async () => {
    const plot = join(folder, 'whole.svg');
    const { code, stdout, stderr } = await run([
      'kv',
      'bench',
      ...QUICK,
      '-w',
      '1,8',
      '--zipf',
      '--json',
      '--plot',
      plot,
    ]);
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    const { interrupted, results } = factsOf(stdout);
    assert.equal(interrupted, false);
    assert.deepEqual(
      results.map(({ window }) => window),
      [1, 8],
    );
    for (const { operations, gets, found, puts, latencyUs } of results) {
      assert.ok(operations > 0);
      assert.deepEqual({ operations, found }, { operations: gets + puts, found: gets });
      assert.ok(latencyUs['p50'] <= latencyUs['p99'] && latencyUs['p99'] <= latencyUs['max']);
    }
    assert.match(readFileSync(plot, 'utf8'), /^<svg [^]*>99th percentile<[^]*<\/svg>\n$/);
  });

  it('prints a table for people', async () => {
    await using serving = await Serving.start(1);
    const args = [...QUICK, '--clients', '3', '--window', '2', '--put', '100', '--transport', 'ud', '--seed', '7'];
    const { code, stdout } = await serving.kv('bench', ...args);
    assert.equal(code, 0);
    const [who, what, head, row] = stdout.split('\n');
    assert.equal(who, `3 clients of ${serving.host}:7175 over ud`);
    assert.equal(what, '500 keys of 16 bytes chosen uniformly, values of 32 bytes, 100 % PUT, seed 7');
    assert.match(head, /^window +requests\/s +p50 µs +p90 +p99 +p99\.9 +max +found % +repeats$/);
    assert.match(row, /^ +2 +[\d,]+( +[\d.]+){5} +- +\d+$/);
  });

  for (const json of [[], ['--json']])
    it(`prints at Ctrl-C what it has ${json.join('')}`, async () => {
      await using serving = await Serving.start(1, '--stats', '1');
      const counted = serving.printed(/"sets":\d{3,}/);
      const plot = join(folder, 'cut.svg');
      const bench = new Tool(['kv', 'bench', ...serving.reach, ...ENDLESS, '--plot', plot, ...json]);
      await counted;
      bench.child.kill('SIGINT');
      const { code, stdout, stderr } = await bench.ended;
      assert.deepEqual({ code, stderr }, { code: 130, stderr: '' });
      if (json.length === 0)
        assert.match(stdout, /\n +4 +[\d,]+( +[\d.]+){5} +- +\d+\n\(interrupted after [\d.]+ s\)\n$/);
      else {
        const { interrupted, results } = factsOf(stdout);
        assert.equal(interrupted, true);
        assert.ok(results[0].puts > 0);
      }
      assert.match(readFileSync(plot, 'utf8'), /<\/svg>\n$/);
    });

  it('prints what it has when the server is gone, and fails', async () => {
    await using serving = await Serving.start(1, '--stats', '1');
    const counted = serving.printed(/"sets":\d{3,}/);
    const bench = new Tool(['kv', 'bench', ...serving.reach, ...ENDLESS]);
    await counted;
    await serving.interrupt();
    const { code, stdout, stderr } = await bench.ended;
    assert.equal(code, 2);
    assert.match(stdout, /\(interrupted after [\d.]+ s\)\n$/);
    assert.match(stderr, /\((ECONNRESET|ETIMEDOUT)\)/);
  });

  it('leaves no server behind when it is killed', async () => {
    const bench = new Tool(['kv', 'bench', '--keys', '100', '--seconds', '3600']);
    await bench.printed('requests/s');
    bench.child.kill('SIGKILL');
    // The server has the same standard error: that closes when both have ended.
    assert.equal((await bench.ended).signal, 'SIGKILL');
  });

  it('refuses what makes no sense', async () => {
    const wrong = [
      [['--put', '101'], /Give a percentage/],
      [['--window', '1,0'], /Give a number from 1 to 1024/],
      [['--value-size', '9-3'], /Give the least first/],
      [['--zipf', '1'], /Give an exponent between 0 and 1/],
    ] as const;
    for (const [args, message] of wrong) {
      const { code, stderr } = await run(['kv', 'bench', ...args]);
      assert.equal(code, 2);
      assert.match(stderr, message);
    }
  });
});
