import { assert, PSN_MASK, psnAdd, psnDiff } from '../../ibta/index.js';
import type { WorkQueue } from '../queues/work-queue.js';

/** READs and other answered requests that can be outstanding at once: the width of `max_rd_atomic` on any device we know. */
const RD_RING = 256;

/** A PSN further back than this is ahead: half of all PSNs. */
const MAX_BEHIND = PSN_MASK >> 1;

/** Words of what is known of one request in the send queue, side by side so that they are found by one look at memory. */
const Slot = { FIRST_PSN: 0, PACKETS: 1, LENGTH: 2, SEGMENT: 3, WORDS: 4 } as const;

/**
 * Which packets of the send queue are assigned, sent and acknowledged. PSNs run
 * `una` (oldest unacknowledged) ≤ `nxt` (next to send) ≤ `end` (first not yet assigned to a request);
 * going back to resend moves `nxt` to `una` and nothing else.
 */
export class SendWindow {
  una = 0;
  nxt = 0;
  /** One past the highest PSN ever sent: no honest response names one beyond. */
  sent = 0;
  end = 0;
  /** Number of the first request that has no PSNs yet. */
  next: number;
  /** The request, and the packet within it, that `nxt` belongs to. */
  cursor: number;
  cursorPacket = 0;

  /** PSNs acknowledged since {@link reset}, at most {@link MAX_BEHIND}. */
  #acknowledged = 0;

  readonly #slots: Int32Array;
  /**
   * For each answered request that was sent and lacks its answer, one past its last response PSN, in their order; grows
   * with how many there are.
   */
  readonly #rdEnd: number[] = [];
  /** The oldest of them; that at `nxt`, or the next behind it; one past the newest. */
  #rdHead = 0;
  #rdNext = 0;
  #rdTail = 0;
  /** Where what is sent next comes from after a packet that is sent out of turn. */
  #interrupted = { nxt: 0, cursor: 0, cursorPacket: 0, rdNext: 0 };

  constructor(private readonly sq: WorkQueue) {
    this.next = sq.head;
    this.cursor = sq.head;
    this.#slots = new Int32Array(Slot.WORDS * sq.entries);
  }

  reset(psn: number): void {
    this.una = psn;
    this.nxt = psn;
    this.sent = psn;
    this.end = psn;
    this.next = this.sq.head;
    this.cursor = this.next;
    this.cursorPacket = 0;
    this.#acknowledged = 0;
    this.#rdHead = 0;
    this.#rdNext = 0;
    this.#rdTail = 0;
  }

  /** Packets sent and not acknowledged; of a READ, the responses asked for. */
  get inFlight(): number {
    return psnDiff(this.nxt, this.una);
  }

  /** Whether some request was started and is not complete. */
  get busy(): boolean {
    return this.sq.head !== this.next;
  }

  /** Gives the request at {@link next} its PSNs (protocol/reliable.md 2.1); one that was carried out without packets gets none. */
  start(packets: number, lengthBytes: number, segmentBytes: number): void {
    assert(((this.next - this.sq.head) | 0) < this.sq.entries, 'more requests are started than the queue holds');
    const slot = this.#slot(this.next);
    this.#slots[slot + Slot.FIRST_PSN] = this.end;
    this.#slots[slot + Slot.PACKETS] = packets;
    this.#slots[slot + Slot.LENGTH] = lengthBytes;
    this.#slots[slot + Slot.SEGMENT] = segmentBytes;
    this.end = psnAdd(this.end, packets);
    this.next = (this.next + 1) | 0;
    if (packets === 0) this.#skipEmpty();
  }

  firstPsn(index: number): number {
    return this.#slots[this.#slot(index) + Slot.FIRST_PSN];
  }

  packets(index: number): number {
    return this.#slots[this.#slot(index) + Slot.PACKETS];
  }

  lengthBytes(index: number): number {
    return this.#slots[this.#slot(index) + Slot.LENGTH] >>> 0;
  }

  /** What each packet of the request carries but the last, or asks for: it stays what it was at the start. */
  segmentBytes(index: number): number {
    return this.#slots[this.#slot(index) + Slot.SEGMENT];
  }

