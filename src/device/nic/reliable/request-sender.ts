import { psnAdd, psnDiff, SendFlags, Syndrome, WcOpcode, WcStatus, WrOpcode } from '../../ibta/index.js';
import {
  atomicEthOffset,
  fethOffset,
  iethOffset,
  immOffset,
  OpcodeBit,
  opcodeBits,
  putU32,
  rethOffset,
  writeAtomicEth,
  writeFeth,
  writeReth,
  writeXrceth,
  xrcethOffset,
} from '../../wire/index.js';
import { CopyStatus } from '../memory/copying/foreign-memory.js';
import { copyBytes } from '../memory/copying/word-copy.js';
import type { RequestKind } from '../queue-pairs/request-kinds.js';
import { packetCost, TransmitResult } from '../queue-pairs/turns.js';
import { sgeTotal } from '../queues/work-queue.js';
import { FlushWqe, SendWqe } from '../rings/layout.js';
import { completeAcknowledged, stallAt, stallNext } from './completions.js';
import { askNow, forgoAsking, isQuiet, onProbeSent, onTransmit } from './loss-recovery.js';
import { Phase, type SenderState } from './sender-state.js';

/** Packets after which one requests an acknowledgement, where segments are large. */
const LARGE_ACK_REQUEST_INTERVAL = 4;
/**
 * Messages up to this length are segmented by the path MTU on any link: larger segments gain little, and a program sees the same
 * packet borders as elsewhere, for example when a message with a wrong key fails in the middle.
 */
const ALWAYS_BY_MTU_BYTES = 8192;

const Start = {
  STARTED: 0,
  /** The queue is empty, or a fence holds its next request. */
  NOTHING: 1,
  FAILED: 2,
  /** It needed no packet. */
  CARRIED_OUT: 3,
  /** It waits until all packets are acknowledged. */
  AFTER_ALL: 4,
} as const;
type Start = (typeof Start)[keyof typeof Start];

/** How a reliable requester turns work queue entries into request packets (protocol/reliable.md 2.1, 2.2, 2.7). */

/** Sends what window, depth and fences allow, at most `budget` packets. */
export function transmitRequests(s: SenderState, budget: number): TransmitResult {
  const { qp } = s;
  const { window } = s;
  if (s.phase === Phase.RNR || !qp.maySend) return TransmitResult.IDLE;
  if (s.probeNext) {
    const probed = sendProbe(s);
    if (probed !== undefined) return probed;
  }
  for (let left = budget; left > 0; left -= 1) {
    if (window.cursor === window.next) {
      const start = startNext(s);
      if (start === Start.CARRIED_OUT) continue;
      // The next request waits until all packets are acknowledged.
      if (start === Start.AFTER_ALL && askNow(s)) continue;
      if (start !== Start.STARTED) return TransmitResult.IDLE;
    }
    const index = window.cursor;
    const entry = qp.sq.entry(index);
    const control = qp.sq.words[entry + SendWqe.CONTROL];
    const kind = s.kinds[control & 0xff];
    if (kind === undefined) return TransmitResult.IDLE;
    const packets = kind.read ? readPackets(s, index) : 1;
    const { inFlight } = window;
    if (inFlight === 0) s.congestion.onRestart(s.core.nowUs);
    // A packet that is sent again takes no more room.
    else if (inFlight + packets > windowPackets(s, index) && !repeatsToAsk(s)) return TransmitResult.IDLE;
    // Started requests continue, one at a time, though the depth was set to 0 since.
    if (kind.answered && window.rdOutstanding >= Math.max(1, qp.attr.maxRdAtomic)) return TransmitResult.IDLE;
    const sent = sendNext(s, index, entry, control, kind, packets);
    if (sent !== undefined) return sent;
    if (!kind.answered) left -= packetCost(window.segmentBytes(index)) - 1;
  }
  return TransmitResult.MORE;
}

/** Sends the packet at the cursor; `packets` is how many PSNs that is. @returns why not, when it is not sent */
function sendNext(
  s: SenderState,
  index: number,
  entry: number,
  control: number,
  kind: RequestKind,
  packets: number,
): TransmitResult | undefined {
  const { window } = s;
  const sent = kind.read
    ? sendRead(s, index, entry, kind, packets)
    : kind.atomic
      ? sendAtomic(s, entry, kind)
      : kind.wcOpcode === WcOpcode.FLUSH
        ? sendFlush(s, index, entry, kind)
        : sendMessage(s, index, entry, kind, control);
  if (sent !== undefined) return sent;
  const asked = kind.answered || s.builtAsks;
  if (psnDiff(window.nxt, window.sent) < 0) {
    s.core.counters.retransmittedPkts += 1;
    s.retransmittedPkts += 1;
  } else if (asked) s.rtt.onSent(window.nxt, s.core.nowUs);
  if (kind.answered) window.addOutstanding(psnAdd(window.nxt, packets));
  window.advanceCursor(packets);
  onTransmit(s, asked);
  return undefined;
}

