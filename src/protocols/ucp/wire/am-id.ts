/** Which message of UCP an active message is: `ucp_am_id_t` of ucp/core/ucp_types.h. It has 5 bits on the wire. */
export const AmId = {
  WIREUP: 1,
  EAGER_ONLY: 2,
  EAGER_FIRST: 3,
  EAGER_MIDDLE: 4,
  EAGER_SYNC_ONLY: 6,
  EAGER_SYNC_FIRST: 7,
  EAGER_SYNC_ACK: 8,
  RNDV_RTS: 9,
  RNDV_ATS: 10,
  RNDV_RTR: 11,
  RNDV_DATA: 12,
  OFFLOAD_SYNC_ACK: 14,
  STREAM_DATA: 15,
  RNDV_ATP: 16,
  PUT: 17,
  GET_REQ: 18,
  GET_REP: 19,
  ATOMIC_REQ: 20,
  ATOMIC_REP: 21,
  CMPL: 22,
  AM_SINGLE: 23,
  AM_FIRST: 24,
  AM_MIDDLE: 25,
  AM_SINGLE_REPLY: 26,
  /** Ours: UCX cannot cancel a send. */
  RNDV_CANCEL: 31,
} as const;
export type AmIdName = keyof typeof AmId;
export type AmId = (typeof AmId)[AmIdName];

/** How many ids 5 bits can tell apart. */
export const AM_IDS = 32;

/** What an atomic does: `uct_atomic_op_t` of uct/api/uct.h. */
export const AtomicOp = {
  ADD: 0,
  AND: 1,
  OR: 2,
  XOR: 3,
  SWAP: 4,
  CSWAP: 5,
} as const;
export type AtomicOpName = keyof typeof AtomicOp;
export type AtomicOp = (typeof AtomicOp)[AtomicOpName];

const OPS: readonly number[] = Object.values(AtomicOp);

export function isAtomicOp(value: number): value is AtomicOp {
  return OPS.includes(value);
}
