import { assert } from '../../../device/ibta/index.js';
import {
  type Body,
  decodeMove,
  Flag,
  type Head,
  Kind,
  type Limits,
  MOST_DIRECT_BYTES,
  MOST_MOVE_BYTES,
  rulesOf,
  XioStatus,
} from '../wire/index.js';
import { ackEvery, ReceiveCredits, SendCredits } from './credits.js';
import { fillHead, Item } from './item.js';
import { KeptItems } from './kept-items.js';
import { CloseHandshake } from './close-handshake.js';

/**
 * What is to become of what a server was asked that has forgotten it.
 *
 * @param asked what waits for an answer. It may have been acknowledged, and is no longer kept
 * @param sent what is kept
 * @returns what another server can be asked for, in the order in which it was asked; and what may have been executed, and fails
 */
function sortOut<I extends Item>(
  asked: Iterable<I>,
  sent: Iterable<I>,
): { readonly again: readonly I[]; readonly lost: readonly I[] } {
  const again: I[] = [];
  const lost: I[] = [];
  for (const item of new Set([...asked, ...sent])) {
    const isCall = item.kind === Kind.REQUEST || item.kind === Kind.ONE_WAY;
    if (isCall && item.isIdempotent && !item.isGivenUp) again.push(item);
    else if (!item.isGivenUp) lost.push(item);
  }
  again.sort((a, b) => a.sn - b.sn);
  for (const item of again) {
    item.sn = 0;
    item.isRetried = true;
  }
  return { again, lost };
}

/** What has come of the peer's, and is to be answered or let go of. */
interface Served {
  readonly kind: Kind;
  readonly bytes: number;
  readonly wantsReceipt: boolean;
  readonly maxResponseBytes: number;
  hasReleased: boolean;
}

/** The longest header that a peer may send. @param flags of a request, or of the one that is answered */
function mostHeader({ maxHeaderBytes }: Limits, kind: Kind, flags: number): number {
  if (kind === Kind.MOVE) return MOST_MOVE_BYTES;
  return (flags & Flag.DIRECT) === 0 ? maxHeaderBytes : MOST_DIRECT_BYTES;
}

/** Whether a peer does not take it. */
function isTooLong({ kind, header, flags, bodyBytes }: Item, peer: Limits): boolean {
  return header.length > mostHeader(peer, kind, flags) || bodyBytes > peer.maxBodyBytes;
}

/** What a channel tells whoever has it. It may be asked for anything within these calls. */
export interface ChannelListener<I extends Item> {
  /** A request has come, once and for all. It is to be answered by {@link Channel.respond}, whatever happens. */
  onRequest(head: Head, header: Uint8Array, body: Body): void;
  /** A message has come, which is to be let go of by {@link Channel.release}. */
  onMessage(head: Head, header: Uint8Array, body: Body): void;
  /** A request was answered that was not given up. */
  onResponse(request: I, head: Head, header: Uint8Array, body: Body): void;
  /** The peer's program has let go of a message that has asked for word of that. */
  onReceipt(message: I): void;
  /** The requester has given up what it has asked for under that number. */
  onCancel(sn: number): void;
  /** The peer has it. It may be answered before this is known. */
  onAcknowledged(item: I): void;
  /** It was given up, and the peer will not ask for its memory any more. */
  onGone(item: I): void;
  /** It will never be answered, or acknowledged. */
  onFailed(item: I, status: XioStatus): void;
  /** What has come under that number is not to be answered any more: the peer that has asked is gone. */
  onForgotten(sn: number): void;
  /** The peer begins nothing any more, and waits for nothing. */
  onFin(): void;
  /** The server sends the session on. @returns what cannot be true of that */
  onMove(addresses: readonly string[]): string | undefined;
}

/**
 * One connection of a session, whatever it goes by: what is said has numbers, is kept until the peer has it, and is said again on the next
 * link from where the peer is. So nothing is lost with a link, and nothing comes twice. Pure: it neither sends nor waits.
 */
export class Channel<I extends Item> {
  readonly #kept = new KeptItems<I>();
  readonly #controls: I[] = [];
  readonly #calls: I[] = [];
  readonly #asked = new Map<number, I>();
  readonly #served = new Map<number, Served>();
  #peer: Limits | undefined;
  #life = 1;
  #wasBegun = false;
  #credits: SendCredits | undefined;
  #granting: ReceiveCredits;
  #isAttached = false;
  #nextSn = 1;
  #received = 0;
  #toldReceived = 0;
  #mustTell = false;
  readonly #parting = new CloseHandshake();
  #replayed = 0;
  /** What has come on this link that has a number, and what the peer has acknowledged. */
  #progress = 0;

