import { show } from '../../../api/verbs/index.js';
import { statusName } from '../wire/index.js';

/** What a status means, in words: `xio_strerror`. @param status one of {@link XioStatus} */
export function xioStrerror(status: number): string {
  const name = statusName(status);
  if (name === undefined) return `unknown status ${show(status)}`;
  const words = name.replace('XIO_E_', '').toLowerCase().replaceAll('_', ' ');
  return words
    .replace(/\bmsg\b/, 'message')
    .replace(/\brsp\b/, 'response')
    .replace(/\btx\b/, 'send');
}

/** The name of an event of sessions: `xio_session_event_str`, which gives words. */
export function xioSessionEventStr(event: number): string {
  const found = Object.entries(XioSessionEvent).find(([, number]) => number === event);
  return found === undefined ? `unknown event ${show(event)}` : found[0];
}

/** What happens to sessions and their connections, with the numbers of libxio.h. */
export const XioSessionEvent = {
  XIO_SESSION_REJECT_EVENT: 0,
  XIO_SESSION_TEARDOWN_EVENT: 1,
  XIO_SESSION_NEW_CONNECTION_EVENT: 2,
  XIO_SESSION_CONNECTION_ESTABLISHED_EVENT: 3,
  XIO_SESSION_CONNECTION_TEARDOWN_EVENT: 4,
  XIO_SESSION_CONNECTION_CLOSED_EVENT: 5,
  XIO_SESSION_CONNECTION_DISCONNECTED_EVENT: 6,
  XIO_SESSION_CONNECTION_REFUSED_EVENT: 7,
  XIO_SESSION_CONNECTION_ERROR_EVENT: 8,
  /** Never told: what ends a session is told of its connection. */
  XIO_SESSION_ERROR_EVENT: 9,
  XIO_SESSION_CONNECTION_RECONNECTING_EVENT: 10,
  XIO_SESSION_CONNECTION_RECONNECTED_EVENT: 11,
} as const;
export type XioSessionEvent = (typeof XioSessionEvent)[keyof typeof XioSessionEvent];

/** What a message is. */
export const XioMsgType = {
  XIO_MSG_TYPE_REQ: 0x12,
  XIO_MSG_TYPE_RSP: 0x14,
  XIO_MSG_TYPE_ONE_WAY: 0x22,
  XIO_MSG_TYPE_RDMA: 0x8,
} as const;
export type XioMsgType = (typeof XioMsgType)[keyof typeof XioMsgType];

/** Bits of a message's `flags`. */
export const XioMsgFlag = {
  /** The sender is told when the peer's program has let go of a one-way message, or has answered a request: `onMsgDelivered`. */
  XIO_MSG_FLAG_REQUEST_READ_RECEIPT: 0x1,
  /** Of a request: the peer writes the body of the response into `in.dataIov` by RDMA, however short it is. What has several pieces is READ. */
  XIO_MSG_FLAG_PEER_WRITE_RSP: 0x2,
  /** The peer READs the body, however short it is. */
  XIO_MSG_FLAG_PEER_READ_REQ: 0x4,
  /** Means nothing here: completions are told at once. */
  XIO_MSG_FLAG_IMM_SEND_COMP: 0x8,
  /** Means nothing here. */
  XIO_MSG_FLAG_LAST_IN_BATCH: 0x10,
} as const;

/** Bits of what a memory pool is created with, with the numbers of libxio.h. */
export const XioMempoolFlag = {
  XIO_MEMPOOL_FLAG_NONE: 0,
  /** Means nothing here: memory is registered when it is used. */
  XIO_MEMPOOL_FLAG_REG_MR: 0x1,
  /** Means nothing here, as the next two. */
  XIO_MEMPOOL_FLAG_HUGE_PAGES_ALLOC: 0x2,
  XIO_MEMPOOL_FLAG_NUMA_ALLOC: 0x4,
  XIO_MEMPOOL_FLAG_REGULAR_PAGES_ALLOC: 0x8,
  /** No buffer of a larger slab is given where the fitting one has none. It has three bits in libxio.h. */
  XIO_MEMPOOL_FLAG_USE_SMALLEST_SLAB: 0x16,
} as const;

/** Whose message it is that has failed. */
export const XioMsgDirection = { XIO_MSG_DIRECTION_OUT: 0, XIO_MSG_DIRECTION_IN: 1 } as const;
export type XioMsgDirection = (typeof XioMsgDirection)[keyof typeof XioMsgDirection];

/** What `xioConnectionIoctl` tells. */
export const XioConnectionOptname = {
  /** Bytes of bodies that wait to be sent, for want of a connection or of the peer's room. */
  XIO_CONNECTION_FIONWRITE_BYTES: 0,
  /** Requests and one-way messages likewise. */
  XIO_CONNECTION_FIONWRITE_MSGS: 1,
  /** 1 where it has the first link of its session, 0 where it has further ones alone, that a portal is given. */
  XIO_CONNECTION_LEADING_CONN: 2,
} as const;
export type XioConnectionOptname = (typeof XioConnectionOptname)[keyof typeof XioConnectionOptname];
