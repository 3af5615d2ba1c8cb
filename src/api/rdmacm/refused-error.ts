import type { RejectReason } from '../../device/ibta/index.js';
import { type Problem, VerbsError } from '../verbs/index.js';
import { rejectReasonStr } from './text.js';

/** The peer refused the connection: ECONNREFUSED. */
export class RefusedError extends VerbsError {
  override readonly name = 'RefusedError';
  /** Why. CONSUMER_DEFINED when its program did. */
  readonly reason: RejectReason;
  /** No field, which all that shows errors would show byte by byte. */
  readonly #privateData: Uint8Array;

  constructor(call: string, reason: RejectReason, privateData: Uint8Array, why?: Pick<Problem, 'message' | 'advice'>) {
    const message = `the peer refused the connection: ${rejectReasonStr(reason)}`;
    super(call, { errno: 'ECONNREFUSED', message, advice: '', ...why });
    this.reason = reason;
    this.#privateData = privateData;
  }

  /** What its program said, with zeros at its end. */
  get privateData(): Uint8Array {
    return this.#privateData;
  }
}
