import type { Machine } from '../launcher/system-calls.js';
import type { Identity } from './identities.js';
import type { Node } from './tree.js';

const S_IFCHR = 0o020000;
const S_IFDIR = 0o040000;
const S_IFREG = 0o100000;
/** As the kernel says of sysfs. */
const TEXT_BYTES = 4096;
const BLOCK_BYTES = 4096;
/** In units of 512 bytes: a text of fewer is one with holes to `cp`, and becomes as long as it says (sysfs says 0). */
const TEXT_BLOCKS = 8;
const SYSFS_MAGIC = 0x62656572n;
const NAME_BYTES = 255n;
/** `STATX_BASIC_STATS`. */
const STATX_BASIC_STATS = 0x7ff;

/** Mode and type. Devices are for everybody, as udev's rules of rdma-core have it. */
function modeOf(node: Node): number {
  if (node.kind === 'directory') return S_IFDIR | 0o755;
  return node.kind === 'device' ? S_IFCHR | 0o666 : S_IFREG | 0o444;
}

/** What `access` has to be refused: nobody writes to sysfs. */
export function mayAccess(node: Node, mode: number): boolean {
  const wants = { write: (mode & 2) !== 0, execute: (mode & 1) !== 0 };
  if (node.kind === 'text') return !wants.write && !wants.execute;
  return node.kind === 'device' ? !wants.execute : !wants.write;
}

/** What `stat` tells beside the mode: libibverbs takes the time of change for the identity of a device. */
interface Facts {
  readonly node: Node;
  readonly identity: Identity;
  readonly changedS: number;
}

/** Where `struct stat` of a machine has its fields. */
const LAYOUTS = {
  x64: {
    ...{ bytes: 144, inode: 8, links: 16, mode: 24, device: 40, size: 48, blockBytes: 56, blocks: 64 },
    times: [72, 88, 104],
  },
  arm64: {
    ...{ bytes: 128, inode: 8, links: 20, mode: 16, device: 32, size: 48, blockBytes: 56, blocks: 64 },
    times: [72, 88, 104],
  },
} as const;

/** `dev_t` as user space has it. */
function deviceNumber({ major, minor }: { readonly major: number; readonly minor: number }): bigint {
  return (BigInt(major) << 8n) | BigInt(minor & 0xff) | (BigInt(minor >> 8) << 20n);
}

/** `struct stat`. */
export function statBytes(machine: Machine, { node, identity, changedS }: Facts): Uint8Array {
  const at = LAYOUTS[machine];
  const view = new DataView(new ArrayBuffer(at.bytes));
  // `st_dev` comes first on both machines.
  view.setBigUint64(0, deviceNumber(identity), true);
  view.setBigUint64(at.inode, identity.inode, true);
  view.setUint32(at.links, 1, true);
  view.setUint32(at.mode, modeOf(node), true);
  if (node.kind === 'device') view.setBigUint64(at.device, deviceNumber(node), true);
  if (node.kind === 'text') {
    view.setBigUint64(at.size, BigInt(TEXT_BYTES), true);
    view.setBigUint64(at.blocks, BigInt(TEXT_BLOCKS), true);
  }
  view.setUint32(at.blockBytes, BLOCK_BYTES, true);
  for (const time of at.times) view.setBigUint64(time, BigInt(changedS), true);
  return new Uint8Array(view.buffer);
}

/** `struct statx`, the same on all machines. */
export function statxBytes({ node, identity, changedS }: Facts): Uint8Array {
  const view = new DataView(new ArrayBuffer(256));
  view.setUint32(0, STATX_BASIC_STATS, true);
  view.setUint32(4, BLOCK_BYTES, true);
  view.setUint32(16, 1, true);
  view.setUint16(28, modeOf(node), true);
  view.setBigUint64(32, identity.inode, true);
  view.setUint32(136, identity.major, true);
  view.setUint32(140, identity.minor, true);
  if (node.kind === 'text') {
    view.setBigUint64(40, BigInt(TEXT_BYTES), true);
    view.setBigUint64(48, BigInt(TEXT_BLOCKS), true);
  }
  for (const time of [64, 96, 112]) view.setBigUint64(time, BigInt(changedS), true);
  if (node.kind === 'device') {
    view.setUint32(128, node.major, true);
    view.setUint32(132, node.minor, true);
  }
  return new Uint8Array(view.buffer);
}

/** `struct statfs` of sysfs, which has no blocks. */
export function statfsBytes(): Uint8Array {
  const view = new DataView(new ArrayBuffer(120));
  view.setBigUint64(0, SYSFS_MAGIC, true);
  view.setBigUint64(8, BigInt(BLOCK_BYTES), true);
  view.setBigUint64(64, NAME_BYTES, true);
  view.setBigUint64(72, BigInt(BLOCK_BYTES), true);
  return new Uint8Array(view.buffer);
}

/** `DT_*` of readdir(3). */
export const EntryType = {
  UNKNOWN: 0,
  FIFO: 1,
  CHARACTER_DEVICE: 2,
  DIRECTORY: 4,
  BLOCK_DEVICE: 6,
  FILE: 8,
  LINK: 10,
  SOCKET: 12,
} as const;
/** What comes before the name in `struct linux_dirent64`. */
const DIRENT_HEAD_BYTES = 19;

export interface Entry {
  readonly name: string;
  /** One of `EntryType`. */
  readonly type: number;
  readonly inode: bigint;
}

export function typeOf(node: Node): number {
  if (node.kind === 'directory') return EntryType.DIRECTORY;
  return node.kind === 'device' ? EntryType.CHARACTER_DEVICE : EntryType.FILE;
}

/**
 * As many of a directory's entries, from number `from` on, as fit into so many bytes (`getdents64`).
 *
 * @returns the bytes, and the number of the next entry
 */
export function directoryEntries(
  entries: readonly Entry[],
  from: number,
  roomBytes: number,
): { readonly bytes: Uint8Array; readonly next: number } {
  const bytes = new Uint8Array(Math.max(0, Math.min(roomBytes, 65536)));
  const view = new DataView(bytes.buffer);
  let [at, next] = [0, from];
  for (; next < entries.length; next += 1) {
    const { name, type, inode } = entries[next];
    const text = Buffer.from(name, 'latin1');
    const length = (DIRENT_HEAD_BYTES + text.length + 1 + 7) & ~7;
    if (at + length > bytes.length) break;
    view.setBigUint64(at, inode, true);
    view.setBigUint64(at + 8, BigInt(next + 1), true);
    view.setUint16(at + 16, length, true);
    view.setUint8(at + 18, type);
    bytes.set(text, at + DIRENT_HEAD_BYTES);
    at += length;
  }
  return { bytes: bytes.subarray(0, at), next };
}
