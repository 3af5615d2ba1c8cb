import { warnOf } from '../../../api/runtime/index.js';
import { type FieldsOf, fieldsProblem, invalid, refuse, show, VerbsError } from '../../../api/verbs/index.js';
import type { Bytes, XioServer, XioSession } from '../api.js';
import { listen } from '../server/xio-server.js';
import { statusName, XioStatus } from '../wire/index.js';
import { targetOf } from '../url.js';
import { ConnectionCore } from './connection.js';
import { type ContextCore, contextOf } from './context.js';
import type { LibxioContext, LibxioServer, LibxioSession } from './handles.js';
import { checkOps, landingOf, wrongState } from './problems.js';
import { type Offered, SessionCore, sessionOf } from './session.js';
import { xioStrerror } from './constants.js';
import type { XioSessionOps } from './types.js';

/** What `xioBind` takes besides. */
export interface XioBindOptions {
  /** Sessions at a time; a client beyond that is refused. Default 65536. */
  readonly maxSessions?: number | undefined;
  /** Given to `onNewSession`, and that of its sessions until the program changes it. */
  readonly userContext?: unknown;
}

const FIELDS: FieldsOf<XioBindOptions> = { maxSessions: true, userContext: true };

class ServerCore implements LibxioServer {
  readonly handle = 'server';
  isBound = true;

  constructor(
    readonly inner: XioServer,
    readonly context: ContextCore,
  ) {}

  get port(): number {
    return this.inner.address.port;
  }

  get uri(): string {
    return this.inner.url;
  }
}

/**
 * `xio_bind`: takes sessions of clients. Other than in C it is there when the promise resolves, and says its port by itself.
 *
 * @param uri where: `rdma://host:port`, or `tcp://...`; port 0 is any that is free
 * @throws (the promise rejects) XioError XIO_E_BIND_FAILED when another listens there, XIO_E_STATE where the context was destroyed; VerbsError EINVAL for wrong arguments
 */
export async function xioBind(
  ctx: LibxioContext,
  ops: XioSessionOps,
  uri: string,
  options: XioBindOptions = {},
): Promise<LibxioServer> {
  const call = 'xioBind';
  const context = contextOf(call, ctx);
  checkOps(call, ops);
  refuse(call, fieldsProblem('options', options, FIELDS));
  if (ops.onNewSession === undefined)
    throw new VerbsError(call, invalid('there is no onNewSession', 'A server has it, which takes sessions'));
  const { transport, host, port } = targetOf(call, uri, 0);
  const { maxSessions, userContext } = options;
  const onBody = landingOf(ops, () => userContext);
  // The context is not to be destroyed meanwhile.
  const claim = {};
  context.users.add(claim);
  try {
    const inner = await listen({ ...context.params, transport: transport.scheme, host, port, maxSessions, onBody });
    const server = new ServerCore(inner, context);
    context.users.add(server);
    void serve(server, ops, userContext);
    return server;
  } finally {
    context.users.delete(claim);
  }
}

/** `xio_unbind`: no more sessions come; those that are there go on. @throws XioError XIO_E_STATE a second time; VerbsError EINVAL for what is no server */
export function xioUnbind(server: LibxioServer): void {
  const call = 'xioUnbind';
  const given: unknown = server;
  if (!(given instanceof ServerCore)) throw new VerbsError(call, invalid(`the server is ${show(given)}`));
  if (!given.isBound) throw wrongState(call, 'the server was unbound before');
  unbind(given);
}

function unbind(server: ServerCore): void {
  server.isBound = false;
  server.context.users.delete(server);
  server.inner.close();
}

async function serve(server: ServerCore, ops: XioSessionOps, userContext: unknown): Promise<void> {
  try {
    for await (const inner of server.inner) offer(inner, server.context, ops, userContext);
  } catch (error) {
    warnOf(error);
  }
  if (server.isBound) unbind(server);
}

