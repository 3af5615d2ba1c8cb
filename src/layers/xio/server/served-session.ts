import { XioError } from '../transport/index.js';
import {
  Action,
  encodeSetupAnswer,
  type Head,
  Kind,
  MAX_ADDRESSES,
  NO_LIMITS,
  type SetupAnswer,
  type SetupRequest,
  XioStatus,
} from '../wire/index.js';
import { invalid, show, VerbsError } from '../../../api/verbs/index.js';
import type { Bytes, XioAcceptOptions } from '../api.js';
import { bytesOf, privateDataOf, type Settings } from '../options.js';
import { Lane } from '../session/lane.js';
import { Session } from '../session/session.js';
import { targetOf } from '../url.js';
import type { Greeted } from './greeter.js';

/** Whoever has accepted sessions. */
export interface SessionHost {
  readonly epoch: Uint8Array;
  onLaneEnded(session: ServedSession, request: SetupRequest, lane: Lane): void;
  onSessionEnded(session: ServedSession): void;
}

/** A connection of the session, as the client has asked for it. */
interface Asked {
  readonly lane: Lane;
  readonly request: SetupRequest;
  stopTimer: (() => void) | undefined;
}

/** A server's end of a session. */
export class ServedSession extends Session {
  readonly resource: string;
  readonly privateData: Uint8Array;
  readonly #asked = new Map<Lane, Asked>();
  #answer: 'none' | 'accepted' | 'refused' = 'none';
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

  /** A client begins a connection of it. */
  join({ end, request }: Greeted): Lane {
    const lane = new Lane(this.settings, this, request.connection);
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
  resume(lane: Lane, { end, received }: Greeted): string | undefined {
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
    if (!Array.isArray(portals) || portals.length > MAX_ADDRESSES)
      throw new VerbsError(call, invalid(`portals is ${show(portals)}`, `It is up to ${MAX_ADDRESSES} URLs`));
    for (const portal of portals) targetOf(call, portal);
    // Whoever handles its requests has taken it so already.
    if (this.#answer === 'accepted' && privateData === undefined && portals.length === 0) return this;
    const acceptance = { addresses: portals.slice(), privateData: privateDataOf(call, privateData) };
    if (!this.#isToBeAnswered()) return this;
    this.#acceptance = acceptance;
    this.#answer = 'accepted';
    for (const { lane, request } of this.#asked.values()) this.#begin(lane, request);
    return this;
  }

  redirect(urls: readonly string[]): void {
    const call = 'redirect';
    if (!Array.isArray(urls) || urls.length === 0 || urls.length > MAX_ADDRESSES)
      throw new VerbsError(call, invalid(`urls is ${show(urls)}`, `It is 1 to ${MAX_ADDRESSES} URLs`));
    for (const url of urls) targetOf(call, url);
    if (!this.#isToBeAnswered()) return;
    this.#refuse({ action: Action.REDIRECT, addresses: urls.slice(), status: XioStatus.XIO_E_SESSION_REDIRECTED });
  }

  reject(reason = '', privateData?: Bytes): void {
    const said = privateData ?? bytesOf('reject', 'reason', reason);
    const bytes = privateDataOf('reject', said);
    if (!this.#isToBeAnswered()) return;
    this.#refuse({ action: Action.REJECT, status: XioStatus.XIO_E_SESSION_REJECTED, privateData: bytes });
  }

  onSetup(_lane: Lane, head: Head): string {
    return head.kind === Kind.SESSION ? 'a client asks again for its session' : 'a client answers for a server';
  }

  onLinkLost(lane: Lane, reason: string): void {
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

  protected hasParted({ channel }: Lane): boolean {
    return channel.isParting && !channel.isAttached;
  }

  protected take(): void {
    if (this.hasEnded) return;
    if (this.#answer === 'none') this.accept();
    else if (this.#answer === 'refused') throw new XioError('XIO_E_STATE', 'the session was refused');
  }

  protected onEnded(): void {
    for (const { lane, request, stopTimer } of this.#asked.values()) {
      stopTimer?.();
      this.host.onLaneEnded(this, request, lane);
    }
    this.#asked.clear();
    this.host.onSessionEnded(this);
  }

  #begin(lane: Lane, { limits }: SetupRequest): void {
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

  #say(lane: Lane, answer: Partial<SetupAnswer> & Pick<SetupAnswer, 'action'>): void {
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

/** SESSION_ANSWER of a server's, with what is not said left empty. */
export function answerOf(epoch: Uint8Array, answer: Partial<SetupAnswer> & Pick<SetupAnswer, 'action'>): Uint8Array {
  return encodeSetupAnswer({
    epoch,
    status: XioStatus.XIO_E_SUCCESS,
    limits: NO_LIMITS,
    addresses: [],
    privateData: new Uint8Array(0),
    ...answer,
  });
}
