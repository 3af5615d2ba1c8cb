import { Channel, type ChannelListener, type Item } from '../../../src/layers/xio/protocol/index.js';
import {
  decodeHead,
  emptyHead,
  encodeHead,
  gather,
  type Head,
  HEAD_BYTES,
  headerOf,
  Kind,
  type Limits,
  rulesOf,
} from '../../../src/layers/xio/wire/index.js';
import { check } from '../failure.js';
import type { LinkEnd, LinkUser } from './wire-link.js';

const NOTHING = new Uint8Array(0);
const MOST_HEADER_BYTES = 4096;

/** Whoever talks through a {@link Speaker}. */
export interface SpeakerOwner extends ChannelListener<Item> {
  onSetup(head: Head, header: Uint8Array): void;
  onLinkLost(): void;
  onDone(): void;
}

/** A channel at work on links of the simulation, as a session binds it to real ones. */
export class Speaker implements LinkUser {
  readonly channel: Channel<Item>;
  #link: LinkEnd | undefined;
  readonly #asides: { readonly kind: Kind; readonly header: Uint8Array }[] = [];
  readonly #out = emptyHead(Kind.NOP);
  readonly #in = emptyHead(Kind.NOP);
  readonly #bytes = new Uint8Array(HEAD_BYTES + MOST_HEADER_BYTES);
  #isPumping = false;

  constructor(
    limits: Limits,
    private readonly owner: SpeakerOwner,
  ) {
    this.channel = new Channel<Item>(limits, owner, (item) => item);
  }

  get link(): LinkEnd | undefined {
    return this.#link;
  }

  use(link: LinkEnd): void {
    this.#link = link;
    this.#asides.length = 0;
    link.user = this;
  }

  leave(): void {
    this.#link?.close();
    this.#link = undefined;
  }

  say(kind: Kind, header: Uint8Array): void {
    this.#asides.push({ kind, header });
    this.pump();
  }

  pump(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    while (this.#link?.canSend === true && this.#next(this.#link));
    this.#isPumping = false;
    if (this.#link?.canSend === true && this.channel.isDone) this.owner.onDone();
  }

  onAnnounced(bytes: Uint8Array): void {
    const lie = decodeHead(bytes, this.#in) ?? this.channel.announce(this.#in);
    if (typeof lie === 'string') check(false, () => `an honest peer is taken for a liar: ${lie}`);
  }

  onFrame(bytes: Uint8Array, body: Uint8Array, wasAnnounced: boolean): void {
    const head = this.#in;
    const wrong = decodeHead(bytes, head);
    check(wrong === undefined, () => `an honest peer's head is refused: ${wrong}`);
    if (head.kind === Kind.SESSION || head.kind === Kind.SESSION_ANSWER) this.owner.onSetup(head, headerOf(bytes));
    else {
      const isCall = rulesOf(head.kind)?.isCall === true;
      const lie = this.channel.onMessage(head, headerOf(bytes), body, wasAnnounced && isCall);
      check(lie === undefined, () => `an honest peer is taken for a liar: ${lie}`);
    }
    this.pump();
  }

  onRoom(): void {
    this.pump();
  }

  onLost(): void {
    this.#link = undefined;
    this.owner.onLinkLost();
  }

  #next(link: LinkEnd): boolean {
    const head = this.#out;
    const aside = this.#asides.shift();
    if (aside !== undefined) {
      Object.assign(head, emptyHead(aside.kind));
      head.ackSn = this.channel.received;
      link.send(this.#encode(head, aside.header), NOTHING);
      return true;
    }
    const item = this.channel.next(head);
    if (item === 'nothing') return false;
    link.send(this.#encode(head, item?.header ?? NOTHING), gather(item?.body ?? NOTHING));
    return true;
  }

  #encode(head: Head, header: Uint8Array): Uint8Array {
    return this.#bytes.subarray(0, encodeHead(this.#bytes, head, header, undefined));
  }
}
