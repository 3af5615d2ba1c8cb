import { runtime } from '../../../api/runtime/index.js';
import { type FieldsOf, fieldsProblem, invalid, refuse, show, VerbsError } from '../../../api/verbs/index.js';
import { checkWait } from '../../core/index.js';
import { type Link, type Scheme, XioError } from '../transport/index.js';
import { type Body, type Head, Kind, lengthOf, statusName, XioStatus } from '../wire/index.js';
import type {
  Bytes,
  XioAcceptOptions,
  XioConnection,
  XioBody,
  XioDirectOptions,
  XioLanding,
  XioMessage,
  XioParts,
  XioRejectOptions,
  XioRequestOptions,
  XioResponse,
  XioSendOptions,
  XioSession,
  XioSessionEvents,
  XioShare,
  XioShareOptions,
  XioStatistics,
} from '../api.js';
import { bodyFrom, bytesOf, isApart, landingFrom, type Settings } from '../options.js';
import { checkWaits, directPlace, isBody, textOf } from './arguments.js';
import { answerBy } from './answer-by.js';
import { sendMessage, sendRequest } from './calls.js';
import { DirectMemory } from './direct-memory.js';
import { Events } from './events.js';
import { Inbox } from './inbox.js';
import { IncomingRequest } from './incoming-request.js';
import type { Arrived, SessionConnection, SessionConnectionOwner } from './session-connection.js';

const REQUEST_FIELDS: FieldsOf<XioRequestOptions> = {
  signal: true,
  into: true,
  deadlineMs: true,
  maxResponseBytes: true,
  idempotent: true,
  placement: true,
  responsePlacement: true,
};
const SEND_FIELDS: FieldsOf<XioSendOptions> = { receipt: true, signal: true, deadlineMs: true, placement: true };
const DIRECT_FIELDS: FieldsOf<XioDirectOptions> = { signal: true, deadlineMs: true };
const PARTS_FIELDS: FieldsOf<XioParts> = { header: true, body: true };
const CLOSE_MS = 10_000;
const NOTHING = new Uint8Array(0);

/** One end of a session: what both ends share. */
export abstract class Session implements XioSession, SessionConnectionOwner {
  abstract readonly resource: string;
  readonly closed: Promise<void>;
  protected readonly lanes: SessionConnection[] = [];
  protected readonly events = new Events();
  readonly #inbox = new Inbox();
  readonly #direct: DirectMemory;
  /** Requests that have come, and are not answered. */
  readonly #requests = new Map<SessionConnection, Map<number, IncomingRequest>>();
  readonly #untaken: IncomingRequest[] = [];
  readonly #counts = { requestsSent: 0, responsesReceived: 0, requestsReceived: 0, messagesSent: 0 };
  readonly #traffic = { messagesReceived: 0, bytesSent: 0, bytesReceived: 0 };
  #reconnects = 0;
  #turn = 0;
  #isReferenced = true;
  #failure: XioError | undefined;
  #hasEnded = false;
  #isClosing = false;
  #settleClosed: () => void = () => undefined;

