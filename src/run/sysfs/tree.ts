/** A device as `stat` tells it. */
export interface DeviceNumber {
  readonly major: number;
  readonly minor: number;
}

export interface DirectoryNode {
  readonly kind: 'directory';
  readonly entries: ReadonlyMap<string, Node>;
}

export interface TextNode {
  readonly kind: 'text';
  text(): string;
}

export interface DeviceNode extends DeviceNumber {
  readonly kind: 'device';
  /** Index of the device, where it is one of several. */
  readonly index: number;
  readonly driver: 'uverbs' | 'rdma_cm';
}

export type Node = DirectoryNode | TextNode | DeviceNode;

/** A tree as it is written down: texts and folders. */
export interface Sketch {
  readonly [name: string]: string | (() => string) | Sketch | DeviceNode;
}

function isDevice(value: Sketch | DeviceNode): value is DeviceNode {
  return value.kind === 'device';
}

/** The nodes of a sketch. Texts end with a newline, as in sysfs. */
export function directory(sketch: Sketch): DirectoryNode {
  const entries = new Map<string, Node>();
  for (const [name, value] of Object.entries(sketch)) {
    if (typeof value === 'string') entries.set(name, { kind: 'text', text: () => `${value}\n` });
    else if (typeof value === 'function') entries.set(name, { kind: 'text', text: () => `${value()}\n` });
    else entries.set(name, isDevice(value) ? value : directory(value));
  }
  return { kind: 'directory', entries };
}

/** The folders, by their absolute paths, that programs see of us and nobody else. */
export type Roots = ReadonlyMap<string, Node>;

export type Found =
  /** It is not below any of our folders. */
  | 'elsewhere'
  | 'nothing'
  /** A part of it, not the last, is no folder. */
  | 'no folder'
  | { readonly path: string; readonly node: Node };

/** A path without `.`, `..` and repeated slashes. */
export function plain(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return `/${parts.join('/')}`;
}

export function find(roots: Roots, absolute: string): Found {
  const path = plain(absolute);
  for (const [root, node] of roots) {
    if (path === root) return { path, node };
    if (path.startsWith(`${root}/`)) return descend(node, path, path.slice(root.length + 1).split('/'));
  }
  return 'elsewhere';
}

function descend(from: Node, path: string, names: readonly string[]): Found {
  let node = from;
  for (const name of names) {
    if (node.kind !== 'directory') return 'no folder';
    const next = node.entries.get(name);
    if (next === undefined) return 'nothing';
    node = next;
  }
  return { path, node };
}
