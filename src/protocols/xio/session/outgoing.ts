import { Item, type ItemFields } from '../protocol/index.js';
import type { Exposure, Held, Link } from '../transport/index.js';
import { type Body, type Head, type Kind, lengthOf, type XioStatus } from '../wire/index.js';

const NOTHING = new Uint8Array(0);

/** Whoever has sent something, and is told what becomes of it. */
export interface Sender {
  /** It was answered. @param body in the memory that was named for it, where one was */
  onResponse(head: Head, header: Uint8Array, body: Body): void;
  /** A message was sent, for the first time or again. */
  onSent?(): void;
  /** The peer has it, or has let go of it where that was asked for. */
  onDone(): void;
  onFailed(status: XioStatus): void;
}

/** Something on its way to the peer, with what keeps its memory in reach. */
export class Outgoing extends Item {
  sender: Sender | undefined;
  into: Body | undefined;
  /** Of a response: where the requester has said that it may be written, and on which link. */
  target: { readonly link: Link; readonly token: Uint8Array } | undefined;
  landing: Body | undefined;
  landingLink: Link | undefined;
  /** The header, where it says something of the link that it goes by. */
  headerFor: (() => Uint8Array) | undefined;
  #held: Held | undefined;
  #exposure: Exposure | undefined;
  #exposedBytes = 0;

  constructor(kind: Kind, fields: ItemFields = {}, sender?: Sender) {
    super(kind, fields);
    this.sender = sender;
  }

  /** It was sent, or its memory was named. What the link before it held is held no more. */
  holds(held: Held | undefined): void {
    this.#held?.release();
    this.#held = held;
  }

  exposes(exposure: Exposure | undefined): void {
    this.#exposure?.release();
    this.#exposure = exposure;
    this.#exposedBytes = exposure === undefined ? 0 : lengthOf(this.into ?? NOTHING);
  }

  /** How many bytes of {@link into} the peer may write, or could before the program has transferred it. */
  get exposedBytes(): number {
    return this.#exposedBytes;
  }

  /** A response was written, so long. */
  land(byteLength: number): void {
    this.#exposure?.land(byteLength);
  }

  /** The program has its memory back, though the peer may not be done with it. */
  takeBack(link: Link | undefined): void {
    this.#held?.takeBack();
    this.#exposure?.takeBack();
    if (this.landing !== undefined) link?.redirect(this.landing);
    this.into = undefined;
    this.sender = undefined;
  }

  /** Nobody needs its memory any more. */
  letGo(): void {
    this.#held?.release();
    this.#exposure?.release();
    this.#held = undefined;
    this.#exposure = undefined;
    this.#exposedBytes = 0;
  }
}
