// What people get who install the package: its faces, each in one file or a few, where the compiler's output has hundreds, of
// which each takes Node half a millisecond. Everything lies in dist/package:
//
//   index.js, sim.js, ...     ES modules that only name what the CommonJS files beside them export
//   index.cjs, sim.cjs, ...   the program, in CommonJS, with what they share in a file that both load
//   browser/                  the same for pages: ES modules, without what is Node's
//   thread-worker.cjs         the NIC's thread, which shares their files
//   stand-in-worker.cjs       the thread that stands in for a NIC, too
//   types/                    declarations; *.d.cts names them for CommonJS, browser/ has those of pages
//
// So there is one instance of everything, however a program is loaded: `instanceof` and the devices that are open are the
// same for `import` and `require`.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { at } from './build-state.mjs';
import { isExternal, moduleUrls, SMALL_OUTPUT } from './bundle.mjs';

/** By the name that comes after `verbena/`, the module below src, and the one for pages where there is one. */
const FACES = {
  index: { node: 'entry/index', browser: 'entry/portable' },
  sim: { node: 'entry/sim', browser: 'sim/index' },
  messages: { node: 'entry/messages', browser: 'protocols/messages/index' },
  rsocket: { node: 'entry/rsocket', browser: 'protocols/rsocket/index' },
  net: { node: 'entry/net' },
  kv: { node: 'entry/kv', browser: 'protocols/kv/index' },
  gpu: { node: 'entry/gpu' },
  ucp: { node: 'entry/ucp', browser: 'protocols/ucp/index' },
  xio: { node: 'entry/xio', browser: 'protocols/xio/index' },
};

const SRC = at('dist', 'src');
const PACKAGE = at('dist', 'package');

const entries = (kind) =>
  Object.fromEntries(
    Object.entries(FACES)
      .filter(([, face]) => face[kind] !== undefined)
      .map(([name, face]) => [name, join(SRC, `${face[kind]}.js`)]),
  );

/** The files that run the NIC's thread, and the thread that stands in for a NIC. */
const WORKERS = {
  'thread-worker': join(SRC, 'node', 'hosting', 'threads', 'thread-worker.js'),
  'stand-in-worker': join(SRC, 'node', 'hosting', 'stand-in', 'stand-in-worker.js'),
};

/** Reads them from their source, since bundles have replaced the compiler's output of these files. */
const workersFromSource = {
  name: 'workers',
  load: (id) =>
    Object.values(WORKERS).includes(id)
      ? { code: readFileSync(id.replace(SRC, at('src')).replace(/\.js$/, '.ts'), 'utf8'), moduleType: 'ts' }
      : null,
};

/** The URL of a CommonJS file. */
const HERE = "require('node:url').pathToFileURL(__filename)";

async function writeModules(rolldown, input, output, plugins) {
  const made = await rolldown({ input, external: isExternal, plugins, treeshake: false, logLevel: 'silent' });
  const { output: files } = await made.write(output);
  await made.close();
  return files;
}

async function writePrograms(rolldown) {
  const files = await writeModules(
    rolldown,
    { ...entries('node'), ...WORKERS },
    {
      ...SMALL_OUTPUT,
      dir: PACKAGE,
      format: 'cjs',
      exports: 'named',
      entryFileNames: '[name].cjs',
      chunkFileNames: 'shared-[hash].cjs',
      // An entry point only names its exports; getters would cost time and serve nobody.
      externalLiveBindings: false,
    },
    [moduleUrls(PACKAGE, { here: HERE, beside: Object.keys(WORKERS), ending: '.cjs' }), workersFromSource],
  );
  for (const { isEntry, name, exports } of files) {
    if (!isEntry || name in WORKERS) continue;
    writeFileSync(join(PACKAGE, `${name}.js`), `export { ${exports.join(', ')} } from './${name}.cjs';\n`);
  }
  const browser = { ...SMALL_OUTPUT, dir: join(PACKAGE, 'browser'), format: 'es', chunkFileNames: 'shared-[hash].js' };
  await writeModules(rolldown, entries('browser'), browser, []);
}

