import type { DeviceNumber } from './tree.js';

/** The kernel numbers inodes of stand-ins from 1 on: ours begin where it never comes. */
const FIRST = 1n << 40n;

/** By which programs tell files apart (`st_dev`, `st_ino`). */
export interface Identity extends DeviceNumber {
  readonly inode: bigint;
}

/**
 * What files are known by: one identity for each path, whoever asks. That of a directory is its stand-in's, so that the kernel
 * says the same of a descriptor of it; all others are on the same device.
 */
export class Identities {
  readonly #known = new Map<string, Identity>();

  /** @param ofStandIn the stand-in's `st_dev` and `st_ino`, where the path has one */
  constructor(
    private readonly ofStandIn: (path: string) => { readonly dev: bigint; readonly ino: bigint } | undefined,
    private readonly anyDirectory: string,
    /** The same of a directory that is not ours. */
    private readonly ofKernel: (path: string) => { readonly dev: bigint; readonly ino: bigint } | undefined,
  ) {}

  of(path: string): Identity {
    const known = this.#known.get(path);
    if (known !== undefined) return known;
    const standIn = this.ofStandIn(path) ?? this.ofKernel(path);
    const { dev } = standIn ?? this.ofStandIn(this.anyDirectory) ?? { dev: 0n };
    const identity = { ...numberOf(dev), inode: standIn?.ino ?? FIRST + BigInt(this.#known.size) };
    this.#known.set(path, identity);
    return identity;
  }
}

/** Takes `dev_t` of the C library apart (makedev(3)). */
function numberOf(dev: bigint): DeviceNumber {
  const major = Number(((dev >> 8n) & 0xfffn) | ((dev >> 32n) & ~0xfffn));
  return { major, minor: Number((dev & 0xffn) | ((dev >> 12n) & 0xffffff00n)) };
}
