// Makes one file of what starts as a process or a thread of its own, out of some hundreds: Node takes about a
// millisecond to find, read and link a module, and a tool, or the thread of a NIC, does little else when it starts.
// Nothing but the number of files changes. What programs and tests import stays as the compiler wrote it.
import { readFileSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const dist = fileURLToPath(new URL('../dist', import.meta.url));
const src = fileURLToPath(new URL('../src', import.meta.url));

/** Of those, what makes next to no use of what its imports import: the rest is left out, and need not be read. */
const SMALL = new Set(['apps/run/launcher/program-worker']);

/** What `bin/verbena` starts. Each subcommand stays a file of its own, loaded when it is asked for. */
const TOOLS = 'tools';
/** The NIC's thread, and the process that receives. They are found by their places among the compiler's output, so they come there. */
const IN_PLACE = [
  'machine/hosting/threads/thread-worker',
  'apps/cli/transfer/receiver-process',
  'apps/run/launcher/program-worker',
];

/** `import.meta.url` says where a module is; in a bundle it goes on saying where the module was. */
function modulesKeepTheirPlaces(folder) {
  return {
    name: 'places',
    resolveImportMeta(property, { moduleId, chunkId }) {
      if (property !== 'url') return null;
      const from = relative(dirname(join(folder, chunkId)), moduleId).replaceAll('\\', '/');
      return `new URL(${JSON.stringify(from)}, import.meta.url).href`;
    },
  };
}

/** Where a bundle comes in the place of its entry, the entry is compiled from its source: what is there may be the last. */
function entryFromSource(file, entry, ts) {
  const { options } = ts.convertCompilerOptionsFromJson({ module: 'ESNext', target: 'ES2023' }, src);
  return {
    name: 'entry',
    load(id) {
      if (id !== file) return null;
      const text = readFileSync(join(src, `${entry}.ts`), 'utf8');
      return ts.transpileModule(text, { compilerOptions: { ...options, verbatimModuleSyntax: true } }).outputText;
    },
  };
}

/** After the compiler: writes the bundles. */
export async function bundle() {
  // Loaded here, since whoever imports this file installs them first.
  const { rollup } = await import('rollup');
  const { default: ts } = await import('typescript');
  const write = async (entry, folder, plugins) => {
    const input = join(dist, 'src', `${entry}.js`);
    const made = await rollup({
      input,
      // Packages and Node's own modules stay outside.
      external: (id) => !/^[./]|^[A-Z]:/.test(id),
      plugins: [modulesKeepTheirPlaces(folder), ...plugins(input)],
      treeshake: SMALL.has(entry),
      logLevel: 'silent',
    });
    await made.write({ dir: folder, format: 'es', entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' });
    await made.close();
  };
  for (const entry of IN_PLACE) {
    await write(entry, dirname(join(dist, 'src', entry)), (file) => [entryFromSource(file, entry, ts)]);
  }
  rmSync(join(dist, TOOLS), { recursive: true, force: true });
  await write('apps/cli/main', join(dist, TOOLS), () => []);
}
