import { Action, type SetupAnswer, type SetupRequest, EPOCH_BYTES, XioStatus } from '../wire/index.js';
import type { Channel } from './channel.js';
import type { Item } from './item.js';

/** Times between rounds of attempts to connect, in ms: the first is made at once. */
const FIRST_PAUSE_MS = 2;
const LONGEST_PAUSE_MS = 250;
/**
 * How long an attempt to connect again may take, at first; twice as long in each round. The connection manager repeats what was lost after 4 s only, so whoever
 * begins anew finds a server that has returned long before.
 */
const FIRST_ATTEMPT_MS = 100;
/** How often links may be lost before a session is there. */
const MOST_IN_VAIN = 4;

/** What a client does as its machine says. */
export interface ClientHost {
  /**
   * Makes a link: to be answered by {@link ClientMachine.onLink} or {@link ClientMachine.onConnectFailed}, not before this returns.
   *
   * @param withinMs gives up after so many ms, if it would not have done so before
   */
  connect(address: string, withinMs: number): void;
  /** Sends SESSION on the link. */
  ask(request: SetupRequest): void;
  /** Has {@link ClientMachine.onPause} called after so many ms. */
  pause(delayMs: number): void;
  /** Has {@link ClientMachine.onLate} called after so many ms, unless it is called again before; Infinity for never. */
  limit(delayMs: number): void;
  /** Ends the link, of which nothing is heard any more. */
  dropLink(): void;
  /** A name for a session that nobody can guess. */
  newSessionId(): Uint8Array;
  /** The session can be talked on. */
  onOpen(how: 'begun' | 'resumed' | 'restarted', answer: SetupAnswer): void;
  onRedirected(address: string): void;
  /** It is over. */
  onOver(status: XioStatus, reason: string, answer?: SetupAnswer): void;
}

/** How a client behaves. */
export interface ClientManners {
  readonly addresses: readonly string[];
  readonly resource: string;
  readonly privateData: Uint8Array;
  readonly connection: number;
  readonly maxRedirects: number;
  /** For how long it tries to connect again. */
  readonly reconnectMs: number;
}

/**
 * One connection of a client's session: makes links one after the other, to one address after the other, and goes on with the
 * session where the server knows of it. Where it does not, the session begins anew. Pure: it neither sends nor waits.
 */
export class ClientMachine<I extends Item> {
  #addresses: readonly string[];
  #index = 0;
  #tried = 0;
  #pauseMs = 0;
  #attemptMs = Infinity;
  #redirects = 0;
  /** Links that were lost before there was a session. */
  #vain = 0;
  #state: 'connecting' | 'asking' | 'open' | 'pausing' | 'over' = 'connecting';
  #wasOpen = false;
  #hasRestarted = false;
  #sessionId: Uint8Array;
  #epoch: Uint8Array = new Uint8Array(EPOCH_BYTES);
  #isKnown = false;

  constructor(
    private readonly channel: Channel<I>,
    private readonly manners: ClientManners,
    private readonly host: ClientHost,
  ) {
    this.#addresses = manners.addresses;
    this.#sessionId = host.newSessionId();
  }

  get state() {
    return this.#state;
  }

  /** What it is connected to, or tries to be. */
  get address(): string {
    return this.#addresses[this.#index];
  }

  get sessionId(): Uint8Array {
    return this.#sessionId;
  }

