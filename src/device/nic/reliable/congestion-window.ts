import { assert } from '../../ibta/index.js';
/**
 * How many packets a QP may have unacknowledged.
 *
 * The algorithm is DCQCN's, applied to a window: acknowledgements make room for packets, so nothing has to be
 * paced by a clock, and a receiver that stops also stops its senders. It starts with what any receiver can
 * take of many at once, and doubles every round trip until something is marked or lost. A mark takes away half of alpha,
 * the estimate of how often there are marks (gain g). Each quiet round trip then halves the distance to the middle
 * between what the window was and is (fast recovery); from there on it grows by one packet, after F of them by
 * one more each time (additive, hyper increase). Loss takes half. All that only once in a round trip: what was sent before says nothing new.
 *
 * The ceiling keeps one sender from overrunning the socket buffer of a receiver that marks nothing: Linux grants an ordinary
 * process 416 KiB (`rmem_max` doubled), bookkeeping included, and rxe never has more than 128 packets in flight
 * (protocol/reliable.md 2.6). Where the link knows of a larger buffer, the window grows on beyond that, but by the steps of additive and hyper increase alone: senders
 * that double theirs would overrun it together before the first of them hears of a mark.
 */

const MAX_PACKETS = 128;
const MAX_BYTES = 256 * 1024;
/** The same where the receiver is known to take more. */
const MAX_KNOWN_PACKETS = 512;
/** About what TCP begins with (RFC 6928): senders that begin at the same time do not know of each other. */
const FIRST_BYTES = 16 * 1024;
/** After the retry timer ran out; two, so that a gap shows. */
const TIMEOUT_PACKETS = 2;
/** g of DCTCP, which goes by round trips as we do; that of DCQCN, 1/256, is for steps of 55 us. */
const GAIN = 1 / 16;
/** Quiet round trips after which the target grows: F of DCQCN. */
const QUIET_ROUNDS = 5;
/** After so long without packets the old window says nothing about the path. */
const IDLE_US = 10_000;
/** Packets of large segments. Their path has room for more, but the receiver's cache has not. */
const MAX_LARGE_PACKETS = 16;

export class CongestionWindow {
  /** Packets that may be unacknowledged now. */
  packets: number;
  cuts = 0;
  /** Round trips since the window was last cut. */
  quietRounds = 0;
  readonly #ceiling: number;
  readonly #first: number;
  /** Below it the window doubles with every round trip. */
  #threshold: number;
  /** How likely marks are, 0 to 1. */
  #alpha = 1;
  #target: number;
  /** What it was before the retry timer ran out, until it is seen whether that was right; else 0. */
  #undo = 0;
  /** Acknowledged packets of the present round trip. */
  #acknowledged = 0;
  /** Packets still to be acknowledged that were under way when it was last cut: they say nothing new. */
  #held = 0;
  #lastUs = 0;

  /** @param knownBytes what the receiver is known to take; 0 where that is not known */
  constructor(
    private readonly mtuBytes: number,
    knownBytes = 0,
  ) {
    const ofAny = Math.min(MAX_PACKETS, MAX_BYTES / mtuBytes);
    this.#ceiling = Math.max(ofAny, Math.min(MAX_KNOWN_PACKETS, Math.floor(knownBytes / mtuBytes)));
    this.#first = Math.min(ofAny, FIRST_BYTES / mtuBytes);
    this.#threshold = ofAny;
    this.#target = ofAny;
    this.packets = this.#first;
  }

  get bytes(): number {
    return this.packets * this.mtuBytes;
  }

  get maxBytes(): number {
    return this.#ceiling * this.mtuBytes;
  }

  /**
   * Packets of large segments that may be unacknowledged now. No such packet is ever marked, nor lost while the peer is run:
   * those that find no room wait for some (`HeldQueuePairs`).
   */
  get largePackets(): number {
    return MAX_LARGE_PACKETS;
  }

  /**
   * @param inFlight packets unacknowledged before, these included: a sender that does not use the window learns nothing of what
   *   the path can take
   */
  onAcknowledged(packets: number, inFlight: number, nowUs: number): void {
    this.#lastUs = nowUs;
    if (this.#held > 0) this.#held -= packets;
    if (this.#undo > 0) {
      // More than was sent again: everything had arrived, and only the peer was late.
      if (packets > inFlight) this.packets = this.#undo;
      this.#undo = 0;
    }
    const used = 2 * inFlight >= this.packets;
    if (this.packets < this.#threshold) {
      if (used) this.packets = Math.min(this.#threshold, this.packets + packets);
      return;
    }
    this.#acknowledged += packets;
    if (this.#acknowledged < this.packets) return;
    this.#acknowledged = 0;
    this.#alpha *= 1 - GAIN;
    this.quietRounds += 1;
    if (!used || this.packets >= this.#ceiling) return;
    const increase = this.quietRounds - QUIET_ROUNDS;
    if (increase > 0 || this.#target <= this.packets)
      this.#target = Math.min(this.#ceiling, Math.max(this.#target, this.packets) + Math.max(1, increase));
    this.packets = Math.ceil((this.packets + this.#target) / 2);
  }

  /** Packets met congestion, by a notification of the peer or by marked answers. */
  onCongestion(inFlight: number): void {
    if (this.#held > 0) return;
    const { packets } = this;
    this.#cut(Math.ceil(packets * (1 - this.#alpha / 2)) - 1, inFlight);
    this.#target = (packets + this.packets) >> 1;
    this.#alpha += GAIN * (1 - this.#alpha);
  }

  /** A packet was lost, and the peer says so. */
  onLoss(): void {
    if (this.#held > 0) return;
    const packets = this.packets >> 1;
    this.#cut(packets, packets);
  }

  /** The retry timer ran out. */
  onTimeout(): void {
    const { packets } = this;
    this.#cut(TIMEOUT_PACKETS, 0);
    if (packets <= TIMEOUT_PACKETS) return;
    this.#threshold = packets >> 1;
    this.#undo = packets;
  }

  /** Something is sent while nothing is under way. */
  onRestart(nowUs: number): void {
    if (nowUs - this.#lastUs < IDLE_US || this.packets <= this.#first) return;
    this.#threshold = this.packets;
    this.packets = this.#first;
    this.#acknowledged = 0;
  }

  #cut(packets: number, held: number): void {
    this.packets = Math.max(1, Math.min(this.packets, packets));
    assert(this.packets >= 1, 'a congestion window without a size');
    this.#threshold = this.packets;
    this.#target = this.packets;
    this.#undo = 0;
    this.#held = held;
    this.#acknowledged = 0;
    this.quietRounds = 0;
    this.cuts += 1;
  }
}