  constructor(protected readonly settings: Settings) {
    this.#direct = new DirectMemory({
      lanes: this.lanes,
      inlineBytes: settings.inlineBytes,
      onProtocolViolation: (lane, lie) => this.onProtocolViolation(lane, lie),
      onIdle: () => {
        if (this.#isClosing) this.finishAll();
      },
    });
    this.closed = new Promise((resolve) => {
      this.#settleClosed = resolve;
    });
  }

  /** Which connection of the peer's leads to this end; undefined where all do. */
  protected abstract readonly homeConnection: number | undefined;
  abstract get privateData(): Uint8Array;
  abstract accept(options?: XioAcceptOptions): this;
  abstract redirect(urls: readonly string[]): void;
  abstract reject(reason?: string, options?: XioRejectOptions): void;
  abstract onSetup(lane: SessionConnection, head: Head, header: Uint8Array): string | undefined;
  abstract onMove(lane: SessionConnection, addresses: readonly string[]): string | undefined;
  abstract onLinkLost(lane: SessionConnection, reason: string): void;
  /** The program does something with the session: so it takes it. @throws XioError XIO_E_STATE when it has refused it */
  protected abstract take(): void;
  /** Whether both ends of a connection were done, and it was lost before they knew. */
  protected abstract hasParted(lane: SessionConnection): boolean;
  protected abstract readonly isOpen: boolean;
  protected abstract onEnded(): void;

  get state(): XioSession['state'] {
    if (this.#hasEnded) return 'closed';
    if (!this.isOpen) return 'asked';
    if (this.#isClosing) return 'closing';
    return this.lanes.some(({ channel }) => channel.isAttached) ? 'connected' : 'reconnecting';
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  get scheme(): Scheme {
    return this.#lastLink?.scheme ?? 'rdma';
  }

  get localAddress() {
    return this.#lastLink?.localAddress;
  }

  get remoteAddress() {
    return this.#lastLink?.remoteAddress;
  }

  get failure(): XioError | undefined {
    return this.#failure;
  }

  get statistics(): XioStatistics {
    const sum = (count: (lane: SessionConnection) => number): number =>
      this.lanes.reduce((total, lane) => total + count(lane), 0);
    return {
      ...this.#counts,
      ...this.#traffic,
      reconnects: this.#reconnects,
      replayed: sum(({ channel }) => channel.replayed),
      kept: sum(({ channel }) => channel.kept),
    };
  }

  get connections(): readonly XioConnection[] {
    return this.lanes.map((lane) => lane.asItStands);
  }

  async request(header?: Bytes, body?: XioBody, options: XioRequestOptions = {}): Promise<XioResponse> {
    const call = 'request';
    refuse(call, fieldsProblem('options', options, REQUEST_FIELDS));
    const { maxResponseBytes, placement, responsePlacement } = options;
    checkWaits(call, options);
    const into = options.into === undefined ? undefined : landingFrom(call, 'into', options.into);
    if (
      maxResponseBytes !== undefined &&
      !(Number.isInteger(maxResponseBytes) && maxResponseBytes >= 0 && maxResponseBytes <= 2 ** 30)
    )
      throw new VerbsError(call, invalid(`maxResponseBytes is ${show(maxResponseBytes)}`, 'It is 0 to 2^30'));
    const [headerBytes, wholeBody] = [bytesOf(call, 'header', header), bodyFrom(call, 'body', body)];
    // Field by field: a copy of what a program has made costs as much as all else here.
    const settings = {
      signal: options.signal,
      deadlineMs: options.deadlineMs,
      maxResponseBytes,
      idempotent: options.idempotent,
      into,
      isApart: isApart(call, 'placement', placement),
      isResponseApart: isApart(call, 'responsePlacement', responsePlacement),
    };
    const bodyBytes = lengthOf(wholeBody);
    const lane = this.#laneFor(call, headerBytes, bodyBytes);
    this.#counts.requestsSent += 1;
    this.#traffic.bytesSent += bodyBytes;
    const response = await sendRequest(lane, headerBytes, wholeBody, settings);
    this.#counts.responsesReceived += 1;
    this.#traffic.bytesReceived += response.bodyBytes;
    return response;
  }

  async send(message: XioBody | XioParts, options: XioSendOptions = {}): Promise<void> {
    const call = 'send';
    refuse(call, fieldsProblem('options', options, SEND_FIELDS));
    checkWaits(call, options);
    const parts = isBody(message) ? { body: message } : message;
    refuse(call, fieldsProblem('message', parts, PARTS_FIELDS));
    const [header, body] = [bytesOf(call, 'header', parts.header), bodyFrom(call, 'body', parts.body)];
    const { receipt, signal, deadlineMs } = options;
    const settings = { receipt, signal, deadlineMs, isApart: isApart(call, 'placement', options.placement) };
    const lane = this.#laneFor(call, header, lengthOf(body));
    this.#counts.messagesSent += 1;
    this.#traffic.bytesSent += lengthOf(body);
    await sendMessage(lane, header, body, settings, this.settings.inlineBytes);
  }

  share(bytes: Uint8Array, options: XioShareOptions = {}): XioShare {
    this.take();
    if (this.#hasEnded) throw this.#failure ?? new XioError('XIO_E_SESSION_CLOSED', 'share: the session is closed');
    return this.#direct.share(bytes, options, this.homeConnection);
  }

  async read(token: Uint8Array, offset: number, into: XioLanding, options: XioDirectOptions = {}): Promise<void> {
    await this.#access('read', token, offset, into, options);
  }

  async write(token: Uint8Array, offset: number, from: XioLanding, options: XioDirectOptions = {}): Promise<void> {
    await this.#access('write', token, offset, from, options);
  }

  messages(): AsyncGenerator<XioMessage, void, undefined> {
    this.take();
    return this.#inbox.messages();
  }

  /** In place of {@link messages}: each is given to a taker as it comes, in one order with requests. */
  giveMessagesTo(taker: (message: XioMessage) => void): void {
    this.take();
    this.#inbox.giveTo((message) => this.events.callbacks.call(() => taker(message)));
  }

  on<E extends keyof XioSessionEvents>(event: E, handler: XioSessionEvents[E]): this {
    this.events.set(event, handler);
    if (event !== 'request') return this;
    this.take();
    for (const request of this.#untaken.splice(0)) this.#handle(request);
    return this;
  }

  off(event: keyof XioSessionEvents): this {
    this.events.set(event, undefined);
    return this;
  }

  ref(): this {
    this.#isReferenced = true;
    for (const { link } of this.lanes) link?.ref();
    return this;
  }

  unref(): this {
    this.#isReferenced = false;
    for (const { link } of this.lanes) link?.unref();
    return this;
  }

  async close(options: { readonly timeoutMs?: number | undefined } = {}): Promise<void> {
    checkWait('close', options, { timeoutMs: true });
    if (!this.#hasEnded && !this.isOpen) this.abort();
    if (this.#hasEnded) {
      this.#report();
      return;
    }
    const { timeoutMs = CLOSE_MS } = options;
    const { clock } = this.#lastLink ?? {};
    const stop = clock?.timer(Math.min(timeoutMs, 2 ** 31 - 1), () =>
      this.abort(new XioError('XIO_E_TIMEOUT', `the session was not closed within ${timeoutMs} ms`)),
    );
    this.finishAll();
    await this.closed;
    stop?.();
    this.#report();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  abort(reason?: XioError): void {
    if (this.#hasEnded) return;
    const status = reason?.status ?? XioStatus.XIO_E_SESSION_ABORTED;
    for (const lane of this.lanes) if (lane.channel.isAttached) lane.sendAside(Kind.ABORT, undefined, status);
    this.over(reason?.status ?? XioStatus.XIO_E_SUCCESS, reason);
  }

  landing(bodyBytes: number, header: Uint8Array): Body {
    let given: Body | undefined;
    try {
      const landing = this.events.callbacks.run(() => this.settings.onBody?.(bodyBytes, header));
      given = landing === undefined ? undefined : landingFrom('onBody', 'what it gave', landing);
    } catch (error) {
      runtime().warn(error instanceof Error ? error : new Error(textOf(error)));
    }
    const { landings } = this.settings;
    if (given === undefined) return landings.lend(bodyBytes);
    if (lengthOf(given) === bodyBytes) return given;
    runtime().warn(
      `verbena/xio: onBody gave ${lengthOf(given)} bytes for a body of ${bodyBytes} bytes, where it has to be exactly so long`,
    );
    return landings.lend(bodyBytes);
  }

  directLanding(lane: SessionConnection, bodyBytes: number, header: Uint8Array): Body | undefined {
    return this.#direct.landing(lane, bodyBytes, header);
  }

  onRequest(lane: SessionConnection, arrived: Arrived): void {
    if (arrived.isDirect) {
      this.#direct.onRequest(lane, arrived);
      return;
    }
    this.#counts.requestsReceived += 1;
    this.#traffic.bytesReceived += lengthOf(arrived.body);
    const { inlineBytes, landings } = this.settings;
    const forget = (): void => this.#forget(lane, arrived.sn, request);
    const letGo = (): void => landings.giveBack(arrived.body);
    const { callbacks } = this.events;
    const answering = { session: this, callbacks, inlineBytes, forget, letGo };
    const request: IncomingRequest = new IncomingRequest(lane, arrived, answering);
    let requests = this.#requests.get(lane);
    if (requests === undefined) {
      requests = new Map<number, IncomingRequest>();
      this.#requests.set(lane, requests);
    }
    requests.set(arrived.sn, request);
    if (this.events.request === undefined) this.#untaken.push(request);
    else this.#handle(request);
  }

  onMessage(lane: SessionConnection, arrived: Arrived): void {
    this.#traffic.messagesReceived += 1;
    this.#traffic.bytesReceived += lengthOf(arrived.body);
    this.#inbox.add(lane, arrived, () => this.settings.landings.giveBack(arrived.body));
  }

  onCancel(lane: SessionConnection, sn: number): void {
    this.#requests.get(lane)?.get(sn)?.abandon(new XioError('XIO_E_MSG_CANCELED', 'the requester has given up'));
  }

  onForgotten(lane: SessionConnection, sn: number): void {
    const reason = this.#failure ?? new XioError('XIO_E_SESSION_CLOSED', 'the session has ended');
    const request = this.#requests.get(lane)?.get(sn);
    if (request === undefined) return;
    this.#forget(lane, sn, request);
    const index = this.#untaken.indexOf(request);
    if (index >= 0) this.#untaken.splice(index, 1);
    request.abandon(reason);
  }

  onFin(lane: SessionConnection): void {
    // The end of what a server has begun is not that of a session which it sends on.
    if (!lane.channel.isMoving) this.finishAll();
  }

  onDone(lane: SessionConnection): void {
    lane.leave('close');
    this.endIfDone();
  }

  onAborted(lane: SessionConnection, status: XioStatus): void {
    lane.leave('close');
    const code = statusName(status) ?? 'XIO_E_SESSION_ABORTED';
    this.over(status, new XioError(code, 'the peer has ended the session'));
  }

  onProtocolViolation(lane: SessionConnection, lie: string): void {
    const failure = new XioError('XIO_E_MSG_INVALID', `the peer broke the protocol: ${lie}`);
    lane.sendAside(Kind.ABORT, undefined, failure.status);
    this.over(failure.status, failure);
  }

  /** Nothing is to be said any more by any connection. */
  protected endIfDone(): void {
    if (this.lanes.every((lane) => lane.channel.isDone || this.hasParted(lane))) this.over(XioStatus.XIO_E_SUCCESS);
  }

  /** This end begins nothing any more. The end of one connection is that of the session. */
  protected finishAll(): void {
    this.#isClosing = true;
    for (const lane of this.lanes.slice()) this.#finish(lane);
  }

  protected joined(lane: SessionConnection): void {
    if (this.#isClosing) this.#finish(lane);
  }

  protected resumed(lane: SessionConnection): void {
    this.#reconnects += 1;
    if (!this.#isReferenced) lane.link?.unref();
    this.events.tell(({ reconnected }) => reconnected?.());
    lane.pump();
  }

  /** Whether there is room for what another server may send by this connection, beside what the program has not let go of. @returns why not */
  protected roomProblem(lane: SessionConnection): string | undefined {
    const { messages, bytes } = this.#inbox.heldOf(lane);
    const { queueMessages, queueBytes } = this.settings.limits;
    if (messages <= queueMessages && bytes <= queueBytes) return undefined;
    return `the program has not let go of ${messages} messages of ${bytes} bytes, which servers have sent that are gone`;
  }

  protected disconnected(reason: string): void {
    const error = new XioError('XIO_E_SESSION_DISCONNECTED', reason);
    this.events.tell(({ reconnecting }) => reconnecting?.(error));
  }

  /** The session has ended. @param failure what by, unless an end has closed it */
  protected over(status: XioStatus, failure?: XioError): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#failure = failure;
    this.#direct.end(status);
    for (const lane of this.lanes) {
      lane.channel.end(status);
      lane.leave('close');
    }
    this.#untaken.length = 0;
    this.#requests.clear();
    this.onEnded();
    // Requests that came before have their turns first.
    this.events.callbacks.call(() => this.#inbox.end(failure));
    this.#settleClosed();
    this.events.tell(({ close }) => close?.(failure));
  }

  get #lastLink(): Link | undefined {
    return this.lanes.find(({ lastLink }) => lastLink !== undefined)?.lastLink;
  }

  /** What has ended it, unless this end was the one. */
  #report(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Another request may have that number meanwhile. */
  #forget(lane: SessionConnection, sn: number, request: IncomingRequest): void {
    const requests = this.#requests.get(lane);
    if (requests?.get(sn) === request) requests.delete(sn);
  }

  #finish(lane: SessionConnection): void {
    // What is read and written may have to ask again for where.
    if (this.#direct.size > 0) return;
    lane.channel.finish();
    lane.pump();
  }

  async #access(
    call: 'read' | 'write',
    token: Uint8Array,
    offset: number,
    memory: XioLanding,
    options: XioDirectOptions,
  ): Promise<void> {
    refuse(call, fieldsProblem('options', options, DIRECT_FIELDS));
    checkWaits(call, options);
    const isRead = call === 'read';
    const place = directPlace(call, token, offset, landingFrom(call, isRead ? 'into' : 'from', memory));
    if (this.#direct.size >= this.settings.limits.queueMessages)
      throw new XioError('XIO_E_TX_QUEUE_OVERFLOW', `${call}: ${this.#direct.size} are under way already`);
    const any = this.#laneFor(call, NOTHING, 0);
    const lane = this.lanes.find(({ connection }) => connection === place.connection) ?? any;
    await this.#direct.access(lane, { ...options, ...place, isRead });
  }

  /** The connection whose turn it is; one that has a link, if any has. @throws XioError as `request` */
  #laneFor(call: string, header: Uint8Array, bodyBytes: number): SessionConnection {
    this.take();
    const lanes = this.lanes.filter(({ channel }) => channel.isAttached);
    // Of a connection that never was, nobody knows whether it will be.
    const among = lanes.length > 0 ? lanes : this.lanes.filter(({ channel }) => channel.wasBegun);
    this.#turn = (this.#turn + 1) % Math.max(1, among.length);
    const lane = among.at(this.#turn);
    if (this.#hasEnded || lane === undefined || lane.channel.isFinishing || this.#isClosing)
      throw this.#failure ?? new XioError('XIO_E_SESSION_CLOSED', `${call}: the session is closed`);
    const { peer, waiting, own } = lane.channel;
    if (peer !== undefined && header.length > peer.maxHeaderBytes)
      throw new XioError(
        'XIO_E_MSG_SIZE',
        `${call}: the header has ${header.length} bytes, and the peer takes ${peer.maxHeaderBytes}`,
      );
    if (peer !== undefined && bodyBytes > peer.maxBodyBytes)
      throw new XioError(
        'XIO_E_MSG_SIZE',
        `${call}: the body has ${bodyBytes} bytes, and the peer takes ${peer.maxBodyBytes}`,
      );
    if (waiting >= own.queueMessages)
      throw new XioError('XIO_E_TX_QUEUE_OVERFLOW', `${call}: ${waiting} wait to be sent already`);
    return lane;
  }

  #handle(request: IncomingRequest): void {
    // It has a turn of its own, by which the program may have taken the handler away.
    this.events.tell(({ request: handler }) => {
      if (handler === undefined) this.#untaken.push(request);
      else answerBy(handler, request);
    });
  }
}
