import { alloc } from '../../../api/provider/index.js';
import { PeerProbes, KeepAlive } from '../../core/index.js';
import { Channel, type ChannelListener, type Item } from '../protocol/index.js';
import type { Link } from '../transport/index.js';
import {
  type Body,
  copyOf,
  decodeHead,
  emptyHead,
  encodeHead,
  Flag,
  gather,
  type Head,
  HEAD_BYTES,
  headerOf,
  isOnePiece,
  Kind,
  lengthOf,
  part,
  rulesOf,
  scatter,
  tokenOf,
  XioStatus,
} from '../wire/index.js';
import type { XioConnection } from '../api.js';
import type { Settings } from '../options.js';
import { LinkEnd, type LinkUser } from './link-end.js';
import { Outgoing } from './outgoing.js';

/** As long as the header of SESSION and of its answer can be, with links whose heads are as long as those of RDMA. */
const MOST_HEADER_BYTES = 9192 - HEAD_BYTES;
const NOTHING = new Uint8Array(0);

/** A request or a message of the peer's. Header and body are the receiver's. */
export interface Arrived {
  readonly sn: number;
  readonly life: number;
  readonly header: Uint8Array;
  readonly body: Body;
  readonly maxResponseBytes: number;
  /** Whether the body of the response is not to go along with its head. */
  readonly isApart: boolean;
  /** Whether it is the session's own, about memory that is granted. */
  readonly isDirect: boolean;
  /** Where the response's body may be written. */
  readonly target: Outgoing['target'];
}

export interface SessionConnectionOwner {
  landing(bodyBytes: number, header: Uint8Array): Body;
  /** Where the body of a request of the session's own is to lie. Undefined: anywhere. */
  directLanding(lane: SessionConnection, bodyBytes: number, header: Uint8Array): Body | undefined;
  onRequest(lane: SessionConnection, arrived: Arrived): void;
  onMessage(lane: SessionConnection, arrived: Arrived): void;
  onCancel(lane: SessionConnection, sn: number): void;
  /** What has come under that number is not to be answered any more. */
  onForgotten(lane: SessionConnection, sn: number): void;
  onFin(lane: SessionConnection): void;
  onDone(lane: SessionConnection): void;
  /** A SESSION or its answer has come. @returns what cannot be true of it */
  onSetup(lane: SessionConnection, head: Head, header: Uint8Array): string | undefined;
  /** The server sends this connection on. @returns what cannot be true of that */
  onMove(lane: SessionConnection, addresses: readonly string[]): string | undefined;
  onLinkLost(lane: SessionConnection, reason: string): void;
  /** The peer has ended the session. */
  onAborted(lane: SessionConnection, status: XioStatus): void;
  /** The peer broke the protocol. */
  onProtocolViolation(lane: SessionConnection, lie: string): void;
}

interface Coming {
  headBytes: Uint8Array;
  isLanded: boolean;
  writtenBytes: number;
}

/** A message without a number. */
interface UnsequencedMessage {
  readonly kind: Kind;
  readonly header: Uint8Array;
  readonly status: XioStatus;
}

/** One connection of a session: its channel, bound to whichever link there is. */
export class SessionConnection implements LinkUser, ChannelListener<Outgoing> {
  readonly channel: Channel<Outgoing>;
  readonly connection: number;
  readonly #outHead = emptyHead(Kind.NOP);
  readonly #inHead = emptyHead(Kind.NOP);
  readonly #scratch = new Uint8Array(HEAD_BYTES + MOST_HEADER_BYTES);
  readonly #coming: Coming = { headBytes: NOTHING, isLanded: false, writtenBytes: 0 };
  /** What goes beside the channel, as soon as there is room. */
  readonly #unsequenced: UnsequencedMessage[] = [];
  #link: Link | undefined;
  #lastLink: Link | undefined;
  #keepAlive: KeepAlive | undefined;
  #probes: PeerProbes | undefined;
  #isPumping = false;
  #heard = 0;

  constructor(
    private readonly settings: Settings,
    private readonly owner: SessionConnectionOwner,
    connection = 0,
  ) {
    this.connection = connection;
    const own = ({ kind, about, flags, header }: Item): Outgoing => new Outgoing(kind, { about, flags, header });
    this.channel = new Channel<Outgoing>(settings.limits, this, own);
  }

