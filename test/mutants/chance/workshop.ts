import { cpSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ROOT } from '../mutant.js';
import { compile } from '../transpile.js';
import { applied, type Site } from './sites.js';

/** Whatever asks where it is, and would find itself outside of the workshop by a link. */
const COPIED = new Set(['dist', 'bin', 'scripts', 'package.json', 'package-lock.json', 'tsconfig.json']);

/** A place in which the package stands once more, to be spoilt and mended. */
export interface Workshop extends Disposable {
  readonly root: string;
  /** Puts a change into the compiled file, and into the bundles that hold it. @throws Error when it is no TypeScript */
  spoil(site: Site): Promise<void>;
  mend(): void;
}

interface Bundler {
  bundle(): Promise<void>;
}

export function openWorkshop(): Workshop {
  const root = mkdtempSync(join(tmpdir(), 'verbena-chance-'));
  for (const name of readdirSync(ROOT)) {
    if (name === '.git') continue;
    const from = fileURLToPath(new URL(name, ROOT));
    if (COPIED.has(name)) cpSync(from, join(root, name), { recursive: true, preserveTimestamps: true });
    else symlinkSync(from, join(root, name));
  }
  const bundles = join(root, 'dist');
  const mend = (): void => {
    cpSync(fileURLToPath(new URL('dist', ROOT)), bundles, { recursive: true, preserveTimestamps: true });
  };
  return {
    root,
    mend,
    async spoil(site) {
      const text = await readFile(new URL(site.file, ROOT), 'utf8');
      const { source } = compile(site.file, applied(text, site));
      writeFileSync(join(root, 'dist', site.file.replace(/\.ts$/, '.js')), source);
      // Ours, which nobody has written types for.
      const bundler = (await import(pathToFileURL(join(root, 'scripts', 'bundle.mjs')).href)) as Bundler;
      await bundler.bundle();
    },
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
}
