import { spawn } from 'node:child_process';
import { attemptsOf, perform } from '../hunt.js';
import { type GameName, sources } from '../mutant.js';
import { compile } from '../transpile.js';
import { applied, type Site } from './sites.js';
import type { Workshop } from './workshop.js';

export type Verdict = { readonly kind: 'found'; readonly by: string } | { readonly kind: 'survived' };

/** Folders of tests, the quick and telling ones first. Those that look at the source, not at what it does, are left out. */
const FOLDERS = [
  'src/device/nic/test/',
  'src/device/wire/test/',
  'src/device/ibta/test/',
  'src/device/cm/test/',
  'src/api/verbs/test/',
  'test/sim/',
  'test/walk/',
  'test/fuzz/',
  'src/sim/test/',
  'src/api/rdmacm/test/',
  'src/device/link/test/',
  'src/node/links/test/',
  'src/node/system/test/',
  'src/api/runtime/test/',
  'src/node/statistics/test/',
  'src/providers/soft/test/',
  'src/node/hosting/test/',
  'test/conformance/',
  'src/cli/explain/test/',
  'test/adversary/',
  'test-machine/soak/',
  'src/cli/test/',
];
/** Modules whose rules the tests of others show as well. */
const OTHER_TESTS: Readonly<Record<string, readonly string[] | undefined>> = {
  'src/device/adapter': ['src/providers/soft/test/', 'src/node/hosting/test/'],
  'src/providers/soft': ['src/node/hosting/test/'],
  'src/api/provider': ['src/providers/soft/test/', 'src/api/rdmacm/test/'],
};
const GAMES: readonly GameName[] = ['traffic', 'cm', 'walk', 'fuzz', 'cm-faults'];

/** No folder takes this long; tests that hang have found something as well. */
const PATIENCE_MS = 600_000;

/** The line in which a test runner says that a test has failed. */
const FAILURE = /^\s*✖ .*$/m;

/**
 * Runs the tests of a folder in a process group of its own, of which nothing is left when it is over.
 * @returns the first failure, or undefined when all have passed
 */
async function failureIn({ root }: Workshop, folder: string, signal: AbortSignal): Promise<string | undefined> {
  signal.throwIfAborted();
  const child = spawn(process.execPath, ['scripts/test.mjs', folder], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  const { pid } = child;
  const stop = (): void => {
    if (pid !== undefined && child.exitCode === null) process.kill(-pid, 'SIGKILL');
  };
  const timer = setTimeout(stop, PATIENCE_MS);
  signal.addEventListener('abort', stop);
  let output = '';
  let failure: string | undefined;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    failure ??= FAILURE.exec(output)?.[0].trim();
    // One is enough.
    if (failure !== undefined) stop();
  });
  const code = await new Promise<number | null>((resolve, reject) =>
    child.once('error', reject).once('close', resolve),
  );
  clearTimeout(timer);
  signal.removeEventListener('abort', stop);
  signal.throwIfAborted();
  if (failure !== undefined || code === 0) return failure;
  return code === null ? 'hangs' : 'fails';
}

/** The games play longer than the tests have them do. */
async function play(site: Site, signal: AbortSignal): Promise<Verdict> {
  const substitute = compile(site.file, applied(sources().textOf(site.file), site));
  for (const game of GAMES) {
    const verdict = await perform({ substitute, attempts: attemptsOf({ games: [game] }) }, signal);
    if (verdict.kind === 'found') return { kind: 'found', by: `${game} ${verdict.seed}: ${verdict.report}` };
  }
  return { kind: 'survived' };
}

/** The folders in the order in which they are tried for a file: those of its own module first, or alone. */
function foldersFor(file: string, own: boolean): string[] {
  const others = Object.keys(OTHER_TESTS).flatMap((module) =>
    file.startsWith(module) ? (OTHER_TESTS[module] ?? []) : [],
  );
  const first = FOLDERS.filter((folder) => file.startsWith(folder.replace(/test\/$/, '')) || others.includes(folder));
  return own ? first : [...first, ...FOLDERS.filter((folder) => !first.includes(folder))];
}

/**
 * Runs tests on a spoilt package until some fail, twice in a row: what fails once may be the machine's doing. When all
 * pass, plays the games. @param own whether only the tests of the file's own module are run
 */
export async function tryOut(workshop: Workshop, site: Site, own: boolean, signal: AbortSignal): Promise<Verdict> {
  for (const folder of foldersFor(site.file, own)) {
    if ((await failureIn(workshop, folder, signal)) === undefined) continue;
    const again = await failureIn(workshop, folder, signal);
    if (again !== undefined) return { kind: 'found', by: `${folder}: ${again}` };
  }
  return play(site, signal);
}
