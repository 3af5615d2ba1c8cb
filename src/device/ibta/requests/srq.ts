/** The values of `enum ibv_srq_type`. */
export const SrqType = {
  /** For QPs of types RC, UC and UD. */
  BASIC: 0,
  /** Named by its number in each XRC request; completes into a CQ of its own. */
  XRC: 1,
  /** With tag matching. */
  TM: 2,
} as const;
export type SrqType = (typeof SrqType)[keyof typeof SrqType];

/** Bits of `enum ibv_srq_attr_mask`: which attributes of a shared receive queue a change means. */
export const SrqAttrMask = { MAX_WR: 1, LIMIT: 2 } as const;
