import { fieldsProblem, type FieldsOf, invalid, refuse, show, VerbsError } from '../../../api/verbs/index.js';
import type { XioRejectOptions } from '../api.js';
import { bytesOf, privateDataOf } from '../options.js';
import { Action, MAX_TEXT_BYTES, type SetupAnswer, XioStatus } from '../wire/index.js';

const FIELDS: FieldsOf<XioRejectOptions> = { code: true, privateData: true };

/** What a client is told that is rejected. @throws VerbsError EINVAL for what cannot be told */
export function rejectionOf(
  call: string,
  reason: string,
  options: XioRejectOptions,
): Pick<SetupAnswer, 'action' | 'status' | 'words' | 'privateData'> {
  refuse(call, fieldsProblem('options', options, FIELDS));
  const { code = 'XIO_E_SESSION_REJECTED', privateData } = options;
  const given: unknown = reason;
  if (typeof given !== 'string') throw new VerbsError(call, invalid(`reason is ${show(given)}`, 'It is text'));
  const { length } = bytesOf(call, 'reason', reason);
  if (length > MAX_TEXT_BYTES)
    throw new VerbsError(call, invalid(`reason has ${length} bytes`, `It has ${MAX_TEXT_BYTES} at most`));
  if (!Object.hasOwn(XioStatus, code) || code === 'XIO_E_SUCCESS')
    throw new VerbsError(call, invalid(`code is ${show(code)}`, 'It is one of XioStatus, of a failure'));
  return {
    action: Action.REJECT,
    status: XioStatus[code],
    words: reason,
    privateData: privateDataOf(call, privateData),
  };
}