  constructor(
    readonly own: Limits,
    private readonly listener: ChannelListener<I>,
    private readonly make: (item: Item) => I,
  ) {
    this.#granting = new ReceiveCredits(own);
  }

  /** What the peer takes; undefined before it has said so. */
  get peer(): Limits | undefined {
    return this.#peer;
  }

  /** Whether there ever was a peer. */
  get wasBegun(): boolean {
    return this.#wasBegun;
  }

  /** Counts the servers that the session has begun with. What numbers mean holds for one life. */
  get life(): number {
    return this.#life;
  }

  /** The last number of the peer's up to which all has come. */
  get received(): number {
    return this.#received;
  }

  /** Requests and messages that were not sent yet. */
  get waiting(): number {
    return this.#calls.length;
  }

  /** Bytes of their bodies. */
  get waitingBytes(): number {
    return this.#calls.reduce((sum, { bodyBytes }) => sum + bodyBytes, 0);
  }

  /** What the peer has not acknowledged. */
  get kept(): number {
    return this.#kept.size;
  }

  /** Requests that wait for answers, and messages for receipts. */
  get asked(): number {
    return this.#asked.size;
  }

  /** Requests of the peer's that are to be answered, and messages that are to be let go of. */
  get served(): number {
    return this.#served.size;
  }

  /** What was sent again on another link. */
  get replayed(): number {
    return this.#replayed;
  }

  find(sn: number): I | undefined {
    return this.#asked.get(sn);
  }

  get isAttached(): boolean {
    return this.#isAttached;
  }

  /** Whether both ends have said that they are done, and know it. */
  get isDone(): boolean {
    return this.#parting.isKnown && this.#kept.size === 0;
  }

  /** Whether both ends have said that they are done, though this one may not know that the peer has heard it. */
  get isParting(): boolean {
    return this.#parting.areBothDone;
  }

  /** Whether this end has said, or will say, that it is done. */
  get isFinishing(): boolean {
    return this.#parting.isFinishing;
  }

  /** Whether the server has sent the session on, and it is not there yet. */
  get isMoving(): boolean {
    return this.#parting.isMoving;
  }

  /** Whether any request or message was sent of which the peer has not said that it has it. */
  get keepsCalls(): boolean {
    return this.#kept.hasCalls;
  }

  /** Whether something of the peer is to come: that it takes the session, an answer, an acknowledgement, room for what waits, or its end. */
  get awaitsPeer(): boolean {
    const { isAttached, waiting, asked, isFinishing } = this;
    return !isAttached || waiting > 0 || asked > 0 || isFinishing || this.#kept.awaitsAcknowledgement;
  }

  /** Whether this end wants nothing of any server any more. */
  get hasNothingLeft(): boolean {
    return this.#parting.isFinishing && this.#asked.size + this.#calls.length === 0;
  }

  /** Counts what has been of use on the link that there is. */
  get progress(): number {
    return this.#progress;
  }

