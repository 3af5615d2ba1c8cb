/** The package as npm would put it into somebody's project: the files that it packs, and beside them what it depends on. */
import { spawnSync, type SpawnSyncReturns } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** Packages with native code, which a machine may not have: not at all, or without the binary for its platform. */
export const NATIVE = ['@node-rs/crc32', 'koffi'] as const;
export type NativePackage = (typeof NATIVE)[number];

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

function manifestAt(folder: string): Manifest {
  // npm has read it before.
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}

/** Runs npm, as it is for whoever runs the tests. */
export function npm(args: readonly string[], cwd: string): SpawnSyncReturns<string> {
  const { npm_execpath: script, ...env } = process.env;
  // What the npm around this one was told is not meant for this one.
  const own = Object.fromEntries(Object.entries(env).filter(([name]) => !/^npm_/i.test(name)));
  const [file, ...before] = script === undefined ? ['npm'] : [process.execPath, script];
  return spawnSync(file, [...before, ...args], { cwd, encoding: 'utf8', env: own });
}

let packed: readonly string[] | undefined;

export function packedFiles(): readonly string[] {
  if (packed !== undefined) return packed;
  const { status, stdout, stderr } = npm(['pack', '--dry-run', '--json', '--ignore-scripts'], ROOT);
  if (status !== 0) throw new Error(`npm pack failed: ${stderr}`);
  // That is how `npm pack --json` answers.
  const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }];
  packed = files.map(({ path }) => path);
  return packed;
}

/** What is not on the machine. */
export interface Lacking {
  /** Packages that were left out, as `npm install --omit=optional` does. */
  readonly packages?: readonly NativePackage[];
  /** Packages that are there, and have no binary for this platform. */
  readonly binaries?: readonly NativePackage[];
}

const shared = new Map<string, Installation>();

/** One for all who want the same, to be looked at only. It is gone when the process ends. */
export function installed(lacking: Lacking = {}): Installation {
  const key = JSON.stringify(lacking);
  const known = shared.get(key);
  if (known !== undefined) return known;
  const made = new Installation(lacking);
  shared.set(key, made);
  process.once('exit', () => made[Symbol.dispose]());
  return made;
}

/** A project of somebody's, with nothing in it but the package. */
export class Installation implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'verbena-install-'));
  readonly package = join(this.folder, 'node_modules', 'verbena');
  /** `bin/verbena`. */
  readonly tool = join(this.package, 'bin', 'verbena');

  constructor({ packages = [], binaries = [] }: Lacking = {}) {
    for (const path of packedFiles()) {
      mkdirSync(dirname(join(this.package, path)), { recursive: true });
      cpSync(join(ROOT, path), join(this.package, path));
    }
    for (const name of Object.keys(manifestAt(ROOT).dependencies ?? {})) this.link(name);
    for (const name of NATIVE) {
      if (packages.includes(name)) continue;
      // A copy: a link would be followed to where the binaries are.
      cpSync(join(ROOT, 'node_modules', name), this.#place(name), { recursive: true });
      if (binaries.includes(name)) continue;
      for (const binary of Object.keys(manifestAt(this.#place(name)).optionalDependencies ?? {})) this.link(binary);
    }
  }

  /** Puts a package of ours beside it, if we have it. */
  link(name: string): void {
    const from = join(ROOT, 'node_modules', name);
    mkdirSync(dirname(this.#place(name)), { recursive: true });
    symlinkSync(from, this.#place(name));
  }

  #place(name: string): string {
    const place = join(this.folder, 'node_modules', name);
    mkdirSync(dirname(place), { recursive: true });
    return place;
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
