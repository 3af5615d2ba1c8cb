/** Programs run by `verbena run`, and what keeps that from being tested here. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { machineProblem } from '../launcher/check.js';
import { endWithTest } from '../../../test/support/children.js';
import { loopback } from '../../../test/support/loopback.js';

export const TOOL = fileURLToPath(new URL('../../../tools/main.js', import.meta.url));

/** Why no program can be run here, or false. */
export const cannotRun: string | false = machineProblem() ?? false;

/** Why the tests of a program of Debian's have to be left out, or false. */
export function without(program: string, debianPackage: string): string | false {
  if (cannotRun !== false) return cannotRun;
  const found = spawnSync('sh', ['-c', 'command -v "$1"', 'sh', program]).status === 0;
  return found ? false : `there is no ${program} here (Debian: ${debianPackage})`;
}

export interface Played {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly errors: string;
}

export interface Playing {
  readonly child: ChildProcess;
  readonly played: Promise<Played>;
}

/** Starts a program by `verbena run`, on that address of this process. It ends with the test at the latest. */
export function startRun(
  words: readonly string[],
  options: readonly string[] = [],
  address = 1,
  settings: Readonly<Record<string, string>> = {},
): Playing {
  const args = [TOOL, 'run', '--addr', loopback(address), ...options, '--', ...words];
  const child = endWithTest(spawn(process.execPath, args, { env: { ...process.env, ...settings } }));
  let [out, errors] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const played = new Promise<Played>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal, out, errors }));
  });
  return { child, played };
}

/** As {@link startRun}, to the end. */
export async function run(...how: Parameters<typeof startRun>): Promise<Played> {
  const { child, played } = startRun(...how);
  child.stdin?.end();
  return played;
}
