// Bundles each tool, worker and child process into one file. Node takes about a millisecond to find, read and link a module,
// and a tool would load hundreds of them. Nothing but the number of files changes. Programs and tests import the compiler's
// output, which stays as it is.
import { readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const dist = fileURLToPath(new URL('../dist', import.meta.url));
const src = fileURLToPath(new URL('../src', import.meta.url));

/** Entries that use little of what their imports import: the rest is left out, so that Node need not read it. */
const SMALL = new Set(['run/launcher/program-worker']);

/** The tools that `bin/verbena` starts. Each subcommand stays a separate file, loaded on demand. */
const TOOLS = 'tools';
/** Workers and child processes. The source finds them by their path in the compiler's output, so the bundle replaces that file. */
const IN_PLACE = ['node/hosting/threads/thread-worker', 'cli/transfer/receiver-process', 'run/launcher/program-worker'];

/** Packages and Node's own modules are not bundled. */
export const isExternal = (id) => !/^[./]|^[A-Z]:/.test(id);

/**
 * Keeps `import.meta.url` pointing to where a module was before it was bundled.
 * @param {string} folder where all files of the bundle lie
 * @param {string} here the expression for the URL of the bundled file
 */
export const moduleUrls = (folder, here = 'import.meta.url') => ({
  name: 'module-urls',
  transform: {
    filter: { code: 'import.meta.url' },
    handler(code, id) {
      const from = relative(folder, id).replaceAll('\\', '/');
      return code.replaceAll('import.meta.url', `new URL(${JSON.stringify(from)}, ${here}).href`);
    },
  },
});

/** Reads an entry from its source, since the bundle overwrites the compiler's output of that entry. */
const entryFromSource = (file, entry) => ({
  name: 'entry',
  load: (id) => (id === file ? { code: readFileSync(join(src, `${entry}.ts`), 'utf8'), moduleType: 'ts' } : null),
});

/** Writes the bundles from the compiler's output. */
export async function bundle() {
  // Imported here, since the caller of this module installs the package first.
  const { rolldown } = await import('rolldown');
  const write = async (entry, folder, plugins) => {
    const made = await rolldown({
      input: join(dist, 'src', `${entry}.js`),
      external: isExternal,
      plugins: [moduleUrls(folder), ...plugins],
      treeshake: SMALL.has(entry),
      logLevel: 'silent',
    });
    await made.write({ dir: folder, format: 'es', entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' });
    await made.close();
  };
  // Beside the last build, which stays in use until this one is whole.
  const [folder, fresh] = [join(dist, TOOLS), join(dist, `${TOOLS}-new`)];
  rmSync(fresh, { recursive: true, force: true });
  await write('cli/main', fresh, []);
  rmSync(folder, { recursive: true, force: true });
  renameSync(fresh, folder);
  for (const entry of IN_PLACE) {
    const file = join(dist, 'src', `${entry}.js`);
    await write(entry, dirname(file), [entryFromSource(file, entry)]);
  }
}
