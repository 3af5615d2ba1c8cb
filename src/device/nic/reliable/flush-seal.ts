/**
 * Which ICRC a requester's FLUSH packets bear. Linux's rxe (seen with 7.2) runs the headers of a FLUSH through the CRC twice, when it
 * sends and when it checks, and so drops a FLUSH whose ICRC is IBTA's (protocol/packets.md 1.7). Which peer is which is found out by trial: as
 * long as no FLUSH was answered, and the peer has sent none, each repeat of the oldest one bears the other ICRC.
 */
export class FlushSeal {
  #twice = false;
  #isKnown = false;

  reset(): void {
    this.#twice = false;
    this.#isKnown = false;
  }

  /**
   * Whether the next FLUSH bears rxe's ICRC.
   *
   * @param repeated whether it is the oldest packet that is not acknowledged, and was sent before
   */
  choose(repeated: boolean): boolean {
    if (repeated && !this.#isKnown) this.#twice = !this.#twice;
    return this.#twice;
  }

  /** The peer has answered a FLUSH: the ICRC of the last one was right. */
  onAnswer(): void {
    this.#isKnown = true;
  }

  /** The peer has sent a FLUSH with that ICRC. */
  onPeerFlush(twice: boolean): void {
    this.#twice = twice;
    this.#isKnown = true;
  }
}
