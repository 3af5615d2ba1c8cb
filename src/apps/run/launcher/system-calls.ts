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

/** A machine that there are numbers for. */
export type Machine = 'x64' | 'arm64';

/** This machine, or undefined where the numbers of its calls are not known here. */
export function thisMachine(): Machine | undefined {
  return process.arch === 'x64' || process.arch === 'arm64' ? process.arch : undefined;
}
