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
import { Readiness } from '../memory/copying/foreign-memory.js';
import { copyBytes } from '../memory/copying/word-copy.js';
import type { NicCore } from '../nic-core.js';
import type { QpContext } from '../queue-pairs/qp-context.js';
import type { RequestKind } from '../queue-pairs/request-kinds.js';
import { packetCost, Served } from '../queue-pairs/turns.js';
import { sgeTotal } from '../queues/work-queue.js';
import { FlushWqe, SendWqe } from '../rings/layout.js';
import type { Completer } from './completer.js';
import type { LossProbe } from './loss-probe.js';
import type { RequesterState } from './requester-state.js';

/** Packets after which an acknowledgement is asked for where segments are large. */
const LARGE_ACK_REQUEST_INTERVAL = 4;
/**
 * Messages up to this length are cut by the path MTU on any link: there is little to gain, and what a program can see of
 * where packets end, in how a message with a wrong key fails for example, is what it sees elsewhere.
 */
const ALWAYS_BY_MTU_BYTES = 8192;

/** What starting a request came to. */
const Start = { STARTED: 0, NOTHING: 1, FAILED: 2, CARRIED_OUT: 3, AFTER_ALL: 4 } as const;
type Start = (typeof Start)[keyof typeof Start];

/** The requester whose requests are sent. */
interface SendingRequester extends RequesterState {
  readonly lossProbe: LossProbe;
  readonly completer: Completer;
}

/** The sending half of a reliable requester: turns work queue entries into request packets (protocol/reliable.md 2.1, 2.2, 2.7). */
export class RequestSender {
  #packetsSinceAckRequest = 0;
  /** Whether the message packet built last asks for an acknowledgement. */
  #asked = false;

  constructor(
    private readonly qp: QpContext,
    private readonly requester: SendingRequester,
    private readonly core: NicCore,
  ) {}

  /** Sends what window, depth and fences allow, at most `budget` packets. */
  transmit(budget: number): Served {
    const { qp } = this;
    const { window } = this.requester;
    if (this.requester.completer.rnrWaiting || !qp.maySend) return Served.IDLE;
    if (this.requester.lossProbe.probing) {
      const probed = this.#probe();
      if (probed !== undefined) return probed;
    }
    for (let left = budget; left > 0; left -= 1) {
      if (window.cursor === window.next) {
        const start = this.#startNext();
        if (start === Start.CARRIED_OUT) continue;
        // Somebody waits for all that is under way.
        if (start === Start.AFTER_ALL && this.requester.lossProbe.askNow()) continue;
        if (start !== Start.STARTED) return Served.IDLE;
      }
      const index = window.cursor;
      const entry = qp.sq.entry(index);
      const control = qp.sq.words[entry + SendWqe.CONTROL];
      const kind = this.requester.kinds[control & 0xff];
      if (kind === undefined) return Served.IDLE;
      const packets = kind.read ? this.#readPackets(index) : 1;
      const { inFlight } = window;
      if (inFlight === 0) this.requester.congestion.onRestart(this.core.nowUs);
      // A packet that is sent once more takes no room of its own.
      else if (inFlight + packets > this.#windowPackets(index) && !this.#asksAgain) return Served.IDLE;
      // What was started goes on, one at a time, though the depth was set to 0 since.
      if (kind.answered && window.rdOutstanding >= Math.max(1, qp.attr.maxRdAtomic)) return Served.IDLE;
      const sent = this.#sendNext(index, entry, control, kind, packets);
      if (sent !== undefined) return sent;
      if (!kind.answered) left -= packetCost(window.segmentBytes(index)) - 1;
    }
    return Served.MORE;
  }

  /** Sends the packet at the cursor; `packets` is how many PSNs that is. @returns why not, when it is not sent */
  #sendNext(index: number, entry: number, control: number, kind: RequestKind, packets: number): Served | undefined {
    const { window } = this.requester;
    const sent = kind.read
      ? this.#sendRead(index, entry, kind, packets)
      : kind.atomic
        ? this.#sendAtomic(entry, kind)
        : kind.wcOpcode === WcOpcode.FLUSH
          ? this.#sendFlush(index, entry, kind)
          : this.#sendMessage(index, entry, kind, control);
    if (sent !== undefined) return sent;
    const asked = kind.answered || this.#asked;
    if (psnDiff(window.nxt, window.sent) < 0) {
      this.core.counters.retransmittedPkts += 1;
      this.requester.retransmittedPkts += 1;
    } else if (asked) this.requester.roundTrip.onSent(window.nxt, this.core.nowUs);
    if (kind.answered) window.addOutstanding(psnAdd(window.nxt, packets));
    window.advanceCursor(packets);
    this.requester.lossProbe.onTransmit(asked);
    this.requester.completer.onTransmit();
    return undefined;
  }

