import { encodeSetupAnswer, NO_LIMITS, type SetupAnswer, XioStatus } from '../../wire/index.js';

/** What a server answers to a client that asks for a session. @param epoch of the server's life */
export function setupAnswer(epoch: Uint8Array, said: Partial<SetupAnswer> & Pick<SetupAnswer, 'action'>): Uint8Array {
  const nothingElse = {
    status: XioStatus.XIO_E_SUCCESS,
    limits: NO_LIMITS,
    addresses: [],
    privateData: new Uint8Array(0),
    words: '',
  };
  return encodeSetupAnswer({ epoch, ...nothingElse, ...said });
}
