import { UdFlags } from '../../wire/index.js';
import { Arrival, MAX_WINDOW, psnAhead, psnPlus, ReceiveWindow, SendWindow } from './windows.js';

// How ud makes an order of datagrams that are lost, doubled and out of order: both directions between two endpoints as a pure machine. It knows PSNs and times, and
// nothing of what is in datagrams or how they go.

/** ms after which it is looked whether anything was acknowledged: `UCX_UD_TIMER_TICK`. */
export const TICK_MS = 10;

/** What {@link UdProtocol.tick} returns when nobody is waited for, so that no time need be taken any more. */
export const IDLE = 0;
/** And when the peer has been silent for too long. */
export const DEAD = -1;

/** What the machine asks of whoever has the queue pair. Each returns false where there is no room now; {@link UdProtocol.progress} asks again. */
export interface UdOutput {
  /** Sends the datagram of a PSN once more. @param flags of its word: `ACK_REQ` or 0 */
  resend(psn: number, flags: number): boolean;
  /** Sends a header with nothing behind it. @param flags of its word */
  sendBare(flags: number): boolean;
}

/** Both directions between two endpoints. `Kept` is what is kept of a datagram that came early. */
export class UdProtocol<Kept> {
  readonly sends: SendWindow;
  readonly receives = new ReceiveWindow<Kept>();
  /** ms for which the peer may be silent while something is waited for. */
  timeoutMs: number;

  /** Of those to be sent again: the next, and the last. */
  #resendNext: number;
  #resendLast: number;
  /** The last that was sent with a request to acknowledge it. */
  #askedPsn: number;
  #sinceAsked = 0;
  /** The PSN that the peer has said is missing, so that it is sent again only once for that. */
  #missed: number | undefined;

  #mustAcknowledge = false;
  #mustAsk = false;
  /** How far the peer is known to have sent. */
  #heardPsn: number;
  /** Something is wanted of a peer to which nothing is under way: that it says anything. */
  #isProbing = false;

  #hasProgressed = false;
  #tickMs = TICK_MS;
  #delayMs = TICK_MS;
  #silentMs = 0;

  /**
   * @param mostUnderWay how far the window grows, datagrams
   * @param timeoutMs as {@link timeoutMs}
   */
  constructor(mostUnderWay: number, timeoutMs: number) {
    this.sends = new SendWindow(mostUnderWay);
    this.timeoutMs = timeoutMs;
    this.#askedPsn = this.sends.last;
    this.#resendNext = this.sends.last;
    this.#resendLast = psnPlus(this.#resendNext, -1);
    this.#heardPsn = this.receives.last;
  }

  /** Whether anything is to come from the peer, so that time has to be taken. */
  get isWaiting(): boolean {
    return this.#isProbing || this.sends.underWay > 0;
  }

  /** The PSN of one more datagram, for which there is room. Its flags are {@link flagsOfNew}'s. */
  begin(): number {
    if (this.sends.underWay === 0) this.#hasProgressed = true;
    this.#sinceAsked += 1;
    return this.sends.take();
  }

