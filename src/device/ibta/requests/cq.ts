/** Bits of `enum ibv_qp_attach_comp_cntr_op`: the operations that a completion counter counts. */
export const QpAttachCompCntrOp = {
  SEND: 1 << 0,
  RECV: 1 << 1,
  RDMA_READ: 1 << 2,
  /** READs of the peer. */
  REMOTE_RDMA_READ: 1 << 3,
  RDMA_WRITE: 1 << 4,
  /** WRITEs of the peer. */
  REMOTE_RDMA_WRITE: 1 << 5,
} as const;

/** The values of `enum ibv_comp_cntr_type`: what a completion counter counts of an operation. */
export const CompCntrType = { WRS: 0, BYTES: 1 } as const;
export type CompCntrType = (typeof CompCntrType)[keyof typeof CompCntrType];

/** `struct ibv_comp_cntr_caps`. */
export interface CompCntrCaps {
  /** A counter that would grow beyond it begins again at 0. */
  readonly maxValue: bigint;
  readonly maxCounters: number;
  /** Bits of {@link QpAttachCompCntrOp}. */
  readonly supportedQpAttachOps: number;
}

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
