import { type Refusal, Syndrome, WcStatus } from '../../../device/ibta/index.js';
import {
  type Explainable,
  type ExplainableEvent,
  explainEvent,
  explainStatus,
  wcStatusStr,
} from '../../../api/verbs/index.js';
import { refusalCause, refusedRequest } from './refusal.js';
import { causeOf, templateOf } from './templates.js';

/**
 * What a completion, or an asynchronous event, of the software NIC says, in a sentence with the numbers, and what to look at next:
 * `retry count exceeded: 7 transmissions of PSN 0x4a31 to 127.0.0.2 QP 0x12, no answer in 0.47 s; is the peer alive …`.
 *
 * @param refusal what the NIC that refused the request knows of it
 *
 * `Context.explain` explains those of any device, since what `vendorErr` and `detail` mean is its maker's affair.
 */
export function explain(what: Explainable | ExplainableEvent, refusal?: Refusal): string {
  return 'eventType' in what ? explainRefusal(what, refusal) : explainCompletion(what, refusal);
}

/** What led to a refusal, in half a sentence, from a `vendorErr`; undefined for one that is not ours. */
export function refusalReason(vendorErr: number): string | undefined {
  const cause = causeOf(vendorErr);
  return cause === undefined ? undefined : `refused ${cause}`;
}

/** Syndromes of which the NIC keeps why. */
const REFUSED: ReadonlySet<number> = new Set([Syndrome.RESPONDER_ACCESS, Syndrome.RESPONDER_INVALID_REQUEST]);

/** An event, with what the peer has done that was refused. */
function explainRefusal(event: ExplainableEvent, refusal: Refusal | undefined): string {
  const { vendorErr } = event;
  if (vendorErr !== undefined && REFUSED.has(vendorErr) && refusal !== undefined)
    return `${explainEvent({ eventType: event.eventType })}: ${refusalCause(refusal)} (${refusedRequest(refusal)})`;
  const cause = vendorErr === undefined ? undefined : causeOf(vendorErr);
  return cause === undefined
    ? explainEvent(event)
    : `${explainEvent({ eventType: event.eventType })}: the QP is in ERR ${cause}`;
}

/** The queue pair on this device whose NIC knows more of a completion or an event; undefined where none does. */
export function witnessOf(what: Explainable | ExplainableEvent, qpNum: number, own: string): number | undefined {
  if ('eventType' in what) return what.qp?.qpNum;
  if (what.vendorErr === Syndrome.FLUSHED) return qpNum;
  return what.peer === own ? refuserOf(what) : undefined;
}

/** The queue pair of the peer that has refused a request, where that is what a completion says. */
function refuserOf({ status, vendorErr, detail }: Explainable): number | undefined {
  if (status === WcStatus.SUCCESS) return undefined;
  if (vendorErr === Syndrome.REMOTE_ACCESS) return (detail[5] ?? 0) >>> 0;
  return vendorErr === Syndrome.REMOTE_INVALID_REQUEST ? (detail[3] ?? 0) >>> 0 : undefined;
}

function explainCompletion(wc: Explainable, refusal: Refusal | undefined): string {
  const template = wc.status === WcStatus.SUCCESS ? undefined : templateOf(wc.vendorErr);
  if (template === undefined) return explainStatus(wc);
  if (wc.vendorErr === Syndrome.FLUSHED && refusal !== undefined && REFUSED.has(wc.detail[1] ?? 0))
    return `flushed: the QP is in ERR since it refused its peer: ${refusalCause(refusal)} (${refusedRequest(refusal)})`;
  const refuser = refuserOf(wc);
  if (refusal !== undefined && refuser !== undefined) {
    const who = `${wc.peer ?? 'the peer'} QP 0x${refuser.toString(16)}`;
    return `${wcStatusStr(wc.status)}: ${refusalCause(refusal)} (${refusedRequest(refusal)}, refused by ${who})`;
  }
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = wc.detail;
  return template({
    opcode: wc.opcode,
    detail: [a >>> 0, b >>> 0, c >>> 0, d >>> 0, e >>> 0, f >>> 0],
    peer: wc.peer,
  });
}
