import type { Bytes, XioSession } from '../api.js';
import type { XioStatus } from '../wire/index.js';
import type { XioMsgDirection, XioMsgType, XioSessionEvent } from './constants.js';
import type { LibxioConnection, LibxioSession } from './handles.js';

/** What is sent: `struct xio_vmsg`. */
export interface XioOutVmsg {
  readonly header?: Bytes | undefined;
  /** The body, in up to 256 pieces, which go from where they lie. The peer gets them as one body. */
  readonly dataIov?: readonly Bytes[] | undefined;
}

/** What has come. */
export interface XioInVmsg {
  readonly header?: Uint8Array | undefined;
  /** The body: in one piece, or in those that were named for it; no piece where it is empty. */
  readonly dataIov?: readonly Uint8Array[] | undefined;
}

/** A place in memory of the peer's: `struct xio_sge`. */
export interface XioRdmaSge {
  /** From which byte of the memory on that the key is of. */
  readonly addr: number;
  readonly length: number;
  /** The key, that the peer has told: `xioLookupRkeyByRequest` gives it there. */
  readonly stag: Uint8Array;
}

/** What `xioSendRdma` is to do: `struct xio_rdma_msg`. */
export interface XioRdmaMsg {
  /** Reads from there, or else writes there. */
  readonly isRead: boolean;
  /** Bytes in all. */
  readonly length: number;
  /** 1 to 256 places, one after the other. */
  readonly rsgList: readonly XioRdmaSge[];
}

/** A message: `struct xio_msg`. A program makes those that it sends, as plain objects, and is given those that come. */
export interface XioMsg {
  /** What is sent. The body stays as it is until the message is the program's again. */
  out?: XioOutVmsg | undefined;
  /**
   * What has come. Of a request that is to be sent: memory, in up to 256 pieces, where the body of its response is to lie; without it, wherever the session has room. `in` is
   * written when the response is there.
   */
  in?: XioInVmsg | undefined;
  /** Set by whatever sends it or gives it to the program. */
  type?: XioMsgType | undefined;
  /** Of a response that is to be sent: the request, as `onMsg` was given it. */
  request?: XioMsg | undefined;
  /** For `xioSendRdma`: memory of the peer's. That of this end is `out.dataIov`. */
  rdma?: XioRdmaMsg | undefined;
  /** Set likewise: counts what goes one way on its connection, from 1 on. */
  sn?: number | undefined;
  /** Bits of {@link XioMsgFlag}. */
  flags?: number | undefined;
  /** Sent behind it by the same call; its own `next` behind that. Each is xio's, and the program's again, by itself. */
  next?: XioMsg | undefined;
  /** The program's. */
  userContext?: unknown;
}

/** A body that is about to come: `assignDataInBuf` may name where it is to lie. */
export interface XioAssignment {
  readonly header: Uint8Array;
  readonly dataBytes: number;
  /** To be set to memory of exactly `dataBytes` bytes, in up to 256 pieces. */
  dataIov?: readonly Uint8Array[] | undefined;
}

/** What `onSessionEvent` is told: `struct xio_session_event_data`. */
export interface XioSessionEventData {
  readonly event: XioSessionEvent;
  /** Why; XIO_E_SUCCESS where nothing is wrong. */
  readonly reason: XioStatus;
  /** The same in a sentence; empty likewise. */
  readonly message: string;
  /** Of XIO_SESSION_REJECT_EVENT what the server's program has given; else empty. */
  readonly privateData: Uint8Array;
  /** Undefined where the event is about the session. */
  readonly conn: LibxioConnection | undefined;
  readonly connUserContext: unknown;
}

/** What `onNewSession` is told: `struct xio_new_session_req`. */
export interface XioNewSessionReq {
  /** Of the URI that the client has: what comes after the port. */
  readonly resource: string;
  readonly privateData: Uint8Array;
  /** By what it came, `rdma` or `tcp`. */
  readonly proto: XioSession['scheme'];
  /** Where the client is. */
  readonly srcAddr: XioSession['remoteAddress'];
}

/** What `onSessionEstablished` is told: `struct xio_new_session_rsp`. */
export interface XioNewSessionRsp {
  readonly privateData: Uint8Array;
}

/**
 * What a program does with what happens: `struct xio_session_ops`. None is called while a call of the program's runs, except `assignDataInBuf`. What they throw is a warning, and ends nothing.
 * `userContext` is that of the connection where there is one, of the session otherwise; of `onNewSession` and of a server's `assignDataInBuf` that of the server.
 */
export interface XioSessionOps {
  readonly onSessionEvent?:
    | ((session: LibxioSession, data: XioSessionEventData, userContext: unknown) => void)
    | undefined;
  /** A client has come. Now or later the program calls `xioAccept`, `xioRedirect` or `xioReject`. A server has to have it. */
  readonly onNewSession?: ((session: LibxioSession, req: XioNewSessionReq, userContext: unknown) => void) | undefined;
  /** A client's session was accepted. XIO_SESSION_CONNECTION_ESTABLISHED_EVENT follows. */
  readonly onSessionEstablished?:
    | ((session: LibxioSession, rsp: XioNewSessionRsp, userContext: unknown) => void)
    | undefined;
  /** A request, a one-way message, or the response to a request of one's own: then it is the message that the request was sent with. `lastInRxq`: no other has come that it was not called with. */
  readonly onMsg?:
    | ((session: LibxioSession, msg: XioMsg, userContext: unknown, lastInRxq: boolean) => void)
    | undefined;
  /** A response was sent: it is the program's again. */
  readonly onMsgSendComplete?: ((session: LibxioSession, rsp: XioMsg, userContext: unknown) => void) | undefined;
  /** A one-way message without a receipt was sent: it is the program's again. */
  readonly onOwMsgSendComplete?: ((session: LibxioSession, msg: XioMsg, userContext: unknown) => void) | undefined;
  /** The receipt has come. The one-way message is the program's again. Of a request its response follows. */
  readonly onMsgDelivered?: ((session: LibxioSession, msg: XioMsg, userContext: unknown) => void) | undefined;
  /** What `xioSendRdma` was asked for is done. The message is the program's again. */
  readonly onRdmaDirectComplete?: ((session: LibxioSession, msg: XioMsg, userContext: unknown) => void) | undefined;
  /** A message has failed, and is the program's again. */
  readonly onMsgError?:
    | ((
        session: LibxioSession,
        error: XioStatus,
        direction: XioMsgDirection,
        msg: XioMsg,
        userContext: unknown,
      ) => void)
    | undefined;
  /** What became of `xioCancelRequest`: XIO_E_MSG_CANCELED. The request is the program's again. */
  readonly onCancel?:
    | ((session: LibxioSession, result: XioStatus, msg: XioMsg, userContext: unknown) => void)
    | undefined;
  /** The requester has given up. The program still lets go of the request: by `xioCancel`, or by an answer that nobody gets. */
  readonly onCancelRequest?: ((session: LibxioSession, msg: XioMsg, userContext: unknown) => void) | undefined;
  /** A body is about to come that is too long to come along with its header. It may be given memory. */
  readonly assignDataInBuf?: ((assignment: XioAssignment, userContext: unknown) => void) | undefined;
}
