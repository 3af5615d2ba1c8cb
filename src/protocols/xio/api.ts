import type { FullAddress, SocketAddress } from '../../api/rdmacm/index.js';
import type { DeviceOptions, Scheme, XioError } from './transport/index.js';
import type { XioStatusName } from './wire/index.js';

/** What headers and bodies are given as; text stands for its UTF-8. */
export type Bytes = Uint8Array | string;

/** What bodies are given as: several pieces, up to 256, are one body, in their order. */
export type XioBody = Bytes | readonly Bytes[];

/** Where a body is to lie: its first bytes, or one piece after the other. */
export type XioLanding = Uint8Array | readonly Uint8Array[];

/**
 * How a body travels: `auto` along with its header where it is short, by RDMA where it is longer than `inlineBytes`; `rdma` by RDMA, however short it is. By TCP `rdma` has it
 * lie at once where its receiver says.
 */
export type XioPlacement = 'auto' | 'rdma';

/** What an end of a session takes, and how it talks. Each end chooses for itself. */
export interface XioOptions extends DeviceOptions {
  /** Requests and messages that the peer may have here before this program lets go of them, 4 to 65535. Default 1024. */
  readonly queueMessages?: number | undefined;
  /** Bytes of their bodies, at least {@link maxBodyBytes}, up to 2^40. Default 64 MiB. */
  readonly queueBytes?: number | undefined;
  /** The longest body that is taken, in bytes, 0 to 2^30. Default 16 MiB. */
  readonly maxBodyBytes?: number | undefined;
  /** The longest header that is taken, in bytes, 0 to 4096. Default 256. */
  readonly maxHeaderBytes?: number | undefined;
  /** The longest body that this end sends along with its header, in bytes, 0 to 8192; longer ones go by RDMA. Default 8192. */
  readonly inlineBytes?: number | undefined;
  /** Milliseconds of silence after which the peer is asked whether it is there, or Infinity. Default 60 000. */
  readonly keepAliveMs?: number | undefined;
  /** Milliseconds until it is asked again. Default 20 000. */
  readonly keepAliveIntervalMs?: number | undefined;
  /** How often it is asked before the connection is given up, 1 to 100. Default 3. */
  readonly keepAliveProbes?: number | undefined;
  /**
   * Milliseconds for which a session goes on without a connection: a client tries to connect again, a server waits for it. 0: it ends with its connection. Default
   * 30 000 for a client, 60 000 for a server.
   */
  readonly reconnectMs?: number | undefined;
  /**
   * Where the body of a request or a message is to lie that does not come along with its header: memory of exactly so many bytes, in one piece or several, that is the program's again
   * once it has let go of the request. Undefined: in memory of the session's.
   */
  readonly onBody?: ((bodyBytes: number, header: Uint8Array) => XioLanding | undefined) | undefined;
}

