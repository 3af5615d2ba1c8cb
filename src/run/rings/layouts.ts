/** Where rxe's provider puts what in the entries of its queues, in words of 32 bits (`rdma_user_rxe.h`). */

/** `struct rxe_send_wqe`. */
export const RxeSendWqe = {
  WR_ID_LO: 0,
  WR_ID_HI: 1,
  OPCODE: 3,
  FLAGS: 4,
  /** Immediate data as it goes on the wire, or the R_Key to invalidate. */
  IMM_DATA: 5,
  /** What comes here depends on the kind of request. */
  KIND: 6,
  LENGTH: 46,
  NUM_SGE: 49,
  /** Scatter/gather entries, or inline data. */
  DATA: 52,
  /** Of all that comes before DATA. */
  HEAD_BYTES: 208,
} as const;

/** RDMA WRITE and READ, ATOMIC_WRITE: words after KIND. */
export const RxeRdma = { REMOTE_LO: 6, REMOTE_HI: 7, RKEY: 8 } as const;
export const RxeAtomic = {
  REMOTE_LO: 6,
  REMOTE_HI: 7,
  COMPARE_ADD_LO: 8,
  COMPARE_ADD_HI: 9,
  SWAP_LO: 10,
  SWAP_HI: 11,
  RKEY: 12,
} as const;
export const RxeDatagram = { REMOTE_QPN: 6, REMOTE_QKEY: 7, AH_NUM: 9 } as const;
export const RxeBind = {
  ADDR_LO: 6,
  ADDR_HI: 7,
  LENGTH_LO: 8,
  LENGTH_HI: 9,
  LKEY: 10,
  MW_RKEY: 11,
  NEW_RKEY: 12,
  ACCESS: 13,
} as const;
export const RxeFlush = { REMOTE_LO: 6, REMOTE_HI: 7, LENGTH: 8, RKEY: 9, TYPE_AND_LEVEL: 10 } as const;

/** `struct rxe_recv_wqe`. */
export const RxeRecvWqe = { WR_ID_LO: 0, WR_ID_HI: 1, NUM_SGE: 7, DATA: 10, HEAD_BYTES: 40 } as const;

/** `struct rxe_cqe`: its first words are ours in the same order. */
export const RxeCqe = {
  STATUS: 2,
  IMM_DATA: 6,
  WC_FLAGS: 9,
  SAME_WORDS: 10,
  PKEY_INDEX: 10,
  SL: 11,
  BYTES: 64,
} as const;

/** The four bytes of a word the other way round: what the wire has first stands first in memory there. */
export function swapped(word: number): number {
  return ((word & 0xff) << 24) | ((word & 0xff00) << 8) | ((word >>> 8) & 0xff00) | ((word >>> 24) & 0xff);
}
