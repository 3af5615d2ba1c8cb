/** The values of `enum ibv_wc_status` (protocol/reliable.md 2.10 says when each occurs). */
export const WcStatus = {
  SUCCESS: 0,
  LOC_LEN_ERR: 1,
  LOC_QP_OP_ERR: 2,
  LOC_EEC_OP_ERR: 3,
  LOC_PROT_ERR: 4,
  WR_FLUSH_ERR: 5,
  MW_BIND_ERR: 6,
  BAD_RESP_ERR: 7,
  LOC_ACCESS_ERR: 8,
  REM_INV_REQ_ERR: 9,
  REM_ACCESS_ERR: 10,
  REM_OP_ERR: 11,
  RETRY_EXC_ERR: 12,
  RNR_RETRY_EXC_ERR: 13,
  LOC_RDD_VIOL_ERR: 14,
  REM_INV_RD_REQ_ERR: 15,
  REM_ABORT_ERR: 16,
  INV_EECN_ERR: 17,
  INV_EEC_STATE_ERR: 18,
  FATAL_ERR: 19,
  RESP_TIMEOUT_ERR: 20,
  GENERAL_ERR: 21,
  TM_ERR: 22,
  TM_RNDV_INCOMPLETE: 23,
} as const;
export type WcStatus = (typeof WcStatus)[keyof typeof WcStatus];

/** The values of `enum ibv_wc_opcode`: what a completion completes. Bit 7 is set on the receiving side. */
export const WcOpcode = {
  SEND: 0,
  RDMA_WRITE: 1,
  RDMA_READ: 2,
  COMP_SWAP: 3,
  FETCH_ADD: 4,
  BIND_MW: 5,
  LOCAL_INV: 6,
  TSO: 7,
  FLUSH: 8,
  ATOMIC_WRITE: 9,
  RECV: 128,
  RECV_RDMA_WITH_IMM: 129,
} as const;
export type WcOpcode = (typeof WcOpcode)[keyof typeof WcOpcode];

/** Bits of `enum ibv_wc_flags`. */
export const WcFlags = {
  /** The receive buffer begins with a 40-byte header (UD). */
  GRH: 1,
  /** `immData` is valid. */
  WITH_IMM: 2,
  IP_CSUM_OK: 4,
  /** `invalidatedRkey` is valid. */
  WITH_INV: 8,
} as const;
