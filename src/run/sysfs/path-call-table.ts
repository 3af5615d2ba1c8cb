import type { SystemCall } from '../launcher/system-calls.js';

type Act =
  | 'open'
  | 'stat'
  | 'statx'
  | 'statfs'
  | 'access'
  | 'readlink'
  | 'getxattr'
  | 'listxattr'
  /** Nobody changes what lies in sysfs. */
  | 'change';

/** Where a call has a path, and the descriptor of the directory that a relative one begins at: by default the working directory. */
export interface PathArgument {
  readonly directory?: number;
  readonly path: number;
}

export interface PathCall extends PathArgument {
  readonly act: Act;
  /** A second path, which is to be changed too. */
  readonly other?: PathArgument;
  /** Flags of `open`, or those that say that the path may be empty. */
  readonly flags?: number;
  /** `struct open_how`, whose first word is the flags. */
  readonly how?: number;
  readonly mode?: number;
  readonly buffer?: number;
}

export const PATH_CALLS = {
  open: { act: 'open', path: 0, flags: 1 },
  openat: { act: 'open', directory: 0, path: 1, flags: 2 },
  openat2: { act: 'open', directory: 0, path: 1, how: 2 },
  stat: { act: 'stat', path: 0, buffer: 1 },
  lstat: { act: 'stat', path: 0, buffer: 1 },
  newfstatat: { act: 'stat', directory: 0, path: 1, buffer: 2, flags: 3 },
  statx: { act: 'statx', directory: 0, path: 1, flags: 2, buffer: 4 },
  access: { act: 'access', path: 0, mode: 1 },
  faccessat: { act: 'access', directory: 0, path: 1, mode: 2 },
  faccessat2: { act: 'access', directory: 0, path: 1, mode: 2 },
  readlink: { act: 'readlink', path: 0 },
  readlinkat: { act: 'readlink', directory: 0, path: 1 },
  // By these `ls -l` looks for access control lists.
  getxattr: { act: 'getxattr', path: 0 },
  lgetxattr: { act: 'getxattr', path: 0 },
  listxattr: { act: 'listxattr', path: 0 },
  llistxattr: { act: 'listxattr', path: 0 },
  statfs: { act: 'statfs', path: 0, buffer: 1 },
  // Relative to a working directory of ours, the kernel would change files of the directory that it has for that.
  creat: { act: 'change', path: 0 },
  truncate: { act: 'change', path: 0 },
  mkdir: { act: 'change', path: 0 },
  mkdirat: { act: 'change', directory: 0, path: 1 },
  rmdir: { act: 'change', path: 0 },
  unlink: { act: 'change', path: 0 },
  unlinkat: { act: 'change', directory: 0, path: 1 },
  rename: { act: 'change', path: 0, other: { path: 1 } },
  renameat: { act: 'change', directory: 0, path: 1, other: { directory: 2, path: 3 } },
  renameat2: { act: 'change', directory: 0, path: 1, other: { directory: 2, path: 3 } },
  link: { act: 'change', path: 0, other: { path: 1 } },
  linkat: { act: 'change', directory: 0, path: 1, other: { directory: 2, path: 3 } },
  symlink: { act: 'change', path: 1 },
  symlinkat: { act: 'change', directory: 1, path: 2 },
  mknod: { act: 'change', path: 0 },
  mknodat: { act: 'change', directory: 0, path: 1 },
  chmod: { act: 'change', path: 0 },
  fchmodat: { act: 'change', directory: 0, path: 1 },
  fchmodat2: { act: 'change', directory: 0, path: 1 },
  chown: { act: 'change', path: 0 },
  lchown: { act: 'change', path: 0 },
  fchownat: { act: 'change', directory: 0, path: 1 },
  utimensat: { act: 'change', directory: 0, path: 1 },
} as const satisfies Partial<Record<SystemCall, PathCall>>;
