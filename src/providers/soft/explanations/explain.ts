import { QpState, type QpView, type Refusal, Syndrome, WcStatus } from '../../../device/ibta/index.js';
import {
  type Explainable,
  type ExplainableEvent,
  explainEvent,
  explainStatus,
  formatMicroseconds,
  qpStateStr,
  wcStatusStr,
} from '../../../api/verbs/index.js';
import { refusalCause, refusedRequest } from './refusal.js';
import { causeOf, templateOf } from './templates.js';

/**
 * What a completion, or an asynchronous event, of the software NIC says, in a sentence with the numbers, and what to look at next:
 * `retry count exceeded: 7 transmissions of PSN 0x4a31 to 127.0.0.2 QP 0x12, no answer in 0.47 s; is the peer alive …`.
 * `Context.explain` explains those of any device, since what `vendorErr` and `detail` mean is its maker's affair.
 */
export function explain(what: Explainable | ExplainableEvent): string {
  return explainWith(what, undefined, undefined);
}

/**
 * As {@link explain}, with what NICs of this process know.
 *
 * @param witness of the queue pair that {@link witnessOf} names: `none` where its NIC has none of that number
 * @param own of the queue pair of a completion
 */
export function explainWith(
  what: Explainable | ExplainableEvent,
  witness: QpView | 'none' | undefined,
  own: QpView | undefined,
): string {
  const refusal = witness === 'none' ? undefined : witness?.refusal;
  if ('eventType' in what) return explainRefusal(what, refusal);
  return explainSilence(what, witness, own) ?? explainCompletion(what, refusal);
}

/** What led to a refusal, in half a sentence, from a `vendorErr`; undefined for one that is not ours. */
export function refusalReason(vendorErr: number): string | undefined {
  const cause = causeOf(vendorErr);
  return cause === undefined ? undefined : `refused ${cause}`;
}

/** Syndromes of which the NIC keeps why. */
const REFUSED: ReadonlySet<number> = new Set([Syndrome.RESPONDER_ACCESS, Syndrome.RESPONDER_INVALID_REQUEST]);

/** Syndromes that say that no answer came, or none that fits. */
const SILENT: ReadonlySet<number> = new Set([Syndrome.RETRY_TIMEOUT, Syndrome.RETRY_SEQUENCE]);
const hex = (number: number): string => `0x${number.toString(16)}`;

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
  if (what.peer !== own || what.status === WcStatus.SUCCESS) return undefined;
  return SILENT.has(what.vendorErr) ? (what.detail[3] ?? 0) >>> 0 : refuserOf(what);
}

/** Why a peer did not answer, where its NIC is at hand; undefined where that knows no better. */
function explainSilence(
  wc: Explainable,
  peer: QpView | 'none' | undefined,
  own: QpView | undefined,
): string | undefined {
  if (peer === undefined || wc.status === WcStatus.SUCCESS || !SILENT.has(wc.vendorErr)) return undefined;
  const [psn = 0, times = 0, elapsedUs = 0, qpn = 0] = wc.detail;
  const cause = silence(peer, own, qpn >>> 0);
  if (cause === undefined) return undefined;
  const sent = `${times} transmission${times === 1 ? '' : 's'} of PSN ${hex(psn >>> 0)} to ${wc.peer ?? 'the peer'} QP ${hex(qpn >>> 0)}`;
  return `${wcStatusStr(wc.status)}: ${cause} (${sent} in ${formatMicroseconds(elapsedUs >>> 0)})`;
}

function silence(peer: QpView | 'none', own: QpView | undefined, qpn: number): string | undefined {
  if (peer === 'none')
    return `the peer's NIC is up, and has no QP ${hex(qpn)}: is destQpNum its qpNum, or was it destroyed?`;
  const { RESET, INIT, ERR } = QpState;
  if (peer.state === RESET || peer.state === INIT)
    return `the peer's QP is in ${qpStateStr(peer.state)}, and takes requests from RTR on`;
  if (peer.state === ERR) return "the peer's QP is in ERR; its own completions or events say why";
  if (own !== undefined && peer.rqPsn !== own.sqPsn)
    return `the peer's rqPsn is ${hex(peer.rqPsn)}, our sqPsn ${hex(own.sqPsn)}: both have to be the same`;
  return undefined;
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
