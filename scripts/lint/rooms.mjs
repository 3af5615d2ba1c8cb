// The rooms of the house and who may lean on whom, as a lint rule. Imports point down only, and only through the
// other room's index.ts. Type imports count: a type is a dependency too.
import { isBuiltin } from 'node:module';
import { dirname, relative, resolve, sep } from 'node:path';

const DEVICE = [
  'device/ibta',
  'device/wire',
  'device/stand-in',
  'device/nic',
  'device/cm',
  'device/link',
  'device/adapter',
];
const API = ['api/runtime', 'api/verbs', 'api/provider', 'api/rdmacm', 'providers/soft', 'sim'];
const LAYER = ['api/rdmacm', 'api/provider', 'api/verbs', 'api/runtime', 'device/wire', 'device/ibta'];

/**
 * In order, first match wins. `below`: rooms that may be imported; `packages`: which bare imports are allowed
 * ('none', 'node' for Node's own modules, 'all'). `partOf`: the room that it is a part of, with a door of its own for others.
 */
export const ROOMS = [
  // device: the adapter. Nothing of Node.
  { name: 'device/ibta', below: [], packages: 'none' },
  { name: 'device/wire', below: ['device/ibta'], packages: 'none' },
  { name: 'device/stand-in', below: ['device/wire', 'device/ibta'], packages: 'none' },
  { name: 'device/nic', below: ['device/stand-in', 'device/wire', 'device/ibta'], packages: 'none' },
  { name: 'device/cm', below: ['device/wire', 'device/ibta'], packages: 'none' },
  { name: 'device/link', below: ['device/wire', 'device/ibta'], packages: 'none' },
  {
    name: 'device/adapter',
    below: ['device/nic', 'device/cm', 'device/link', 'device/stand-in', 'device/wire', 'device/ibta'],
    packages: 'none',
  },
  // api: how programs use it. Nothing of Node.
  { name: 'api/runtime', below: ['device/wire'], packages: 'none' },
  { name: 'api/verbs', below: ['device/ibta'], packages: 'none' },
  {
    name: 'api/provider',
    below: ['api/provider', 'api/verbs', 'api/runtime', 'device/cm', 'device/ibta'],
    packages: 'none',
  },
  {
    name: 'api/rdmacm',
    below: ['api/provider', 'api/verbs', 'api/runtime', 'device/cm', 'device/wire', 'device/ibta'],
    packages: 'none',
  },
  // providers: verbs over a device.
  { name: 'providers/soft', below: ['api/provider', 'api/verbs', 'api/runtime', ...DEVICE], packages: 'none' },
  // sim: hosts in virtual time.
  {
    name: 'sim',
    below: ['api/rdmacm', 'providers/soft', 'api/provider', 'api/verbs', 'api/runtime', ...DEVICE],
    packages: 'none',
  },
  // protocols: what people build on RDMA. Nothing of Node; they import the core, and not each other.
  { name: 'protocols/core', below: LAYER, packages: 'none' },
  { name: 'protocols/messages/dissector', partOf: 'protocols/messages', below: ['protocols/core'], packages: 'none' },
  { name: 'protocols/messages', below: ['protocols/core', ...LAYER], packages: 'none' },
  { name: 'protocols/rsocket/dissector', partOf: 'protocols/rsocket', below: ['protocols/core'], packages: 'none' },
  { name: 'protocols/rsocket', below: ['protocols/core', ...LAYER], packages: 'none' },
  { name: 'protocols/kv/store', below: ['api/verbs', 'device/ibta'], packages: 'none' },
  // Clients of Redis come by TCP.
  { name: 'protocols/kv/gateway', partOf: 'protocols/kv', below: ['protocols/kv/store', ...LAYER], packages: 'node' },
  // It asks etcd by fetch.
  { name: 'protocols/kv/etcd', partOf: 'protocols/kv', below: LAYER, packages: 'none' },
  {
    name: 'protocols/kv/persistence',
    below: ['protocols/kv/store', 'api/runtime', 'api/verbs', 'device/ibta'],
    packages: 'none',
  },
  {
    name: 'protocols/kv',
    below: ['protocols/kv/persistence', 'protocols/kv/store', 'protocols/core', ...LAYER],
    packages: 'none',
  },
  { name: 'protocols/ucp/wire', below: ['device/wire', 'device/ibta'], packages: 'none' },
  { name: 'protocols/ucp/protocol', below: ['protocols/ucp/wire'], packages: 'none' },
  {
    name: 'protocols/ucp/dissector',
    partOf: 'protocols/ucp',
    below: ['protocols/ucp/wire', 'protocols/ucp/uct', 'protocols/core', 'device/ibta'],
    packages: 'none',
  },
  { name: 'protocols/ucp/uct', below: ['protocols/ucp/wire', 'protocols/core', ...LAYER], packages: 'none' },
  // For tools that measure transports: the seam is no program's.
  {
    name: 'protocols/ucp/bare',
    below: ['protocols/ucp/uct', 'protocols/ucp/wire', 'protocols/core', ...LAYER],
    packages: 'none',
  },
  {
    name: 'protocols/ucp',
    below: ['protocols/ucp/uct', 'protocols/ucp/protocol', 'protocols/ucp/wire', 'protocols/core', ...LAYER],
    packages: 'none',
  },
  { name: 'protocols/xio/wire', below: ['device/wire', 'device/ibta'], packages: 'none' },
  { name: 'protocols/xio/protocol', below: ['protocols/xio/wire', 'device/wire', 'device/ibta'], packages: 'none' },
  // Where there is no RDMA.
  {
    name: 'protocols/xio/transport/tcp',
    below: ['protocols/xio/transport', 'protocols/xio/wire', ...LAYER],
    packages: 'node',
  },
  { name: 'protocols/xio/transport', below: ['protocols/xio/wire', 'protocols/core', ...LAYER], packages: 'none' },
  {
    name: 'protocols/xio/dissector',
    partOf: 'protocols/xio',
    below: ['protocols/xio/transport', 'protocols/xio/wire', 'protocols/core', 'device/ibta'],
    packages: 'none',
  },
  {
    name: 'protocols/xio',
    below: ['protocols/xio/transport', 'protocols/xio/protocol', 'protocols/xio/wire', 'protocols/core', ...LAYER],
    packages: 'none',
  },
  // The shape of node:net is that of Node's streams.
  { name: 'protocols/net', below: ['protocols/rsocket', ...LAYER], packages: 'node' },
  {
    name: 'protocols/dissect',
    below: [
      'protocols/core',
      'protocols/messages/dissector',
      'protocols/rsocket/dissector',
      'protocols/ucp/dissector',
      'protocols/xio/dissector',
      'device/wire',
      'device/ibta',
    ],
    packages: 'none',
  },
  // node: all that is Node's or the system's.
  { name: 'node/system', below: ['device/nic', 'device/wire', 'device/ibta'], packages: 'all' },
  {
    name: 'node/gpu',
    below: ['node/system', 'api/verbs', 'device/nic', 'device/ibta'],
    packages: 'all',
  },
  { name: 'node/links', below: ['node/system', ...DEVICE], packages: 'all' },
  { name: 'node/statistics', below: ['node/system', 'providers/soft', 'api/verbs', ...DEVICE], packages: 'node' },
  {
    name: 'node/hosting',
    below: ['node/system', 'node/links', 'node/gpu', 'node/statistics', ...API, ...DEVICE],
    packages: 'node',
  },
  // run, cli: what people start. They use what every program has.
  {
    name: 'run',
    below: [
      'entry',
      'node/system',
      'node/statistics',
      'node/hosting',
      'api/verbs',
      'providers/soft',
      'api/rdmacm',
      'api/provider',
      'device/nic',
      'device/cm',
      'device/wire',
      'device/ibta',
    ],
    packages: 'all',
  },
  { name: 'cli', files: /^src\/cli\/commands\.ts$/, below: ['entry', 'run'], packages: 'all' },
  {
    name: 'cli',
    files: /^src\/cli\/(dump|explain)\//,
    below: ['entry', 'protocols/dissect', 'device/wire'],
    packages: 'all',
  },
  {
    name: 'cli',
    files: /^src\/cli\/ucx\/perftest\/uct\//,
    below: ['entry', 'protocols/ucp/bare'],
    packages: 'all',
  },
  { name: 'cli', files: /^src\/cli\/why\//, below: ['entry', 'node/statistics'], packages: 'all' },
  { name: 'cli', below: ['entry'], packages: 'all' },
  { name: 'entry', files: /^src\/entry\/portable\.ts$/, below: ['device/ibta', ...API], packages: 'none' },
  {
    name: 'entry',
    files: /^src\/entry\/index\.ts$/,
    below: ['device/ibta', 'node/hosting', 'node/statistics', ...API],
    packages: 'none',
  },
  { name: 'entry', files: /^src\/entry\/sim\.ts$/, below: ['node/hosting', 'sim'], packages: 'none' },
  { name: 'entry', files: /^src\/entry\/rsocket\.ts$/, below: ['node/hosting', 'protocols/rsocket'], packages: 'none' },
  { name: 'entry', files: /^src\/entry\/gpu\.ts$/, below: ['node/gpu', 'node/hosting'], packages: 'none' },
  { name: 'entry', files: /^src\/entry\/net\.ts$/, below: ['protocols/net', 'node/hosting'], packages: 'none' },
  {
    name: 'entry',
    files: /^src\/entry\/kv\.ts$/,
    below: ['node/hosting', 'protocols/kv', 'protocols/kv/etcd', 'protocols/kv/gateway'],
    packages: 'none',
  },
  { name: 'entry', files: /^src\/entry\/ucp\.ts$/, below: ['node/hosting', 'protocols/ucp'], packages: 'none' },
  {
    name: 'entry',
    files: /^src\/entry\/xio\.ts$/,
    below: ['node/hosting', 'protocols/xio', 'protocols/xio/transport', 'protocols/xio/transport/tcp'],
    packages: 'none',
  },
  {
    name: 'entry',
    files: /^src\/entry\/messages\.ts$/,
    below: ['node/hosting', 'protocols/messages'],
    packages: 'none',
  },
  // Programs as people write them: they have the package by its name.
  { name: 'labs', files: /^labs\//, below: [], packages: 'node', faces: 'verbena' },
  { name: 'examples', files: /^examples\/typed-rpc\.ts$/, below: [], packages: 'all', faces: 'verbena' },
  { name: 'examples', files: /^examples\//, below: [], packages: 'node', faces: 'verbena' },
].map((room) => ({ files: new RegExp(`^src/${room.name}/`), ...room }));

/** Tests are in no room: they look into all. */
const isTest = (path) => /^(src\/.*\/)?test\//.test(path);

const roomOf = (path) => (isTest(path) ? undefined : ROOMS.find((room) => room.files.test(path)));

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
  if (to.name !== 'entry' && target !== `src/${to.name}/index.ts`) {
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
