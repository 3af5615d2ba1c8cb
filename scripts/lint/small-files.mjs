// Small files with one reader, as a lint rule: such a file is a fragment of its reader. Entry points of modules, files that are
// loaded on demand, and tests do not count.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { importsOf } from './circles.mjs';

const MIN_LINES = 30;
const slashed = (path) => path.split(sep).join('/');
const isEntryPoint = (file) => file.endsWith('/index.ts') || file.startsWith('src/entry/');
const isTest = (file) => file.includes('/test/');

/** By each file below src, the files that import it. Read once in a run. */
let importers;

function importersBelow(root) {
  const found = new Map();
  for (const path of readdirSync(join(root, 'src'), { recursive: true })) {
    const file = slashed(join('src', path));
    if (!file.endsWith('.ts') || isTest(file)) continue;
    const text = readFileSync(join(root, file), 'utf8').replace(/\bimport\(/g, 'load(');
    for (const imported of importsOf(file, text)) found.set(imported, [...(found.get(imported) ?? []), file]);
  }
  return found;
}

/** The file of which another is a fragment, or undefined. */
export function readerOf(file, lines, importersOf) {
  if (lines >= MIN_LINES || isEntryPoint(file) || isTest(file)) return undefined;
  const readers = [...new Set(importersOf)];
  return readers.length === 1 && !isEntryPoint(readers[0]) ? readers[0] : undefined;
}

export const smallFilesRule = {
  meta: { type: 'suggestion', schema: [], messages: { fragment: '{{problem}}' } },
  create(context) {
    const file = slashed(relative(context.cwd, context.filename));
    if (!file.startsWith('src/')) return {};
    importers ??= importersBelow(context.cwd);
    return {
      Program(node) {
        const lines = context.sourceCode.text.split('\n').length - 1;
        const reader = readerOf(file, lines, importers.get(file) ?? []);
        if (reader === undefined) return;
        const problem = `${lines} lines that only ${reader} imports: move them there`;
        context.report({ node, messageId: 'fragment', data: { problem } });
      },
    };
  },
};
