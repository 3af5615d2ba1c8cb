import { invalid, show, VerbsError } from '../../../api/verbs/index.js';
import type { XioSession } from '../api.js';
import type { XioStatus } from '../wire/index.js';
import { type ConnectionCore, connectionOf, type ConnectionOwner } from './connection.js';
import { XioSessionEvent } from './constants.js';
import { type ContextCore, Teller } from './context.js';
import type { LibxioConnection, LibxioSession } from './handles.js';
import { wrongState } from './problems.js';
import type { XioSessionOps } from './types.js';

export interface Wanted {
  readonly url: string;
  readonly privateData: Uint8Array;
  readonly connections: number;
}

/** What a server's session is, and where it came. */
export interface Offered {
  readonly inner: XioSession;
  readonly context: ContextCore;
}

type Phase = 'made' | 'asked' | 'begun' | 'torn down' | 'destroyed';

/** A session, from its beginning until the program has destroyed it. */
export class SessionCore implements ConnectionOwner {
  readonly handle = 'session';
  readonly teller = new Teller();
  phase: Phase;
  connection: ConnectionCore | undefined;

  constructor(
    public ops: XioSessionOps,
    public userContext: unknown,
    readonly of: { readonly wanted: Wanted } | { readonly offered: Offered },
  ) {
    this.phase = 'wanted' in of ? 'made' : 'asked';
  }

  onConnectionDestroyed(reason: XioStatus, message: string): void {
    this.tearDown(reason, message);
  }

  /** Nothing comes after that. */
  tearDown(reason: XioStatus, message: string): void {
    this.teller.tell(() => {
      this.phase = 'torn down';
      const event = XioSessionEvent.XIO_SESSION_TEARDOWN_EVENT;
      const privateData = new Uint8Array(0);
      const data = { event, reason, message, privateData, conn: undefined, connUserContext: undefined };
      this.ops.onSessionEvent?.(this, data, this.userContext);
    });
  }

  /** @throws XioError XIO_E_STATE for one that has begun, and has not been torn down */
  destroy(call: string): void {
    if (this.phase === 'destroyed') throw wrongState(call, 'the session was destroyed before');
    if (this.phase !== 'made' && this.phase !== 'torn down')
      throw wrongState(call, 'a session is destroyed in XIO_SESSION_TEARDOWN_EVENT, not before');
    this.phase = 'destroyed';
    if ('offered' in this.of) this.of.offered.context.users.delete(this);
  }
}

/** @throws VerbsError EINVAL for what is no session; XioError XIO_E_STATE for one that was destroyed */
export function sessionOf(call: string, session: LibxioSession): SessionCore {
  const given: unknown = session;
  if (!(given instanceof SessionCore)) throw new VerbsError(call, invalid(`the session is ${show(given)}`));
  if (given.phase === 'destroyed') throw wrongState(call, 'the session was destroyed');
  return given;
}

/**
 * `xio_session_destroy`. A session that was never connected is destroyed at any time, others in XIO_SESSION_TEARDOWN_EVENT or later.
 *
 * @throws XioError XIO_E_STATE before, and a second time
 */
export function xioSessionDestroy(session: LibxioSession): void {
  sessionOf('xioSessionDestroy', session).destroy('xioSessionDestroy');
}

/** `xio_connection_destroy`: in XIO_SESSION_CONNECTION_TEARDOWN_EVENT or later. @throws XioError XIO_E_STATE before, and a second time */
export function xioConnectionDestroy(connection: LibxioConnection): void {
  connectionOf('xioConnectionDestroy', connection).destroy('xioConnectionDestroy');
}
