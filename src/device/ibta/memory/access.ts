/** Bits of `enum ibv_access_flags` (protocol.md 3.6). Reading locally needs none. */
export const AccessFlags = {
  LOCAL_WRITE: 1,
  REMOTE_WRITE: 2,
  REMOTE_READ: 4,
  REMOTE_ATOMIC: 8,
  MW_BIND: 16,
  ZERO_BASED: 32,
  ON_DEMAND: 64,
  HUGETLB: 128,
  FLUSH_GLOBAL: 256,
  FLUSH_PERSISTENT: 512,
  RELAXED_ORDERING: 1 << 20,
} as const;

/** Bits 20 to 29 are wishes: a device that cannot grant one ignores it (`IBV_ACCESS_OPTIONAL_RANGE`). */
export const ACCESS_OPTIONAL_RANGE = 0x3ff00000;
