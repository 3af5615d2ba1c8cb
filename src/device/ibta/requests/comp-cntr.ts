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
