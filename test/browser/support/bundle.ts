/** Bundles as somebody's build makes them for a browser. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

export const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));

type Exports = Readonly<Record<string, string | { readonly browser: { readonly default: string } }>>;

// It is the package's own, and has that shape.
const manifest = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as { name: string; exports: Exports };

/** Where a name of the package leads in a browser, by the condition that bundlers go by. */
export function inBrowser(specifier: string): string | undefined {
  if (!specifier.startsWith(manifest.name)) return undefined;
  const target = manifest.exports[`.${specifier.slice(manifest.name.length)}`];
  if (typeof target !== 'object') throw new Error(`${specifier} says nothing of browsers`);
  return target.browser.default.slice('./'.length);
}

export interface Bundle {
  readonly code: string;
  /** Files, from the package's folder. */
  readonly modules: readonly string[];
  /** What it still imports when it runs. */
  readonly imports: readonly string[];
}

export async function bundled(entry: string): Promise<Bundle> {
  const made = await rolldown({
    input: entry,
    plugins: [
      {
        name: 'the package',
        resolveId: (specifier) => {
          const path = inBrowser(specifier);
          return path === undefined ? null : ROOT + path;
        },
      },
    ],
    logLevel: 'silent',
  });
  const { output } = await made.generate({ format: 'es', codeSplitting: false });
  await made.close();
  const [{ code, imports, dynamicImports, moduleIds }] = output;
  return {
    code,
    modules: moduleIds.map((id) => id.replace(ROOT, '')),
    imports: [...imports, ...dynamicImports],
  };
}
