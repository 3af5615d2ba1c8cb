// `node scripts/lab.mjs NAME`: checks and compiles labs/NAME.ts alone, with what it imports, in about a second. Exit status 1 when
// it does not compile, with the messages on standard error; its last output is then deleted, so that nobody runs an old one.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { at, changed } from './build-state.mjs';
import { compile } from './compile.mjs';
import { lock } from './lock.mjs';

const [name] = process.argv.slice(2);
const output = at('dist', 'labs', `${name}.js`);
/** Labs import each other; that is seldom, so any newer lab counts. */
const newest = Math.max(
  ...readdirSync(at('labs'))
    .filter((file) => file.endsWith('.ts'))
    .map((file) => changed(at('labs', file))),
);
if (changed(output) <= newest) {
  lock(at('dist', '.building'));
  mkdirSync(at('dist', 'labs'), { recursive: true });
  const config = at('dist', 'labs', `${name}.tsconfig.json`);
  const settings = {
    extends: '../../labs/tsconfig.json',
    // Only this lab is compiled, so there is no state of the whole project to keep.
    compilerOptions: { composite: false, incremental: false, tsBuildInfoFile: null },
    files: [`../../labs/${name}.ts`],
    include: [],
    references: [{ path: '../../src' }],
  };
  writeFileSync(config, JSON.stringify(settings));
  const { ok, output: messages } = await compile(['-p', config]);
  if (!ok) {
    rmSync(output, { force: true });
    process.stderr.write(`${messages}verbena: labs/${name}.ts does not compile; the messages are above.\n`);
    process.exit(1);
  }
}
