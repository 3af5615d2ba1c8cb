import { type ErrnoName, nameOf, WcStatus } from '../../device/ibta/index.js';
import { VerbsError } from '../../api/verbs/index.js';

/** What every status other than SUCCESS is among errnos. */
const ERRNOS: Readonly<Partial<Record<WcStatus, ErrnoName>>> = {
  [WcStatus.RETRY_EXC_ERR]: 'ETIMEDOUT',
  [WcStatus.REM_ACCESS_ERR]: 'EACCES',
  [WcStatus.REM_INV_REQ_ERR]: 'EINVAL',
  [WcStatus.WR_FLUSH_ERR]: 'ECONNRESET',
};

/** A request that the adapters did not carry out. The connection has ended with it, as reliable connections do. */
export class RequestError extends VerbsError {
  override readonly name = 'RequestError';
  /** With what it completed. */
  readonly status: WcStatus;

  /** @param explanation what `Context.explain` says of it */
  constructor(call: string, status: WcStatus, explanation: string) {
    const errno = ERRNOS[status] ?? 'EIO';
    super(call, { errno, message: `${nameOf(WcStatus, status)}: ${explanation}`, advice: '' });
    this.status = status;
  }
}

/** The peer broke the protocol of this package, or says that this end did. The connection has ended with that. */
export class ProtocolError extends VerbsError {
  override readonly name = 'ProtocolError';

  constructor(call: string, message: string) {
    super(call, { errno: 'EPROTO', message, advice: 'Is verbena/messages on both sides, and of a version that fits?' });
  }
}

/**
 * The connection has ended: ECONNRESET when the peer has ended or lost it, ECANCELED when this end has, ENOTCONN for calls after
 * that. `cause` is the failure that it ended with, where there was one.
 */
export class ClosedError extends VerbsError {
  override readonly name = 'ClosedError';

  constructor(
    call: string,
    errno: 'ECONNRESET' | 'ECANCELED' | 'ENOTCONN',
    message: string,
    options: ErrorOptions = {},
  ) {
    super(call, { errno, message, advice: '' }, options);
  }
}

/** Whether that is what a peer does, or fails to do, rather than a mistake of this program. */
export function isPeersDoing(error: unknown): boolean {
  return error instanceof RequestError || error instanceof ProtocolError || error instanceof ClosedError;
}
