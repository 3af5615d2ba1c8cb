/** Bits of `enum ibv_create_cq_wc_flags`: fields that completions of an extended CQ tell. */
export const WcExFlags = {
  WITH_BYTE_LEN: 1 << 0,
  WITH_IMM: 1 << 1,
  WITH_QP_NUM: 1 << 2,
  WITH_SRC_QP: 1 << 3,
  WITH_SLID: 1 << 4,
  WITH_SL: 1 << 5,
  WITH_DLID_PATH_BITS: 1 << 6,
  /** When it completed, in ticks of the device's clock. */
  WITH_COMPLETION_TIMESTAMP: 1 << 7,
  WITH_CVLAN: 1 << 8,
  WITH_FLOW_TAG: 1 << 9,
  WITH_TM_INFO: 1 << 10,
  /** When it completed, in nanoseconds since 1970. */
  WITH_COMPLETION_TIMESTAMP_WALLCLOCK: 1 << 11,
} as const;

/** `IBV_WC_STANDARD_FLAGS`: the fields of `struct ibv_wc`. */
export const WC_STANDARD_FLAGS =
  WcExFlags.WITH_BYTE_LEN |
  WcExFlags.WITH_IMM |
  WcExFlags.WITH_QP_NUM |
  WcExFlags.WITH_SRC_QP |
  WcExFlags.WITH_SLID |
  WcExFlags.WITH_SL |
  WcExFlags.WITH_DLID_PATH_BITS;

/** Bits of `enum ibv_create_cq_attr_flags`. */
export const CreateCqAttrFlags = {
  /** One thread alone polls it. */
  SINGLE_THREADED: 1,
  /** Completions that find the queue full are lost without an error. */
  IGNORE_OVERRUN: 2,
} as const;
