/** Bits of `enum ibv_qp_create_flags`. */
export const QpCreateFlags = {
  /** Multicast datagrams of this QP do not come back to it. */
  BLOCK_SELF_MCAST_LB: 1 << 1,
  SCATTER_FCS: 1 << 8,
  CVLAN_STRIPPING: 1 << 9,
  SOURCE_QPN: 1 << 10,
  PCI_WRITE_END_PADDING: 1 << 11,
} as const;

/** Bits of `enum ibv_qp_create_send_ops_flags`: requests that will be built by the `wr*` calls of a QP. */
export const QpCreateSendOpsFlags = {
  WITH_RDMA_WRITE: 1 << 0,
  WITH_RDMA_WRITE_WITH_IMM: 1 << 1,
  WITH_SEND: 1 << 2,
  WITH_SEND_WITH_IMM: 1 << 3,
  WITH_RDMA_READ: 1 << 4,
  WITH_ATOMIC_CMP_AND_SWP: 1 << 5,
  WITH_ATOMIC_FETCH_AND_ADD: 1 << 6,
  WITH_LOCAL_INV: 1 << 7,
  WITH_BIND_MW: 1 << 8,
  WITH_SEND_WITH_INV: 1 << 9,
  WITH_TSO: 1 << 10,
  WITH_FLUSH: 1 << 11,
  WITH_ATOMIC_WRITE: 1 << 12,
} as const;

/** The values of `enum ibv_qp_state` (IBTA 10.3.1, protocol/services.md 3.10). */
export const QpState = {
  RESET: 0,
  INIT: 1,
  /** Ready to receive. */
  RTR: 2,
  /** Ready to send. */
  RTS: 3,
  /** Send queue drained, or draining. */
  SQD: 4,
  /** Send queue in error: unreliable types only. */
  SQE: 5,
  ERR: 6,
} as const;
export type QpState = (typeof QpState)[keyof typeof QpState];

/** The values of `enum ibv_qp_type`. */
export const QpType = {
  /** Reliable connection. */
  RC: 2,
  /** Unreliable connection. */
  UC: 3,
  /** Unreliable datagram. */
  UD: 4,
  RAW_PACKET: 8,
  /** Extended reliable connection, the initiator's half. */
  XRC_SEND: 9,
  /** Extended reliable connection, the target's half. */
  XRC_RECV: 10,
} as const;
export type QpType = (typeof QpType)[keyof typeof QpType];

/** The values of `enum ibv_mig_state`. RoCE has no path migration: a QP is always MIGRATED (protocol/services.md 3.10). */
export const MigState = { MIGRATED: 0, REARM: 1, ARMED: 2 } as const;
export type MigState = (typeof MigState)[keyof typeof MigState];
