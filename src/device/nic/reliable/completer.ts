import { psnAdd, psnDiff, Syndrome, WcOpcode, WcStatus } from '../../ibta/index.js';
import {
  Aeth,
  aethMsn,
  aethOffset,
  aethSyndrome,
  atomicAckOffset,
  bthPadCount,
  bthPsn,
  ICRC_BYTES,
  NakCode,
  opcodeHeaderBytes,
  type PacketMeta,
} from '../../wire/index.js';
import { CopyStatus } from '../memory/copying/foreign-memory.js';
import { PendingWork } from '../queue-pairs/turns.js';
import { SendWqe } from '../rings/layout.js';
import { completeAcknowledged, fail, failStalled } from './completions.js';
import { goBack, onProgress, waitForReceiver } from './loss-recovery.js';
import { describeRefusal, refusalOf } from './refusals.js';
import { Phase, type SenderState } from './sender-state.js';

/** What a reliable requester does with responses (protocol/reliable.md 2.6). */

/** One 64-bit atomic answer in host byte order; used within a call, so all queue pairs share it. */
const answer = new Uint8Array(8);

export function onAcknowledge(s: SenderState, bytes: Uint8Array, offset: number): void {
  const psn = bthPsn(bytes, offset);
  const aeth = offset + aethOffset[bytes[offset]];
  const syndrome = aethSyndrome(bytes, aeth);
  const value = syndrome & Aeth.VALUE_MASK;
  switch (syndrome & Aeth.KIND_MASK) {
    case 0:
      if (isExpected(s, psn)) acknowledge(s, psnAdd(psn, 1));
      break;
    case Aeth.RNR_NAK:
      if (isExpected(s, psn)) onRnr(s, psn, value);
      break;
    case Aeth.NAK:
      if (value !== NakCode.PSN_SEQUENCE_ERROR) onRefusal(s, psn, value, aethMsn(bytes, aeth));
      else if (isExpected(s, psn)) onSequenceError(s, psn);
      break;
    default:
      s.core.counters.rxUnexpectedResponse += 1;
  }
}

/** A READ response; FLUSH and ATOMIC_WRITE are answered by one without payload. */
export function onReadResponse(
  s: SenderState,
  bytes: Uint8Array,
  offset: number,
  lengthBytes: number,
  meta: PacketMeta,
): void {
  const { qp, core, window } = s;
  const psn = bthPsn(bytes, offset);
  if (!isExpected(s, psn) || !acknowledge(s, psn)) return;
  if (window.una !== psn) return;
  const index = qp.sq.head;
  const entry = qp.sq.entry(index);
  const control = qp.sq.words[entry + SendWqe.CONTROL];
  const opcode = bytes[offset];
  const kind = s.kinds[control & 0xff];
  const header = opcodeHeaderBytes[opcode];
  const payload = lengthBytes - header - ICRC_BYTES - bthPadCount(bytes, offset);
  if (kind?.confirmed === true && payload === 0) {
    if (kind.wcOpcode === WcOpcode.FLUSH) s.flushSeal.onAnswer();
    progress(s, psnAdd(psn, 1));
    return;
  }
  const segmentBytes = window.segmentBytes(index);
  const begin = psnDiff(psn, window.firstPsn(index)) * segmentBytes;
  if (kind?.read !== true || payload !== Math.min(window.lengthBytes(index) - begin, segmentBytes)) {
    failBadResponse(s, psn, opcode);
    return;
  }
  const { mover } = core;
  const numSge = (control >>> 16) & 0xff;
  const data = entry + SendWqe.DATA;
  const source = meta.payload ?? bytes;
  const at = offset + header + meta.payloadShift;
  const ends = begin + payload === window.lengthBytes(index);
  const stored = mover.scatter(qp.sq.words, data, numSge, qp.pd, begin, source, at, payload, qp, 'responses', ends);
  onStored(s, stored, psn);
}

/** The answer to an atomic. */
export function onAtomicAcknowledge(s: SenderState, bytes: Uint8Array, offset: number): void {
  const { qp, core, window } = s;
  const psn = bthPsn(bytes, offset);
  if (!isExpected(s, psn) || !acknowledge(s, psn)) return;
  if (window.una !== psn) return;
  const entry = qp.sq.entry(qp.sq.head);
  const control = qp.sq.words[entry + SendWqe.CONTROL];
  const opcode = bytes[offset];
  if (s.kinds[control & 0xff]?.atomic !== true) {
    failBadResponse(s, psn, opcode);
    return;
  }
  const at = offset + atomicAckOffset[opcode];
  // The wire is big-endian, memory in host order (protocol/packets.md 1.3).
  for (let i = 0; i < 8; i += 1) answer[i] = bytes[at + 7 - i];
  const { mover } = core;
  const numSge = (control >>> 16) & 0xff;
  const { words } = qp.sq;
  const stored = mover.scatter(words, entry + SendWqe.DATA, numSge, qp.pd, 0, answer, 0, 8, qp, 'responses', true);
  onStored(s, stored, psn);
}

