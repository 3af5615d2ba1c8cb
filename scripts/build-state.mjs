// Whether what was built is what the sources say. Asked before each run of a tool, so it takes some milliseconds and needs no
// package.
import { existsSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));
export const at = (...parts) => join(root, ...parts);

export const SOURCE_FOLDERS = ['src', 'test', 'labs', 'bench'];
/** Those that the tools are made of. */
export const TOOL_FOLDERS = ['src', 'labs'];
/** Files get the time of the kernel's last tick, which may be as long ago. */
const TICK_MS = 10;
const BUILD_STAMP = at('dist', '.built');

/** Milliseconds of the last change, or -Infinity for what is not there. */
export function changed(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? -Infinity;
}

/** The newest change below a folder. Folders count too: a deleted file changes nothing but its folder. */
function newestBelow(folder) {
  if (!existsSync(folder)) return -Infinity;
  let newest = changed(folder);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    newest = Math.max(newest, entry.isDirectory() ? newestBelow(path) : changed(path));
  }
  return newest;
}

/** Whether nothing in these folders has changed since the last build began. */
export function isBuilt(folders) {
  const inputs = ['package-lock.json', 'tsconfig.json', join('scripts', 'bundle.mjs')].map((path) => changed(at(path)));
  return changed(BUILD_STAMP) > Math.max(...inputs, ...folders.map((folder) => newestBelow(at(folder))));
}

/** Says that all is built that was there at that time. What has changed since then counts as newer. */
export function stampBuild(started) {
  writeFileSync(BUILD_STAMP, `${started.toISOString()}\n`);
  const stamp = new Date(started.getTime() - TICK_MS);
  utimesSync(BUILD_STAMP, stamp, stamp);
}
