// Checks that what is here can be released, and says what to do next: `node scripts/release.mjs`. With `--tag` it makes the tag
// when all is well. It never pushes and never publishes: those are for a person to do.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { at, root } from './build-state.mjs';

const wantsTag = process.argv.includes('--tag');

function run(file, ...args) {
  const { status, stdout, stderr } = spawnSync(file, args, {
    cwd: root,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });
  return { ok: status === 0, text: (stdout ?? '').trim(), why: (stderr ?? '').trim() };
}

const manifest = JSON.parse(readFileSync(at('package.json'), 'utf8'));
const { version } = manifest;
const tag = `v${version}`;

/** The part of CHANGELOG.md that is about this version; empty where there is none. */
export function notesOf(changelog, wanted) {
  const parts = changelog.split(/^## /m).slice(1);
  const part = parts.find((text) => text.split('\n', 1)[0].trim() === wanted) ?? '';
  return part.split('\n').slice(1).join('\n').trim();
}

/** What must hold. Each gives undefined, or what is wrong and what to do. */
const CHECKS = {
  'the version has three numbers': () =>
    /^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version) ? undefined : `package.json says ${version}`,
  'the lock file has the same version': () => {
    const lock = JSON.parse(readFileSync(at('package-lock.json'), 'utf8'));
    return lock.version === version
      ? undefined
      : `package-lock.json says ${lock.version}: run \`npm install --package-lock-only\``;
  },
  'CHANGELOG.md says what is new': () =>
    notesOf(readFileSync(at('CHANGELOG.md'), 'utf8'), version) === ''
      ? `it has no part "## ${version}", or an empty one`
      : undefined,
  'everything is committed': () => {
    const { text } = run('git', 'status', '--porcelain');
    return text === '' ? undefined : `commit or remove:\n${text}`;
  },
  'the tag is free, or stands here': () => {
    const there = run('git', 'rev-parse', '--quiet', '--verify', `${tag}^{commit}`);
    if (!there.ok) return undefined;
    return there.text === run('git', 'rev-parse', 'HEAD').text
      ? undefined
      : `${tag} is at another commit: raise the version`;
  },
  'no version before it is newer': () => {
    const newest = run('git', 'tag', '--list', 'v*', '--sort=-v:refname').text.split('\n')[0];
    if (newest === '' || newest === tag) return undefined;
    const order = newest.localeCompare(tag, 'en', { numeric: true });
    return order < 0 ? undefined : `there is ${newest}`;
  },
  'it packs': () => {
    const packed = run('npm', 'pack', '--dry-run', '--json');
    if (!packed.ok) return packed.why;
    // What `prepack` prints comes before.
    const [{ files, size }] = JSON.parse(packed.text.slice(packed.text.search(/^\[/m)));
    const paths = new Set(files.map(({ path }) => path));
    const named = JSON.stringify(manifest.exports).match(/\.\/[^"]+/g) ?? [];
    const missing = named
      .map((path) => path.slice(2))
      .filter((path) => /\.\w+$/.test(path) && path !== 'sim' && !paths.has(path));
    process.stdout.write(`      ${files.length} files, ${(size / 2 ** 20).toFixed(1)} MiB packed\n`);
    return missing.length === 0 ? undefined : `these are exported and not packed: ${missing.join(', ')}`;
  },
};

let failures = 0;
for (const [what, check] of Object.entries(CHECKS)) {
  const problem = check();
  if (problem !== undefined) failures += 1;
  process.stdout.write(
    `${problem === undefined ? 'ok   ' : 'FAIL '} ${what}${problem === undefined ? '' : `: ${problem}`}\n`,
  );
}

if (failures > 0) process.exitCode = 1;
else if (!wantsTag) process.stdout.write(`\nA dry run. \`npm run release -- --tag\` makes the tag ${tag}.\n`);
else {
  const made = run(
    'git',
    'tag',
    '--annotate',
    tag,
    '--message',
    notesOf(readFileSync(at('CHANGELOG.md'), 'utf8'), version),
  );
  if (!made.ok) process.exitCode = 1;
  const next = `Next: \`npm test\`, \`npm run test:install\`, \`git push origin ${tag}\`, \`npm publish\`.`;
  process.stdout.write(made.ok ? `\n${tag} is made. ${next}\n` : `\ngit tag: ${made.why}\n`);
}
