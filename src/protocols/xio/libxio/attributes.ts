import type { SocketAddress } from '../../../api/rdmacm/index.js';
import { fieldsProblem, type FieldsOf, invalid, refuse, show, VerbsError } from '../../../api/verbs/index.js';
import type { Scheme } from '../transport/index.js';
import { connectionOf } from './connection.js';
import { XioConnectionOptname } from './constants.js';
import type { LibxioConnection, LibxioContext, LibxioSession } from './handles.js';
import { checkOps } from './problems.js';
import { sessionOf } from './session.js';
import type { XioSessionOps } from './types.js';

/** What a session has: `struct xio_session_attr`. */
export interface XioSessionAttr {
  readonly sesOps: XioSessionOps;
  readonly userContext: unknown;
  /** Where a client's session was made for; undefined of a server's. */
  readonly uri: string | undefined;
}

/** What a connection has: `struct xio_connection_attr`. */
export interface XioConnectionAttr {
  readonly ctx: LibxioContext;
  readonly userContext: unknown;
  /** What it goes by; undefined before there is a connection, as the addresses are. */
  readonly proto: Scheme | undefined;
  readonly localAddr: SocketAddress | undefined;
  readonly peerAddr: SocketAddress | undefined;
}

const SESSION_FIELDS: FieldsOf<Omit<XioSessionAttr, 'uri'>> = { sesOps: true, userContext: true };
const CONNECTION_FIELDS: FieldsOf<Pick<XioConnectionAttr, 'userContext'>> = { userContext: true };

/** `xio_query_session`. @throws VerbsError EINVAL for what is no session; XioError XIO_E_STATE where it was destroyed */
export function xioQuerySession(session: LibxioSession): XioSessionAttr {
  const { ops: sesOps, userContext, of } = sessionOf('xioQuerySession', session);
  return { sesOps, userContext, uri: 'wanted' in of ? of.wanted.url : undefined };
}

/**
 * `xio_modify_session`: sets what is given. Other callbacks are called from the next on; memory for bodies is asked of those that the session began with.
 *
 * @throws VerbsError EINVAL for what is no such attribute; XioError XIO_E_STATE where it was destroyed
 */
export function xioModifySession(session: LibxioSession, attr: Partial<Omit<XioSessionAttr, 'uri'>>): void {
  const call = 'xioModifySession';
  const core = sessionOf(call, session);
  refuse(call, fieldsProblem('attr', attr, SESSION_FIELDS));
  if (attr.sesOps !== undefined) {
    checkOps(call, attr.sesOps);
    core.ops = attr.sesOps;
  }
  if ('userContext' in attr) core.userContext = attr.userContext;
}

/** `xio_query_connection`. @throws VerbsError EINVAL for what is no connection */
export function xioQueryConnection(connection: LibxioConnection): XioConnectionAttr {
  const { context: ctx, userContext, inner } = connectionOf('xioQueryConnection', connection);
  return {
    ctx,
    userContext,
    proto: inner?.scheme,
    localAddr: inner?.localAddress,
    peerAddr: inner?.remoteAddress,
  };
}

/** `xio_modify_connection`: sets what is given. @throws VerbsError EINVAL for what is no connection, or no such attribute */
export function xioModifyConnection(
  connection: LibxioConnection,
  attr: Partial<Pick<XioConnectionAttr, 'userContext'>>,
): void {
  const call = 'xioModifyConnection';
  const core = connectionOf(call, connection);
  refuse(call, fieldsProblem('attr', attr, CONNECTION_FIELDS));
  if ('userContext' in attr) core.userContext = attr.userContext;
}

/** `xio_connection_ioctl`. @throws VerbsError EINVAL for what is no connection, or nothing that it tells */
export function xioConnectionIoctl(connection: LibxioConnection, optname: XioConnectionOptname): number {
  const call = 'xioConnectionIoctl';
  const core = connectionOf(call, connection);
  const links = core.inner?.connections ?? [];
  switch (optname) {
    case XioConnectionOptname.XIO_CONNECTION_FIONWRITE_BYTES:
      return links.reduce((sum, { queuedBytes }) => sum + queuedBytes, core.waitingBytes);
    case XioConnectionOptname.XIO_CONNECTION_FIONWRITE_MSGS:
      return links.reduce((sum, { queuedMessages }) => sum + queuedMessages, core.waiting);
    case XioConnectionOptname.XIO_CONNECTION_LEADING_CONN:
      return core.inner === undefined || links.some(({ isLeading }) => isLeading) ? 1 : 0;
    default: {
      const given: unknown = optname;
      throw new VerbsError(call, invalid(`optname is ${show(given)}`, 'It is one of XioConnectionOptname'));
    }
  }
}
