import { ClosedError, ProtocolError } from '../errors.js';
import { CloseReason, type Farewell } from '../protocol/farewell.js';

/** How a connection ends whose peer says nothing any more. */
export function lost(): ClosedError {
  return new ClosedError('messages', 'ECONNRESET', 'the connection was lost: the peer has gone without a farewell');
}

/** What those are told whose requests ended with a connection. */
export function closedBy(failure: Error | undefined): Error {
  if (failure instanceof ClosedError) return failure;
  if (failure === undefined) return new ClosedError('messages', 'ECONNRESET', 'the peer has closed the connection');
  return new ClosedError('messages', 'ECONNRESET', `the connection has ended: ${failure.message}`, { cause: failure });
}

/** What a peer's farewell means; undefined when it is just done. */
export function failureOf({ reason, text }: Farewell): Error | undefined {
  switch (reason) {
    case CloseReason.DONE:
      return undefined;
    case CloseReason.FAILED:
      if (text !== '')
        return new ClosedError('messages', 'ECONNRESET', `the peer has closed the connection early: ${text}`);
      return new ClosedError('messages', 'ECONNRESET', "the peer's program has failed, and closed the connection");
    default:
      return new ProtocolError('messages', `the peer says that this end broke the protocol: ${text}`);
  }
}