  /** The peer has said what it takes, for the first time. */
  begin(peer: Limits): void {
    assert(this.#peer === undefined, 'the peer says once what it takes');
    this.#peer = peer;
    this.#wasBegun = true;
    this.#credits = new SendCredits(peer);
    // What waits may have been begun when another server was there, that takes more.
    const tooLong = this.#calls.filter((item) => isTooLong(item, peer));
    if (tooLong.length === 0) return;
    this.#calls.splice(0, Infinity, ...this.#calls.filter((item) => !isTooLong(item, peer)));
    for (const item of tooLong) this.listener.onFailed(item, XioStatus.XIO_E_MSG_SIZE);
    this.#finish();
  }

  /**
   * There is a link, on which the peer says up to which number it has received.
   *
   * @returns what cannot be true of that
   */
  attach(peerReceived: number): string | undefined {
    assert(!this.#isAttached && this.#peer !== undefined, 'a link comes when there is none');
    const lie = this.#acknowledge(peerReceived);
    if (lie !== undefined) return lie;
    this.#isAttached = true;
    this.#progress = 0;
    this.#nextSn = peerReceived + 1;
    // What the peer was told on the link before may have been lost with it.
    this.#mustTell = true;
    for (const item of this.#kept) if (item.isGivenUp) this.#void(item);
    return undefined;
  }

  /** A server says up to which number it had received, which has forgotten the connection. @returns what cannot be true of that */
  settle(peerReceived: number): string | undefined {
    return peerReceived === 0 ? undefined : this.#acknowledge(peerReceived);
  }

  detach(): void {
    this.#isAttached = false;
    this.#granting.forgetAnnounced();
  }

  /** A request, or a message, behind those that wait already. It must be no longer than the peer takes. */
  call(item: I): void {
    assert(!this.#parting.isFinishing, 'nothing is begun after FIN');
    this.#calls.push(item);
  }

  /**
   * Nobody waits for a request or a message any more.
   *
   * @returns whether the peer may have seen it
   */
  giveUp(item: I): boolean {
    const index = item.sn === 0 ? this.#calls.indexOf(item) : -1;
    if (index >= 0) {
      this.#calls.splice(index, 1);
      this.#finish();
      return item.isRetried;
    }
    item.giveUp();
    if (this.#isAttached && item.sn >= this.#nextSn) {
      this.#void(item);
      return item.isRetried;
    }
    if (this.#asked.get(item.sn) === item && item.kind === Kind.REQUEST)
      this.#controls.push(this.make(new Item(Kind.CANCEL, { about: item.sn })));
    // No receipt is waited for.
    if (item.kind === Kind.ONE_WAY) this.#asked.delete(item.sn);
    this.#finish();
    return true;
  }

  /**
   * Answers a request.
   *
   * @param response a RESPONSE about it
   * @returns false when nobody waits for it any more
   */
  respond(response: I): boolean {
    const served = this.#served.get(response.about);
    if (served?.kind !== Kind.REQUEST) return false;
    this.#served.delete(response.about);
    if (!served.hasReleased) this.#granting.release(0, served.bytes);
    this.#controls.push(response);
    return true;
  }

  /** The program needs the body of a request no more, or lets go of a message. */
  release(sn: number): void {
    const served = this.#served.get(sn);
    if (served === undefined || served.hasReleased) return;
    served.hasReleased = true;
    this.#granting.release(0, served.bytes);
    if (served.kind === Kind.REQUEST) return;
    this.#served.delete(sn);
    if (served.wantsReceipt) this.#controls.push(this.make(new Item(Kind.RECEIPT, { about: sn })));
    else this.#granting.release(1, 0);
  }

  /** Says that it is done, once all that was begun is answered. */
  finish(): void {
    this.#parting.isFinishing = true;
    this.#finish();
  }

  /** A server sends the session on, and is to say {@link finish} then. @param header of MOVE */
  move(header: Uint8Array): void {
    this.#controls.push(this.make(new Item(Kind.MOVE, { header, flags: Flag.ACKNOWLEDGE })));
  }

  /** The peer asked for a word: that it has been heard. */
  tell(): void {
    this.#mustTell = true;
  }

  /**
   * What is to be sent now, which counts as sent.
   *
   * @param head is filled with it
   * @returns 'nothing' when there is nothing; undefined for a NOP
   */
  next(head: Head): I | 'nothing' | undefined {
    if (!this.#isAttached) return 'nothing';
    const item = this.#nextItem();
    if (item === undefined && !this.#isDue) return 'nothing';
    if (item?.loseBody() === true) {
      this.#void(item);
      this.listener.onFailed(item, XioStatus.XIO_E_NO_USER_BUFS);
    }
    fillHead(head, item);
    this.#tellState(head);
    return item;
  }

  /**
   * A body begins to come.
   *
   * @returns the request that it answers, if any; or what cannot be true
   */
  announce(head: Head): I | string | undefined {
    const { kind, bodyBytes } = head;
    if (kind === Kind.RESPONSE) return this.#answered(head);
    if (rulesOf(kind)?.isCall !== true) return 'a body comes with what has none';
    if (bodyBytes > this.own.maxBodyBytes) return this.#tooLong(head);
    return this.#granting.announce(bodyBytes) ? undefined : `a body of ${bodyBytes} bytes comes without credit`;
  }

  /**
   * A message of the peer's has come.
   *
   * @param wasAnnounced whether its body was
   * @returns what cannot be true of it: the session is to end
   */
  onMessage(head: Head, header: Uint8Array, body: Body, wasAnnounced: boolean): string | undefined {
    const lie = this.#acknowledge(head.ackSn) ?? this.#credits?.grant(head.grantedMessages, head.grantedBytes);
    if (lie !== undefined) return lie;
    if (head.sn === 0) return undefined;
    if (head.sn !== this.#received + 1) return `message ${head.sn} comes, where ${this.#received + 1} is next`;
    const wrong = this.#check(head, header, wasAnnounced);
    if (wrong !== undefined) return wrong;
    this.#received = head.sn;
    if ((head.flags & Flag.ACKNOWLEDGE) !== 0) this.#mustTell = true;
    this.#progress += 1;
    return this.#deliver(head, header, body);
  }

  /**
   * The server has forgotten the session: the next begins with it. What was sent and may have been executed fails; what was not, waits for the
   * next, and so does what does no harm when it is executed twice.
   */
  restart(): void {
    const sent = [...this.#kept.clear(), ...this.#controls.splice(0)];
    const asked = [...this.#asked.values()];
    this.#asked.clear();
    const served = [...this.#served.keys()];
    this.#served.clear();
    const { again, lost } = sortOut(asked, sent);
    this.#calls.unshift(...again);
    this.#life += 1;
    this.#granting = new ReceiveCredits(this.own);
    this.#peer = undefined;
    this.#credits = undefined;
    this.#isAttached = false;
    this.#nextSn = 1;
    this.#received = 0;
    this.#toldReceived = 0;
    this.#parting.restart();
    for (const sn of served) this.listener.onForgotten(sn);
    for (const item of lost) this.listener.onFailed(item, XioStatus.XIO_E_PEER_RESTARTED);
    this.#finish();
  }

  /** The session is over: whoever waits for anything is told. */
  end(status: XioStatus): void {
    this.#isAttached = false;
    const items = new Set([...this.#asked.values(), ...this.#kept.clear(), ...this.#controls, ...this.#calls]);
    const served = [...this.#served.keys()];
    this.#asked.clear();
    this.#controls.length = 0;
    this.#calls.length = 0;
    this.#served.clear();
    for (const sn of served) this.listener.onForgotten(sn);
    for (const item of items) if (!item.isGivenUp) this.listener.onFailed(item, status);
  }

  get #isDue(): boolean {
    return this.#mustTell || this.#granting.isDue || this.#received - this.#toldReceived >= ackEvery(this.#peer);
  }

  /** What every message carries beside what it is. */
  #tellState(head: Head): void {
    head.ackSn = this.#received;
    head.grantedMessages = this.#granting.messages;
    head.grantedBytes = this.#granting.bytes;
    this.#toldReceived = this.#received;
    this.#mustTell = false;
    this.#granting.tell();
  }

  #nextItem(): I | undefined {
    if (this.#nextSn <= this.#kept.lastSn) {
      this.#nextSn += 1;
      this.#replayed += 1;
      return this.#kept.at(this.#nextSn - 1);
    }
    const item = this.#controls.shift() ?? this.#nextCall();
    if (item === undefined) return undefined;
    this.#kept.add(item);
    this.#nextSn = item.sn + 1;
    if (item.kind === Kind.FIN) this.#parting.sent();
    if (item.kind === Kind.REQUEST || (item.flags & Flag.RECEIPT) !== 0) this.#asked.set(item.sn, item);
    // It may have been the last that was waited for.
    this.#finish();
    return item;
  }

  #nextCall(): I | undefined {
    // What the server that there is has not seen, the next can be asked for without a doubt.
    const item = this.#parting.isMoving ? undefined : this.#calls.at(0);
    if (item === undefined || this.#credits?.allow(item.bodyBytes) !== true) return undefined;
    this.#credits.take(item.bodyBytes);
    return this.#calls.shift();
  }

  /** The peer has not got it, and gets nothing in its place. */
  #void(item: I): void {
    if (item.kind !== Kind.REQUEST && item.kind !== Kind.ONE_WAY) return;
    this.#credits?.untake(item.bodyBytes);
    item.kind = Kind.VOID;
    this.#asked.delete(item.sn);
    this.listener.onGone(item);
    this.#finish();
  }

  #acknowledge(ackSn: number): string | undefined {
    const { ackedSn, lastSn } = this.#kept;
    if (ackSn < ackedSn || ackSn > lastSn)
      return `it has received up to number ${ackSn}, where it had up to ${ackedSn} before, and ${lastSn} was sent last`;
    for (let sn = ackedSn; sn < ackSn; sn += 1) this.#acknowledged(this.#kept.shift());
    this.#progress += ackSn - ackedSn;
    return undefined;
  }

  #acknowledged(item: I): void {
    // It took a credit of the peer's until the peer had its answer.
    if (item.kind === Kind.RESPONSE || item.kind === Kind.RECEIPT) this.#granting.release(1, 0);
    if (item.kind === Kind.FIN) this.#parting.acknowledged();
    if (rulesOf(item.kind)?.isCall === true) this.#credits?.come(item.bodyBytes, item.kind === Kind.ONE_WAY);
    if (!item.isGivenUp) this.listener.onAcknowledged(item);
    else if (item.kind === Kind.ONE_WAY) this.listener.onGone(item);
  }

  #check(head: Head, header: Uint8Array, wasAnnounced: boolean): string | undefined {
    const { kind, bodyBytes } = head;
    const request = kind === Kind.RESPONSE ? this.#asked.get(head.about) : head;
    const most = mostHeader(this.own, kind, request?.flags ?? 0);
    if (header.length > most) return `a header has ${header.length} bytes, where ${most} are the most`;
    if (rulesOf(kind)?.isCall === true) {
      if (this.#parting.hasHeard) return 'something is begun after FIN';
      if (bodyBytes > this.own.maxBodyBytes) return this.#tooLong(head);
      if (!this.#granting.arrive(bodyBytes, wasAnnounced)) return 'a message comes without credit';
    }
    if (kind === Kind.RESPONSE) {
      const answered = this.#answered(head);
      return typeof answered === 'string' ? answered : undefined;
    }
    if (kind === Kind.RECEIPT && head.about > this.#kept.lastSn) return `a receipt is about message ${head.about}`;
    if (kind === Kind.CANCEL && head.about >= head.sn) return `message ${head.about} is cancelled, which has not come`;
    if (kind === Kind.FIN && this.#parting.hasHeard) return 'FIN comes twice';
    if (kind === Kind.MOVE && (this.#parting.hasHeard || this.#parting.isMoving))
      return 'a session is sent on that was before, or has ended';
    return undefined;
  }

  #answered({ about, bodyBytes, status }: Head): I | string {
    const item = this.#asked.get(about);
    if (item?.kind !== Kind.REQUEST) return `message ${about} is answered, which waits for no answer`;
    if (bodyBytes > item.maxResponseBytes && status === XioStatus.XIO_E_SUCCESS && !item.isGivenUp)
      return `an answer has ${bodyBytes} bytes, where ${item.maxResponseBytes} are the most`;
    return item;
  }

  #tooLong({ bodyBytes }: Head): string {
    return `a body has ${bodyBytes} bytes, where ${this.own.maxBodyBytes} are the most`;
  }

  /** @returns what cannot be true of it */
  #deliver(head: Head, header: Uint8Array, body: Body): string | undefined {
    const { kind, sn, about, flags, maxResponseBytes } = head;
    switch (kind) {
      case Kind.REQUEST:
      case Kind.ONE_WAY: {
        const wantsReceipt = (flags & Flag.RECEIPT) !== 0;
        this.#served.set(sn, { kind, bytes: head.bodyBytes, wantsReceipt, maxResponseBytes, hasReleased: false });
        if (kind === Kind.REQUEST) this.listener.onRequest(head, header, body);
        else this.listener.onMessage(head, header, body);
        return undefined;
      }
      case Kind.RESPONSE:
      case Kind.RECEIPT: {
        const item = this.#asked.get(about);
        this.#asked.delete(about);
        if (kind === Kind.RESPONSE) this.#credits?.answered();
        if (item?.isGivenUp === true) this.listener.onGone(item);
        else if (item !== undefined && kind === Kind.RECEIPT) this.listener.onReceipt(item);
        else if (item !== undefined) this.listener.onResponse(item, head, header, body);
        this.#finish();
        return undefined;
      }
      case Kind.CANCEL:
        if (this.#served.get(about)?.kind === Kind.REQUEST) this.listener.onCancel(about);
        return undefined;
      case Kind.FIN:
        this.#parting.hasHeard = true;
        this.listener.onFin();
        return undefined;
      case Kind.MOVE: {
        const addresses = decodeMove(header);
        if (typeof addresses === 'string') return addresses;
        this.#parting.isMoving = true;
        const lie = this.listener.onMove(addresses);
        this.#finish();
        return lie;
      }
      default:
        // What has no number was dealt with, and VOID says nothing.
        return undefined;
    }
  }

  /** FIN goes when nothing is waited for. */
  #finish(): void {
    if (this.#asked.size > 0 || !this.#parting.isWanted(this.#calls.length)) return;
    this.#parting.due();
    this.#controls.push(this.make(new Item(Kind.FIN, { flags: Flag.ACKNOWLEDGE })));
  }
}
