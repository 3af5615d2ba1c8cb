// How test files are run: by the runner of Node, and once more, alone, where they may have failed by chance.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';

/** Failed files that run once more. */
export const MOST_RERUNS = 20;
/** A file that takes longer hangs: the slowest takes some minutes on a machine with ten times more to do than processors. */
const HANGS_MS = 1_200_000;

/**
 * @typedef {{ ok: boolean, failures: Record<string, { test: string, error: string }[]> }} Outcome
 * @typedef {{ file: string, load: string[], node: string, first: { test: string, error: string }[] }} Unstable
 */

/**
 * A function that runs test files.
 *
 * @param {object} how
 * @param {string} how.folder where reports are written
 * @param {string} how.reporter the path of test-report.mjs
 * @param {(name: string, args: string[], env: Record<string, string>) => Promise<boolean>} how.step runs Node with these arguments
 * @param {number} how.concurrency
 * @param {string[]} [how.options] further options of Node
 * @param {number} [how.hangsMs]
 * @returns {(name: string, files: string[], more?: { env?: Record<string, string>, concurrency?: number }) => Promise<Outcome>}
 */
export function testRunner({ folder, reporter, step, concurrency: usual, options = [], hangsMs = HANGS_MS }) {
  return async (name, files, { env = {}, concurrency = usual } = {}) => {
    const report = join(folder, `report-${name.replaceAll(/[ /]/g, '-')}.json`);
    // A runner that is killed writes no report, and must not leave that of an earlier run.
    rmSync(report, { force: true });
    const ok = await step(
      name,
      [
        ...options,
        '--test',
        '--test-reporter=spec',
        '--test-reporter-destination=stdout',
        `--test-reporter=${reporter}`,
        `--test-reporter-destination=${report}`,
        `--test-concurrency=${String(concurrency)}`,
        `--test-timeout=${String(hangsMs)}`,
        ...files,
      ],
      env,
    );
    const text = existsSync(report) ? readFileSync(report, 'utf8') : '';
    return { ok, failures: text === '' ? {} : JSON.parse(text).failures };
  };
}

/**
 * Runs files that may fail by chance, since the machine does other things as well. A file that fails runs once more, alone. When
 * it passes then, the run passes, and the file counts as unstable.
 *
 * @param {object} what
 * @param {string} what.name
 * @param {string[]} what.files
 * @param {ReturnType<typeof testRunner>} what.run
 * @param {(file: string) => string[]} what.testFilesOf the test files to run for another file in which a test failed
 * @param {(line: string) => void} what.say
 * @param {Record<string, string>} [what.env]
 * @returns {Promise<{ ok: boolean, unstable: Unstable[] }>}
 */
export async function runWithReruns({ name, files, run, testFilesOf, say, env = {} }) {
  const first = await run(name, files, { env });
  if (first.ok) return { ok: true, unstable: [] };
  const again = new Map();
  for (const [place, failures] of Object.entries(first.failures)) {
    const tests = files.includes(place) ? [place] : testFilesOf(place);
    // The runner itself failed. A run of no test would pass.
    if (tests.length === 0) return { ok: false, unstable: [] };
    for (const file of tests) again.set(file, [...(again.get(file) ?? []), ...failures]);
  }
  if (again.size > MOST_RERUNS)
    say(`${name}: ${again.size} files failed; more than ${MOST_RERUNS} do not fail by chance`);
  if (again.size === 0 || again.size > MOST_RERUNS) return { ok: false, unstable: [] };
  const load = loadavg().map((value) => value.toFixed(1));
  const unstable = [];
  for (const [file, failures] of again) {
    const second = await run(`once more, alone: ${file}`, [file], { env, concurrency: 1 });
    if (second.ok) unstable.push({ file, load, node: process.version, first: failures });
  }
  return { ok: unstable.length === again.size, unstable };
}
