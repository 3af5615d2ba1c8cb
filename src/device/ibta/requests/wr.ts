/** Bits of `enum ibv_placement_type`: how far a FLUSH brings the data (protocol/packets.md 1.3). */
export const PlacementType = {
  /** To where every reader of the memory sees it. */
  FLUSH_GLOBAL: 1,
  /** To where it outlasts a loss of power. */
  FLUSH_PERSISTENT: 2,
} as const;
export type PlacementType = (typeof PlacementType)[keyof typeof PlacementType];

/** The values of `enum ibv_selectivity_level`: of what a FLUSH brings the data. */
export const SelectivityLevel = {
  /** Of the range that it names. */
  FLUSH_RANGE: 0,
  /** Of all the region; address and length are not looked at. */
  FLUSH_MR: 1,
} as const;
export type SelectivityLevel = (typeof SelectivityLevel)[keyof typeof SelectivityLevel];

/** The values of `enum ibv_wr_opcode`. */
export const WrOpcode = {
  RDMA_WRITE: 0,
  RDMA_WRITE_WITH_IMM: 1,
  SEND: 2,
  SEND_WITH_IMM: 3,
  RDMA_READ: 4,
  ATOMIC_CMP_AND_SWP: 5,
  ATOMIC_FETCH_AND_ADD: 6,
  LOCAL_INV: 7,
  BIND_MW: 8,
  SEND_WITH_INV: 9,
  TSO: 10,
  FLUSH: 14,
  ATOMIC_WRITE: 15,
} as const;
export type WrOpcode = (typeof WrOpcode)[keyof typeof WrOpcode];

/** Bits of `enum ibv_send_flags`. */
export const SendFlags = {
  /** Wait until all earlier READs and atomics are complete (protocol/reliable.md 2.7). */
  FENCE: 1,
  /** Complete with an entry in the send CQ, also on success. */
  SIGNALED: 2,
  /** Ask for a solicited event on the receiving side. */
  SOLICITED: 4,
  /** Take the data while posting; the memory need not be registered and may be reused at once. */
  INLINE: 8,
  IP_CSUM: 16,
} as const;
