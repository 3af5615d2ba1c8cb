import { encodeSetupAnswer, NO_LIMITS, type SetupAnswer, XioStatus } from '../wire/index.js';

/** SESSION_ANSWER of a server's, with what is not said left empty. */
export function answerOf(epoch: Uint8Array, answer: Partial<SetupAnswer> & Pick<SetupAnswer, 'action'>): Uint8Array {
  return encodeSetupAnswer({
    epoch,
    status: XioStatus.XIO_E_SUCCESS,
    limits: NO_LIMITS,
    addresses: [],
    privateData: new Uint8Array(0),
    words: '',
    ...answer,
  });
}
