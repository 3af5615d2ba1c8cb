/** Where the numbers of statuses begin (libxio.h). */
export const XIO_BASE_STATUS = 1_247_689_300;

/** How something ended, by the names and numbers of libxio.h; those from 40 on are this package's own. */
export const XioStatus = {
  XIO_E_SUCCESS: 0,
  XIO_E_NOT_SUPPORTED: XIO_BASE_STATUS,
  XIO_E_NO_BUFS: XIO_BASE_STATUS + 1,
  XIO_E_CONNECT_ERROR: XIO_BASE_STATUS + 2,
  XIO_E_ROUTE_ERROR: XIO_BASE_STATUS + 3,
  XIO_E_ADDR_ERROR: XIO_BASE_STATUS + 4,
  XIO_E_UNREACHABLE: XIO_BASE_STATUS + 5,
  /** A header or a body is longer than was agreed. */
  XIO_E_MSG_SIZE: XIO_BASE_STATUS + 6,
  XIO_E_PARTIAL_MSG: XIO_BASE_STATUS + 7,
  /** The peer broke the protocol. */
  XIO_E_MSG_INVALID: XIO_BASE_STATUS + 8,
  XIO_E_MSG_UNKNOWN: XIO_BASE_STATUS + 9,
  /** Nobody listens there, or whoever does would have no more sessions. */
  XIO_E_SESSION_REFUSED: XIO_BASE_STATUS + 10,
  /** The session has ended by a failure. */
  XIO_E_SESSION_ABORTED: XIO_BASE_STATUS + 11,
  /** The peer was not to be reached again in time. */
  XIO_E_SESSION_DISCONNECTED: XIO_BASE_STATUS + 12,
  /** The server's program has rejected the session. */
  XIO_E_SESSION_REJECTED: XIO_BASE_STATUS + 13,
  /** The session was sent from server to server too often. */
  XIO_E_SESSION_REDIRECTED: XIO_BASE_STATUS + 14,
  /** An end has closed the session. */
  XIO_E_SESSION_CLOSED: XIO_BASE_STATUS + 15,
  XIO_E_BIND_FAILED: XIO_BASE_STATUS + 16,
  /** Not answered within its deadline. */
  XIO_E_TIMEOUT: XIO_BASE_STATUS + 17,
  XIO_E_IN_PROGRESS: XIO_BASE_STATUS + 18,
  /** The peer speaks another version. */
  XIO_E_INVALID_VERSION: XIO_BASE_STATUS + 19,
  XIO_E_NOT_SESSION: XIO_BASE_STATUS + 20,
  XIO_E_OPEN_FAILED: XIO_BASE_STATUS + 21,
  XIO_E_READ_FAILED: XIO_BASE_STATUS + 22,
  XIO_E_WRITE_FAILED: XIO_BASE_STATUS + 23,
  XIO_E_CLOSE_FAILED: XIO_BASE_STATUS + 24,
  /** The peer's program has failed at the request. */
  XIO_E_UNSUCCESSFUL: XIO_BASE_STATUS + 25,
  XIO_E_MSG_CANCELED: XIO_BASE_STATUS + 26,
  XIO_E_MSG_CANCEL_FAILED: XIO_BASE_STATUS + 27,
  XIO_E_MSG_NOT_FOUND: XIO_BASE_STATUS + 28,
  /** Given up before it was sent: the peer's program has not seen it. */
  XIO_E_MSG_FLUSHED: XIO_BASE_STATUS + 29,
  XIO_E_MSG_DISCARDED: XIO_BASE_STATUS + 30,
  XIO_E_STATE: XIO_BASE_STATUS + 31,
  XIO_E_NO_USER_BUFS: XIO_BASE_STATUS + 32,
  XIO_E_NO_USER_MR: XIO_BASE_STATUS + 33,
  XIO_E_USER_BUF_OVERFLOW: XIO_BASE_STATUS + 34,
  XIO_E_REM_USER_BUF_OVERFLOW: XIO_BASE_STATUS + 35,
  /** More waits to be sent than the session's queue takes. */
  XIO_E_TX_QUEUE_OVERFLOW: XIO_BASE_STATUS + 36,
  XIO_E_USER_OBJ_NOT_FOUND: XIO_BASE_STATUS + 37,
  XIO_E_PEER_QUEUE_SIZE_MISMATCH: XIO_BASE_STATUS + 38,
  /** The response is longer than the requester has room for. */
  XIO_E_RSP_BUF_SIZE_MISMATCH: XIO_BASE_STATUS + 39,
  /** The server has begun anew, or forgotten the session: what it was sent may have been executed, or not. */
  XIO_E_PEER_RESTARTED: XIO_BASE_STATUS + 40,
} as const;
export type XioStatus = (typeof XioStatus)[keyof typeof XioStatus];

/** `XIO_E_TIMEOUT` and so on. */
export type XioStatusName = keyof typeof XioStatus;

const NAMES: ReadonlyMap<number, XioStatusName> = new Map(
  // Object.entries forgets that the keys are those of the object.
  (Object.entries(XioStatus) as [XioStatusName, number][]).map(([name, status]) => [status, name]),
);

/** The name of a status; undefined for a number that is none. */
export function statusName(status: number): XioStatusName | undefined {
  return NAMES.get(status);
}
