import { invalid, show, VerbsError } from '../../../api/verbs/index.js';
import type { XioMessage, XioRequest, XioSession } from '../api.js';
import { Session } from '../session/session.js';
import { XioError } from '../transport/index.js';
import { XioStatus } from '../wire/index.js';
import { XioMsgDirection, XioMsgType, XioSessionEvent } from './constants.js';
import type { ContextCore, Teller } from './context.js';
import type { LibxioConnection, LibxioSession } from './handles.js';
import { type MessageSource, setState } from './message-states.js';
import { wrongState } from './problems.js';
import type { XioMsg, XioSessionOps } from './types.js';

export interface ConnectionOwner extends LibxioSession {
  readonly ops: XioSessionOps;
  readonly teller: Teller;
  onConnectionDestroyed(reason: XioStatus, message: string): void;
}

export interface Sending {
  readonly message: XioMsg;
  readonly bodyBytes: number;
  /** Sends it. The promise settles when that is done. */
  readonly begin: (session: XioSession) => Promise<void>;
}

interface End {
  readonly event: XioSessionEvent;
  readonly reason: XioStatus;
  readonly message: string;
  readonly privateData?: Uint8Array | undefined;
}

const NOTHING = new Uint8Array(0);
const CLOSED: End = {
  event: XioSessionEvent.XIO_SESSION_CONNECTION_CLOSED_EVENT,
  reason: XioStatus.XIO_E_SESSION_CLOSED,
  message: 'the session was closed',
};
/** Failures after which a peer is there no more, where others say that something went wrong. */
const PARTED: readonly string[] = ['XIO_E_SESSION_DISCONNECTED', 'XIO_E_SESSION_ABORTED'];

/** The connection of a session, from its beginning until the program has destroyed it. */
export class ConnectionCore implements LibxioConnection, MessageSource {
  readonly handle = 'connection';
  phase: MessageSource['phase'] = 'connecting';
  isDisconnected = false;
  attempt: AbortController | undefined;
  readonly session: ConnectionOwner;
  #inner: XioSession | undefined;
  readonly #waiting: Sending[] = [];
  /** Messages of the program's that are not its own again. */
  #under = 0;
  #sent = 0;
  /** Messages that have come, of which the program was not told. */
  #untold = 0;
  #received = 0;
  #end = CLOSED;
  #hasEnded = false;
  #isTornDown = false;

  constructor(
    owner: ConnectionOwner,
    readonly context: ContextCore,
    public userContext: unknown,
  ) {
    this.session = owner;
    context.users.add(this);
    owner.teller.onTold = () => context.told();
  }