  /** Whether the last that was begun asks to be acknowledged: the first of a flight does, the last for which there is room, and some between. */
  flagsOfNew(): number {
    const { underWay, size, last } = this.sends;
    if (underWay > 1 && underWay < size && this.#sinceAsked < size >> 2) return 0;
    this.#asked(last);
    return UdFlags.ACK_REQ;
  }

  /** A datagram goes that acknowledges, too. */
  acknowledgedBeside(): void {
    // That something is missing only one that brings nothing else can say.
    if (!this.#isMissing) this.#mustAcknowledge = false;
  }

  /**
   * Takes what the header of a datagram says of this end's.
   *
   * @param flags of the word of one that brings nothing else; of others `ACK_REQ` or 0
   * @returns how many are acknowledged; -1 where the peer acknowledges what was never sent, so that nothing of it counts
   */
  heard(ackPsn: number, flags: number): number {
    const count = this.sends.acknowledge(ackPsn);
    if (count < 0) return count;
    this.#isProbing = false;
    if (count > 0) this.#onAcknowledged();
    if ((flags & UdFlags.NACK) !== 0 && ackPsn === this.sends.acked) this.#onMissing();
    if ((flags & UdFlags.ACK_REQ) !== 0) this.#mustAcknowledge = true;
    return count;
  }

  /** Takes the PSN of a datagram that has none of its own, which is that of the last before it. @returns whether a peer may have sent so many */
  heardLast(psn: number): boolean {
    if (psnAhead(psn, this.receives.last) > MAX_WINDOW) return false;
    this.#hearOf(psn);
    return true;
  }

  /** Takes the PSN of a datagram that has one: what it is. One that is its turn is taken so. */
  arrived(psn: number): Arrival {
    const arrival = this.receives.classify(psn);
    switch (arrival) {
      case Arrival.NEXT:
        this.receives.advance();
        // PSNs wrap around: what is behind is to stay a little behind.
        this.#hearOf(psn);
        break;
      case Arrival.EARLY:
        // The first of them tells the peer at once.
        if (!this.#isMissing) this.#mustAcknowledge = true;
        this.#hearOf(psn);
        break;
      // What told the peer so was lost: it asks, when it sends again.
      case Arrival.AGAIN:
      case Arrival.BEYOND:
    }
    return arrival;
  }

  /** Has the peer acknowledge what is under way. */
  ask(): void {
    if (this.sends.underWay > 0 && psnAhead(this.#askedPsn, this.sends.last) < 0) this.#mustAsk = true;
  }

  /** Has the peer say anything, or be found dead. */
  probe(): void {
    if (this.isWaiting) return;
    this.#isProbing = true;
    this.#mustAsk = true;
    this.#hasProgressed = true;
  }

  /** Sends what is due. @returns false when there was no room for all */
  progress(output: UdOutput): boolean {
    while (this.#mayResend()) {
      const psn = this.#resendNext;
      const asks = psn === this.#resendLast || psn === psnPlus(this.sends.acked, 1);
      if (!output.resend(psn, asks ? UdFlags.ACK_REQ : 0)) return false;
      if (asks) this.#asked(psn);
      this.#resendNext = psnPlus(psn, 1);
    }
    if (!this.#mustAcknowledge && !this.#mustAsk) return true;
    const flags = (this.#mustAsk ? UdFlags.ACK_REQ : 0) | (this.#mustAcknowledge && this.#isMissing ? UdFlags.NACK : 0);
    if (!output.sendBare(flags)) return false;
    if (this.#mustAsk) this.#asked(this.sends.last);
    this.#mustAsk = false;
    this.#mustAcknowledge = false;
    return true;
  }

  /** Whether the time that is being taken is longer than it need be, since the peer has answered: it is to begin anew. */
  get isSlow(): boolean {
    return this.#delayMs > this.#tickMs;
  }

  /** How many ms pass before the first {@link tick}. */
  start(): number {
    this.#delayMs = this.#tickMs;
    return this.#delayMs;
  }

  /** So many ms have passed as {@link start}, or this, said last: {@link progress} is due then. @returns how many are to pass before the next; or {@link IDLE}, or {@link DEAD} */
  tick(): number {
    if (!this.isWaiting) {
      this.#silentMs = 0;
      this.#tickMs = TICK_MS;
      return IDLE;
    }
    if (this.#hasProgressed) {
      this.#hasProgressed = false;
      this.#silentMs = 0;
      this.ask();
      return this.start();
    }
    this.#silentMs += this.#delayMs;
    if (this.#silentMs >= this.timeoutMs) return DEAD;
    this.#onSilence();
    this.#delayMs = Math.min(this.#tickMs, this.timeoutMs - this.#silentMs);
    return this.#delayMs;
  }

  /** Whether this end lacks something that the peer is known to have sent. */
  get #isMissing(): boolean {
    return this.receives.isMissing(this.#heardPsn);
  }

  #hearOf(psn: number): void {
    if (psnAhead(psn, this.#heardPsn) > 0) this.#heardPsn = psn;
  }

  #asked(psn: number): void {
    this.#askedPsn = psn;
    this.#sinceAsked = 0;
  }

  #onAcknowledged(): void {
    this.#hasProgressed = true;
    this.#tickMs = TICK_MS;
    this.#missed = undefined;
    const first = psnPlus(this.sends.acked, 1);
    if (psnAhead(this.#resendNext, first) < 0) this.#resendNext = first;
    if (psnAhead(this.#askedPsn, this.sends.acked) < 0) this.#askedPsn = this.sends.acked;
    if (psnAhead(this.#resendLast, this.sends.acked) < 0) this.#resendLast = this.sends.acked;
  }

  /** The peer lacks the first that is under way. */
  #onMissing(): void {
    const first = psnPlus(this.sends.acked, 1);
    if (this.sends.underWay === 0 || this.#missed === first) return;
    this.#missed = first;
    this.sends.halve();
    if (this.#mayResend()) return;
    this.#resendNext = first;
    this.#resendLast = first;
  }

  /** Nothing was acknowledged for a tick. */
  #onSilence(): void {
    const { underWay, last, acked } = this.sends;
    this.#tickMs *= 2;
    this.#missed = undefined;
    if (underWay === 0) {
      this.#mustAsk = true;
      return;
    }
    this.sends.halve();
    this.#resendNext = psnPlus(acked, 1);
    this.#resendLast = last;
  }

  #mayResend(): boolean {
    const { acked, size, underWay } = this.sends;
    const place = psnAhead(this.#resendNext, acked);
    return psnAhead(this.#resendLast, this.#resendNext) >= 0 && place >= 1 && place <= Math.min(size, underWay);
  }
}
