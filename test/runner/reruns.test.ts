import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { endWithTest } from '../support/children.js';

interface Failure {
  readonly test: string;
  readonly error: string;
}
interface Outcome {
  readonly ok: boolean;
  readonly failures: Readonly<Record<string, readonly Failure[]>>;
}
type Run = (name: string, files: readonly string[]) => Promise<Outcome>;
interface TestRuns {
  readonly MOST_RERUNS: number;
  testRunner: (how: {
    folder: string;
    reporter: string;
    step: (name: string, args: readonly string[]) => Promise<boolean>;
    concurrency: number;
    hangsMs?: number;
  }) => Run;
  runWithReruns: (what: {
    name: string;
    files: readonly string[];
    run: Run;
    testFilesOf: (file: string) => readonly string[];
    say: (line: string) => void;
  }) => Promise<{ ok: boolean; unstable: readonly { file: string; first: readonly Failure[] }[] }>;
}

const SCRIPTS = new URL('../../../scripts/', import.meta.url);
// A script has no types; what it exports stands in its comments.
const { MOST_RERUNS, testRunner, runWithReruns } = (await import(new URL('test-runs.mjs', SCRIPTS).href)) as TestRuns;

const FAILED: readonly Failure[] = [{ test: 'a test', error: 'an error' }];
const numbered = (count: number): string[] => Array.from({ length: count }, (_, i) => `dist/test/${i}.test.js`);

/** A run of files of which some fail, and some of these again when they run alone. */
async function played({
  files = numbered(30),
  failing = [] as readonly string[],
  again = [] as readonly string[],
  testFilesOf = (): readonly string[] => [],
}) {
  const runs: (readonly string[])[] = [];
  const said: string[] = [];
  const run: Run = (_, some) => {
    const failed = runs.length === 0 ? failing : some.filter((file) => again.includes(file));
    runs.push(some);
    const failures = Object.fromEntries(failed.map((file) => [file, FAILED]));
    return Promise.resolve({ ok: failed.length === 0, failures });
  };
  const { ok, unstable } = await runWithReruns({
    name: 'some',
    files,
    run,
    testFilesOf,
    say: (line) => said.push(line),
  });
  return { ok, unstable: unstable.map(({ file }) => file), reruns: runs.slice(1).flat(), said };
}

describe('test files that may fail by chance', () => {
  it('run once where all pass', async () => {
    assert.deepEqual(await played({}), { ok: true, unstable: [], reruns: [], said: [] });
  });

  it('run once more, each alone, where they fail, and count as unstable when they pass then', async () => {
    const [a = '', b = ''] = numbered(2);
    const { ok, unstable, reruns } = await played({ failing: [a, b] });
    assert.deepEqual({ ok, unstable, reruns }, { ok: true, unstable: [a, b], reruns: [a, b] });
  });

  it('fail the run when one of them fails twice', async () => {
    const [a = '', b = ''] = numbered(2);
    const { ok, unstable } = await played({ failing: [a, b], again: [b] });
    assert.deepEqual({ ok, unstable }, { ok: false, unstable: [a] });
  });

  it('run again where as many fail as may', async () => {
    const failing = numbered(MOST_RERUNS);
    const { ok, reruns } = await played({ failing });
    assert.deepEqual({ ok, reruns }, { ok: true, reruns: failing });
  });

  it('fail the run at once where more fail', async () => {
    const { ok, unstable, reruns, said } = await played({ failing: numbered(MOST_RERUNS + 1) });
    assert.deepEqual({ ok, unstable, reruns }, { ok: false, unstable: [], reruns: [] });
    assert.match(said.join(), /21 files failed; more than 20/);
  });

  it('fail the run where no file is named: the runner itself has failed', async () => {
    const run: Run = () => Promise.resolve({ ok: false, failures: {} });
    const say = (): void => undefined;
    const outcome = await runWithReruns({ name: 'some', files: ['a'], run, testFilesOf: () => [], say });
    assert.deepEqual(outcome, { ok: false, unstable: [] });
  });

  it('run again where the failed test stands in a helper that they import', async () => {
    const [a = '', b = ''] = numbered(2);
    const testFilesOf = (): readonly string[] => [a, b];
    const { ok, unstable, reruns } = await played({ failing: ['dist/test/helper.js'], again: [b], testFilesOf });
    assert.deepEqual({ ok, unstable, reruns }, { ok: false, unstable: [a], reruns: [a, b] });
  });

  it('fail the run where no test file belongs to the failure: a run of nothing would pass', async () => {
    const { ok, reruns } = await played({ failing: ['dist/test/helper.js'] });
    assert.deepEqual({ ok, reruns }, { ok: false, reruns: [] });
  });
});

describe('the runner of test files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'verbena-runner-'));
  after(() => rmSync(folder, { recursive: true }));

  /** Runs a test file with this text, by a runner that has left a report of success before. */
  async function ran(name: string, text: string, hangsMs?: number): Promise<Outcome & { readonly file: string }> {
    const file = join(folder, `${name}.test.mjs`);
    writeFileSync(file, text);
    writeFileSync(join(folder, `report-${name}.json`), JSON.stringify({ failures: { before: FAILED } }));
    const run = testRunner({
      folder,
      reporter: fileURLToPath(new URL('test-report.mjs', SCRIPTS)),
      step: (_, args) =>
        new Promise((resolve) => {
          // A runner that knows of another lets that one report.
          const env = Object.fromEntries(Object.entries(process.env).filter(([key]) => key !== 'NODE_TEST_CONTEXT'));
          const child = endWithTest(spawn(process.execPath, args, { stdio: 'ignore', env }));
          child.on('close', (code) => resolve(code === 0));
        }),
      concurrency: 1,
      ...(hangsMs === undefined ? {} : { hangsMs }),
    });
    return { ...(await run(name, [file])), file };
  }
  const testsOf = ({ failures }: Outcome): string[] =>
    Object.values(failures).flatMap((all) => all.map(({ test }) => test));

  it('reports nothing where all pass', async () => {
    const { ok, failures } = await ran('good', "import { test } from 'node:test'; test('a', () => {});");
    assert.deepEqual({ ok, failures }, { ok: true, failures: {} });
  });

  it('reports the tests that fail, and not their suites', async () => {
    const text =
      "import { describe, it } from 'node:test'; describe('s', () => { it('a', () => { throw new Error('why'); }); });";
    const outcome = await ran('bad', text);
    assert.equal(outcome.ok, false);
    assert.deepEqual(testsOf(outcome), ['a']);
    assert.match(JSON.stringify(outcome.failures), /bad\.test\.mjs.*why/);
  });

  it('reports a file that ends without its tests', async () => {
    const outcome = await ran('left', 'process.exit(3);');
    assert.equal(outcome.ok, false);
    assert.match(Object.keys(outcome.failures).join(), /left\.test\.mjs$/);
  });

  it('ends a file that hangs, and reports it', async () => {
    const outcome = await ran('hangs', 'for (;;);', 1000);
    assert.equal(outcome.ok, false);
    assert.match(Object.keys(outcome.failures).join(), /hangs\.test\.mjs$/);
  });

  it('that is killed reports nothing, nor what an earlier one did', async () => {
    const { ok, failures } = await ran('killed', "process.kill(process.ppid, 'SIGKILL');");
    assert.deepEqual({ ok, failures }, { ok: false, failures: {} });
  });
});
