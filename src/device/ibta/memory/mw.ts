/** The values of `enum ibv_mw_type` (protocol/services.md 3.7, IBTA 10.6.7.2). */
export const MwType = {
  /** Bound by the verb, `ibv_bind_mw`; for any QP of the domain. */
  TYPE_1: 1,
  /** Bound by a BIND_MW request; for that QP alone, and the peer may close it. */
  TYPE_2: 2,
} as const;
export type MwType = (typeof MwType)[keyof typeof MwType];

/** Why a bind was refused while it was carried out: `reason` of `Syndrome.MW_BIND` (protocol/services.md 3.7). */
export const MwBindReason = {
  /** No memory window has this R_Key. */
  WINDOW_UNKNOWN: 1,
  /** The window is of another protection domain than the QP. */
  WINDOW_PD: 2,
  /** The window is of type 2 and bound already: it has to be invalidated first. */
  WINDOW_BOUND: 3,
  /** The new R_Key differs from the window's in more than its low byte. */
  WINDOW_KEY: 4,
  /** A window of type 2 needs a region and at least one byte. */
  NOTHING_TO_BIND: 5,
  /** No memory region has this L_Key. */
  REGION_UNKNOWN: 6,
  /** The region is of another protection domain than the QP. */
  REGION_PD: 7,
  /** The region lacks MW_BIND. */
  REGION_NOT_BINDABLE: 8,
  /** The region is zero-based. */
  REGION_ZERO_BASED: 9,
  /** The window is to be written by peers, and the region lacks LOCAL_WRITE. */
  REGION_NOT_WRITABLE: 10,
  /** The bytes are not all inside the region. */
  RANGE: 11,
  /** No window, or none of its type, can have these access flags. */
  WINDOW_ACCESS: 12,
} as const;
export type MwBindReason = (typeof MwBindReason)[keyof typeof MwBindReason];
