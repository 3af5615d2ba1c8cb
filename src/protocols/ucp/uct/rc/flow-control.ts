// How active messages on a reliable connection are kept from overrunning the receiver, as UCX's rc does (uct/ib/rc/base/rc_ep.h): by 3 bits beside the id, in the
// first byte of each. The sender asks for more once half of its window is left, and urgently at a quarter; the receiver grants, with the next message that it sends
// anyway, or by one that says nothing else. UCX's sender has its whole window again with any grant, and leans on receivers that wait while they have no
// buffer. Here it has what was received when the grant was sent, so there is a buffer for each message: a grant beside a message
// answers the first request, and one that comes alone the urgent one.

/** The bits of the first byte that are not the id's. */
export const FlowBits = {
  SOFT_REQUEST: 0x20,
  HARD_REQUEST: 0x40,
  GRANT: 0x80,
} as const;

export const PURE_GRANT = 0xe0;

const ID_MASK = 0x1f;
const REQUESTS = FlowBits.SOFT_REQUEST | FlowBits.HARD_REQUEST;

/** The id in a first byte. */
export function idOf(first: number): number {
  return first & ID_MASK;
}

/** One end's view of both directions of a connection. Numbers of messages wrap around at 2^32. */
export class FlowControl {
  #window = 0;
  #sent = 0;
  #limit = 0;
  /** The messages that have asked, and were not answered. */
  #softAt: number | undefined;
  #hardAt: number | undefined;
  #owesSoft = false;
  #owesHard = false;

  /** @param window messages that the peer has buffers for, at least 1 */
  begin(window: number): void {
    this.#window = window;
    this.#limit = window;
  }

  /** Messages that may be sent now, a grant that comes alone not among them. */
  get room(): number {
    return (this.#limit - this.#sent) | 0;
  }

  /** Whether a {@link PURE_GRANT} is to be sent, before anything else. */
  get owesGrant(): boolean {
    return this.#owesHard;
  }

  grantSent(): void {
    this.#owesHard = false;
  }

  /** The first byte of the next message. There must be {@link room}. */
  next(id: number): number {
    this.#sent = (this.#sent + 1) | 0;
    let first = id;
    if (this.#owesSoft) first |= FlowBits.GRANT;
    this.#owesSoft = false;
    if (this.#hardAt !== undefined) return first;
    if (this.room <= this.#window >> 2) {
      this.#hardAt = this.#sent;
      first |= FlowBits.HARD_REQUEST;
    } else if (this.room <= this.#window >> 1 && this.#softAt === undefined) {
      this.#softAt = this.#sent;
      first |= FlowBits.SOFT_REQUEST;
    }
    return first;
  }

  /** Takes the first byte of a message whose buffer was given back. @returns what is wrong with it */
  received(first: number): string | undefined {
    if (first === PURE_GRANT) return this.#granted(this.#hardAt);
    if ((first & REQUESTS) === REQUESTS) return `a message asks twice (first byte ${first})`;
    if ((first & FlowBits.GRANT) !== 0) {
      const problem = this.#granted(this.#softAt);
      if (problem !== undefined) return problem;
    }
    if ((first & FlowBits.HARD_REQUEST) !== 0) {
      this.#owesHard = true;
      this.#owesSoft = false;
    } else if ((first & FlowBits.SOFT_REQUEST) !== 0) this.#owesSoft = true;
    return undefined;
  }

  #granted(at: number | undefined): string | undefined {
    if (at === undefined) return 'it grants what nobody has asked for';
    // The urgent request is the later one, and its answer is the answer to both.
    if (at === this.#hardAt) this.#hardAt = undefined;
    this.#softAt = undefined;
    this.#limit = (at + this.#window) | 0;
    return undefined;
  }
}