/** Sends the first request packet that lacks its answer again, out of turn. @returns why not, when it is not sent */
function sendProbe(s: SenderState): TransmitResult | undefined {
  const { sq } = s.qp;
  const { window } = s;
  window.interrupt();
  const index = window.cursor;
  const entry = sq.entry(index);
  const control = sq.words[entry + SendWqe.CONTROL];
  const kind = s.kinds[control & 0xff];
  s.askNext = true;
  const sent =
    kind === undefined
      ? TransmitResult.IDLE
      : sendNext(s, index, entry, control, kind, kind.read ? window.repeatPackets : 1);
  if (s.qp.maySend) window.resume();
  if (sent === undefined) onProbeSent(s);
  return sent;
}

/** Whether the last packet is sent again, to request an acknowledgement. */
function repeatsToAsk(s: SenderState): boolean {
  return s.askNext && s.window.nxt !== s.window.sent;
}

/** Checks the next work queue entry and gives it its PSNs. */
function startNext(s: SenderState): Start {
  const { qp } = s;
  const { sq } = qp;
  const { window } = s;
  if (!qp.mayStart || s.stalled !== undefined) return Start.AFTER_ALL;
  if (!sq.has(window.next)) return Start.NOTHING;
  const entry = sq.entry(window.next);
  const control = sq.words[entry + SendWqe.CONTROL];
  const kind = s.kinds[control & 0xff];
  const flags = (control >>> 8) & 0xff;
  const numSge = (control >>> 16) & 0xff;
  if (kind === undefined || numSge > sq.maxSge) return refuse(s, Syndrome.LOCAL_BAD_WQE, control & 0xff, numSge);
  // protocol/reliable.md 2.7: a fenced request waits for every READ and atomic before it.
  if ((flags & SendFlags.FENCE) !== 0 && window.rdOutstanding > 0) return Start.NOTHING;
  if (kind.local) return carryOut(s, entry, control);
  const eight = kind.atomic || kind.wcOpcode === WcOpcode.ATOMIC_WRITE;
  let length: number;
  if ((flags & SendFlags.INLINE) !== 0) {
    length = sq.words[entry + SendWqe.INLINE_BYTES];
    if (!kind.inline || length < 0 || length > qp.maxInlineBytes)
      return refuse(s, Syndrome.LOCAL_BAD_WQE, control & 0xff, numSge);
  } else {
    length = sgeTotal(sq.words, entry + SendWqe.DATA, numSge);
    const { mover } = s.core;
    if (!mover.check(sq.words, entry + SendWqe.DATA, numSge, qp.pd, kind.localAccess)) {
      stallAt(s, window.next, WcStatus.LOC_PROT_ERR, mover.syndrome, mover.detail);
      return Start.FAILED;
    }
  }
  if (kind.wcOpcode === WcOpcode.FLUSH) length = sq.words[entry + FlushWqe.LENGTH] >>> 0;
  const limit = eight ? 8 : s.core.limits.maxMessageBytes;
  if (length > limit || (eight && length !== 8)) {
    stallNext(s, WcStatus.LOC_LEN_ERR, Syndrome.LOCAL_MESSAGE_TOO_LONG, length, limit);
    return Start.FAILED;
  }
  if (kind.answered && qp.attr.maxRdAtomic === 0) return refuse(s, Syndrome.LOCAL_BAD_WQE, control & 0xff, numSge);
  const single = kind.atomic || kind.confirmed;
  const segmentBytes = single || length <= ALWAYS_BY_MTU_BYTES ? qp.mtuBytes : largestSegmentBytes(s);
  window.start(single ? 1 : Math.max(1, Math.ceil(length / segmentBytes)), length, segmentBytes);
  return Start.STARTED;
}

/** What packets to the peer may carry: the path MTU, or more where the link says so. */
function largestSegmentBytes(s: SenderState): number {
  return Math.max(s.qp.mtuBytes, s.core.builder.segmentBytes(s.qp.path));
}

function isLarge(s: SenderState, index: number): boolean {
  return s.window.segmentBytes(index) > s.qp.mtuBytes;
}

