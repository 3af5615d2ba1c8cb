// The rooms of the house and who may lean on whom, as a lint rule. Imports point down only, and only through the
// other room's index.ts. Type imports count: a type is a dependency too.
import { isBuiltin } from 'node:module';
import { dirname, relative, resolve, sep } from 'node:path';

/**
 * In order, first match wins. `below`: rooms that may be imported; `packages`: which bare imports are allowed
 * ('none', 'node' for Node's own modules, 'all').
 */
export const ROOMS = [
  { name: 'spec', files: /^src\/spec\//, below: [], packages: 'none' },
  { name: 'wire', files: /^src\/wire\//, below: ['spec'], packages: 'none' },
  { name: 'nic', files: /^src\/nic\//, below: ['wire', 'spec'], packages: 'none' },
  { name: 'cm', files: /^src\/cm\//, below: ['wire', 'spec'], packages: 'none' },
  { name: 'link', files: /^src\/link\/simulat/, below: ['wire', 'spec'], packages: 'none' },
  { name: 'link', files: /^src\/link\/(udp|local)/, below: ['wire', 'spec', 'host'], packages: 'all' },
  { name: 'link', files: /^src\/link\//, below: ['wire', 'spec'], packages: 'node' },
  { name: 'host', files: /^src\/host\//, below: [], packages: 'all' },
  { name: 'verbs', files: /^src\/verbs\//, below: ['spec'], packages: 'none' },
  {
    name: 'soft',
    files: /^src\/soft\//,
    below: ['spec', 'wire', 'nic', 'cm', 'link', 'host', 'verbs'],
    packages: 'node',
  },
  { name: 'rdmacm', files: /^src\/rdmacm\//, below: ['spec', 'verbs', 'soft'], packages: 'node' },
  {
    name: 'sim',
    files: /^src\/sim\//,
    below: ['spec', 'wire', 'link', 'verbs', 'soft', 'rdmacm'],
    packages: 'node',
  },
  { name: 'cli', files: /^src\/cli\/(dump|explain)/, below: ['face', 'wire'], packages: 'all' },
  { name: 'cli', files: /^src\/cli\//, below: ['face'], packages: 'all' },
  { name: 'face', files: /^src\/index\.ts$/, below: ['spec', 'verbs', 'soft', 'rdmacm'], packages: 'none' },
  { name: 'labs', files: /^labs\//, below: ['face'], packages: 'node' },
];

const roomOf = (path) => ROOMS.find((room) => room.files.test(path));

/** Why this import breaks the rule, or undefined. Paths are relative to the repository, with slashes. */
export function importProblem(fromFile, specifier) {
  const from = roomOf(fromFile);
  if (from === undefined) return undefined;
  if (!specifier.startsWith('.')) {
    const kind = isBuiltin(specifier) ? 'node' : 'all';
    if (from.packages === 'all' || from.packages === kind) return undefined;
    return from.packages === 'none'
      ? `${fromFile} must run anywhere: it may not import '${specifier}'`
      : `${from.name} may import Node's own modules but no package: '${specifier}'`;
  }
  const target = relative('.', resolve(dirname(fromFile), specifier))
    .split(sep)
    .join('/')
    .replace(/\.js$/, '.ts');
  const to = roomOf(target);
  if (to === undefined) return `${from.name} may not import ${target}, which belongs to no room`;
  if (to.name === from.name) return undefined;
  if (!from.below.includes(to.name)) {
    return `${from.name} may not lean on ${to.name} (allowed: ${from.below.join(', ') || 'nothing'})`;
  }
  if (to.name !== 'face' && target !== `src/${to.name}/index.ts`) {
    return `reach ${to.name} through its index.ts, not through ${target}`;
  }
  return undefined;
}

const rule = {
  meta: { type: 'problem', schema: [], messages: { room: '{{problem}}' } },
  create(context) {
    const file = relative(context.cwd, context.filename).split(sep).join('/');
    const check = (source) => {
      if (source?.type !== 'Literal' || typeof source.value !== 'string') return;
      const problem = importProblem(file, source.value);
      if (problem !== undefined) context.report({ node: source, messageId: 'room', data: { problem } });
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

export const roomsPlugin = { rules: { imports: rule } };
