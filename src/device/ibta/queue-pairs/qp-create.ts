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
