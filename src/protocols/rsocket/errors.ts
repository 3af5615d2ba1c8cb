import { VerbsError } from '../../api/verbs/index.js';
import type { ErrnoName } from '../../device/ibta/index.js';

/**
 * What a call of a stream was refused with, or what a stream has ended by: EPROTO when the peer broke the protocol, EPIPE for a write after the end,
 * ECONNRESET when the peer is gone, ETIMEDOUT when it does not answer, EIO for a fault of this end's adapter.
 */
export class RsocketError extends VerbsError {
  override readonly name = 'RsocketError';
}

/** The peer broke the protocol. @param lie how, in a sentence without its full stop */
export function lied(lie: string): RsocketError {
  return new RsocketError('rsocket', {
    errno: 'EPROTO',
    message: `the peer broke the protocol: ${lie}`,
    advice: 'Is it an rsocket, and of version 1?',
  });
}

/** What a call is refused with, by its errno: the sentences that several calls have in common. */
const PROBLEMS = {
  EAGAIN: { message: 'it would wait, and is not to', advice: 'Wait with rpoll' },
  EDESTADDRREQ: { message: 'nobody is named to send to', advice: 'Call rconnect, or give rsendto an address' },
  EBADF: { message: 'the socket is closed', advice: '' },
  ECONNRESET: { message: 'the connection takes no more', advice: 'This end or the peer has ended it' },
  EINPROGRESS: {
    message: 'the connection is being made',
    advice: 'rpoll tells OUT when it is there, or SO_ERROR why not',
  },
  EISCONN: { message: 'the socket is connected', advice: '' },
  ENOTCONN: { message: 'the socket is not connected', advice: 'Call rconnect, or take one from raccept' },
} as const satisfies Partial<Record<ErrnoName, { message: string; advice: string }>>;

export function problem(call: string, errno: keyof typeof PROBLEMS): RsocketError {
  return new RsocketError(call, { errno, ...PROBLEMS[errno] });
}

export function invalidArgument(call: string, message: string, advice: string): RsocketError {
  return new RsocketError(call, { errno: 'EINVAL', message, advice });
}

/** There is no such thing among rsockets: `ENOTSUP`, which is EOPNOTSUPP on Linux. */
export function unsupported(call: string, message: string, advice = ''): RsocketError {
  return new RsocketError(call, { errno: 'EOPNOTSUPP', message, advice });
}
