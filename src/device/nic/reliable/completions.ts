import { QpState, SendFlags, Syndrome, WcOpcode, WcStatus } from '../../ibta/index.js';
import { flushStatus } from '../queues/work-queue.js';
import { SendWqe } from '../rings/layout.js';
import { Phase, type SenderState } from './sender-state.js';

/** How the requests of a reliable requester end: in order, each once (protocol/reliable.md 2.7, 2.10). */

/**
 * Retires the oldest request and writes its completion, when one is due. In this order: a program that sees the
 * completion may post into the slot at once, so the slot must be free by then, and must not be read any more.
 */
export function completeOldest(
  s: SenderState,
  status: WcStatus,
  syndrome: Syndrome,
  detail: Int32Array | undefined,
): void {
  const { qp } = s;
  const { sq } = qp;
  const index = sq.head;
  const entry = sq.entry(index);
  const control = sq.words[entry + SendWqe.CONTROL];
  const wrIdLo = sq.words[entry + SendWqe.WR_ID_LO];
  const wrIdHi = sq.words[entry + SendWqe.WR_ID_HI];
  const wcOpcode = s.kinds[control & 0xff]?.wcOpcode ?? WcOpcode.SEND;
  const success = status === WcStatus.SUCCESS;
  if (success && wcOpcode === WcOpcode.SEND) s.core.counters.rdmaSends += 1;
  sq.retire((index + 1) | 0);
  if (success && !qp.sqSigAll && (control & (SendFlags.SIGNALED << 8)) === 0) return;
  sq.publish();
  const byteLen = success ? s.window.lengthBytes(index) : 0;
  qp.sendCq.push(wrIdLo, wrIdHi, status, wcOpcode, byteLen, 0, qp.qpn, 0, 0, false, syndrome, detail);
}

/** Completes the oldest requests as far as all their packets are acknowledged. */
export function completeAcknowledged(s: SenderState): void {
  const { window } = s;
  const { sq } = s.qp;
  while (window.busy && window.isAcknowledged(sq.head)) completeOldest(s, WcStatus.SUCCESS, Syndrome.NONE, undefined);
  sq.publish();
}

/** Ends the oldest request with an error, and with it the queue pair (protocol/reliable.md 2.10). */
export function fail(s: SenderState, status: WcStatus, syndrome: Syndrome, detail: Int32Array): void {
  s.qp.enterError(syndrome, { half: 'sending', status, syndrome, detail });
}

export function flush(s: SenderState, cause: Syndrome): void {
  const { qp, core, window } = s;
  const { detail } = core;
  s.phase = Phase.SENDING;
  s.stalled = undefined;
  core.timers.disarm(qp.timerId);
  detail.fill(0);
  detail.set([QpState.ERR, cause]);
  for (let left = qp.sq.count; left > 0 && qp.sq.has(qp.sq.head); left -= 1)
    completeOldest(s, flushStatus(cause), Syndrome.FLUSHED, detail);
  window.reset(window.una);
}

/** A local error in request `index`: completions stay in order, so it waits for the requests before it. */
export function stallAt(s: SenderState, index: number, status: WcStatus, syndrome: Syndrome, detail: Int32Array): void {
  s.stalled = { index, status, syndrome, detail: detail.slice() };
  failStalled(s);
}

/** A local error in the request that would start next. */
export function stallNext(s: SenderState, status: WcStatus, syndrome: Syndrome, a: number, b: number): void {
  const { detail } = s.core;
  stallAt(s, s.window.next, status, syndrome, detail.fill(0).fill(a, 0, 1).fill(b, 1, 2));
}

export function failStalled(s: SenderState): void {
  const { stalled } = s;
  if (stalled === undefined) return;
  const passed = (s.qp.sq.head - stalled.index) | 0;
  if (passed < 0) return;
  s.stalled = undefined;
  // A retransmission that failed locally is no failure when the peer had the packet all the time.
  if (passed === 0) fail(s, stalled.status, stalled.syndrome, stalled.detail);
}
