/** The system calls that may come to us, with their numbers on either machine; -1 where it does not exist. */
export const SYSTEM_CALLS = {
  write: { x64: 1, arm64: 64 },
  ioctl: { x64: 16, arm64: 29 },
  open: { x64: 2, arm64: -1 },
  openat: { x64: 257, arm64: 56 },
  openat2: { x64: 437, arm64: 437 },
  close: { x64: 3, arm64: 57 },
  close_range: { x64: 436, arm64: 436 },
  stat: { x64: 4, arm64: -1 },
  lstat: { x64: 6, arm64: -1 },
  fstat: { x64: 5, arm64: 80 },
  newfstatat: { x64: 262, arm64: 79 },
  statx: { x64: 332, arm64: 291 },
  access: { x64: 21, arm64: -1 },
  faccessat: { x64: 269, arm64: 48 },
  faccessat2: { x64: 439, arm64: 439 },
  readlink: { x64: 89, arm64: -1 },
  readlinkat: { x64: 267, arm64: 78 },
  getxattr: { x64: 191, arm64: 8 },
  lgetxattr: { x64: 192, arm64: 9 },
  listxattr: { x64: 194, arm64: 11 },
  llistxattr: { x64: 195, arm64: 12 },
  creat: { x64: 85, arm64: -1 },
  truncate: { x64: 76, arm64: 45 },
  mkdir: { x64: 83, arm64: -1 },
  mkdirat: { x64: 258, arm64: 34 },
  rmdir: { x64: 84, arm64: -1 },
  unlink: { x64: 87, arm64: -1 },
  unlinkat: { x64: 263, arm64: 35 },
  rename: { x64: 82, arm64: -1 },
  renameat: { x64: 264, arm64: 38 },
  renameat2: { x64: 316, arm64: 276 },
  link: { x64: 86, arm64: -1 },
  linkat: { x64: 265, arm64: 37 },
  symlink: { x64: 88, arm64: -1 },
  symlinkat: { x64: 266, arm64: 36 },
  mknod: { x64: 133, arm64: -1 },
  mknodat: { x64: 259, arm64: 33 },
  chmod: { x64: 90, arm64: -1 },
  fchmodat: { x64: 268, arm64: 53 },
  fchmodat2: { x64: 452, arm64: 452 },
  chown: { x64: 92, arm64: -1 },
  lchown: { x64: 94, arm64: -1 },
  fchownat: { x64: 260, arm64: 54 },
  utimensat: { x64: 280, arm64: 88 },
  statfs: { x64: 137, arm64: 43 },
  chdir: { x64: 80, arm64: 49 },
  fchdir: { x64: 81, arm64: 50 },
  getcwd: { x64: 79, arm64: 17 },
  getdents64: { x64: 217, arm64: 61 },
  execve: { x64: 59, arm64: 221 },
  execveat: { x64: 322, arm64: 281 },
  dup2: { x64: 33, arm64: -1 },
  dup3: { x64: 292, arm64: 24 },
  /** Not on arm64: what the kernel saves there for a handler lacks the first argument of the interrupted call. */
  rt_sigreturn: { x64: 15, arm64: -1 },
  socket: { x64: 41, arm64: 198 },
} as const;

export type SystemCall = keyof typeof SYSTEM_CALLS;

export type Machine = 'x64' | 'arm64';

/** This machine, or undefined where the numbers of its calls are not known here. */
export function thisMachine(): Machine | undefined {
  return process.arch === 'x64' || process.arch === 'arm64' ? process.arch : undefined;
}