function offer(inner: XioSession, context: ContextCore, ops: XioSessionOps, userContext: unknown): void {
  // Whoever has gone before the program has heard of it.
  if (inner.state === 'closed') return;
  const session = new SessionCore(ops, userContext, { offered: { inner, context } });
  context.users.add(session);
  session.teller.onTold = () => context.told();
  const { resource, privateData, scheme: proto, remoteAddress: srcAddr } = inner;
  const req = { resource, privateData, proto, srcAddr };
  session.teller.tell(() => ops.onNewSession?.(session, req, userContext));
  void inner.closed.then(() => {
    // With a connection, its end is told first.
    if (session.connection !== undefined) return;
    const { status = XioStatus.XIO_E_SESSION_CLOSED, message = 'the session was not taken' } = inner.failure ?? {};
    session.tearDown(status, message);
  });
}

/** The session of a server that a program has to answer. Undefined: its client has gone meanwhile. @throws XioError XIO_E_STATE */
function toAnswer(call: string, given: LibxioSession): (Offered & { readonly session: SessionCore }) | undefined {
  const session = sessionOf(call, given);
  if (!('offered' in session.of)) throw wrongState(call, 'the session is one of a client of this program');
  if (session.phase === 'begun') throw wrongState(call, 'the session was answered before');
  const { offered } = session.of;
  // Nobody is at fault where a client goes.
  return offered.inner.state === 'closed' ? undefined : { ...offered, session };
}

/**
 * `xio_accept`: takes a session of a server's. XIO_SESSION_NEW_CONNECTION_EVENT follows, which tells of the connection, and XIO_SESSION_CONNECTION_ESTABLISHED_EVENT. Nothing where
 * the client has gone: XIO_SESSION_TEARDOWN_EVENT says that.
 *
 * @param portals URIs that further links of the connection are to go to, 0 to 64
 * @param privateData given to the client's program, 0 to 2048 bytes
 * @throws XioError XIO_E_STATE when it was answered before, was destroyed, or is a client's; VerbsError EINVAL for wrong arguments
 */
export function xioAccept(session: LibxioSession, portals: readonly string[] = [], privateData?: Bytes): void {
  const asked = toAnswer('xioAccept', session);
  if (asked === undefined) return;
  const { inner, context, session: core } = asked;
  inner.accept({ portals, privateData });
  core.phase = 'begun';
  const connection = new ConnectionCore(core, context, core.userContext);
  core.connection = connection;
  connection.establish(inner, true);
}

/**
 * `xio_redirect`: sends the client to other servers. XIO_SESSION_TEARDOWN_EVENT follows. A session that was accepted is sent on as well: what the client has asked is to be
 * answered here, what it asks from then on goes there; then the connection is closed, and torn down.
 *
 * @throws XioError XIO_E_STATE when it was rejected, or sent on before, was destroyed, or is a client's; VerbsError EINVAL for wrong arguments
 */
export function xioRedirect(session: LibxioSession, portals: readonly string[]): void {
  const call = 'xioRedirect';
  const core = sessionOf(call, session);
  if (core.connection?.inner !== undefined && 'offered' in core.of) {
    core.connection.inner.redirect(portals);
    return;
  }
  const asked = toAnswer(call, session);
  if (asked === undefined) return;
  asked.inner.redirect(portals);
  asked.session.phase = 'begun';
}

/**
 * `xio_reject`: does not take a session. XIO_SESSION_TEARDOWN_EVENT follows. The client hears XIO_SESSION_REJECT_EVENT.
 *
 * @param reason that of the event, whose `message` says the same in words
 * @param privateData that of the event, 0 to 2048 bytes
 * @throws as {@link xioAccept}
 */
export function xioReject(
  session: LibxioSession,
  reason: XioStatus = XioStatus.XIO_E_SESSION_REJECTED,
  privateData?: Bytes,
): void {
  const call = 'xioReject';
  const code = statusName(reason);
  if (code === undefined || reason === XioStatus.XIO_E_SUCCESS)
    throw new VerbsError(call, invalid(`reason is ${show(reason)}`, 'It is the XioStatus of a failure'));
  const asked = toAnswer(call, session);
  if (asked === undefined) return;
  asked.inner.reject(xioStrerror(reason), { code, privateData });
  asked.session.phase = 'begun';
}
