// Circles of imports, as a lint rule. Type imports count: a file in a circle cannot be read, tested or moved alone.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';

/** Whose imports may lead into no circle, but for tests. */
const FOLDERS = ['src'];

const IMPORT = /^\s*(?:import|export)\b(?:[^;'"]*?\bfrom)?\s+['"](\.[^'"]+)['"]|\bimport\(\s*['"](\.[^'"]+)['"]\s*\)/gm;

const slashed = (path) => path.split(sep).join('/');
const sourceOf = (path) => slashed(path).replace(/\.js$/, '.ts');

/** The files that a file imports, types included. */
export function importsOf(file, text) {
  return [...text.matchAll(IMPORT)].map(([, from, called]) => sourceOf(join(dirname(file), from ?? called)));
}

/**
 * The shortest way by imports from one file to another, both included, or undefined.
 * @param {ReadonlyMap<string, readonly string[]>} graph what each file imports
 * @returns {string[] | undefined}
 */
export function wayBetween(graph, from, to) {
  const ways = new Map([[from, [from]]]);
  // What is found on the way joins the end of what is gone through.
  for (const [file, way] of ways) {
    if (file === to) return way;
    for (const next of graph.get(file) ?? []) if (!ways.has(next)) ways.set(next, [...way, next]);
  }
  return undefined;
}

/** What each file below the folders imports; paths are relative to the root. */
function graphOf(root, folders) {
  const files = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true })
      .filter((path) => path.endsWith('.ts'))
      .map((path) => slashed(join(folder, path)))
      .filter((path) => !path.includes('/test/')),
  );
  return new Map(files.map((file) => [file, importsOf(file, readFileSync(join(root, file), 'utf8'))]));
}

/** Of all files, read once in a run. */
let graph;

export const circlesRule = {
  meta: { type: 'problem', schema: [], messages: { circle: 'a circle of imports: {{way}}' } },
  create(context) {
    graph ??= graphOf(context.cwd, FOLDERS);
    const file = slashed(relative(context.cwd, context.filename));
    if (!graph.has(file)) return {};
    const check = (source) => {
      if (source?.type !== 'Literal' || typeof source.value !== 'string' || !source.value.startsWith('.')) return;
      const imported = sourceOf(relative(context.cwd, resolve(dirname(context.filename), source.value)));
      const way = wayBetween(graph, imported, file);
      if (way !== undefined)
        context.report({ node: source, messageId: 'circle', data: { way: [file, ...way].join(' > ') } });
    };
    return {
      ImportDeclaration: (node) => check(node.source),
      ExportNamedDeclaration: (node) => check(node.source),
      ExportAllDeclaration: (node) => check(node.source),
      ImportExpression: (node) => check(node.source),
      TSImportType: (node) => check(node.source ?? node.argument?.literal),
    };
  },
};