  get link(): Link | undefined {
    return this.#link;
  }

  get lastLink(): Link | undefined {
    return this.#link ?? this.#lastLink;
  }

  get asItStands(): XioConnection {
    const { isAttached: isConnected, waiting: queuedMessages, waitingBytes: queuedBytes } = this.channel;
    const { scheme = 'rdma', localAddress, remoteAddress } = this.lastLink ?? {};
    const isLeading = this.connection === 0;
    return { isLeading, isConnected, scheme, localAddress, remoteAddress, queuedMessages, queuedBytes };
  }

  /** Talks by that link from now on. What is sent by the channel waits until that is attached. */
  use(link: Link): void {
    const end = new LinkEnd(this, link);
    this.adopt(end);
    link.open(end);
  }

  /** The same, of a link that somebody else has used before. */
  adopt(end: LinkEnd): void {
    const { link } = end;
    end.user = this;
    this.#link = link;
    this.#lastLink = link;
    this.#unsequenced.length = 0;
    this.#keepAlive = new KeepAlive(link.clock, this.settings, {
      // The peer's adapter may answer though its program does not.
      heard: () => this.#heard,
      probe: () => {
        link.probe();
        this.sendAside(Kind.KEEP_ALIVE);
      },
      giveUp: () => link.abort(),
    });
    const awaitsPeer = (): boolean => this.#link === link && this.channel.awaitsPeer;
    const heard = (): number => this.#heard;
    this.#probes?.end();
    this.#probes = new PeerProbes(link.clock, {
      get awaitsPeer() {
        return awaitsPeer();
      },
      get heard() {
        return heard();
      },
      probe: () => link.probe(),
    });
    this.#probes.start();
  }

  /** Talks by it no more: what still comes of it is nobody's. */
  leave(how: 'close' | 'abort'): void {
    const link = this.#link;
    this.#link = undefined;
    this.#keepAlive?.end();
    this.#probes?.end();
    if (how === 'close') link?.close();
    else link?.abort();
  }

  /** Sends something that has no number. */
  sendAside(kind: Kind, header: Uint8Array = NOTHING, status: XioStatus = XioStatus.XIO_E_SUCCESS): void {
    this.#unsequenced.push({ kind, header, status });
    this.pump();
  }

  pump(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    try {
      while (this.#link?.canSend === true && this.#sendNext(this.#link));
    } finally {
      this.#isPumping = false;
    }
    // Whether the peer is awaited is looked at when a probe is due.
    this.#probes?.start();
    // All is said when there is room and nothing goes.
    if (this.#link?.canSend === true && this.channel.isDone) this.owner.onDone(this);
  }

  /**
   * Nobody waits for a request or a message any more: its memory is the program's from now on.
   *
   * @returns whether the peer may have seen it
   */
  giveUp(item: Outgoing): boolean {
    item.takeBack(this.#link);
    const mayHaveRun = this.channel.giveUp(item);
    this.pump();
    return mayHaveRun;
  }

  landing(headBytes: Uint8Array, bodyBytes: number): Body | undefined {
    const head = this.#inHead;
    const item = decodeHead(headBytes, head) ?? lengthLie(head, bodyBytes) ?? this.channel.announce(head);
    if (typeof item === 'string') {
      this.owner.onProtocolViolation(this, item);
      return undefined;
    }
    if (item === undefined) {
      const header = copyOf(headerOf(headBytes));
      const isDirect = (head.flags & Flag.DIRECT) !== 0;
      return isDirect ? this.owner.directLanding(this, bodyBytes, header) : this.owner.landing(bodyBytes, header);
    }
    if (item.landingLink === this.#link) {
      this.owner.onProtocolViolation(this, `message ${item.sn} is answered twice`);
      return undefined;
    }
    const { into } = item;
    item.landingLink = this.#link;
    const hasRoom = into !== undefined && bodyBytes <= lengthOf(into);
    item.landing = hasRoom ? part(into, 0, bodyBytes) : alloc(bodyBytes);
    return item.landing;
  }

  onFrame(headBytes: Uint8Array, body: Body, isLanded: boolean, writtenBytes: number): void {
    this.#heard += 1;
    const head = this.#inHead;
    const problem = decodeHead(headBytes, head) ?? this.#writtenLie(head, writtenBytes);
    const there = problem === undefined ? this.#whatIsThere(head, body, isLanded, writtenBytes) : body;
    if (there === undefined) {
      // The peer has it still, and says it again.
      this.leave('abort');
      this.owner.onLinkLost(this, 'the memory is gone in which a body has come');
      return;
    }
    const lie =
      problem ??
      lengthLie(head, writtenBytes + lengthOf(there)) ??
      this.#take(head, headBytes, there, isLanded, writtenBytes);
    if (lie !== undefined) this.owner.onProtocolViolation(this, lie);
    else this.pump();
  }

  onLinkEnd(failure: Error | undefined): void {
    this.#link = undefined;
    this.#keepAlive?.end();
    this.#probes?.end();
    this.owner.onLinkLost(this, failure?.message ?? 'the peer has gone');
  }

  onRequest(head: Head, header: Uint8Array, body: Body): void {
    this.owner.onRequest(this, this.#arrived(head, header, body));
  }

  onMessage(head: Head, header: Uint8Array, body: Body): void {
    this.owner.onMessage(this, this.#arrived(head, header, body));
  }

  onResponse(request: Outgoing, head: Head, header: Uint8Array, body: Body): void {
    const { into, sender } = request;
    const { isLanded, writtenBytes } = this.#coming;
    if (writtenBytes > 0) request.land(writtenBytes);
    request.letGo();
    if (writtenBytes > 0) {
      sender?.onResponse(head, copyOf(header), into === undefined ? NOTHING : part(into, 0, writtenBytes));
      return;
    }
    const bytes = lengthOf(body);
    const hasRoom = into !== undefined && bytes <= lengthOf(into);
    // What comes along with its head is in one piece.
    if (!isLanded && hasRoom && isOnePiece(body)) scatter(body, into);
    sender?.onResponse(head, copyOf(header), hasRoom ? part(into, 0, bytes) : isLanded ? body : gather(body));
  }

  onReceipt({ sender }: Outgoing): void {
    sender?.onDone();
  }

  onAcknowledged(item: Outgoing): void {
    // A request's memory for the response is still needed.
    if (item.kind === Kind.REQUEST) return;
    item.letGo();
    if ((item.flags & Flag.RECEIPT) === 0) item.sender?.onDone();
  }

  onGone(item: Outgoing): void {
    item.letGo();
  }

  onFailed(item: Outgoing, status: XioStatus): void {
    const { sender } = item;
    item.takeBack(this.#link);
    sender?.onFailed(status);
  }

  onCancel(sn: number): void {
    this.owner.onCancel(this, sn);
  }

  onForgotten(sn: number): void {
    this.owner.onForgotten(this, sn);
  }

  onFin(): void {
    this.owner.onFin(this);
  }

  onMove(addresses: readonly string[]): string | undefined {
    return this.owner.onMove(this, addresses);
  }

  #take(head: Head, headBytes: Uint8Array, body: Body, isLanded: boolean, writtenBytes: number): string | undefined {
    const header = headerOf(headBytes);
    switch (head.kind) {
      case Kind.SESSION:
      case Kind.SESSION_ANSWER:
        return this.owner.onSetup(this, head, header);
      case Kind.KEEP_ALIVE:
        // One answer is enough for all who ask before there is room for it.
        if (!this.#unsequenced.some(({ kind }) => kind === Kind.ALIVE)) this.sendAside(Kind.ALIVE);
        return undefined;
      case Kind.ALIVE:
        return undefined;
      case Kind.ABORT:
        this.owner.onAborted(this, head.status);
        return undefined;
      default: {
        if (!this.channel.isAttached) return 'something is said before there is a session';
        const coming = this.#coming;
        coming.headBytes = headBytes;
        coming.isLanded = isLanded;
        coming.writtenBytes = writtenBytes;
        const isCall = rulesOf(head.kind)?.isCall === true;
        return this.channel.onMessage(head, header, body, isLanded && isCall);
      }
    }
  }

  /** A body can be written only where the peer was told that it can. */
  #writtenLie(head: Head, writtenBytes: number): string | undefined {
    if (writtenBytes === 0) return undefined;
    const request = head.kind === Kind.RESPONSE ? this.channel.find(head.about) : undefined;
    if (request === undefined) return 'a body was written that is no response';
    const isRight = request.isGivenUp || writtenBytes <= request.exposedBytes;
    return isRight ? undefined : 'a body was written where there is no memory for it';
  }

  /** The body that has come; undefined where a program has transferred the memory in which it lay. Of what was given up it does not matter. */
  #whatIsThere(head: Head, body: Body, isLanded: boolean, writtenBytes: number): Body | undefined {
    const request = head.kind === Kind.RESPONSE ? this.channel.find(head.about) : undefined;
    const isThere =
      writtenBytes > 0
        ? request === undefined || lengthOf(request.into ?? NOTHING) >= writtenBytes
        : !isLanded || lengthOf(body) === head.bodyBytes;
    if (isThere) return body;
    if (request?.isGivenUp !== true) return undefined;
    return writtenBytes > 0 ? body : new Uint8Array(head.bodyBytes);
  }

  #arrived({ sn, maxResponseBytes, flags }: Head, header: Uint8Array, body: Body): Arrived {
    const { headBytes, isLanded } = this.#coming;
    const token = (flags & Flag.TOKEN) === 0 ? undefined : tokenOf(headBytes, this.#inHead);
    const link = this.#link;
    const target = token === undefined || link === undefined ? undefined : { link, token: copyOf(token) };
    const { life } = this.channel;
    const isApart = (flags & Flag.APART_RESPONSE) !== 0;
    const isDirect = (flags & Flag.DIRECT) !== 0;
    return {
      sn,
      life,
      header: copyOf(header),
      body: isLanded ? body : gather(body),
      maxResponseBytes,
      isApart,
      isDirect,
      target,
    };
  }

  /** @returns false when there is nothing to be sent */
  #sendNext(link: Link): boolean {
    const head = this.#outHead;
    const message = this.#unsequenced.shift();
    if (message !== undefined) {
      Object.assign(head, emptyHead(message.kind), { status: message.status });
      head.headerBytes = message.header.length;
      // The peer looks at nothing else of it, so it is not taken for told.
      head.ackSn = this.channel.received;
      link.send(this.#encode(head, message.header, undefined), NOTHING, undefined);
      return true;
    }
    const item = this.channel.next(head);
    if (item === 'nothing') return false;
    if (item === undefined) link.send(this.#encode(head, NOTHING, undefined), NOTHING, undefined);
    else this.#send(link, head, item);
    return true;
  }

  #send(link: Link, head: Head, item: Outgoing): void {
    const exposure = this.#expose(link, item);
    if (exposure !== undefined) head.flags |= Flag.TOKEN;
    const { target } = item;
    const token = target?.link === link ? target.token : undefined;
    const header = item.headerFor?.() ?? item.header;
    item.holds(link.send(this.#encode(head, header, exposure), item.body, token, item.isApart));
    if (item.kind === Kind.ONE_WAY) item.sender?.onSent?.();
  }

  /** Memory for a response that may be too long to come along with its header. */
  #expose(link: Link, item: Outgoing): Uint8Array | undefined {
    const { into, kind, isGivenUp } = item;
    if (kind !== Kind.REQUEST || into === undefined || isGivenUp || !link.hasRemoteMemory) return undefined;
    // What is to lie in several pieces the requester READs: only one can be named in a head.
    const isForced = (item.flags & Flag.APART_RESPONSE) !== 0;
    const bytes = lengthOf(into);
    if (!isOnePiece(into) || bytes === 0 || (!isForced && bytes <= this.settings.inlineBytes)) return undefined;
    const exposure = link.expose(into);
    item.exposes(exposure);
    return exposure?.token;
  }

  #encode(head: Head, header: Uint8Array, token: Uint8Array | undefined): Uint8Array {
    return this.#scratch.subarray(0, encodeHead(this.#scratch, head, header, token));
  }
}

function lengthLie({ bodyBytes }: Head, length: number): string | undefined {
  return bodyBytes === length ? undefined : `a body has ${length} bytes, where its head says ${bodyBytes}`;
}
