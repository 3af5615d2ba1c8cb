import { Channel, type ChannelListener, type Item } from '../../protocol/index.js';
import {
  decodeHead,
  emptyHead,
  encodeHead,
  Flag,
  type Head,
  HEAD_BYTES,
  headerOf,
  Kind,
  type Limits,
  rulesOf,
} from '../../wire/index.js';
import { check } from '../../../../../test/sim/failure.js';
import type { LinkEnd, LinkUser } from './wire-link.js';

const NOTHING = new Uint8Array(0);
const MOST_HEADER_BYTES = 4096;

/** Whoever talks through a {@link Speaker}. */
export interface SpeakerOwner extends ChannelListener<Item> {
  /** Where the body of a request of the session's own is to lie. */
  directLanding(header: Uint8Array, bodyBytes: number): Uint8Array | undefined;
  onSetup(head: Head, header: Uint8Array): void;
  onLinkLost(): void;
  onDone(): void;
}

/** A channel at work on links of the simulation, as a session binds it to real ones. */
export class Speaker implements LinkUser {
  readonly channel: Channel<Item>;
  #link: LinkEnd | undefined;
  readonly #asides: { readonly kind: Kind; readonly header: Uint8Array; readonly received: number }[] = [];
  readonly #out = emptyHead(Kind.NOP);
  readonly #in = emptyHead(Kind.NOP);
  readonly #bytes = new Uint8Array(HEAD_BYTES + MOST_HEADER_BYTES);
  #isPumping = false;
  readonly headers = new WeakMap<Item, () => Uint8Array>();
  /** Takes back what was sent last of an item. */
  readonly #held = new WeakMap<Item, () => void>();

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

  say(kind: Kind, header: Uint8Array, received = this.channel.received): void {
    this.#asides.push({ kind, header, received });
    this.pump();
  }

  pump(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    while (this.#link?.canSend === true && this.#next(this.#link));
    this.#isPumping = false;
    if (this.#link?.canSend === true && this.channel.isDone) this.owner.onDone();
  }

  takeBack(item: Item): void {
    this.#held.get(item)?.();
  }

  onAnnounced(bytes: Uint8Array): Uint8Array | undefined {
    const head = this.#in;
    const lie = decodeHead(bytes, head) ?? this.channel.announce(head);
    if (typeof lie === 'string') check(false, () => `an honest peer is taken for a liar: ${lie}`);
    const isDirect = head.kind === Kind.REQUEST && (head.flags & Flag.DIRECT) !== 0;
    return isDirect ? this.owner.directLanding(headerOf(bytes), head.bodyBytes) : undefined;
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
      head.ackSn = aside.received;
      link.send(this.#encode(head, aside.header), NOTHING, false);
      return true;
    }
    const item = this.channel.next(head);
    if (item === 'nothing') return false;
    const header = item === undefined ? NOTHING : (this.headers.get(item)?.() ?? item.header);
    const takeBack = link.send(this.#encode(head, header), item?.body ?? NOTHING, item?.isApart === true);
    if (item !== undefined) this.#held.set(item, takeBack);
    return true;
  }

  #encode(head: Head, header: Uint8Array): Uint8Array {
    return this.#bytes.subarray(0, encodeHead(this.#bytes, head, header, undefined));
  }
}