  /** Whether all packets of request `index` are acknowledged. */
  isAcknowledged(index: number): boolean {
    const slot = this.#slot(index);
    return psnDiff(this.una, psnAdd(this.#slots[slot + Slot.FIRST_PSN], this.#slots[slot + Slot.PACKETS])) >= 0;
  }

  /**
   * Whether a packet of the oldest request bears `psn`, though what follows it was acknowledged: rxe refuses the rest of a READ under
   * the PSN of its request (protocol/reliable.md 2.4).
   */
  isOfOldest(psn: number): boolean {
    if (!this.busy) return false;
    // Counted without a sign: the longest READ has 2^23 packets.
    const begun = (this.una - this.firstPsn(this.sq.head)) & PSN_MASK;
    const behind = (this.una - psn) & PSN_MASK;
    return behind > 0 && behind <= begun;
  }

  wasAcknowledged(psn: number): boolean {
    const behind = (this.una - psn) & PSN_MASK;
    return behind > 0 && behind <= this.#acknowledged;
  }

  /** Notes that `packets` PSNs of the request under the cursor went out. */
  advanceCursor(packets: number): void {
    this.nxt = psnAdd(this.nxt, packets);
    if (psnDiff(this.nxt, this.sent) > 0) this.sent = this.nxt;
    this.cursorPacket += packets;
    const all = this.packets(this.cursor);
    if (this.cursorPacket >= all) {
      assert(this.cursorPacket === all, 'more packets are sent than the request has');
      this.cursor = (this.cursor + 1) | 0;
      this.cursorPacket = 0;
      this.#skipEmpty();
    }
  }

  /** Notes that everything before `psn` is acknowledged. */
  acknowledge(psn: number): void {
    assert(psnDiff(this.sent, psn) >= 0, 'a packet is acknowledged that was never sent');
    this.#acknowledged = Math.min(MAX_BEHIND, this.#acknowledged + psnDiff(psn, this.una));
    this.una = psn;
    while (this.#rdHead !== this.#rdTail && psnDiff(this.#rdEnd[this.#rdHead & (RD_RING - 1)], psn) <= 0)
      this.#rdHead += 1;
    if (this.#rdNext < this.#rdHead) this.#rdNext = this.#rdHead;
  }

  /** After retiring: a cursor that acknowledgements have overtaken moves on to the oldest unacknowledged packet. */
  catchUp(): void {
    if (psnDiff(this.una, this.nxt) > 0) this.rewind();
  }

  /** Goes back to the oldest unacknowledged packet. */
  rewind(): void {
    this.nxt = this.una;
    this.cursor = this.sq.head;
    this.cursorPacket = this.busy ? psnDiff(this.una, this.firstPsn(this.cursor)) : 0;
    this.#rdNext = this.#rdHead;
  }

  /** As {@link rewind}, until {@link resume}: one packet is to be sent from there. */
  interrupt(): void {
    const { nxt, cursor, cursorPacket } = this;
    this.#interrupted = { nxt, cursor, cursorPacket, rdNext: this.#rdNext };
    this.rewind();
  }

  /** Goes on where it was interrupted. */
  resume(): void {
    const { nxt, cursor, cursorPacket, rdNext } = this.#interrupted;
    this.nxt = nxt;
    this.cursor = cursor;
    this.cursorPacket = cursorPacket;
    this.#rdNext = rdNext;
  }

  /** Goes back by the one packet that was sent last, one of a message, which is not acknowledged. */
  stepBack(): void {
    assert(this.inFlight > 0, 'a packet is sent once more that is acknowledged');
    this.nxt = psnAdd(this.nxt, -1);
    if (this.cursorPacket === 0) {
      // Requests that were carried out without packets stand between.
      do this.cursor = (this.cursor - 1) | 0;
      while (this.packets(this.cursor) === 0);
      this.cursorPacket = this.packets(this.cursor);
    }
    this.cursorPacket -= 1;
  }

  get rdOutstanding(): number {
    return this.#rdNext - this.#rdHead;
  }

  /** Notes a request whose last response will bear the PSN before `end`. */
  addOutstanding(end: number): void {
    if (this.#rdNext === this.#rdTail) {
      assert(this.#rdTail - this.#rdHead < RD_RING, 'more answers are outstanding than can be remembered');
      this.#rdEnd[this.#rdTail & (RD_RING - 1)] = end;
      this.#rdTail += 1;
    }
    this.#rdNext += 1;
  }

  /** Responses that the request at `nxt`, an answered one, asked for from there on; 0 when it was never sent. */
  get repeatPackets(): number {
    return this.#rdNext === this.#rdTail ? 0 : psnDiff(this.#rdEnd[this.#rdNext & (RD_RING - 1)], this.nxt);
  }

  #slot(index: number): number {
    return Slot.WORDS * this.sq.slot(index);
  }

  /**
   * Moves the cursor past requests without packets. It never rests on one: an acknowledgement of what lies before would
   * retire that under it.
   */
  #skipEmpty(): void {
    while (this.cursor !== this.next && this.packets(this.cursor) === 0) this.cursor = (this.cursor + 1) | 0;
  }
}
