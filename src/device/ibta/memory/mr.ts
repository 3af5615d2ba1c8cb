/** Where memory of a device is, as whoever hosts a NIC finds it, from any thread of the process: plain data. */
export interface DeviceMemoryPlace {
  /** Who has it: the name of a kind of device. */
  readonly kind: string;
  readonly lengthBytes: number;
}

/** Bits of `enum ibv_access_flags` (protocol/services.md 3.6). Reading locally needs none. */
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

/** Bits of `enum ibv_rereg_mr_flags`: what of a memory region changes (protocol/services.md 3.6). */
export const ReregMrFlags = {
  /** The memory, or the address at which it is named. */
  CHANGE_TRANSLATION: 1,
  CHANGE_PD: 2,
  CHANGE_ACCESS: 4,
} as const;

/** The values of `enum ib_uverbs_advise_mr_advice`: how a program is going to use memory. */
export const AdviseMrAdvice = {
  /** It will be read. */
  PREFETCH: 0,
  /** It will be written. */
  PREFETCH_WRITE: 1,
  /** It will be read, if it is present; what is not present stays away. */
  PREFETCH_NO_FAULT: 2,
} as const;
export type AdviseMrAdvice = (typeof AdviseMrAdvice)[keyof typeof AdviseMrAdvice];

/** Bits of `enum ib_uverbs_advise_mr_flag`. */
export const AdviseMrFlags = {
  /** Return when it is done, not when it is noted. */
  FLUSH: 1,
} as const;
