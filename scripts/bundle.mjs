// Bundles each tool, worker and child process into one file. Node takes about a millisecond to find, read and link a module,
// and a tool would load hundreds of them. Nothing but the number of files changes. Programs and tests import the compiler's
// output, which stays as it is.
import { readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const dist = fileURLToPath(new URL('../dist', import.meta.url));
const src = fileURLToPath(new URL('../src', import.meta.url));

/** The tools that `bin/verbena` starts. Each subcommand stays a separate file, loaded on demand. */
const TOOLS = 'tools';
/**
 * Workers and child processes: a program starts the file of that name beside its own. In the compiler's output, which tests run,
 * the bundle replaces the compiled file.
 */
const BESIDE = {
  'thread-worker': 'node/hosting/threads/thread-worker',
  'receiver-process': 'cli/transfer/receiver-process',
  'lab-process': 'cli/lab/lab-process',
};
/** They use little of what their imports import. The rest is left out, so that Node need not read it. */
const SMALL_WORKERS = {
  'program-worker': 'run/launcher/program-worker',
  'stand-in-worker': 'node/hosting/stand-in/stand-in-worker',
};

/** Packages and Node's own modules are not bundled. */
export const isExternal = (id) => !/^[./]|^[A-Z]:/.test(id);

/**
 * Keeps `import.meta.url` pointing to where a module was before it was bundled, except where it finds one of the files beside the
 * bundle.
 * @param {string} folder where all files of the bundle lie
 * @param {object} options
 * @param {string} [options.here] the expression for the URL of the bundled file
 * @param {readonly string[]} [options.beside] names of files that lie in the same folder
 * @param {string} [options.ending] how their names end there
 */
export const moduleUrls = (folder, { here = 'import.meta.url', beside = [], ending = '.js' } = {}) => ({
  name: 'module-urls',
  transform: {
    filter: { code: 'import.meta.url' },
    handler(code, id) {
      const from = relative(folder, id).replaceAll('\\', '/');
      const HERE = '__BUNDLE_URL__';
      const found = beside.reduce(
        (text, name) =>
          text.replaceAll(`new URL('./${name}.js', import.meta.url)`, `new URL('./${name}${ending}', ${HERE})`),
        code,
      );
      return found
        .replaceAll('import.meta.url', `new URL(${JSON.stringify(from)}, ${HERE}).href`)
        .replaceAll(HERE, here);
    },
  },
});

/** Without comments and long local names. Lines stay, since Node prints the one that throws, and so do names that a stack shows. */
export const SMALL_OUTPUT = {
  comments: false,
  minify: { mangle: { toplevel: false, keepNames: true }, compress: true, codegen: { removeWhitespace: false } },
};

/** Reads an entry from its source, since the bundle overwrites the compiler's output of that entry. */
const entryFromSource = (file, entry) => ({
  name: 'entry',
  load: (id) => (id === file ? { code: readFileSync(join(src, `${entry}.ts`), 'utf8'), moduleType: 'ts' } : null),
});

const outputOf = (entry) => join(dist, 'src', `${entry}.js`);

/** Writes the bundles from the compiler's output. */
export async function bundle() {
  // Imported here, since the caller of this module installs the package first.
  const { rolldown } = await import('rolldown');
  const write = async (entries, folder, { plugins = [], treeshake = false, output = {} } = {}) => {
    const input = Object.fromEntries(Object.entries(entries).map(([name, entry]) => [name, outputOf(entry)]));
    const made = await rolldown({ input, external: isExternal, plugins, treeshake, logLevel: 'silent' });
    const names = { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' };
    await made.write({ dir: folder, format: 'es', ...names, ...output });
    await made.close();
  };
  // Beside the last build, which stays in use until this one is whole.
  const [folder, fresh] = [join(dist, TOOLS), join(dist, `${TOOLS}-new`)];
  rmSync(fresh, { recursive: true, force: true });
  // The last build has replaced the compiled files of these entries by bundles of what the sources were then.
  const sources = Object.values({ ...BESIDE, ...SMALL_WORKERS }).map((entry) =>
    entryFromSource(outputOf(entry), entry),
  );
  const plugins = [moduleUrls(fresh, { beside: Object.keys({ ...BESIDE, ...SMALL_WORKERS }) }), ...sources];
  await write({ main: 'cli/main', ...BESIDE }, fresh, { plugins, output: SMALL_OUTPUT });
  await write(SMALL_WORKERS, fresh, { plugins, treeshake: true, output: SMALL_OUTPUT });
  rmSync(folder, { recursive: true, force: true });
  renameSync(fresh, folder);
  for (const [name, entry] of Object.entries({ ...BESIDE, ...SMALL_WORKERS })) {
    const file = outputOf(entry);
    const place = dirname(file);
    await write({ [name]: entry }, place, {
      plugins: [moduleUrls(place), entryFromSource(file, entry)],
      treeshake: name in SMALL_WORKERS,
    });
  }
}
