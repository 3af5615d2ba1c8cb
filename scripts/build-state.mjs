// What is built, and whether its sources have changed since. bin/verbena asks before each tool, so this takes some milliseconds
// and needs no package.
import { readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));
export const at = (...parts) => join(root, ...parts);

/** The kernel stamps files with the time of its last tick, which may be this much in the past. */
const TICK_MS = 10;

/** Inputs of every part. */
const COMMON = ['package-lock.json', 'tsconfig.json'];

/**
 * The parts of a build, in order. `folders` are compiled together; `inputs` are further files that the part is made of.
 * @type {Record<string, { folders: string[], inputs: string[], stamp: string }>}
 */
export const PARTS = {
  tools: { folders: ['src'], inputs: [join('scripts', 'bundle.mjs')], stamp: at('dist', '.tools-built') },
  labs: { folders: ['labs'], inputs: ['src'], stamp: at('dist', '.labs-built') },
  package: { folders: [], inputs: ['src', join('scripts', 'faces.mjs')], stamp: at('dist', 'package', '.built') },
  tests: {
    folders: ['examples', 'bench', 'test'],
    inputs: ['src', 'test-machine', 'labs'],
    stamp: at('dist', '.tests-built'),
  },
};

/** Milliseconds of the last change, or -Infinity where there is no such file. */
export function changed(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? -Infinity;
}

/**
 * The newest change of a file or below a folder. Folders count too: deleting a file changes only its folder. Folders of tests count
 * only for tests.
 */
function newestBelow(path, withTests) {
  let newest = changed(path);
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return newest;
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (entry.name === 'test' && !withTests) continue;
    const inner = join(path, entry.name);
    newest = Math.max(newest, entry.isDirectory() ? newestBelow(inner, withTests) : changed(inner));
  }
  return newest;
}

/** Whether a part is newer than everything that it is made of. */
export function isBuilt(name) {
  const { folders, inputs, stamp } = PARTS[name];
  return (
    changed(stamp) >
    Math.max(...[...COMMON, ...folders, ...inputs].map((path) => newestBelow(at(path), name === 'tests')))
  );
}

/** Records that a part holds all changes up to `started`. Later changes count as newer. */
export function stampBuild(name, started) {
  const { stamp } = PARTS[name];
  writeFileSync(stamp, `${started.toISOString()}\n`);
  const time = new Date(started.getTime() - TICK_MS);
  utimesSync(stamp, time, time);
}
