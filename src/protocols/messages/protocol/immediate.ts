// The 32 bits of immediate data: kind, flags, and how many messages the peer may have sent in all, modulo 2^16.

const KNOWN_FLAGS = 0x01;

export function immediateOf(kind: number, flags: number, limit: number): number {
  return ((kind << 24) | (flags << 16) | (limit & 0xffff)) >>> 0;
}

export function kindOf(immediate: number): number {
  return immediate >>> 24;
}

export function flagsOf(immediate: number): number {
  return (immediate >>> 16) & 0xff;
}

export function limitOf(immediate: number): number {
  return immediate & 0xffff;
}

/** Flags that mean nothing in this version. */
export function unknownFlags(flags: number): number {
  return flags & ~KNOWN_FLAGS;
}
