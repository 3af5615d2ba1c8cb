// What the project depends on: licences, hashes and install scripts by the lock file; known vulnerabilities of what runs by the
// registry, when it answers. `node scripts/audit.mjs --offline` does not ask it.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const ANSWER_MS = 30_000;

/** Licences that let everybody use, change and pass on what bears them, as ours does. */
const LICENCES = new Set(['MIT', 'ISC', '0BSD', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', 'BlueOak-1.0.0']);
/** Of tools that are no part of what others install. */
const TOOL_LICENCES = new Set([...LICENCES, 'Python-2.0']);

/** Packages with a script that npm would run at their installation, and why that may be: here it never is (.npmrc). */
const SCRIPTS = new Map([
  ['koffi', 'finds its prebuilt part, a package of its own, or compiles where there is none'],
  ['protobufjs', 'warns of versions that do not go together; gRPC has it, which is measured beside xio'],
]);

/**
 * What the lock file and the settings of npm say.
 *
 * @param {{ packages: Record<string, { dev?: boolean, license?: string, integrity?: string, hasInstallScript?: boolean, link?: boolean }> }} lock
 * @param {string} npmrc
 * @returns {{ problems: string[], facts: string[] }}
 */
export function auditLock(lock, npmrc) {
  const problems = [];
  const licences = { runs: new Map(), builds: new Map() };
  const scripts = [];
  for (const [path, { dev, license = 'none', integrity, hasInstallScript, link }] of Object.entries(lock.packages)) {
    // Ours: the root, the members of the workspace, and the links to them.
    if (!path.includes('node_modules/') || link === true) continue;
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    const counts = dev === true ? licences.builds : licences.runs;
    counts.set(license, (counts.get(license) ?? 0) + 1);
    if (!(dev === true ? TOOL_LICENCES : LICENCES).has(license)) problems.push(`${name} has the licence ${license}`);
    if (!/^sha512-/.test(integrity ?? '')) problems.push(`${name} has no hash in the lock file`);
    if (hasInstallScript !== true) continue;
    if (SCRIPTS.has(name)) scripts.push(`${name} (${SCRIPTS.get(name)})`);
    else problems.push(`${name} has an install script that nobody has looked at`);
  }
  if (!/^ignore-scripts=true$/m.test(npmrc)) problems.push('.npmrc lets install scripts run');
  const list = (counts) => [...counts].map(([licence, count]) => `${count} ${licence}`).join(', ');
  const facts = [
    `packages that run: ${list(licences.runs)}; that build and test: ${list(licences.builds)}`,
    `install scripts, none of which is run: ${scripts.length === 0 ? 'none' : scripts.join('; ')}`,
  ];
  return { problems, facts };
}

/**
 * What an answer of `npm audit --json` comes to.
 *
 * @param {string} text
 * @returns {{ problems: string[], facts: string[] }}
 */
export function readAdvisories(text) {
  let answer;
  try {
    answer = JSON.parse(text);
  } catch {
    return unanswered('npm audit printed no JSON');
  }
  const total = answer?.metadata?.vulnerabilities?.total;
  if (typeof total !== 'number') return unanswered(answer?.message ?? answer?.error?.summary ?? 'no figures came');
  if (total === 0) return { problems: [], facts: ['known vulnerabilities of what runs: none'] };
  const problems = Object.values(answer.vulnerabilities ?? {}).map(({ name, severity, range, via = [] }) => {
    const titles = via.map((advisory) => (typeof advisory === 'string' ? `by ${advisory}` : advisory.title));
    return `${name} ${range} is vulnerable (${severity}): ${titles.join('; ')}`;
  });
  return { problems: problems.length > 0 ? problems : [`${total} known vulnerabilities of what runs`], facts: [] };
}

/** Whoever cannot ask says so, and fails nobody: a machine without a network must be able to test. */
function unanswered(why) {
  return {
    problems: [],
    facts: [`known vulnerabilities of what runs: NOT CHECKED, the registry did not answer (${why})`],
  };
}

/** Asks the registry. Never fails itself. */
async function askRegistry() {
  const windows = process.platform === 'win32';
  const args = ['audit', '--omit=dev', '--json', '--loglevel=silent', '--fetch-retries=0', '--fetch-timeout=10000'];
  const child = spawn(windows ? 'npm.cmd' : 'npm', args, { cwd: root, shell: windows, timeout: ANSWER_MS });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text) => (output += text));
  const error = await new Promise((resolve) => child.on('error', resolve).on('close', () => resolve(undefined)));
  return error === undefined ? readAdvisories(output) : unanswered(error.message);
}

async function main() {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const results = [auditLock(lock, readFileSync(join(root, '.npmrc'), 'utf8'))];
  if (!process.argv.includes('--offline')) results.push(await askRegistry());
  for (const { facts } of results) for (const fact of facts) process.stdout.write(`${fact}\n`);
  const problems = results.flatMap((result) => result.problems);
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) await main();
