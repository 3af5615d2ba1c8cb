import { XioStatus, type XioStatusName } from '../wire/index.js';

/** What a {@link XioError} says beside its status. */
export interface XioErrorOptions extends ErrorOptions {
  /** Whether the peer's program may have seen what failed. */
  readonly mayHaveRun?: boolean | undefined;
}

/** Why a session, a request or a message has failed. */
export class XioError extends Error {
  override readonly name = 'XioError';
  /** `XIO_E_TIMEOUT` and so on, by the names of libxio.h. */
  readonly code: XioStatusName;
  /** The number of it. */
  readonly status: XioStatus;
  /**
   * Whether the peer's program may have seen the request or the message that failed, and so done what it asks for. False: it has not, and never will, so
   * that it can be tried again.
   */
  readonly mayHaveRun: boolean;

  constructor(code: XioStatusName, message: string, { mayHaveRun = false, ...options }: XioErrorOptions = {}) {
    // What tells of another failure may end with its code already.
    super(message.endsWith(`(${code})`) ? message : `${message} (${code})`, options);
    this.code = code;
    this.status = XioStatus[code];
    this.mayHaveRun = mayHaveRun;
  }
}
