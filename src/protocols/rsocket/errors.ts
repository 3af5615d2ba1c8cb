import { VerbsError } from '../../api/verbs/index.js';

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
