import { XioError } from '../transport/index.js';
import {
  Action,
  addressBytesOf,
  encodeMove,
  encodeSetupAnswer,
  type Head,
  Kind,
  MAX_ADDRESS_BYTES,
  MAX_ADDRESSES,
  MAX_TEXT_BYTES,
  NO_LIMITS,
  type SetupAnswer,
  type SetupRequest,
  XioStatus,
} from '../wire/index.js';
import { type FieldsOf, fieldsProblem, invalid, refuse, show, VerbsError } from '../../../api/verbs/index.js';
import type { XioAcceptOptions, XioRejectOptions } from '../api.js';
import { bytesOf, privateDataOf, type Settings } from '../options.js';
import { SessionConnection } from '../session/session-connection.js';
import { Session } from '../session/session.js';
import { targetOf } from '../url.js';
import type { AcceptedClient } from './acceptor.js';

const FIELDS: FieldsOf<XioRejectOptions> = { code: true, privateData: true };

/** What a client is told that is rejected. @throws VerbsError EINVAL for what cannot be told */
function rejectionOf(
  call: string,
  reason: string,
  options: XioRejectOptions,
): Pick<SetupAnswer, 'action' | 'status' | 'words' | 'privateData'> {
  refuse(call, fieldsProblem('options', options, FIELDS));
  const { code = 'XIO_E_SESSION_REJECTED', privateData } = options;
  const given: unknown = reason;
  if (typeof given !== 'string') throw new VerbsError(call, invalid(`reason is ${show(given)}`, 'It is text'));
  const { length } = bytesOf(call, 'reason', reason);
  if (length > MAX_TEXT_BYTES)
    throw new VerbsError(call, invalid(`reason has ${length} bytes`, `It has ${MAX_TEXT_BYTES} at most`));
  if (!Object.hasOwn(XioStatus, code) || code === 'XIO_E_SUCCESS')
    throw new VerbsError(call, invalid(`code is ${show(code)}`, 'It is one of XioStatus, of a failure'));
  return {
    action: Action.REJECT,
    status: XioStatus[code],
    words: reason,
    privateData: privateDataOf(call, privateData),
  };
}

/** SESSION_ANSWER of a server's, with what is not said left empty. */
export function answerOf(epoch: Uint8Array, answer: Partial<SetupAnswer> & Pick<SetupAnswer, 'action'>): Uint8Array {
  return encodeSetupAnswer({
    epoch,
    status: XioStatus.XIO_E_SUCCESS,
    limits: NO_LIMITS,
    addresses: [],
    privateData: new Uint8Array(0),
    words: '',
    ...answer,
  });
}

export interface SessionHost {
  readonly epoch: Uint8Array;
  /** The program has answered it, or it has ended before. */
  onAnswered(session: ServedSession): void;
  onLaneEnded(session: ServedSession, request: SetupRequest, lane: SessionConnection): void;
  onSessionEnded(session: ServedSession): void;
}

interface Asked {
  readonly lane: SessionConnection;
  readonly request: SetupRequest;
  stopTimer: (() => void) | undefined;
}

export class ServedSession extends Session {
  readonly resource: string;
  readonly privateData: Uint8Array;
  readonly #asked = new Map<SessionConnection, Asked>();
  #answer: 'none' | 'accepted' | 'refused' = 'none';
  /** MOVE's header, once the session is sent on that was taken. */
  #move: Uint8Array | undefined;
  #stopAsking: (() => void) | undefined;
  #acceptance: Pick<SetupAnswer, 'addresses' | 'privateData'> = { addresses: [], privateData: new Uint8Array(0) };

  constructor(
    settings: Settings,
    private readonly host: SessionHost,
    { resource, privateData }: SetupRequest,
  ) {
    super(settings);
    this.resource = resource;
    this.privateData = privateData;
  }

  protected get homeConnection(): number | undefined {
    return this.lanes.at(0)?.connection;
  }

  join({ end, request }: AcceptedClient): SessionConnection {
    const lane = new SessionConnection(this.settings, this, request.connection);
    this.lanes.push(lane);
    this.#asked.set(lane, { lane, request, stopTimer: undefined });
    lane.adopt(end);
    if (this.#answer === 'accepted') {
      this.#begin(lane, request);
      this.joined(lane);
    }
    return lane;
  }