/** What `connect` takes. */
export interface XioConnectOptions extends XioOptions {
  /**
   * Where the server is: `rdma://host:port/resource` or `tcp://...`; without a scheme by RDMA. Several addresses are tried in their order, at first and whenever the connection
   * is lost.
   */
  readonly url: string | readonly string[];
  /** Given to the server's program with the session, 0 to 2048 bytes. */
  readonly privateData?: Bytes | undefined;
  /** An address of one's own to connect from. */
  readonly localAddress?: string | undefined;
  /** Connections of the session, 1 to 64: each to the next of the server's portals. Requests go by them in turn. Default 1. */
  readonly connections?: number | undefined;
  /** How often a server may send the session on to another, 0 to 100. Default 8. */
  readonly maxRedirects?: number | undefined;
  /** Milliseconds that an attempt to connect may take. Default 5000. */
  readonly connectTimeoutMs?: number | undefined;
  /**
   * Milliseconds that a server may take to answer once it is connected, its program's time to take the session included; then the next address is tried, or the promise
   * rejects with XIO_E_TIMEOUT. Infinity: however long. Default 30 000.
   */
  readonly answerTimeoutMs?: number | undefined;
  /** Gives up; the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** What `listen` takes. */
export interface XioListenOptions extends XioOptions {
  /** Where: default `rdma`. */
  readonly transport?: Scheme | undefined;
  /** An address of one's own. Default: that of the program's default device; of `tcp` 127.0.0.1. */
  readonly host?: string | undefined;
  /** Default, and 0: any that is free. */
  readonly port?: number | undefined;
  /** Sessions at a time, and clients that wait for room; a client beyond that is refused. Default 65536. */
  readonly maxSessions?: number | undefined;
  /** Of these, sessions that wait until the program takes them; a client beyond that waits for room, {@link answerTimeoutMs} at most. Default 1024. */
  readonly backlog?: number | undefined;
  /** Milliseconds that the program may take to take a session; then it is rejected with XIO_E_TIMEOUT. Infinity: however long. Default 60 000. */
  readonly answerTimeoutMs?: number | undefined;
  /** Ends the server. */
  readonly signal?: AbortSignal | undefined;
}

/** What `request` takes. */
export interface XioRequestOptions {
  /** Gives up; the promise rejects with the signal's reason, and the server is asked to cancel. */
  readonly signal?: AbortSignal | undefined;
  /** Where the response's body is to lie: its first bytes, or one piece after the other. It comes there by RDMA where it can. */
  readonly into?: XioLanding | undefined;
  /** Milliseconds until the promise rejects with XIO_E_TIMEOUT. Default: for as long as the session lasts. */
  readonly deadlineMs?: number | undefined;
  /** The longest body that the response may have. Default: that of `into`, or else `maxBodyBytes` of the session, which is the most in any case. */
  readonly maxResponseBytes?: number | undefined;
  /** Executing it twice does no harm: where the server has begun anew, it is sent again instead of failing. Default false. */
  readonly idempotent?: boolean | undefined;
  /** How the request's body travels. Default `auto`. */
  readonly placement?: XioPlacement | undefined;
  /** How the response's body does. With `into` in one piece the server writes it there. Default `auto`. */
  readonly responsePlacement?: XioPlacement | undefined;
}

/** What `send` takes. */
export interface XioSendOptions {
  /** Waits until the peer's program has let go of the message. Default false. */
  readonly receipt?: boolean | undefined;
  /** Gives up. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds until the promise rejects with XIO_E_TIMEOUT. */
  readonly deadlineMs?: number | undefined;
  /** How the message's body travels. Default `auto`. */
  readonly placement?: XioPlacement | undefined;
}

/** What `share` takes. */
export interface XioShareOptions {
  /** What the peer may do. Default `read`. */
  readonly access?: 'read' | 'write' | 'read-write' | undefined;
}

/** Memory that the peer reads or writes when it likes, until that is revoked, or the session ends. */
export interface XioShare extends Disposable {
  /** Tells the peer's program of it, in a message: 32 bytes, which nobody can guess. They are good in this session alone, as long as it lasts. */
  readonly token: Uint8Array;
  readonly bytes: Uint8Array;
  readonly isRevoked: boolean;
  /** From now on the peer reaches nothing of it, whatever is under way; that fails with XIO_E_USER_OBJ_NOT_FOUND. Idempotent; what `Symbol.dispose` does. */
  revoke(): void;
}

/** What `read` and `write` take. */
export interface XioDirectOptions {
  /** Gives up; the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds until the promise rejects with XIO_E_TIMEOUT. Default: for as long as the session lasts. */
  readonly deadlineMs?: number | undefined;
}

/** A message's two parts. */
export interface XioParts {
  readonly header?: Bytes | undefined;
  readonly body?: XioBody | undefined;
}

/** An answer to a request. It is the caller's; disposing of it gives the memory of its body back, where that is the session's. */
export interface XioResponse extends Disposable {
  readonly header: Uint8Array;
  /** In `into`, where that was given. Where that has several pieces of which more than one is filled, a copy of all of them. */
  readonly body: Uint8Array;
  /** The body where it lies: one piece after the other, none where it is empty. */
  readonly pieces: readonly Uint8Array[];
}

/** A one-way message of the peer's. The peer may send another one for it once the program has let go. */
export interface XioMessage extends Disposable {
  readonly header: Uint8Array;
  /** Is not to be used once it was let go of. A copy where `onBody` gave several pieces. */
  readonly body: Uint8Array;
  /** The body where it lies. */
  readonly pieces: readonly Uint8Array[];
  /** Lets go of it. Idempotent. */
  release(): void;
}

/** A request of the peer's. It is let go of when it is answered. */
export interface XioRequest {
  readonly header: Uint8Array;
  /** Is not to be used once the request is answered. A copy where `onBody` gave several pieces. */
  readonly body: Uint8Array;
  /** The body where it lies. */
  readonly pieces: readonly Uint8Array[];
  readonly session: XioSession;
  /** Aborted when the requester gives up, or the session ends. */
  readonly signal: AbortSignal;
  /** The longest body that the answer may have. */
  readonly maxResponseBytes: number;
  /** Whether it was answered. */
  readonly isAnswered: boolean;

  /**
   * Answers. A body longer than what goes along with headers stays as it is until the promise resolves: then the requester has it, or nobody will.
   *
   * @throws XioError XIO_E_STATE when it was answered before; XIO_E_MSG_SIZE for a header, XIO_E_RSP_BUF_SIZE_MISMATCH for a body that is longer than the requester takes
   */
  reply(header?: Bytes, body?: XioBody): Promise<void>;