/** Packets that may be unacknowledged while those of this request are sent. */
function windowPackets(s: SenderState, index: number): number {
  const { congestion } = s;
  return isLarge(s, index) ? congestion.largePackets : congestion.packets;
}

/**
 * Carries out a request that needs no packet, at its place in the queue: the requests behind it have not been sent, and going
 * back never reaches it again. LOCAL_INV waits until nothing before it is in flight (protocol/reliable.md 2.7).
 */
function carryOut(s: SenderState, entry: number, control: number): Start {
  const { qp, core } = s;
  const { window } = s;
  const { local } = core.memory;
  if ((control & 0xff) === WrOpcode.LOCAL_INV && window.busy) return Start.AFTER_ALL;
  if (!local.execute(qp.sq.words, entry, qp.pd, qp.qpn)) {
    stallAt(s, window.next, WcStatus.MW_BIND_ERR, local.syndrome, local.detail);
    return Start.FAILED;
  }
  window.start(0, 0, 0);
  completeAcknowledged(s);
  return Start.CARRIED_OUT;
}

function refuse(s: SenderState, syndrome: Syndrome, a: number, b: number): Start {
  stallNext(s, WcStatus.LOC_QP_OP_ERR, syndrome, a, b);
  return Start.FAILED;
}

/**
 * Responses that the next request packet of a READ asks for. A long READ is requested in parts of the window: responses are
 * not acknowledged, so only the requester can keep them from overrunning its own receive buffer. A repeat
 * ends where the first request ended, since responders remember requests one by one (protocol/reliable.md 2.5).
 */
function readPackets(s: SenderState, index: number): number {
  const { window, readParts } = s;
  if (window.repeatPackets > 0) return window.repeatPackets;
  const partPackets = Math.max(1, Math.floor(windowPackets(s, index) / readParts));
  return Math.min(window.packets(index) - window.cursorPacket, partPackets);
}

function sendRead(
  s: SenderState,
  index: number,
  entry: number,
  kind: RequestKind,
  packets: number,
): TransmitResult | undefined {
  const { window } = s;
  const { builder } = s.core;
  if (!openPacket(s, entry, kind.only, 0, false, true, isLarge(s, index))) return TransmitResult.BLOCKED;
  const segmentBytes = window.segmentBytes(index);
  const begin = window.cursorPacket * segmentBytes;
  const length = Math.min(window.lengthBytes(index) - begin, packets * segmentBytes);
  putReth(s, builder.offset + rethOffset[kind.only], entry, begin, length);
  builder.close();
  return undefined;
}

function sendAtomic(s: SenderState, entry: number, kind: RequestKind): TransmitResult | undefined {
  const { qp, core } = s;
  const { words } = qp.sq;
  const { builder } = core;
  if (!openPacket(s, entry, kind.only, 0, false, true)) return TransmitResult.BLOCKED;
  const compareSwap = (words[entry + SendWqe.CONTROL] & 0xff) === WrOpcode.ATOMIC_CMP_AND_SWP;
  const compareHi = words[entry + SendWqe.COMPARE_ADD_HI];
  const compareLo = words[entry + SendWqe.COMPARE_ADD_LO];
  // FETCH_ADD carries its addend in the swap field (protocol/packets.md 1.3).
  writeAtomicEth(
    builder.bytes,
    builder.offset + atomicEthOffset[kind.only],
    words[entry + SendWqe.REMOTE_ADDR_HI],
    words[entry + SendWqe.REMOTE_ADDR_LO],
    words[entry + SendWqe.RKEY],
    compareSwap ? words[entry + SendWqe.SWAP_HI] : compareHi,
    compareSwap ? words[entry + SendWqe.SWAP_LO] : compareLo,
    compareSwap ? compareHi : 0,
    compareSwap ? compareLo : 0,
  );
  builder.close();
  return undefined;
}

function sendFlush(s: SenderState, index: number, entry: number, kind: RequestKind): TransmitResult | undefined {
  const { qp, core } = s;
  const { builder } = core;
  if (!openPacket(s, entry, kind.only, 0, false, true)) return TransmitResult.BLOCKED;
  const feth = qp.sq.words[entry + FlushWqe.FETH];
  writeFeth(builder.bytes, builder.offset + fethOffset[kind.only], feth & 0x0f, (feth >>> 4) & 3);
  const { window, flushSeal } = s;
  putReth(s, builder.offset + rethOffset[kind.only], entry, 0, window.lengthBytes(index));
  builder.close(flushSeal.choose(window.nxt === window.una && window.nxt !== window.sent));
  return undefined;
}