  /** A client goes on with a connection of it, on another link. @returns what cannot be true of what it says */
  resume(lane: SessionConnection, { end, received }: AcceptedClient): string | undefined {
    lane.leave('abort');
    const asked = this.#asked.get(lane);
    asked?.stopTimer?.();
    if (lane.channel.isAttached) lane.channel.detach();
    lane.adopt(end);
    if (this.#answer !== 'accepted') return undefined;
    const lie = lane.channel.attach(received);
    if (lie !== undefined) return lie;
    this.#say(lane, { action: Action.ACCEPT, limits: this.settings.limits, ...this.#acceptance });
    this.resumed(lane);
    return undefined;
  }

  accept(options: XioAcceptOptions = {}): this {
    const call = 'accept';
    const { privateData, portals = [] } = options;
    checkUrls(call, 'portals', portals, 0);
    // Whoever handles its requests has taken it so already.
    if (this.#answer === 'accepted' && privateData === undefined && portals.length === 0) return this;
    const acceptance = { addresses: portals.slice(), privateData: privateDataOf(call, privateData) };
    if (!this.#isToBeAnswered()) return this;
    this.#answered();
    this.#acceptance = acceptance;
    this.#answer = 'accepted';
    for (const { lane, request } of this.#asked.values()) this.#begin(lane, request);
    return this;
  }

  redirect(urls: readonly string[]): void {
    checkUrls('redirect', 'urls', urls, 1);
    if (this.#answer === 'accepted') this.#moveTo(urls);
    else if (this.#isToBeAnswered())
      this.#refuse({ action: Action.REDIRECT, addresses: urls.slice(), status: XioStatus.XIO_E_SESSION_REDIRECTED });
  }

  reject(reason = '', options: XioRejectOptions = {}): void {
    const rejection = rejectionOf('reject', reason, options);
    if (this.#isToBeAnswered()) this.#refuse(rejection);
  }

  onMove(): string {
    return 'a client sends its server on';
  }

  onSetup(_lane: SessionConnection, head: Head): string {
    return head.kind === Kind.SESSION ? 'a client asks again for its session' : 'a client answers for a server';
  }

  onLinkLost(lane: SessionConnection, reason: string): void {
    if (lane.channel.isAttached) lane.channel.detach();
    const asked = this.#asked.get(lane);
    const clock = lane.lastLink?.clock;
    const { reconnectMs } = this.settings;
    if (lane.channel.isParting) {
      this.endIfDone();
      return;
    }
    const late = (): void => this.#lose(reason);
    if (this.#answer !== 'accepted' || reconnectMs === 0 || asked === undefined || clock === undefined) {
      late();
      return;
    }
    asked.stopTimer = clock.chore(reconnectMs, late);
    this.disconnected(reason);
  }

  protected get isOpen(): boolean {
    return this.#answer === 'accepted';
  }

  protected hasParted({ channel }: SessionConnection): boolean {
    return channel.isParting && !channel.isAttached;
  }

  protected override joined(lane: SessionConnection): void {
    if (this.#move !== undefined) lane.channel.move(this.#move);
    super.joined(lane);
    lane.pump();
  }

  protected take(): void {
    if (this.hasEnded) return;
    if (this.#answer === 'none') this.accept();
    else if (this.#answer === 'refused') throw new XioError('XIO_E_STATE', 'the session was refused');
  }

  protected onEnded(): void {
    this.#answered();
    for (const { lane, request, stopTimer } of this.#asked.values()) {
      stopTimer?.();
      this.host.onLaneEnded(this, request, lane);
    }
    this.#asked.clear();
    this.host.onSessionEnded(this);
  }

  /** Whether it was sent on after it was taken. */
  get wasMoved(): boolean {
    return this.#move !== undefined;
  }

  /** A client that is told nothing for so long is rejected: nobody knows whether it is still there. */
  waitFor(answerTimeoutMs: number): void {
    const clock = this.lanes.at(0)?.lastLink?.clock;
    if (answerTimeoutMs === Infinity) return;
    this.#stopAsking = clock?.chore(answerTimeoutMs, () => {
      this.reject(`the server's program did not take the session within ${answerTimeoutMs} ms`, {
        code: 'XIO_E_TIMEOUT',
      });
    });
  }

  #answered(): void {
    this.#stopAsking?.();
    this.host.onAnswered(this);
  }

  #moveTo(urls: readonly string[]): void {
    if (this.hasEnded) return;
    if (this.#move !== undefined) throw new XioError('XIO_E_STATE', 'the session was sent on before');
    this.#move = encodeMove(urls);
    for (const { channel } of this.lanes) channel.move(this.#move);
    this.finishAll();
    // What it reads and writes itself may take a while, of which clients need not wait to hear.
    for (const lane of this.lanes.slice()) lane.pump();
  }

  #begin(lane: SessionConnection, { limits }: SetupRequest): void {
    lane.channel.begin(limits);
    // It is gone already, and may come again.
    if (lane.link === undefined) return;
    lane.channel.attach(0);
    this.#say(lane, { action: Action.ACCEPT, limits: this.settings.limits, ...this.#acceptance });
  }

  #refuse(answer: Partial<SetupAnswer> & Pick<SetupAnswer, 'action' | 'status'>): void {
    this.#answer = 'refused';
    for (const lane of this.#asked.keys()) this.#say(lane, answer);
    this.over(answer.status);
  }

  #say(lane: SessionConnection, answer: Partial<SetupAnswer> & Pick<SetupAnswer, 'action'>): void {
    lane.sendAside(Kind.SESSION_ANSWER, answerOf(this.host.epoch, answer));
  }

  /** @returns false when it has ended: a client that comes and goes is no fault of the program's */
  #isToBeAnswered(): boolean {
    if (this.hasEnded) return false;
    if (this.#answer !== 'none') throw new XioError('XIO_E_STATE', 'the session was answered before');
    return true;
  }

  #lose(reason: string): void {
    const status = XioStatus.XIO_E_SESSION_DISCONNECTED;
    this.over(status, new XioError('XIO_E_SESSION_DISCONNECTED', `the client has gone: ${reason}`));
  }
}

/** @throws VerbsError EINVAL for what is not so many URLs, or too many bytes of them */
function checkUrls(call: string, name: string, urls: readonly string[], least: 0 | 1): void {
  if (!Array.isArray(urls) || urls.length < least || urls.length > MAX_ADDRESSES)
    throw new VerbsError(call, invalid(`${name} is ${show(urls)}`, `It is ${least} to ${MAX_ADDRESSES} URLs`));
  for (const url of urls) targetOf(call, url);
  const bytes = addressBytesOf(urls);
  if (bytes <= MAX_ADDRESS_BYTES) return;
  throw new VerbsError(
    call,
    invalid(`${name} has ${bytes} bytes`, `It has ${MAX_ADDRESS_BYTES} at most, of which each URL takes 2`),
  );
}