  /** Answers that it failed. @param text is given to the requester. @throws XioError XIO_E_STATE when it was answered before */
  fail(text: string, code?: XioStatusName): void;
}

/**
 * Deals with requests. {@link XioParts} that it returns, or a promise gives, are the answer. Where it gives undefined, it answers by itself, then or later. What it throws
 * is told to the requester as XIO_E_UNSUCCESSFUL.
 */
export type XioRequestHandler = (request: XioRequest) => unknown;

/** What sessions tell programs. */
export interface XioSessionEvents {
  /** The peer asks for something. There can be one handler of them. */
  request: XioRequestHandler;
  /** The connection was lost, and is to be made again. */
  reconnecting: (reason: XioError) => void;
  /** It is there again. */
  reconnected: () => void;
  /** The server has sent the session on. */
  redirected: (url: string) => void;
  /** The session has ended. @param failure undefined when an end has closed it */
  close: (failure: XioError | undefined) => void;
}

/** One connection of a session, as it stood when it was asked for. */
export interface XioConnection {
  /** Whether it is the one that the session has begun with; a portal has others alone. */
  readonly isLeading: boolean;
  /** Whether it has a link. */
  readonly isConnected: boolean;
  readonly scheme: Scheme;
  readonly localAddress: SocketAddress | undefined;
  readonly remoteAddress: SocketAddress | undefined;
  /** Requests and messages that were not sent yet, for want of a link or of the peer's room. */
  readonly queuedMessages: number;
  /** Bytes of their bodies. */
  readonly queuedBytes: number;
}

/** What a session has counted. */
export interface XioStatistics {
  readonly requestsSent: number;
  readonly responsesReceived: number;
  readonly requestsReceived: number;
  readonly messagesSent: number;
  readonly messagesReceived: number;
  readonly bytesSent: number;
  readonly bytesReceived: number;
  readonly reconnects: number;
  /** Requests, responses and messages that were sent again on another connection. */
  readonly replayed: number;
  /** What is kept, since the peer has not said yet that it has it. */
  readonly kept: number;
}

/**
 * A session with a peer: requests and messages both ways, that survive the connection they go by. What was sent before a connection broke is sent
 * again on the next, and is never executed twice.
 */
export interface XioSession extends AsyncDisposable {
  /** Of the server's URL: what comes after the port. */
  readonly resource: string;
  /** What the client has given to the server, or the server has accepted with. */
  readonly privateData: Uint8Array;
  readonly state: 'asked' | 'connected' | 'reconnecting' | 'closing' | 'closed';
  readonly scheme: Scheme;
  readonly localAddress: SocketAddress | undefined;
  readonly remoteAddress: SocketAddress | undefined;
  /** Why it has ended; undefined while it has not, and when an end has closed it. */
  readonly failure: XioError | undefined;
  readonly statistics: XioStatistics;
  /** Its connections that there are, as they stand now. */
  readonly connections: readonly XioConnection[];
  /** Resolves when it has ended, however it did. */
  readonly closed: Promise<void>;

  /**
   * Asks the peer for something.
   *
   * @param body stays as it is until the promise settles
   * @throws XioError (the promise rejects): XIO_E_UNSUCCESSFUL when the peer's program has failed, XIO_E_TIMEOUT, XIO_E_MSG_SIZE for more than the peer takes,
   *   XIO_E_RSP_BUF_SIZE_MISMATCH for an answer that is too long, XIO_E_TX_QUEUE_OVERFLOW when more waits than `queueMessages`, XIO_E_PEER_RESTARTED when the server has begun
   *   anew and may have executed it; XIO_E_SESSION_… when the session has ended; the signal's reason; VerbsError EINVAL for wrong arguments
   */
  request(header?: Bytes, body?: XioBody, options?: XioRequestOptions): Promise<XioResponse>;

  /**
   * Sends a message that is not answered. Resolves when its memory is the caller's again; with `receipt` when the peer's program has let go of it.
   *
   * @param message its body, or both parts
   * @throws XioError (the promise rejects) as {@link request}
   */
  send(message: XioBody | XioParts, options?: XioSendOptions): Promise<void>;

  /**
   * Lets the peer read this memory, or write to it, without this program. The memory stays the program's: who reads and writes when is a matter between both programs.
   *
   * @param bytes 1 byte or more; from `alloc()` the peer's NIC reaches it, other memory may be used by messages
   * @throws XioError XIO_E_NO_BUFS where the session has granted 4096 already; XIO_E_SESSION_… when it has ended; VerbsError EINVAL for wrong arguments
   */
  share(bytes: Uint8Array, options?: XioShareOptions): XioShare;

