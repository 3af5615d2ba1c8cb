/** The key under which `value` stands in a table of constants, or the number itself when it stands in none. */
export function nameOf(constants: object, value: number): string {
  for (const [name, constant] of Object.entries(constants)) if (constant === value) return name;
  return String(value);
}

/** The bits of `flags` by name, joined by `|`; `0` when none is set, and bits without a name in hexadecimal. */
export function flagNames(constants: Readonly<Record<string, number>>, flags: number): string {
  const names: string[] = [];
  let rest = flags;
  for (const name of Object.keys(constants)) {
    const bit = constants[name];
    if ((rest & bit) === 0) continue;
    names.push(name);
    rest &= ~bit;
  }
  if (rest !== 0) names.push(`0x${(rest >>> 0).toString(16)}`);
  return names.length === 0 ? '0' : names.join('|');
}

/** Linux's numbers of the errors that verbs report. */
export const Errno = {
  EPERM: 1,
  ENOENT: 2,
  EINTR: 4,
  EIO: 5,
  EBADF: 9,
  EAGAIN: 11,
  ENOMEM: 12,
  EACCES: 13,
  EFAULT: 14,
  EBUSY: 16,
  EEXIST: 17,
  ENODEV: 19,
  EINVAL: 22,
  ENFILE: 23,
  EMFILE: 24,
  ENOSPC: 28,
  EPIPE: 32,
  ENOSYS: 38,
  ENODATA: 61,
  EPROTO: 71,
  EOVERFLOW: 75,
  EDESTADDRREQ: 89,
  EDEADLK: 35,
  EMSGSIZE: 90,
  EPROTONOSUPPORT: 93,
  EOPNOTSUPP: 95,
  EAFNOSUPPORT: 97,
  EADDRINUSE: 98,
  EADDRNOTAVAIL: 99,
  ENETDOWN: 100,
  ENETUNREACH: 101,
  ECONNRESET: 104,
  ENOBUFS: 105,
  EISCONN: 106,
  ENOTCONN: 107,
  ETIMEDOUT: 110,
  ECONNREFUSED: 111,
  EHOSTUNREACH: 113,
  EALREADY: 114,
  EINPROGRESS: 115,
  ECANCELED: 125,
} as const;
/** The name of an error, as in `error.code` of Node. */
export type ErrnoName = keyof typeof Errno;
