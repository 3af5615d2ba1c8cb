import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { ROOT, run } from './tool.js';

const SUBCOMMANDS = [
  'transfer',
  'ibv_devices',
  'ibv_devinfo',
  'ibv_rc_pingpong',
  'ibv_uc_pingpong',
  'ibv_ud_pingpong',
  'ibv_srq_pingpong',
  'ibv_xsrq_pingpong',
  'mckey',
  'rdma_client',
  'rdma_server',
  'rdma_xclient',
  'rdma_xserver',
  'cmtime',
  'rstream',
  'riostream',
  'rcopy',
  'udpong',
  'rproxy',
  'ibv_asyncwatch',
  'show_gids',
  'rdma',
  'dump',
  'explain',
  'kv',
  'lab',
];

test('--help lists every subcommand', async () => {
  const { code, stdout } = await run(['--help']);
  assert.equal(code, 0);
  for (const name of SUBCOMMANDS) assert.match(stdout, new RegExp(`^  ${name}\\b`, 'm'));
});

test('--help has headings, and one line for each subcommand', async () => {
  const { stdout } = await run(['--help']);
  const headings = [...stdout.matchAll(/^(\S.*):$/gm)].map(([, heading]) => heading);
  const groups = ['Main', 'RDMA tools', 'Benchmarks', 'Look and explain', 'Services', 'Learn'];
  assert.deepEqual(
    headings.filter((heading) => groups.includes(heading)),
    groups,
  );
  for (const name of SUBCOMMANDS) assert.match(stdout, new RegExp(`^  ${name} +\\S.*\\n(?:  \\w|\\n|$)`, 'm'));
});

test('--help lists every setting that docs/settings.md has', async () => {
  const { stdout } = await run(['--help']);
  const settings = readFileSync(`${ROOT}docs/settings.md`, 'utf8').match(/^\| `VERBENA_\w+`/gm) ?? [];
  assert.ok(settings.length > 9);
  for (const row of settings) assert.match(stdout, new RegExp(`^  ${row.slice(3, -1)} +\\S`, 'm'));
});

for (const name of SUBCOMMANDS) {
  test(`${name} --help describes the subcommand`, async () => {
    const { code, stdout, stderr } = await run([name, '--help']);
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    assert.match(stdout, new RegExp(`^Usage: verbena ${name} `));
  });
}

test('--version prints the version of the package', async () => {
  const { stdout } = await run(['--version']);
  const manifest = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as { version: string };
  assert.equal(stdout, `${manifest.version}\n`);
});

test('an unknown subcommand is refused', async () => {
  const { code, stderr } = await run(['ibv_nonsense']);
  assert.equal(code, 1);
  assert.match(stderr, /unknown command 'ibv_nonsense'/);
});

test('an unknown option is refused', async () => {
  const { code, stderr } = await run(['ibv_devinfo', '--nonsense']);
  // As the C tool does.
  assert.equal(code, 255);
  assert.match(stderr, /unknown option '--nonsense'\n\(verbena ibv_devinfo --help lists what there is\)/);
});

test('output that cannot be written is a failure', async () => {
  const { code, stderr } = await run(['ibv_devices'], {}, ['sh', '-c', 'exec "$@" > /dev/full', 'sh']);
  assert.deepEqual({ code, stderr }, { code: 1, stderr: 'standard output: cannot be written: the disk is full\n' });
});

test('a reader that leaves early is none', async () => {
  const { code, stderr } = await run(['ibv_devinfo', '-v'], {}, ['sh', '-c', '"$@" | true', 'sh']);
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
});

/** The files of the bundle that one loads before it does anything, itself among them, with their lengths. */
function loadedBy(name: string, found = new Map<string, number>()): ReadonlyMap<string, number> {
  const text = readFileSync(`${ROOT}dist/tools/${name}`, 'utf8');
  found.set(name, text.length);
  for (const [, file] of text.matchAll(/(?:\bfrom|^import|;import)\s*["']\.\/([^"']+)["']/gm))
    if (!found.has(file)) loadedBy(file, found);
  return found;
}

const SMALL = 1 << 16;

test('--version and --help load no more than the table of the commands', () => {
  const bytes = [...loadedBy('main.js').values()].reduce((sum, length) => sum + length, 0);
  assert.ok(bytes < SMALL, `${bytes} bytes`);
});

test("the NIC's thread shares the code of the tools, and has no copy of an earlier build", () => {
  const files = loadedBy('thread-worker.js');
  assert.ok((files.get('thread-worker.js') ?? Infinity) < SMALL);
  assert.ok([...files.values()].some((length) => length > SMALL));
});
