import { countProblem, type FieldsOf, fieldsProblem, refuse } from '../../../api/verbs/index.js';
import { connect } from '../client/connect.js';
import type { Bytes, XioSession } from '../api.js';
import { checkMs, privateDataOf } from '../options.js';
import { XioRejectedError } from '../transport/index.js';
import { XioError } from '../transport/index.js';
import { XioStatus } from '../wire/index.js';
import { targetOf } from '../url.js';
import { ConnectionCore, connectionOf } from './connection.js';
import { XioSessionEvent } from './constants.js';
import { contextOf } from './context.js';
import type { LibxioConnection, LibxioContext, LibxioSession } from './handles.js';
import { checkOps, landingOf, wrongState } from './problems.js';
import { SessionCore, sessionOf, type Wanted } from './session.js';
import type { XioSessionOps } from './types.js';

/** What `xioSessionCreate` takes: `struct xio_session_params`. */
export interface XioSessionParams {
  readonly sesOps: XioSessionOps;
  /** `rdma://host:port/resource`, or `tcp://...`. */
  readonly uri: string;
  /** Given to the server's program, 0 to 2048 bytes. */
  readonly privateData?: Bytes | undefined;
  /** How many links the connection goes by, 1 to 64: the further ones to the server's portals. Default 1. Of this package. */
  readonly connections?: number | undefined;
  readonly userContext?: unknown;
}

/** What `xioConnect` takes: `struct xio_connection_params`. */
export interface XioConnectionParams {
  readonly session: LibxioSession;
  readonly ctx: LibxioContext;
  /** An address of one's own to connect from. */
  readonly outAddr?: string | undefined;
  readonly connUserContext?: unknown;
}

const SESSION_FIELDS: FieldsOf<XioSessionParams> = {
  sesOps: true,
  uri: true,
  privateData: true,
  connections: true,
  userContext: true,
};
const CONNECTION_FIELDS: FieldsOf<XioConnectionParams> = {
  session: true,
  ctx: true,
  outAddr: true,
  connUserContext: true,
};

/** `xio_session_create`: a client's session, which `xioConnect` connects. @throws VerbsError EINVAL for what is no such parameters */
export function xioSessionCreate(params: XioSessionParams): LibxioSession {
  const call = 'xioSessionCreate';
  refuse(call, fieldsProblem('params', params, SESSION_FIELDS));
  const { sesOps, uri, connections = 1, userContext } = params;
  checkOps(call, sesOps);
  targetOf(call, uri);
  refuse(call, countProblem('connections', connections, 1, 64));
  const wanted = { url: uri, privateData: privateDataOf(call, params.privateData), connections };
  return new SessionCore(sesOps, userContext, { wanted });
}

/**
 * `xio_connect`. A session has one connection, which may be sent on at once: that waits until XIO_SESSION_CONNECTION_ESTABLISHED_EVENT. What becomes of it else is an event
 * too: XIO_SESSION_REJECT_EVENT, XIO_SESSION_CONNECTION_REFUSED_EVENT or XIO_SESSION_CONNECTION_ERROR_EVENT.
 *
 * @throws XioError XIO_E_STATE for a session of a server, and one that was connected before; VerbsError EINVAL for what is no such parameters
 */
export function xioConnect(params: XioConnectionParams): LibxioConnection {
  const call = 'xioConnect';
  refuse(call, fieldsProblem('params', params, CONNECTION_FIELDS));
  const session = sessionOf(call, params.session);
  const context = contextOf(call, params.ctx);
  if (!('wanted' in session.of)) throw wrongState(call, 'the session is one of a client of this program');
  if (session.phase !== 'made') throw wrongState(call, 'the session was connected before');
  session.phase = 'begun';
  const connection = new ConnectionCore(session, context, params.connUserContext);
  session.connection = connection;
  void open(session, connection, session.of.wanted, params.outAddr);
  return connection;
}

async function open(
  session: SessionCore,
  connection: ConnectionCore,
  wanted: Wanted,
  localAddress: string | undefined,
): Promise<void> {
  const controller = new AbortController();
  connection.attempt = controller;
  const onBody = landingOf(session.ops, () => connection.userContext);
  let inner: XioSession;
  try {
    inner = await connect({
      ...connection.context.params,
      ...wanted,
      localAddress,
      onBody,
      signal: controller.signal,
    });
  } catch (error) {
    if (connection.isDisconnected) connection.giveUp();
    else refused(connection, error);
    return;
  }
  if (connection.isDisconnected) {
    inner.abort();
    connection.giveUp();
    return;
  }
  const { privateData } = inner;
  connection.tell(({ onSessionEstablished }) => onSessionEstablished?.(session, { privateData }, session.userContext));
  connection.establish(inner, false);
}

function refused(connection: ConnectionCore, error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof XioError)) {
    const event = XioSessionEvent.XIO_SESSION_CONNECTION_ERROR_EVENT;
    connection.refuse(event, XioStatus.XIO_E_CONNECT_ERROR, message);
    return;
  }
  const privateData = error instanceof XioRejectedError ? error.privateData : undefined;
  connection.refuse(eventOf(error), error.status, message, privateData);
}

function eventOf(error: XioError): XioSessionEvent {
  if (error.code === 'XIO_E_SESSION_REFUSED') return XioSessionEvent.XIO_SESSION_CONNECTION_REFUSED_EVENT;
  if (error instanceof XioRejectedError) return XioSessionEvent.XIO_SESSION_REJECT_EVENT;
  return XioSessionEvent.XIO_SESSION_CONNECTION_ERROR_EVENT;
}

/**
 * `xio_disconnect`, of either end: the connection ends when what was begun is done. XIO_SESSION_CONNECTION_CLOSED_EVENT follows, and XIO_SESSION_CONNECTION_TEARDOWN_EVENT.
 *
 * @param timeoutMs after which it ends at once. Default 10,000
 * @throws XioError XIO_E_STATE when it was disconnected before by this end, or was torn down; VerbsError EINVAL
 */
export function xioDisconnect(connection: LibxioConnection, timeoutMs = 10_000): void {
  const call = 'xioDisconnect';
  const core = connectionOf(call, connection);
  checkMs(call, 'timeoutMs', timeoutMs, 0, false);
  if (core.isDisconnected) throw wrongState(call, 'the connection was disconnected before');
  if (core.phase === 'torn down' || core.phase === 'destroyed') throw wrongState(call, 'the connection has ended');
  core.isDisconnected = true;
  if (core.inner === undefined) core.attempt?.abort(new XioError('XIO_E_SESSION_CLOSED', 'disconnected'));
  // Why it has ended is an event.
  else core.inner.close({ timeoutMs }).catch(() => undefined);
}
