// The rooms of the house and who may lean on whom, as a lint rule. Imports point down only, and only through the
// other room's index.ts. Type imports count: a type is a dependency too.
import { isBuiltin } from 'node:module';
import { dirname, relative, resolve, sep } from 'node:path';

const DEVICE = ['device/ibta', 'device/wire', 'device/nic', 'device/cm', 'device/link'];
const API = ['api/runtime', 'api/verbs', 'api/provider', 'api/soft', 'api/rdmacm', 'api/sim'];
const LAYER = ['api/rdmacm', 'api/provider', 'api/verbs', 'api/runtime', 'device/ibta'];

/**
 * In order, first match wins. `below`: rooms that may be imported; `packages`: which bare imports are allowed
 * ('none', 'node' for Node's own modules, 'all'). `partOf`: the room that it is a part of, with a door of its own for others.
 */
export const ROOMS = [
  // device: the adapter. Nothing of Node.
  { name: 'device/ibta', below: [], packages: 'none' },
  { name: 'device/wire', below: ['device/ibta'], packages: 'none' },
  { name: 'device/nic', below: ['device/wire', 'device/ibta'], packages: 'none' },
  { name: 'device/cm', below: ['device/wire', 'device/ibta'], packages: 'none' },
  { name: 'device/link', below: ['device/wire', 'device/ibta'], packages: 'none' },
  // api: how programs use it. Nothing of Node.
  { name: 'api/runtime', below: ['device/wire'], packages: 'none' },
  { name: 'api/verbs', below: ['device/ibta'], packages: 'none' },
  {
    name: 'api/provider',
    below: ['api/provider', 'api/verbs', 'api/runtime', 'device/cm', 'device/ibta'],
    packages: 'none',
  },
  { name: 'api/soft', below: ['api/provider', 'api/verbs', 'api/runtime', ...DEVICE], packages: 'none' },
  {
    name: 'api/rdmacm',
    below: ['api/provider', 'api/verbs', 'api/runtime', 'device/cm', 'device/wire', 'device/ibta'],
    packages: 'none',
  },
  {
    name: 'api/sim',
    below: ['api/rdmacm', 'api/soft', 'api/provider', 'api/verbs', 'api/runtime', ...DEVICE],
    packages: 'none',
  },
  // layers: what people build on RDMA. Nothing of Node; protocols lean on the engine, and not on each other.
  { name: 'layers/engine', below: LAYER, packages: 'none' },
  { name: 'layers/messages/dissector', partOf: 'layers/messages', below: ['layers/engine'], packages: 'none' },
  { name: 'layers/messages', below: ['layers/engine', ...LAYER], packages: 'none' },
  { name: 'layers/rsocket/dissector', partOf: 'layers/rsocket', below: ['layers/engine'], packages: 'none' },
  { name: 'layers/rsocket', below: ['layers/engine', ...LAYER], packages: 'none' },
  { name: 'layers/kv/store', below: ['api/verbs', 'device/ibta'], packages: 'none' },
  // Clients of Redis come by TCP.
  { name: 'layers/kv/gateway', partOf: 'layers/kv', below: ['layers/kv/store', ...LAYER], packages: 'node' },
  // It asks etcd by fetch.
  { name: 'layers/kv/etcd', partOf: 'layers/kv', below: LAYER, packages: 'none' },
  {
    name: 'layers/kv/persistence',
    below: ['layers/kv/store', 'api/runtime', 'api/verbs', 'device/ibta'],
    packages: 'none',
  },
  {
    name: 'layers/kv',
    below: ['layers/kv/persistence', 'layers/kv/store', 'layers/engine', ...LAYER],
    packages: 'none',
  },
  { name: 'layers/ucp/wire', below: ['device/ibta'], packages: 'none' },
  { name: 'layers/ucp/protocol', below: ['layers/ucp/wire'], packages: 'none' },
  {
    name: 'layers/ucp/dissector',
    partOf: 'layers/ucp',
    below: ['layers/ucp/wire', 'layers/ucp/uct', 'layers/engine', 'device/ibta'],
    packages: 'none',
  },
  { name: 'layers/ucp/uct', below: ['layers/ucp/wire', 'layers/engine', ...LAYER], packages: 'none' },
  // For tools that measure transports: the seam is no program's.
  {
    name: 'layers/ucp/bare',
    below: ['layers/ucp/uct', 'layers/ucp/wire', 'layers/engine', ...LAYER],
    packages: 'none',
  },
  {
    name: 'layers/ucp',
    below: ['layers/ucp/uct', 'layers/ucp/protocol', 'layers/ucp/wire', 'layers/engine', ...LAYER],
    packages: 'none',
  },
  { name: 'layers/xio/wire', below: ['device/ibta'], packages: 'none' },
  { name: 'layers/xio/protocol', below: ['layers/xio/wire', 'device/ibta'], packages: 'none' },
  // Where there is no RDMA.
  {
    name: 'layers/xio/transport/tcp',
    below: ['layers/xio/transport', 'layers/xio/wire', ...LAYER],
    packages: 'node',
  },
  { name: 'layers/xio/transport', below: ['layers/xio/wire', 'layers/engine', ...LAYER], packages: 'none' },
  {
    name: 'layers/xio/dissector',
    partOf: 'layers/xio',
    below: ['layers/xio/transport', 'layers/xio/wire', 'layers/engine', 'device/ibta'],
    packages: 'none',
  },
  {
    name: 'layers/xio',
    below: ['layers/xio/transport', 'layers/xio/protocol', 'layers/xio/wire', 'layers/engine', ...LAYER],
    packages: 'none',
  },
  // The shape of node:net is that of Node's streams.
  { name: 'layers/net', below: ['layers/rsocket', ...LAYER], packages: 'node' },
  {
    name: 'layers/dissectors',
    below: [
      'layers/engine',
      'layers/messages/dissector',
      'layers/rsocket/dissector',
      'layers/ucp/dissector',
      'layers/xio/dissector',
      'device/wire',
      'device/ibta',
    ],
    packages: 'none',
  },
  // machine: all that is Node's or the system's.
  { name: 'machine/system', below: ['device/nic', 'device/wire', 'device/ibta'], packages: 'all' },
  {
    name: 'machine/gpu',
    below: ['machine/system', 'api/verbs', 'device/nic', 'device/ibta'],
    packages: 'all',
  },
  { name: 'machine/links', below: ['machine/system', ...DEVICE], packages: 'all' },
  { name: 'machine/statistics', below: ['machine/system', 'api/soft', 'api/verbs', ...DEVICE], packages: 'node' },
  {
    name: 'machine/hosting',
    below: ['machine/system', 'machine/links', 'machine/gpu', 'machine/statistics', ...API, ...DEVICE],
    packages: 'node',
  },
  // apps: what people start. They use what every program has.
  {
    name: 'apps/run',
    below: [
      'face',
      'machine/system',
      'machine/hosting',
      'api/verbs',
      'api/soft',
      'api/rdmacm',
      'api/provider',
      'device/nic',
      'device/cm',
      'device/ibta',
    ],
    packages: 'all',
  },
  { name: 'apps/cli', files: /^src\/apps\/cli\/main\.ts$/, below: ['face', 'apps/run'], packages: 'all' },
  {
    name: 'apps/cli',
    files: /^src\/apps\/cli\/(dump|explain)\//,
    below: ['face', 'layers/dissectors', 'device/wire'],
    packages: 'all',
  },
  {
    name: 'apps/cli',
    files: /^src\/apps\/cli\/ucx\/perftest\/uct\//,
    below: ['face', 'layers/ucp/bare'],
    packages: 'all',
  },
  { name: 'apps/cli', below: ['face'], packages: 'all' },
  { name: 'face', files: /^src\/portable\.ts$/, below: ['device/ibta', ...API], packages: 'none' },
  {
    name: 'face',
    files: /^src\/index\.ts$/,
    below: ['device/ibta', 'machine/hosting', 'machine/statistics', ...API],
    packages: 'none',
  },
  { name: 'face', files: /^src\/sim\.ts$/, below: ['machine/hosting', 'api/sim'], packages: 'none' },
  { name: 'face', files: /^src\/portable-messages\.ts$/, below: ['layers/messages'], packages: 'none' },
  { name: 'face', files: /^src\/portable-rsocket\.ts$/, below: ['layers/rsocket'], packages: 'none' },
  { name: 'face', files: /^src\/rsocket\.ts$/, below: ['machine/hosting'], packages: 'none' },
  { name: 'face', files: /^src\/gpu\.ts$/, below: ['machine/gpu', 'machine/hosting'], packages: 'none' },
  { name: 'face', files: /^src\/net\.ts$/, below: ['layers/net', 'machine/hosting'], packages: 'none' },
  { name: 'face', files: /^src\/portable-kv\.ts$/, below: ['layers/kv'], packages: 'none' },
  {
    name: 'face',
    files: /^src\/kv\.ts$/,
    below: ['machine/hosting', 'layers/kv/etcd', 'layers/kv/gateway'],
    packages: 'none',
  },
  { name: 'face', files: /^src\/portable-ucp\.ts$/, below: ['layers/ucp'], packages: 'none' },
  { name: 'face', files: /^src\/ucp\.ts$/, below: ['machine/hosting'], packages: 'none' },
  { name: 'face', files: /^src\/portable-xio\.ts$/, below: ['layers/xio'], packages: 'none' },
  {
    name: 'face',
    files: /^src\/xio\.ts$/,
    below: ['machine/hosting', 'layers/xio/transport', 'layers/xio/transport/tcp'],
    packages: 'none',
  },
  { name: 'face', files: /^src\/messages\.ts$/, below: ['machine/hosting'], packages: 'none' },
  // Programs as people write them: they have the package by its name.
  { name: 'labs', files: /^labs\//, below: [], packages: 'node', faces: 'verbena' },
  { name: 'examples', files: /^examples\/typed-rpc\.ts$/, below: [], packages: 'all', faces: 'verbena' },
  { name: 'examples', files: /^examples\//, below: [], packages: 'node', faces: 'verbena' },
].map((room) => ({ files: new RegExp(`^src/${room.name}/`), ...room }));

const roomOf = (path) => ROOMS.find((room) => room.files.test(path));

/** Why this import breaks the rule, or undefined. Paths are relative to the repository, with slashes. */
export function importProblem(fromFile, specifier) {
  const from = roomOf(fromFile);
  if (from === undefined) return undefined;
  if (/^verbena(\/|$)/.test(specifier)) {
    return from.faces === 'verbena' ? undefined : `${from.name} is a part of '${specifier}': import by path`;
  }
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
  if (to.name === from.name || to.name === from.partOf) return undefined;
  if (!from.below.includes(to.name)) {
    return `${from.name} may not lean on ${to.name} (allowed: ${from.below.join(', ') || 'nothing'})`;
  }
  if (to.name !== 'face' && target !== `src/${to.name}/index.ts`) {
    return `reach ${to.name} through its index.ts, not through ${target}`;
  }
  return undefined;
}

export const roomsRule = {
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