/** The data of a response is in memory, and the request continues; or memory refused it, and the request fails. */
function onStored(s: SenderState, stored: CopyStatus, psn: number): void {
  const { mover } = s.core;
  if (stored === CopyStatus.READY) progress(s, psnAdd(psn, 1));
  else if (stored === CopyStatus.FAILED) fail(s, WcStatus.LOC_PROT_ERR, mover.syndrome, mover.detail);
}

/** Whether a response to `psn` can be honest: the packet was sent and is not acknowledged. */
function isExpected(s: SenderState, psn: number): boolean {
  const { window } = s;
  if (psnDiff(psn, window.una) >= 0 && psnDiff(psn, window.sent) < 0) {
    // The peer answers, whether the answer can be used or not.
    s.lateRefusal = undefined;
    return true;
  }
  s.core.counters.rxUnexpectedResponse += 1;
  return false;
}

/**
 * Takes all packets before `psn` as acknowledged.
 *
 * @returns false when a request before it still lacks its answer, which is therefore lost, or when the queue
 *   pair has ended
 */
function acknowledge(s: SenderState, psn: number): boolean {
  const { qp, window } = s;
  let index = qp.sq.head;
  let reached = psn;
  // Both seen from `una`: the longest READ has 2^23 packets, too many to compare with its first PSN directly.
  const distance = psnDiff(psn, window.una);
  while (index !== window.next && distance > psnDiff(window.firstPsn(index), window.una)) {
    const kind = s.kinds[qp.sq.words[qp.sq.entry(index) + SendWqe.CONTROL] & 0xff];
    if (kind?.answered === true) {
      const first = window.firstPsn(index);
      reached = psnDiff(window.una, first) > 0 ? window.una : first;
      break;
    }
    index = (index + 1) | 0;
  }
  if (psnDiff(reached, window.una) > 0) progress(s, reached);
  // The acknowledgement may have completed the requests before one that failed locally, and so ended the queue pair.
  if (!qp.maySend) return false;
  if (reached === psn) return true;
  if (!s.gapSeen) {
    s.gapSeen = true;
    goBack(s);
  }
  return false;
}

/** Notes that all packets before `psn` are acknowledged, and completes the requests that end there. */
function progress(s: SenderState, psn: number): void {
  const { qp, core, window } = s;
  s.congestion.onAcknowledged(psnDiff(psn, window.una), window.inFlight, core.nowUs);
  s.rtt.onAcknowledged(psn, core.nowUs);
  window.acknowledge(psn);
  // The peer sent this after its RNR NAK: it is ready.
  if (s.phase === Phase.RNR) s.phase = Phase.SENDING;
  s.reload();
  completeAcknowledged(s);
  window.catchUp();
  if (window.inFlight > 0) onProgress(s);
  else {
    core.timers.disarm(qp.timerId);
    s.settle();
  }
  failStalled(s);
  if (!window.busy) qp.onSendIdle();
  core.schedule(qp, PendingWork.SENDING);
}

function onRnr(s: SenderState, psn: number, timerCode: number): void {
  s.core.counters.rcvdRnrErr += 1;
  if (acknowledge(s, psn) && s.phase !== Phase.RNR) waitForReceiver(s, timerCode);
}

function onSequenceError(s: SenderState, psn: number): void {
  s.core.counters.rcvdSeqErr += 1;
  s.sequenceErrors.note(psn);
  if (acknowledge(s, psn)) goBack(s);
}

/** The peer refuses a request: the oldest, one behind it, or one that is complete here. */
function onRefusal(s: SenderState, psn: number, code: number, msn: number): void {
  const { window } = s;
  if (window.isOfOldest(psn)) failRefused(s, psn, code, msn);
  else if (isExpected(s, psn)) {
    if (acknowledge(s, psn)) failRefused(s, psn, code, msn);
    // IBTA has the NAK of a complete request ignored (ghost acknowledge), and a responder that refuses a repeat may live on: ours
    // does. rxe ends its queue pair and answers nothing more, so this NAK is the only sign of the reason. It counts once the
    // retries have run out.
  } else if (window.wasAcknowledged(psn)) s.lateRefusal = { psn, code };
}

function failRefused(s: SenderState, psn: number, code: number, msn: number): void {
  const { qp } = s;
  const { detail } = s.core;
  const { status, syndrome } = refusalOf(code);
  describeRefusal(detail, syndrome, qp, s.window.lengthBytes(qp.sq.head), psn, msn);
  fail(s, status, syndrome, detail);
}

function failBadResponse(s: SenderState, psn: number, opcode: number): void {
  const { sq } = s.qp;
  const { detail } = s.core;
  detail.fill(0);
  detail.set([psn, opcode, sq.words[sq.entry(sq.head) + SendWqe.CONTROL] & 0xff]);
  fail(s, WcStatus.BAD_RESP_ERR, Syndrome.BAD_RESPONSE, detail);
}
