/** By how much more than its peer's a clock may go: more than clocks drift that are not broken, and than others set right by and by. */
const DRIFT = 0.001;

/** What a client knows of the clock by which a server's entries expire. */
export class ServerClock {
  #toldMs = 0;
  #askedUs = 0;

  /**
   * The server has said what time it is.
   *
   * @param ms whole milliseconds
   * @param askedUs when it was asked, by the client's clock: no later than when it has looked
   */
  told(ms: number, askedUs: number): void {
    this.#toldMs = ms;
    this.#askedUs = askedUs;
  }

  /** How long ago it was asked, in µs. */
  ageUs(nowUs: number): number {
    return nowUs - this.#askedUs;
  }

  /** What time it may be at the server, at the latest: in whole ms, as it counts them. */
  latestMs(nowUs: number): number {
    // It has looked when it was asked, or later, and told the beginning of its millisecond.
    return this.#toldMs + Math.floor((this.ageUs(nowUs) * (1 + DRIFT) + 999) / 1000);
  }
}
