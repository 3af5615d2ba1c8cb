/** Bits of `enum ibv_rereg_mr_flags`: what of a memory region changes (protocol.md 3.6). */
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