function sendMessage(
  s: SenderState,
  index: number,
  entry: number,
  kind: RequestKind,
  control: number,
): TransmitResult | undefined {
  const { qp, core } = s;
  const { sq } = qp;
  const { window } = s;
  const { builder } = core;
  const at = window.cursorPacket;
  const packets = window.packets(index);
  const last = at === packets - 1;
  const opcode = packets === 1 ? kind.only : at === 0 ? kind.first : last ? kind.last : kind.middle;
  const segmentBytes = window.segmentBytes(index);
  const large = segmentBytes > qp.mtuBytes;
  const begin = at * segmentBytes;
  const length = Math.min(window.lengthBytes(index) - begin, segmentBytes);
  const flags = (control >>> 8) & 0xff;
  const interval = large ? LARGE_ACK_REQUEST_INTERVAL : s.ackRequestInterval;
  const ackRequest =
    s.askNext ||
    s.packetsSinceAckRequest >= interval ||
    window.inFlight + 1 >= windowPackets(s, index) ||
    (last && isAwaited(s, flags));
  if (!openPacket(s, entry, opcode, length, last && (flags & SendFlags.SOLICITED) !== 0, ackRequest, large))
    return TransmitResult.BLOCKED;
  const bits = opcodeBits[opcode];
  if ((bits & OpcodeBit.RETH) !== 0)
    putReth(s, builder.offset + rethOffset[opcode], entry, 0, window.lengthBytes(index));
  if ((bits & OpcodeBit.IMM) !== 0)
    putU32(builder.bytes, builder.offset + immOffset[opcode], sq.words[entry + SendWqe.IMM_DATA]);
  if ((bits & OpcodeBit.INVALIDATE) !== 0)
    putU32(builder.bytes, builder.offset + iethOffset[opcode], sq.words[entry + SendWqe.IMM_DATA]);
  if ((flags & SendFlags.INLINE) !== 0) {
    copyBytes(builder.bytes, builder.payload, sq.bytes, 4 * (entry + SendWqe.DATA) + begin, length);
  } else {
    const { mover } = core;
    const numSge = (control >>> 16) & 0xff;
    const data = entry + SendWqe.DATA;
    const { bytes, payload } = builder;
    const gathered = mover.gather(sq.words, data, numSge, qp.pd, begin, bytes, payload, length, qp, index);
    if (gathered === CopyStatus.LATER) return TransmitResult.IDLE;
    if (gathered === CopyStatus.FAILED) {
      stallAt(s, index, WcStatus.LOC_PROT_ERR, mover.syndrome, mover.detail);
      if (s.stalled !== undefined) forgoAsking(s);
      return TransmitResult.IDLE;
    }
  }
  builder.close();
  s.builtAsks = ackRequest;
  s.packetsSinceAckRequest = ackRequest ? 0 : s.packetsSinceAckRequest + 1;
  return undefined;
}

/**
 * Whether the program waits for the acknowledgement of a message. Of messages in quick succession only those of signalled
 * requests ask for one: an acknowledgement costs either side a system call.
 */
function isAwaited(s: SenderState, flags: number): boolean {
  const { window } = s;
  return (flags & SendFlags.SIGNALED) !== 0 || s.qp.sqSigAll || isQuiet(s) || window.nxt !== window.sent;
}

/** Starts the packet at `nxt`; every request of XRC names the shared receive queue it goes to (protocol/services.md 3.3). */
function openPacket(
  s: SenderState,
  entry: number,
  opcode: number,
  payloadBytes: number,
  solicited: boolean,
  ackRequest: boolean,
  large = false,
): boolean {
  const { qp } = s;
  const { builder } = s.core;
  if (!builder.open(qp, opcode, s.window.nxt, payloadBytes, solicited, ackRequest, large)) return false;
  const xrceth = xrcethOffset[opcode];
  if (xrceth !== 0) writeXrceth(builder.bytes, builder.offset + xrceth, qp.sq.words[entry + SendWqe.REMOTE_QPN]);
  return true;
}

function putReth(s: SenderState, at: number, entry: number, begin: number, length: number): void {
  const { words } = s.qp.sq;
  const lo = (words[entry + SendWqe.REMOTE_ADDR_LO] >>> 0) + begin;
  const carry = lo >= 2 ** 32 ? 1 : 0;
  writeReth(
    s.core.builder.bytes,
    at,
    (words[entry + SendWqe.REMOTE_ADDR_HI] + carry) | 0,
    lo | 0,
    words[entry + SendWqe.RKEY],
    length,
  );
}