  get inner(): XioSession | undefined {
    return this.#inner;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Bytes of bodies that wait for the connection. */
  get waitingBytes(): number {
    return this.#waiting.reduce((sum, { bodyBytes }) => sum + bodyBytes, 0);
  }

  /** There is a session, which has been taken. @param isNew whether a server's program has not heard of the connection */
  establish(inner: XioSession, isNew: boolean): void {
    this.#inner = inner;
    this.phase = 'established';
    if (isNew) this.tellEvent(XioSessionEvent.XIO_SESSION_NEW_CONNECTION_EVENT);
    this.tellEvent(XioSessionEvent.XIO_SESSION_CONNECTION_ESTABLISHED_EVENT);
    inner.on('reconnecting', ({ status, message }) =>
      this.tellEvent(XioSessionEvent.XIO_SESSION_CONNECTION_RECONNECTING_EVENT, status, message),
    );
    inner.on('redirected', (url) => {
      const reason = XioStatus.XIO_E_SESSION_REDIRECTED;
      this.tellEvent(
        XioSessionEvent.XIO_SESSION_CONNECTION_RECONNECTING_EVENT,
        reason,
        `the session is sent on to ${url}`,
      );
    });
    inner.on('reconnected', () => this.tellEvent(XioSessionEvent.XIO_SESSION_CONNECTION_RECONNECTED_EVENT));
    if (!(inner instanceof Session)) throw new Error('verbena: internal error: a session of another kind');
    inner.giveMessagesTo((message) => this.#onMessage(message));
    inner.on('request', (request) => this.#onRequest(request));
    void this.#live(inner);
    for (const sending of this.#waiting.splice(0)) this.#begin(inner, sending);
  }

  /** There will be no session. */
  refuse(event: XioSessionEvent, reason: XioStatus, message: string, privateData?: Uint8Array): void {
    this.#finish({ event, reason, message, privateData });
  }

  /** An end has closed it before it was there. */
  giveUp(): void {
    this.#finish(CLOSED);
  }

  nextSn(): number {
    this.#sent += 1;
    return this.#sent;
  }

  /** @throws XioError XIO_E_SESSION_CLOSED when it has ended, or is being ended; XIO_E_STATE when it was destroyed */
  requireOpen(call: string): void {
    if (this.phase === 'destroyed') throw wrongState(call, 'the connection was destroyed');
    if (this.isDisconnected || this.#hasEnded)
      throw new XioError('XIO_E_SESSION_CLOSED', `${call}: the connection is closed`);
  }

  /** Sends something, now or when there is a connection. */
  send(sending: Sending): void {
    this.#under += 1;
    if (this.#inner === undefined) this.#waiting.push(sending);
    else this.#begin(this.#inner, sending);
  }

  /** Whatever the program has begun with the peer's message is done. */
  follow(done: Promise<void>): void {
    this.#under += 1;
    void done.then(() => this.#settled());
  }

  tell(action: (ops: XioSessionOps, session: LibxioSession, userContext: unknown) => void): void {
    const { session } = this;
    session.teller.tell(() => action(session.ops, session, this.userContext));
  }

  /** Tells the program of a message that has come. @param before is done just before */
  tellMsg(msg: XioMsg, before: () => void): void {
    this.#untold += 1;
    this.tell(({ onMsg }, session) => {
      this.#untold -= 1;
      before();
      onMsg?.(session, msg, this.userContext, this.#untold === 0);
    });
  }

  tellEvent(
    event: XioSessionEvent,
    reason: XioStatus = XioStatus.XIO_E_SUCCESS,
    message = '',
    privateData: Uint8Array = NOTHING,
  ): void {
    this.tell(({ onSessionEvent }, session) => {
      const data = { event, reason, message, privateData, conn: this, connUserContext: this.userContext };
      onSessionEvent?.(session, data, this.userContext);
    });
  }

  /** @throws XioError XIO_E_STATE before the program was told of its teardown, and after it was destroyed */
  destroy(call: string): void {
    if (this.phase === 'destroyed') throw wrongState(call, 'the connection was destroyed before');
    if (this.phase !== 'torn down')
      throw wrongState(call, 'a connection is destroyed in XIO_SESSION_CONNECTION_TEARDOWN_EVENT, not before');
    this.phase = 'destroyed';
    this.context.users.delete(this);
    this.session.onConnectionDestroyed(this.#end.reason, this.#end.message);
  }

  #begin(inner: XioSession, { message, begin }: Sending): void {
    begin(inner).then(
      () => this.#settled(),
      (error: unknown) => {
        this.fail(message, error);
        this.#settled();
      },
    );
  }

  fail(message: XioMsg, error: unknown): void {
    setState(message, undefined);
    const status = error instanceof XioError ? error.status : XioStatus.XIO_E_UNSUCCESSFUL;
    this.tell(({ onMsgError }, session) =>
      onMsgError?.(session, status, XioMsgDirection.XIO_MSG_DIRECTION_OUT, message, this.userContext),
    );
  }

  #settled(): void {
    this.#under -= 1;
    this.#tearDown();
  }

  async #live(inner: XioSession): Promise<void> {
    await inner.closed;
    const { failure } = inner;
    if (failure === undefined) {
      this.#finish(CLOSED);
      return;
    }
    const { status: reason, message, code } = failure;
    const event = PARTED.includes(code)
      ? XioSessionEvent.XIO_SESSION_CONNECTION_DISCONNECTED_EVENT
      : XioSessionEvent.XIO_SESSION_CONNECTION_ERROR_EVENT;
    this.#finish({ event, reason, message });
  }

  #finish(end: End): void {
    this.#hasEnded = true;
    this.phase = 'ended';
    this.#end = end;
    this.tellEvent(end.event, end.reason, end.message, end.privateData);
    for (const { message } of this.#waiting.splice(0)) {
      this.#under -= 1;
      this.fail(message, new XioError('XIO_E_MSG_FLUSHED', 'there was no connection'));
    }
    this.#tearDown();
  }

  /** Everything has been told but that. */
  #tearDown(): void {
    if (!this.#hasEnded || this.#under > 0 || this.#isTornDown) return;
    this.#isTornDown = true;
    this.session.teller.tell(() => {
      this.phase = 'torn down';
    });
    this.tellEvent(XioSessionEvent.XIO_SESSION_CONNECTION_TEARDOWN_EVENT, this.#end.reason, this.#end.message);
  }

  #onMessage(message: XioMessage): void {
    const { header, pieces } = message;
    const msg = this.#arrived(XioMsgType.XIO_MSG_TYPE_ONE_WAY, header, pieces);
    setState(msg, { kind: 'message', release: () => message.release() });
    this.#tellMessage(msg);
  }

  #onRequest(request: XioRequest): void {
    const msg = this.#arrived(XioMsgType.XIO_MSG_TYPE_REQ, request.header, request.pieces);
    setState(msg, { kind: 'request', source: this, request });
    if (this.session.ops.onCancelRequest !== undefined)
      request.signal.addEventListener('abort', () => this.#onCancelRequest(request, msg));
    this.#tellMessage(msg);
  }

  #onCancelRequest(request: XioRequest, msg: XioMsg): void {
    // That the session has ended is told otherwise.
    if (request.isAnswered || this.#inner?.state === 'closed') return;
    this.tell(({ onCancelRequest }, session) => onCancelRequest?.(session, msg, this.userContext));
  }

  #arrived(type: XioMsgType, header: Uint8Array, dataIov: readonly Uint8Array[]): XioMsg {
    this.#received += 1;
    return { type, sn: this.#received, in: { header, dataIov } };
  }

  #tellMessage(msg: XioMsg): void {
    this.tellMsg(msg, () => undefined);
  }
}

/** @throws VerbsError EINVAL for what is no connection */
export function connectionOf(call: string, connection: LibxioConnection): ConnectionCore {
  const given: unknown = connection;
  if (given instanceof ConnectionCore) return given;
  throw new VerbsError(call, invalid(`the connection is ${show(given)}`));
}
