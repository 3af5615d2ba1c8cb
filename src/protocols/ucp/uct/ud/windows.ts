// The two directions of ud between two endpoints, as PSNs: what may be sent, what was acknowledged, what has come (uct/ib/ud/base/ud_ep.c, UCX 1.13). Of
// 16 bits; the first is 1.

export const FIRST_PSN = 1;
/** Datagrams that may always be under way: `UCT_UD_CA_MIN_WINDOW`. */
export const MIN_WINDOW = 2;
/** And those that may at most: `UCT_UD_CA_MAX_WINDOW`. */
export const MAX_WINDOW = 1025;

/** The PSN `n` places after another; `n` may be negative. */
export function psnPlus(psn: number, n: number): number {
  return (psn + n) & 0xffff;
}

/** How far a PSN is ahead of another: -2^15 to 2^15 - 1, negative where it is behind. */
export function psnAhead(psn: number, of: number): number {
  return ((psn - of) << 16) >> 16;
}

/** What an endpoint sends. The window grows by one with each acknowledgement of something new, and is halved by a loss. */
export class SendWindow {
  #next = FIRST_PSN;
  #acked = psnPlus(FIRST_PSN, -1);
  #size = MIN_WINDOW;

  /** @param most how far it grows, {@link MIN_WINDOW} to {@link MAX_WINDOW} */
  constructor(private readonly most: number) {}

  /** Datagrams that may be under way. */
  get size(): number {
    return this.#size;
  }

  /** The last that the peer has, with all before it. */
  get acked(): number {
    return this.#acked;
  }

  get last(): number {
    return psnPlus(this.#next, -1);
  }

  /** Datagrams that were sent, and are not acknowledged. */
  get underWay(): number {
    return (this.#next - this.#acked - 1) & 0xffff;
  }

  /** Datagrams that may be sent; fewer than none after a loss. */
  get room(): number {
    return this.#size - this.underWay;
  }

  /** The PSN of one more datagram, for which there is {@link room}. */
  take(): number {
    const psn = this.#next;
    this.#next = psnPlus(psn, 1);
    return psn;
  }

  /** The peer has all up to a PSN. @returns how many that it was not known to have; -1 where one was never sent */
  acknowledge(psn: number): number {
    const count = psnAhead(psn, this.#acked);
    if (count > this.underWay) return -1;
    if (count <= 0) return 0;
    this.#acked = psn;
    if (this.#size < this.most) this.#size += 1;
    return count;
  }

  halve(): void {
    this.#size = Math.max(MIN_WINDOW, this.#size >> 1);
  }
}

export const Arrival = {
  NEXT: 0,
  /** Others before it are missing: it may be kept. */
  EARLY: 1,
  /** It has come before. */
  AGAIN: 2,
  /** So far ahead that no peer would send it. */
  BEYOND: 3,
} as const;
export type Arrival = (typeof Arrival)[keyof typeof Arrival];

/** What an endpoint receives: all, once, in the order of PSNs. Those that come early are kept, of which there are few. */
export class ReceiveWindow<Kept> {
  #expected = FIRST_PSN;
  readonly #early = new Map<number, Kept>();

  /** The last that has come, with all before it. */
  get last(): number {
    return psnPlus(this.#expected, -1);
  }

  /** How many came early. */
  get kept(): number {
    return this.#early.size;
  }

  classify(psn: number): Arrival {
    const ahead = psnAhead(psn, this.#expected);
    if (ahead === 0) return Arrival.NEXT;
    if (ahead < 0 || this.#early.has(psn)) return Arrival.AGAIN;
    return ahead < MAX_WINDOW ? Arrival.EARLY : Arrival.BEYOND;
  }

  isMissing(upTo: number): boolean {
    return psnAhead(upTo, this.#expected) >= 0;
  }

  /** Keeps one that is {@link Arrival.EARLY}. */
  keep(psn: number, datagram: Kept): void {
    this.#early.set(psn, datagram);
  }

  advance(): void {
    this.#expected = psnPlus(this.#expected, 1);
  }

  /** What was kept of which it is the turn by now; undefined for none. It is taken. */
  takeKept(): Kept | undefined {
    if (this.#early.size === 0) return undefined;
    const datagram = this.#early.get(this.#expected);
    if (datagram === undefined) return undefined;
    this.#early.delete(this.#expected);
    this.advance();
    return datagram;
  }

  /** Nothing that was kept is of use any more. @returns how many there were */
  clear(): number {
    const count = this.#early.size;
    this.#early.clear();
    return count;
  }
}
