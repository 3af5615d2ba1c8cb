import { WcStatus } from '../../../device/ibta/index.js';
import { type Explainable, type ExplainableEvent, explainEvent, explainStatus } from '../../../api/verbs/index.js';
import { causeOf, templateOf } from './templates.js';

/**
 * What a completion, or an asynchronous event, of the software NIC says, in a sentence with the numbers, and what to look at next:
 * `retry count exceeded: 7 transmissions of PSN 0x4a31 to 127.0.0.2 QP 0x12, no answer in 0.47 s; is the peer alive …`.
 * `Context.explain` explains those of any device, since what `vendorErr` and `detail` mean is its maker's affair.
 */
export function explain(what: Explainable | ExplainableEvent): string {
  return 'eventType' in what ? explainRefusal(what) : explainCompletion(what);
}

/** What led to a refusal, in half a sentence, from a `vendorErr`; undefined for one that is not ours. */
export function refusalReason(vendorErr: number): string | undefined {
  const cause = causeOf(vendorErr);
  return cause === undefined ? undefined : `refused ${cause}`;
}

/** An event, with what the peer has done that was refused. */
function explainRefusal(event: ExplainableEvent): string {
  const { vendorErr } = event;
  const cause = vendorErr === undefined ? undefined : causeOf(vendorErr);
  return cause === undefined
    ? explainEvent(event)
    : `${explainEvent({ eventType: event.eventType })}: the QP is in ERR ${cause}`;
}

function explainCompletion(wc: Explainable): string {
  const template = wc.status === WcStatus.SUCCESS ? undefined : templateOf(wc.vendorErr);
  if (template === undefined) return explainStatus(wc);
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = wc.detail;
  return template({
    opcode: wc.opcode,
    detail: [a >>> 0, b >>> 0, c >>> 0, d >>> 0, e >>> 0, f >>> 0],
    peer: wc.peer,
  });
}
