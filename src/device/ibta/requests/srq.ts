/** Bits of `ibv_xrcd_init_attr.oflags`: Linux's numbers of the flags of `open`. */
export const XrcdOpenFlags = {
  /** O_CREAT: make the domain where the file has none yet. */
  CREAT: 0o100,
  /** O_EXCL, with CREAT: refuse where the file has one. */
  EXCL: 0o200,
} as const;

/** Why the SRQ that an XRC request names cannot take it: `reason` of `Syndrome.XRC_SRQ` (protocol/services.md 3.3). */
export const XrcSrqReason = {
  /** No shared receive queue has this number. */
  UNKNOWN: 1,
  /** It is not of type XRC. */
  TYPE: 2,
  /** It belongs to another XRC domain than the QP. */
  DOMAIN: 3,
} as const;
export type XrcSrqReason = (typeof XrcSrqReason)[keyof typeof XrcSrqReason];

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
