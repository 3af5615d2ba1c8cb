/** The values of `enum ibv_qp_state` (IBTA 10.3.1, protocol.md 3.10). */
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

/** The values of `enum ibv_mig_state`. RoCE has no path migration: a QP is always MIGRATED (protocol.md 3.10). */
export const MigState = { MIGRATED: 0, REARM: 1, ARMED: 2 } as const;
export type MigState = (typeof MigState)[keyof typeof MigState];
