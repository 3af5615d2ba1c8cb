import { XioError } from './transport/index.js';
import type { XioStatusName } from './wire/index.js';

/** The server has not taken the session: `code` is the one that its program has given, or else XIO_E_SESSION_REJECTED; XIO_E_SESSION_REFUSED where it has no room. */
export class XioRejectedError extends XioError {
  /** What its program has given to that of the client; empty where it has given nothing. */
  readonly privateData: Uint8Array;

  constructor(code: XioStatusName, message: string, privateData: Uint8Array) {
    super(code, message);
    this.privateData = privateData;
  }
}