  /** Sends the first request packet that lacks its answer once more, out of turn. @returns why not, when it is not sent */
  #probe(): Served | undefined {
    const { sq } = this.qp;
    const { window, lossProbe } = this.requester;
    window.interrupt();
    const index = window.cursor;
    const entry = sq.entry(index);
    const control = sq.words[entry + SendWqe.CONTROL];
    const kind = this.requester.kinds[control & 0xff];
    lossProbe.asking = true;
    const sent =
      kind === undefined
        ? Served.IDLE
        : this.#sendNext(index, entry, control, kind, kind.read ? window.repeatPackets : 1);
    if (this.qp.maySend) window.resume();
    if (sent === undefined) lossProbe.onProbe();
    return sent;
  }

  /** Whether the packet that was sent last is sent once more, to ask. */
  get #asksAgain(): boolean {
    const { window, lossProbe } = this.requester;
    return lossProbe.asking && window.nxt !== window.sent;
  }

  /** Checks the next work queue entry and gives it its PSNs. */
  #startNext(): Start {
    const { qp } = this;
    const { sq } = qp;
    const { window } = this.requester;
    if (!qp.mayStart || this.requester.completer.stalled) return Start.AFTER_ALL;
    if (!sq.has(window.next)) return Start.NOTHING;
    const entry = sq.entry(window.next);
    const control = sq.words[entry + SendWqe.CONTROL];
    const kind = this.requester.kinds[control & 0xff];
    const flags = (control >>> 8) & 0xff;
    const numSge = (control >>> 16) & 0xff;
    if (kind === undefined || numSge > sq.maxSge) return this.#refuse(Syndrome.LOCAL_BAD_WQE, control & 0xff, numSge);
    // protocol/reliable.md 2.7: a fenced request waits for every READ and atomic before it.
    if ((flags & SendFlags.FENCE) !== 0 && window.rdOutstanding > 0) return Start.NOTHING;
    if (kind.local) return this.#carryOut(entry, control);
    const eight = kind.atomic || kind.wcOpcode === WcOpcode.ATOMIC_WRITE;
    let length: number;
    if ((flags & SendFlags.INLINE) !== 0) {
      length = sq.words[entry + SendWqe.INLINE_BYTES];
      if (!kind.inline || length < 0 || length > qp.maxInlineBytes)
        return this.#refuse(Syndrome.LOCAL_BAD_WQE, control & 0xff, numSge);
    } else {
      length = sgeTotal(sq.words, entry + SendWqe.DATA, numSge);
      const { mover } = this.core;
      if (!mover.check(sq.words, entry + SendWqe.DATA, numSge, qp.pd, kind.localAccess)) {
        this.requester.completer.stall(WcStatus.LOC_PROT_ERR, mover.syndrome, mover.detail);
        return Start.FAILED;
      }
    }
    if (kind.wcOpcode === WcOpcode.FLUSH) length = sq.words[entry + FlushWqe.LENGTH] >>> 0;
    const limit = eight ? 8 : this.core.limits.maxMessageBytes;
    if (length > limit || (eight && length !== 8)) {
      this.requester.completer.stallWith(WcStatus.LOC_LEN_ERR, Syndrome.LOCAL_MESSAGE_TOO_LONG, length, limit);
      return Start.FAILED;
    }
    if (kind.answered && qp.attr.maxRdAtomic === 0) return this.#refuse(Syndrome.LOCAL_BAD_WQE, control & 0xff, numSge);
    const single = kind.atomic || kind.confirmed;
    const segmentBytes = single || length <= ALWAYS_BY_MTU_BYTES ? qp.mtuBytes : this.#segmentBytes();
    window.start(single ? 1 : Math.max(1, Math.ceil(length / segmentBytes)), length, segmentBytes);
    return Start.STARTED;
  }

  /** What packets to the peer may carry: the path MTU, or more where the link says so. */
  #segmentBytes(): number {
    return Math.max(this.qp.mtuBytes, this.core.builder.segmentBytes(this.qp.path));
  }

  #isLarge(index: number): boolean {
    return this.requester.window.segmentBytes(index) > this.qp.mtuBytes;
  }

  /** Packets that may be unacknowledged while those of this request are sent. */
  #windowPackets(index: number): number {
    const { congestion } = this.requester;
    return this.#isLarge(index) ? congestion.largePackets : congestion.packets;
  }

  /**
   * Carries out a request that needs no packet, at its place in the queue: what is behind it has not been sent, and going
   * back never comes here again. LOCAL_INV waits until nothing before it is in flight (protocol/reliable.md 2.7).
   */
  #carryOut(entry: number, control: number): Start {
    const { qp, core } = this;
    const { window, completer } = this.requester;
    const { local } = core.memory;
    if ((control & 0xff) === WrOpcode.LOCAL_INV && window.busy) return Start.AFTER_ALL;
    if (!local.execute(qp.sq.words, entry, qp.pd, qp.qpn)) {
      completer.stall(WcStatus.MW_BIND_ERR, local.syndrome, local.detail);
      return Start.FAILED;
    }
    window.start(0, 0, 0);
    completer.onCarriedOut();
    return Start.CARRIED_OUT;
  }

  #refuse(syndrome: Syndrome, a: number, b: number): Start {
    this.requester.completer.stallWith(WcStatus.LOC_QP_OP_ERR, syndrome, a, b);
    return Start.FAILED;
  }

  /**
   * Responses that the next request packet of a READ asks for. A READ is asked for in pieces of the window: responses are
   * not acknowledged, so only the requester can keep them from overrunning its own receive buffer. What is asked for once
   * more ends where it ended the first time, since responders remember requests one by one (protocol/reliable.md 2.5).
   */
  #readPackets(index: number): number {
    const { window, readPieces } = this.requester;
    if (window.repeatPackets > 0) return window.repeatPackets;
    const piecePackets = Math.max(1, Math.floor(this.#windowPackets(index) / readPieces));
    return Math.min(window.packets(index) - window.cursorPacket, piecePackets);
  }

  #sendRead(index: number, entry: number, kind: RequestKind, packets: number): Served | undefined {
    const { window } = this.requester;
    const { builder } = this.core;
    if (!this.#open(entry, kind.only, 0, false, true, this.#isLarge(index))) return Served.BLOCKED;
    const segmentBytes = window.segmentBytes(index);
    const begin = window.cursorPacket * segmentBytes;
    const length = Math.min(window.lengthBytes(index) - begin, packets * segmentBytes);
    this.#writeReth(builder.offset + rethOffset[kind.only], entry, begin, length);
    builder.close();
    return undefined;
  }

  #sendAtomic(entry: number, kind: RequestKind): Served | undefined {
    const { qp, core } = this;
    const { words } = qp.sq;
    const { builder } = core;
    if (!this.#open(entry, kind.only, 0, false, true)) return Served.BLOCKED;
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

  #sendFlush(index: number, entry: number, kind: RequestKind): Served | undefined {
    const { qp, core } = this;
    const { builder } = core;
    if (!this.#open(entry, kind.only, 0, false, true)) return Served.BLOCKED;
    const feth = qp.sq.words[entry + FlushWqe.FETH];
    writeFeth(builder.bytes, builder.offset + fethOffset[kind.only], feth & 0x0f, (feth >>> 4) & 3);
    const { window, flushSeal } = this.requester;
    this.#writeReth(builder.offset + rethOffset[kind.only], entry, 0, window.lengthBytes(index));
    builder.close(flushSeal.choose(window.nxt === window.una && window.nxt !== window.sent));
    return undefined;
  }

  #sendMessage(index: number, entry: number, kind: RequestKind, control: number): Served | undefined {
    const { qp, core } = this;
    const { sq } = qp;
    const { window } = this.requester;
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
    const interval = large ? LARGE_ACK_REQUEST_INTERVAL : this.requester.ackRequestInterval;
    const ackRequest =
      this.requester.lossProbe.asking ||
      this.#packetsSinceAckRequest >= interval ||
      window.inFlight + 1 >= this.#windowPackets(index) ||
      (last && this.#isAwaited(flags));
    if (!this.#open(entry, opcode, length, last && (flags & SendFlags.SOLICITED) !== 0, ackRequest, large))
      return Served.BLOCKED;
    const bits = opcodeBits[opcode];
    if ((bits & OpcodeBit.RETH) !== 0)
      this.#writeReth(builder.offset + rethOffset[opcode], entry, 0, window.lengthBytes(index));
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
      if (gathered === Readiness.LATER) return Served.IDLE;
      if (gathered === Readiness.FAILED) {
        this.requester.completer.stallAt(index, WcStatus.LOC_PROT_ERR, mover.syndrome, mover.detail);
        if (this.requester.completer.stalled) this.requester.lossProbe.forgo();
        return Served.IDLE;
      }
    }
    builder.close();
    this.#asked = ackRequest;
    this.#packetsSinceAckRequest = ackRequest ? 0 : this.#packetsSinceAckRequest + 1;
    return undefined;
  }

  /**
   * Whether somebody waits to hear that a message has arrived. Of messages in quick succession only that of a signalled
   * request is asked about: an acknowledgement costs either side a system call.
   */
  #isAwaited(flags: number): boolean {
    const { window, lossProbe } = this.requester;
    return (flags & SendFlags.SIGNALED) !== 0 || this.qp.sqSigAll || lossProbe.quiet || window.nxt !== window.sent;
  }

  /** Starts the packet at `nxt`; every request of XRC names the shared receive queue it goes to (protocol/services.md 3.3). */
  #open(
    entry: number,
    opcode: number,
    payloadBytes: number,
    solicited: boolean,
    ackRequest: boolean,
    large = false,
  ): boolean {
    const { qp } = this;
    const { builder } = this.core;
    if (!builder.open(qp, opcode, this.requester.window.nxt, payloadBytes, solicited, ackRequest, large)) return false;
    const xrceth = xrcethOffset[opcode];
    if (xrceth !== 0) writeXrceth(builder.bytes, builder.offset + xrceth, qp.sq.words[entry + SendWqe.REMOTE_QPN]);
    return true;
  }

  #writeReth(at: number, entry: number, begin: number, length: number): void {
    const { words } = this.qp.sq;
    const lo = (words[entry + SendWqe.REMOTE_ADDR_LO] >>> 0) + begin;
    const carry = lo >= 2 ** 32 ? 1 : 0;
    writeReth(
      this.core.builder.bytes,
      at,
      (words[entry + SendWqe.REMOTE_ADDR_HI] + carry) | 0,
      lo | 0,
      words[entry + SendWqe.RKEY],
      length,
    );
  }
}
