import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { attemptsOf, perform } from '../hunt.js';
import { type GameName, sources } from '../mutant.js';
import { compile } from '../transpile.js';
import { applied, type Site } from './sites.js';
import type { Workshop } from './workshop.js';

/** What found a change, or that nothing did. */
export type Verdict = { readonly kind: 'found'; readonly by: string } | { readonly kind: 'survived' };

/** Folders of `test`, the quick and telling ones first. Those that look at the source, not at what it does, are left out. */
const ROOMS = [
  ...['nic', 'wire', 'ibta', 'cm', 'verbs', 'sim', 'walk', 'fuzz', 'sim-api', 'sim-guide', 'rdmacm', 'link', 'links'],
  ...['system', 'runtime', 'statistics', 'soft', 'hosting', 'conformance', 'explain', 'adversary', 'soak', 'cli'],
];
/** Folders whose tests are of a room, beside the one that has its name. */
const OWN_TESTS: Readonly<Record<string, readonly string[] | undefined>> = {
  sim: ['sim-api', 'sim-guide'],
  soft: ['hosting'],
  provider: ['soft', 'rdmacm'],
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
async function failureIn({ root }: Workshop, room: string, signal: AbortSignal): Promise<string | undefined> {
  signal.throwIfAborted();
  const child = spawn(process.execPath, ['scripts/test.mjs', join('test', room, '/')], {
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

/** The folders in the order in which they are tried for a file: that of its own room first, or alone. */
function roomsFor(file: string, own: boolean): string[] {
  const [, , home] = file.split('/');
  const first = ROOMS.filter((room) => room === home || OWN_TESTS[home]?.includes(room));
  return own ? first : [...first, ...ROOMS.filter((room) => !first.includes(room))];
}

/**
 * Runs tests on a spoilt package until some fail, twice in a row: what fails once may be the machine's doing. When all
 * pass, plays the games. @param own whether only the tests of the file's own room are run
 */
export async function tryOut(workshop: Workshop, site: Site, own: boolean, signal: AbortSignal): Promise<Verdict> {
  for (const room of roomsFor(site.file, own)) {
    if ((await failureIn(workshop, room, signal)) === undefined) continue;
    const again = await failureIn(workshop, room, signal);
    if (again !== undefined) return { kind: 'found', by: `test/${room}: ${again}` };
  }
  return play(site, signal);
}
