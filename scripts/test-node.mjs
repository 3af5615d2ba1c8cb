// `npm run test:node -- 24 [WORD...]`: the tests on another Node than the one that is installed. npm's registry has each as a
// package, which goes into .node.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const windows = process.platform === 'win32';

/** Packages with nothing but the program in them; that of Windows has a name of its own. */
const PACKAGE = `node-${windows ? 'win' : process.platform}-${process.arch}`;

const [version, ...words] = process.argv.slice(2);
if (!/^\d+(\.\d+){0,2}$/.test(version ?? '')) {
  process.stderr.write('usage: npm run test:node -- VERSION [WORD...], for instance 24, or 22.11.0 wire nic/retry\n');
  process.exit(2);
}

const folder = join(root, '.node', version);
const program = join(folder, 'node_modules', PACKAGE, 'bin', windows ? 'node.exe' : 'node');

/** Takes what is there from an earlier run; whoever wants the newest of a version removes .node first. */
function install() {
  if (existsSync(program)) return;
  mkdirSync(folder, { recursive: true });
  const args = [
    'install',
    '--prefix',
    folder,
    '--ignore-scripts',
    '--no-save',
    '--loglevel=error',
    `${PACKAGE}@${version}`,
  ];
  const { status, error } = spawnSync(windows ? 'npm.cmd' : 'npm', args, {
    cwd: folder,
    stdio: 'inherit',
    shell: windows,
  });
  if (status === 0 && existsSync(program)) return;
  process.stderr.write(`Node ${version} could not be installed as ${PACKAGE}${error ? `: ${error.message}` : ''}.\n`);
  process.exit(1);
}

install();
const { version: exact } = JSON.parse(readFileSync(join(folder, 'node_modules', PACKAGE, 'package.json'), 'utf8'));
process.stdout.write(`\n== Node ${exact}\n`);
// First in the path, since that is where the tools' first line looks for it.
const env = { ...process.env, PATH: `${dirname(program)}${delimiter}${process.env['PATH'] ?? ''}` };
const { status } = spawnSync(
  program,
  [join('scripts', 'test.mjs'), ...(words.length > 0 ? words : ['--tier', 'all'])],
  {
    cwd: root,
    env,
    stdio: 'inherit',
  },
);
process.exitCode = status ?? 1;
