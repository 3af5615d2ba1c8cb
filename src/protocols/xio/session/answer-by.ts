import { type FieldsOf, fieldsProblem, refuse } from '../../../api/verbs/index.js';
import { XioError } from '../transport/index.js';
import type { XioParts, XioRequest, XioRequestHandler } from '../api.js';
import { textOf } from './arguments.js';

const PARTS_FIELDS: FieldsOf<XioParts> = { header: true, body: true };
const TOO_LONG: readonly string[] = ['XIO_E_RSP_BUF_SIZE_MISMATCH', 'XIO_E_MSG_SIZE'];

/** Has a handler deal with a request: what it gives is the answer, and what it throws is told to the requester. */
export function answerBy(handler: XioRequestHandler, request: XioRequest): void {
  const failed = (error: unknown): void => {
    if (request.isAnswered) return;
    const code = error instanceof XioError && TOO_LONG.includes(error.code) ? error.code : undefined;
    request.fail(textOf(error), code);
  };
  const done = (answer: unknown): void => {
    // It answers by itself, now or later.
    if (request.isAnswered || answer === undefined) return;
    try {
      refuse('reply', fieldsProblem('what the handler of requests gives', answer, PARTS_FIELDS));
      // It has those fields and no others; what is in them is looked at by reply.
      const { header, body } = answer as XioParts;
      void request.reply(header, body);
    } catch (error) {
      failed(error);
    }
  };
  try {
    const answer = handler(request);
    if (answer instanceof Promise) answer.then(done, failed);
    else done(answer);
  } catch (error) {
    failed(error);
  }
}