/** Declarations that any TypeScript from 5.4 on reads: since 5.7 typed arrays say which buffer they lie in. */
const readable = (text) =>
  text
    .replace(/\b((?:Big)?(?:Uint|Int|Float)\d+(?:Clamped)?Array|DataView)<Array[^<>]*>/g, '$1')
    .replace(/\b(Async(?:Iterable|Iterator|IterableIterator))<([^<>,]+), [^<>]+>/g, '$1<$2>')
    // What is imported for its effect alone declares nothing.
    .replace(/^import ['"][^'"]+['"];\n/gm, '')
    .replace(/^\/\/# sourceMappingURL=.*\n?/gm, '');

/** `using` and what it asks for, which no target before ESNext brings along. */
const NEEDED = '/// <reference lib="esnext.disposable" />\n';

async function writeDeclarations(rolldown) {
  const { dts } = await import('rolldown-plugin-dts');
  const input = {};
  for (const [name, { node, browser }] of Object.entries(FACES)) {
    input[name] = join(SRC, `${node}.d.ts`);
    if (browser !== undefined) input[`browser/${name}`] = join(SRC, `${browser}.d.ts`);
  }
  const plugins = [dts({ dtsInput: true, tsconfig: false })];
  const made = await rolldown({ input, external: isExternal, plugins, logLevel: 'silent' });
  const dir = join(PACKAGE, 'types');
  const { output } = await made.write({ dir, format: 'es', chunkFileNames: 'shared-[hash].d.ts' });
  await made.close();
  for (const { fileName, isEntry } of output) {
    const place = join(dir, fileName);
    writeFileSync(place, (isEntry ? NEEDED : '') + readable(readFileSync(place, 'utf8')));
  }
}

/** What follows the name of a type that stands for one of the face, with the types that it takes. */
function aliased({ declarations = [] }, name) {
  const parameters = declarations.flatMap(({ typeParameters = [] }) => typeParameters);
  if (parameters.length === 0) return ` = face.${name}`;
  const given = parameters.map((parameter) => parameter.name.getText()).join(', ');
  return `<${parameters.map((parameter) => parameter.getText()).join(', ')}> = face.${name}<${given}>`;
}

/** For whoever says `require`: the same types and the same values, by their names, so that both worlds agree on them. */
function writeCommonJsDeclarations(ts) {
  const files = Object.keys(FACES).map((name) => join(PACKAGE, 'types', `${name}.d.ts`));
  const options = {
    noLib: true,
    types: [],
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
  };
  const program = ts.createProgram(files, options);
  const checker = program.getTypeChecker();
  for (const file of files) {
    const module = checker.getSymbolAtLocation(program.getSourceFile(file));
    const face = `./${file.slice(file.lastIndexOf('/') + 1, -'.d.ts'.length)}.js`;
    const from = `'${face}' with { 'resolution-mode': 'import' }`;
    const lines = [`import type * as face from ${from};`];
    const [both, types] = [[], []];
    for (const exported of checker.getExportsOfModule(module)) {
      const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
      const { name } = exported;
      if (symbol.flags & ts.SymbolFlags.Value) lines.push(`export declare const ${name}: typeof face.${name};`);
      if ((symbol.flags & ts.SymbolFlags.Type) === 0) continue;
      if (symbol.flags & ts.SymbolFlags.Value) both.push(`export type ${name}${aliased(symbol, name)};`);
      else types.push(name);
    }
    // A name that is a value as well is declared twice; an alias of the whole would be no value.
    lines.push(...both);
    lines.push(`export type { ${types.join(', ')} } from ${from};`);
    writeFileSync(file.replace(/\.ts$/, '.cts'), `${lines.join('\n')}\n`);
  }
}

/** After the compiler: writes dist/package anew. */
export async function writeFaces() {
  const { rolldown } = await import('rolldown');
  const { default: ts } = await import('typescript');
  rmSync(PACKAGE, { recursive: true, force: true });
  await writePrograms(rolldown);
  await writeDeclarations(rolldown);
  writeCommonJsDeclarations(ts);
}
