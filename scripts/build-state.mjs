// Whether what was built is what the sources say. Asked before each run of a tool, so it takes some milliseconds and needs no
// package.
import { readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));
export const at = (...parts) => join(root, ...parts);

export const SOURCE_FOLDERS = ['src', 'test', 'labs', 'examples', 'bench'];
/** Those that the tools are made of. */
export const TOOL_FOLDERS = ['src', 'labs'];
/** Files get the time of the kernel's last tick, which may be as long ago. */
const TICK_MS = 10;
const BUILD_STAMP = at('dist', '.built');
/** What the package's faces are made of. */
const FACE_SOURCES = [
  'api',
  'device',
  'layers',
  'machine',
  'index.ts',
  'kv.ts',
  'messages.ts',
  'net.ts',
  'portable.ts',
  'portable-kv.ts',
  'portable-messages.ts',
  'portable-rsocket.ts',
  'portable-ucp.ts',
  'portable-xio.ts',
  'rsocket.ts',
  'sim.ts',
  'ucp.ts',
  'xio.ts',
].map((name) => join('src', name));
const FACE_STAMP = at('dist', 'package', '.built');

/** Milliseconds of the last change, or -Infinity for what is not there. */
export function changed(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? -Infinity;
}

/** The newest change of a file or below a folder. Folders count too: a deleted file changes nothing but its folder. */
function newestBelow(folder) {
  let newest = changed(folder);
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return newest;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    newest = Math.max(newest, entry.isDirectory() ? newestBelow(path) : changed(path));
  }
  return newest;
}

const isNewer = (stamp, paths) => changed(stamp) > Math.max(...paths.map((path) => newestBelow(at(path))));

/** Whether nothing in these folders has changed since the last build began. */
export const isBuilt = (folders) =>
  isNewer(BUILD_STAMP, ['package-lock.json', 'tsconfig.json', join('scripts', 'bundle.mjs'), ...folders]);

/** The same for dist/package, which is not made anew for a test or a tool. */
export const areFacesBuilt = () =>
  isNewer(FACE_STAMP, ['package-lock.json', 'tsconfig.json', join('scripts', 'faces.mjs'), ...FACE_SOURCES]);

/** Says that all is built that was there at that time. What has changed since then counts as newer. */
export const stampBuild = (started) => writeStamp(BUILD_STAMP, started);
export const stampFaces = (started) => writeStamp(FACE_STAMP, started);

function writeStamp(path, started) {
  writeFileSync(path, `${started.toISOString()}\n`);
  const time = new Date(started.getTime() - TICK_MS);
  utimesSync(path, time, time);
}
