import { CONTROL_CREDITS, CREDIT_KEEPS_BACK, Flag, immediateOf, Kind } from './kinds.js';
import { type ReceiveCredits, SendCredits } from '../../core/index.js';
import type { Hello } from './hello.js';

/** A message of the program's on its way out. */
export interface Outgoing {
  readonly byteLength: number;
  /** Bytes of it that went into frames. */
  framedBytes: number;
}

/** What is to be sent next, filled by {@link OutgoingSide.next}. DATA is the last frame of its message. */
export interface Frame<M extends Outgoing> {
  kind: Kind;
  immediate: number;
  /** Whose bytes are the payload, from `offset` on; none of CREDIT, DISCARD and CLOSE. */
  message: M | undefined;
  offset: number;
  byteLength: number;
}

export function emptyFrame<M extends Outgoing>(): Frame<M> {
  return { kind: Kind.CREDIT, immediate: 0, message: undefined, offset: 0, byteLength: 0 };
}

/**
 * What one end sends: messages in their order, cut into fragments that fill the peer's buffers, as far as the peer's credits
 * go, and in between what it grants the peer. Pure: it neither sends nor waits.
 */
export class OutgoingSide<M extends Outgoing> {
  readonly #queue: M[] = [];
  #peer: Hello | undefined;
  #credits: SendCredits | undefined;
  /** The message at the head of the queue was given up after fragments of it had gone. */
  #mustDiscard = false;
  #closing: 'no' | 'asked' | 'done' = 'no';

  /** @param granting what is told to the peer with each frame */
  constructor(private readonly granting: ReceiveCredits) {}

  /** Begins, once it is known what the peer takes. */
  begin(peer: Hello): void {
    this.#peer = peer;
    this.#credits = new SendCredits(peer.window, CONTROL_CREDITS, peer.maxWindow);
  }

  /** How many more messages of any kind the peer has room for. */
  get credits(): number {
    return this.#credits?.availableForControl ?? 0;
  }

  get ready(): M | undefined {
    if (this.#mustDiscard || this.#available === 0) return undefined;
    return this.#queue.at(0);
  }

  /** Messages that were not sent whole. */
  get queued(): number {
    return this.#queue.length;
  }

  get isClosing(): boolean {
    return this.#closing !== 'no';
  }

  /** A message, behind those that wait already. It must be no longer than the peer takes. */
  add(message: M): void {
    this.#queue.push(message);
  }

  /** Takes a message back. @returns whether it had not been sent whole, so that the peer will never have it */
  withdraw(message: M): boolean {
    const index = this.#queue.indexOf(message);
    if (index < 0) return false;
    this.#queue.splice(index, 1);
    // Only the first has begun.
    if (message.framedBytes > 0) this.#mustDiscard = true;
    return true;
  }

  drop(): readonly M[] {
    this.#mustDiscard = false;
    return this.#queue.splice(0);
  }

  /** CLOSE comes next: what waits is to be dropped before. */
  close(): void {
    if (this.#closing === 'no') this.#closing = 'asked';
  }

  /**
   * The peer says how far it has room.
   *
   * @returns a sentence about what cannot be true, or undefined
   */
  onLimit(limit: number): string | undefined {
    if (this.#credits?.grant(limit) !== false) return undefined;
    const most = this.#peer?.maxWindow ?? 0;
    return `it grants messages up to number ${limit}: fewer than before, or more than the ${most} at a time that it has room for`;
  }

  /** Fills `frame` with what is to be sent now; {@link sent} says that it was. @returns whether there is anything */
  next(frame: Frame<M>): boolean {
    const kind = this.#nextKind();
    if (kind === undefined) return false;
    const isHungry = this.#available <= 1 && this.#hasMoreThan(kind);
    frame.kind = kind;
    frame.immediate = immediateOf(kind, isHungry ? Flag.HUNGRY : 0, this.granting.limit);
    const message = kind === Kind.DATA || kind === Kind.MORE ? this.#queue.at(0) : undefined;
    frame.message = message;
    frame.offset = message?.framedBytes ?? 0;
    frame.byteLength =
      message === undefined ? 0 : Math.min(message.byteLength - message.framedBytes, this.#bufferBytes);
    return true;
  }

  /** What {@link next} said last was sent. */
  sent({ kind, message, byteLength }: Frame<M>): void {
    this.#credits?.take();
    this.granting.tell();
    if (message !== undefined) message.framedBytes += byteLength;
    if (kind === Kind.DATA) this.#queue.shift();
    if (kind === Kind.DISCARD) this.#mustDiscard = false;
    if (kind === Kind.CLOSE) this.#closing = 'done';
  }

  /** How many more messages of the program's, or about them, the peer has room for. */
  get #available(): number {
    return this.#credits?.available ?? 0;
  }

  get #bufferBytes(): number {
    return this.#peer?.bufferBytes ?? 0;
  }

  #nextKind(): Kind | undefined {
    const { credits } = this;
    if (this.#credits === undefined || this.#closing === 'done') return undefined;
    if (this.#closing === 'asked') return credits > 0 ? Kind.CLOSE : undefined;
    const message = this.#queue.at(0);
    if (this.#available > 0) {
      if (this.#mustDiscard) return Kind.DISCARD;
      if (message !== undefined)
        return message.byteLength - message.framedBytes > this.#bufferBytes ? Kind.MORE : Kind.DATA;
    }
    return this.granting.isDue && credits > CREDIT_KEEPS_BACK ? Kind.CREDIT : undefined;
  }

  /** Whether something waits beside what is sent now. */
  #hasMoreThan(kind: Kind): boolean {
    return this.#queue.length > (kind === Kind.DATA ? 1 : 0) || (this.#mustDiscard && kind !== Kind.DISCARD);
  }
}