  /**
   * Reads memory that the peer has shared: by RDMA where both ends have that, and without its program. On the next connection again where one is lost.
   *
   * @param token of the peer's share
   * @param offset from which byte on
   * @param into as many bytes as this has. What is in there means nothing where the promise rejects
   * @throws XioError (the promise rejects): XIO_E_USER_OBJ_NOT_FOUND for what the peer has not shared in this session, or has revoked; XIO_E_READ_FAILED where it does not let it be read;
   *   XIO_E_REM_USER_BUF_OVERFLOW beyond its end; XIO_E_TX_QUEUE_OVERFLOW, XIO_E_PEER_RESTARTED, XIO_E_TIMEOUT, XIO_E_SESSION_… as {@link request}; VerbsError EINVAL for wrong arguments
   */
  read(token: Uint8Array, offset: number, into: XioLanding, options?: XioDirectOptions): Promise<void>;

  /**
   * Writes to memory that the peer has shared, as {@link read} reads. What is written may be written again until the promise settles; then it is there. The peer's program hears nothing of it.
   *
   * @param from stays as it is until the promise settles
   * @throws XioError as {@link read}, with XIO_E_WRITE_FAILED; `mayHaveRun` says whether some of it may have been written
   */
  write(token: Uint8Array, offset: number, from: XioLanding, options?: XioDirectOptions): Promise<void>;

  /**
   * The peer's messages, until the session ends or the loop is left. The end of the loop's body lets go of each.
   *
   * @throws XioError when the session fails
   */
  messages(): AsyncGenerator<XioMessage, void, undefined>;

  /** Has an event handled; the last handler counts. */
  on<E extends keyof XioSessionEvents>(event: E, handler: XioSessionEvents[E]): this;

  /** Takes a handler back. */
  off(event: keyof XioSessionEvents): this;

  /**
   * A server's program takes the session; so does whatever else it does with it.
   *
   * @throws XioError XIO_E_STATE on a client's session, and when it was answered before in another way; VerbsError EINVAL
   */
  accept(options?: XioAcceptOptions): this;

  /**
   * Sends the client to other servers, of which it tries one after the other. Before the session was taken it is not; afterwards it moves: nothing is begun here any more,
   * what the client has asked is answered here, what it asks from then on goes to the other server, and this end of the session ends when that is done. {@link close} with a
   * time limit says how long that may take.
   *
   * @param urls 1 to 64, which have 6144 bytes in all
   * @throws XioError XIO_E_STATE on a client's session, when it was rejected, and when it was sent on before; VerbsError EINVAL
   */
  redirect(urls: readonly string[]): void;

  /**
   * Does not take it. The client is told by an `XioRejectedError`.
   *
   * @param reason in words, up to 1024 bytes
   * @throws XioError XIO_E_STATE as {@link accept}; VerbsError EINVAL
   */
  reject(reason?: string, options?: XioRejectOptions): void;

  /** Whether it keeps the process alive: it does, to begin with. Idempotent. */
  ref(): this;
  unref(): this;

  /**
   * Ends it, when what was begun is done: answers that are due, and those that are awaited. Resolves when the peer knows.
   *
   * @throws XioError (the promise rejects) what the session has ended by when that was something else
   */
  close(options?: { readonly timeoutMs?: number | undefined }): Promise<void>;

  /** Ends it at once. Idempotent. */
  abort(reason?: XioError): void;
}

/** How a session is taken. */
export interface XioAcceptOptions {
  /** Given to the client's program, 0 to 2048 bytes. */
  readonly privateData?: Bytes | undefined;
  /** URLs that the further connections of the session are to go to, 0 to 64. Default: to the server itself. */
  readonly portals?: readonly string[] | undefined;
}

/** What a client is told beside words when its session is rejected. */
export interface XioRejectOptions {
  /** Of the client's error. Default XIO_E_SESSION_REJECTED. */
  readonly code?: XioStatusName | undefined;
  /** Given to the client's program, 0 to 2048 bytes. */
  readonly privateData?: Bytes | undefined;
}

/** Where sessions come. */
export interface XioServer extends AsyncIterable<XioSession>, AsyncDisposable {
  readonly address: FullAddress;
  /** To be given to `connect`. */
  readonly url: string;
  /** Sessions that there are. */
  readonly sessions: number;

  /** Sessions, until the server is closed. Leaving the loop closes it. */
  [Symbol.asyncIterator](): AsyncGenerator<XioSession, void, undefined>;

  /** No more sessions come; those that are there go on. Idempotent. */
  close(): void;

  /** The same, and ends the sessions, when they have answered what they were asked. @returns when all have ended, a second after the time limit at most */
  stop(options?: { readonly timeoutMs?: number | undefined }): Promise<void>;

  /** Whether it keeps the process alive: it does, to begin with. Idempotent. */
  ref(): this;
  unref(): this;
}