  start(): void {
    this.host.connect(this.address, this.#attemptMs);
  }

  onLink(): void {
    if (this.#state !== 'connecting') return;
    this.#state = 'asking';
    this.#ask();
  }

  /** @param status why there is no link */
  onConnectFailed(status: XioStatus, reason: string): void {
    if (this.#state !== 'connecting' && this.#state !== 'asking') return;
    this.#tried += 1;
    this.#index = (this.#index + 1) % this.#addresses.length;
    if (this.#tried < this.#addresses.length) this.#connect();
    else if (this.#wasOpen) this.#pause();
    else this.over(status, reason);
  }

  /** The link was lost. */
  onLinkLost(reason: string): void {
    switch (this.#state) {
      case 'asking':
        // The server may have taken the session, and is told by its name that it is the same.
        if (!this.#wasOpen && this.#vain < MOST_IN_VAIN) {
          this.#vain += 1;
          this.#pause();
          return;
        }
        this.onConnectFailed(XioStatus.XIO_E_SESSION_DISCONNECTED, reason);
        return;
      case 'open':
        this.channel.detach();
        if (this.channel.isParting) {
          this.over(XioStatus.XIO_E_SUCCESS, 'both ends were done');
          return;
        }
        if (this.manners.reconnectMs === 0) {
          this.over(XioStatus.XIO_E_SESSION_DISCONNECTED, reason);
          return;
        }
        this.#tried = 0;
        this.#pauseMs = 0;
        this.#attemptMs = FIRST_ATTEMPT_MS;
        this.host.limit(this.manners.reconnectMs);
        this.#connect();
        return;
      default:
      // There was none that is missed.
    }
  }

  /** The server has answered SESSION. @returns what cannot be true of that */
  onAnswer(answer: SetupAnswer, received: number): string | undefined {
    if (this.#state !== 'asking') return 'SESSION_ANSWER comes where nobody has asked';
    switch (answer.action) {
      case Action.ACCEPT:
        return this.#accepted(answer, received);
      case Action.UNKNOWN:
        return this.#forgotten();
      case Action.REDIRECT:
        return this.#redirected(answer);
      case Action.REJECT:
        this.over(answer.status, 'the server has refused the session', answer);
        return undefined;
    }
  }

  /** The time is over that {@link ClientHost.pause} has asked for. */
  onPause(): void {
    if (this.#state !== 'pausing') return;
    this.#tried = 0;
    this.#connect();
  }

  /** The time is over that {@link ClientHost.limit} has asked for. */
  onLate(): void {
    if (this.#state === 'open') return;
    const { reconnectMs } = this.manners;
    this.over(XioStatus.XIO_E_SESSION_DISCONNECTED, `the server was not to be reached again within ${reconnectMs} ms`);
  }

  /** Ends it. */
  over(status: XioStatus, reason: string, answer?: SetupAnswer): void {
    if (this.#state === 'over') return;
    this.#state = 'over';
    this.host.limit(Infinity);
    this.host.onOver(status, reason, answer);
  }

  #connect(): void {
    this.#state = 'connecting';
    this.host.connect(this.address, this.#attemptMs);
  }

  #pause(): void {
    this.#state = 'pausing';
    this.#attemptMs *= 2;
    this.#pauseMs = Math.min(LONGEST_PAUSE_MS, Math.max(FIRST_PAUSE_MS, 2 * this.#pauseMs));
    this.host.pause(this.#pauseMs);
  }

  #ask(): void {
    const { connection, resource, privateData } = this.manners;
    this.host.ask({
      sessionId: this.#sessionId,
      epoch: this.#epoch,
      connection,
      isKnown: this.#isKnown,
      limits: this.channel.own,
      resource,
      privateData,
    });
  }

  #accepted(answer: SetupAnswer, received: number): string | undefined {
    const how = this.#isKnown ? 'resumed' : this.#hasRestarted ? 'restarted' : 'begun';
    if (!this.#isKnown) this.channel.begin(answer.limits);
    const lie = this.channel.attach(received);
    if (lie !== undefined) return lie;
    this.#isKnown = true;
    this.#hasRestarted = false;
    this.#wasOpen = true;
    this.#epoch = answer.epoch;
    this.#state = 'open';
    this.host.limit(Infinity);
    this.host.onOpen(how, answer);
    return undefined;
  }

  #forgotten(): string | undefined {
    if (!this.#isKnown) return 'the server says that it does not know of a session which is new';
    if (this.channel.isFinishing && this.channel.asked + this.channel.waiting === 0) {
      this.over(XioStatus.XIO_E_SUCCESS, 'this end was done');
      return undefined;
    }
    // Another name: wherever it was begun before, it is not gone on with.
    this.#sessionId = this.host.newSessionId();
    this.#epoch = new Uint8Array(EPOCH_BYTES);
    this.#isKnown = false;
    this.#hasRestarted = true;
    this.channel.restart();
    // Those who were told may have ended it.
    if (this.state === 'asking') this.#ask();
    return undefined;
  }

  #redirected({ addresses }: SetupAnswer): string | undefined {
    if (this.#isKnown) return 'a session is sent on that was accepted';
    this.#redirects += 1;
    const { maxRedirects } = this.manners;
    if (this.#redirects > maxRedirects) {
      this.over(XioStatus.XIO_E_SESSION_REDIRECTED, `the session was sent on more than ${maxRedirects} times`);
      return undefined;
    }
    this.#addresses = [...addresses, ...this.manners.addresses];
    this.#index = 0;
    this.#tried = 0;
    this.host.dropLink();
    this.host.onRedirected(this.address);
    this.#connect();
    return undefined;
  }
}
