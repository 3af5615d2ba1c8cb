import { Action, EPOCH_BYTES, type SetupAnswer, XioStatus } from '../wire/index.js';
import { Attempts } from './attempts.js';
import type { Channel } from './channel.js';
import type { ClientHost, ClientManners } from './client-host.js';
import type { Item } from './item.js';

/** How often links may be lost before a session is there. */
const MOST_IN_VAIN = 4;
/** A link that was open for so long was of use. */
const OF_USE_MS = 1000;
/** A server that has had a session for so long sends it on for good reason: it is counted anew how often that happens. */
const SETTLED_MS = 60_000;

/**
 * One connection of a client's session: makes links one after the other, to one address after the other, and goes on with the
 * session where the server knows of it. Where it does not, or sends it on, the session begins anew. Pure: it neither sends nor waits.
 */
export class ClientMachine<I extends Item> {
  readonly #attempts: Attempts;
  #redirects = 0;
  /** Links that were lost before there was a session. */
  #vain = 0;
  #state: 'connecting' | 'asking' | 'open' | 'pausing' | 'over' = 'connecting';
  #wasOpen = false;
  #hasRestarted = false;
  #epoch: Uint8Array = new Uint8Array(EPOCH_BYTES);
  #isKnown = false;
  #next: readonly string[] = [];
  /** Since when the server that there is has the session. */
  #begunMs = 0;
  #openMs = 0;
  #askedMs = 0;
  /** Since when links are lost before anything of use was said. */
  #lostMs = 0;
  #fruitless = 0;

  constructor(
    private readonly channel: Channel<I>,
    private readonly manners: ClientManners,
    private readonly host: ClientHost,
  ) {
    this.#attempts = new Attempts(manners.addresses);
  }

  get state() {
    return this.#state;
  }

  get address(): string {
    return this.#attempts.address;
  }

  start(): void {
    this.#connect();
  }

  onLink(): void {
    if (this.#state !== 'connecting') return;
    this.#state = 'asking';
    this.#ask();
  }

  /** @param status why there is no link */
  onConnectFailed(status: XioStatus, reason: string): void {
    if (this.#state === 'connecting') this.#failed(status, reason);
  }

  /** The server has not answered SESSION in time: it may be there, and of no use. */
  onUnanswered(): void {
    if (this.#state !== 'asking') return;
    this.host.dropLink('abort');
    this.#failed(XioStatus.XIO_E_TIMEOUT, 'the server did not answer in time');
  }

  onLinkLost(reason: string): void {
    switch (this.#state) {
      case 'asking':
        // The server may have taken the session, and is told by its name that it is the same.
        if (!this.#wasOpen && this.#vain < MOST_IN_VAIN) {
          this.#vain += 1;
          this.#pause();
          return;
        }
        this.#failed(XioStatus.XIO_E_SESSION_DISCONNECTED, reason);
        return;
      case 'open':
        this.#lost(reason);
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
        return this.#forgotten(received);
      case Action.REDIRECT:
        return this.#redirected(answer);
      case Action.REJECT:
        this.over(answer.status, 'the server has refused the session', answer);
        return undefined;
    }
  }

  /** The server sends the session on that it has. It goes there once what it was asked is answered. */
  onMove(addresses: readonly string[]): void {
    this.#next = addresses;
    // Until then it is the one to be reached, should the link be lost.
    this.#attempts.use([this.address, ...addresses, ...this.manners.addresses]);
  }

  /** Both ends are done, or the server is done with this one: the session goes where it was sent, if it was, and is over otherwise. */
  onDone(): void {
    if (this.channel.isMoving && !this.channel.hasNothingLeft) this.#moveOn();
    else this.over(XioStatus.XIO_E_SUCCESS, 'both ends were done');
  }

  /** The time is over that {@link ClientHost.pause} has asked for. */
  onPause(): void {
    if (this.#state === 'pausing') this.#connect();
  }

  /** The time is over that {@link ClientHost.limit} has asked for. */
  onLate(): void {
    if (this.#state !== 'open') this.#late();
  }

  over(status: XioStatus, reason: string, answer?: SetupAnswer): void {
    if (this.#state === 'over') return;
    this.#state = 'over';
    this.host.limit(Infinity);
    this.host.onOver(status, reason, answer);
  }

  #connect(): void {
    this.#state = 'connecting';
    this.#attempts.begin(this.host.nowMs());
    this.host.connect(this.address, this.#attempts.attemptMs);
  }

  #pause(): void {
    this.#state = 'pausing';
    this.host.pause(this.#attempts.rest(this.host.nowMs()));
  }

  #failed(status: XioStatus, reason: string): void {
    if (this.#attempts.next()) this.#connect();
    else if (this.#wasOpen && this.manners.reconnectMs > 0) this.#pause();
    else this.over(status, reason);
  }

  #ask(): void {
    const { connection, resource, privateData, answerTimeoutMs } = this.manners;
    // A server that knows the session answers by itself; of a new one its program decides, in its time.
    const withinMs = this.#isKnown ? Math.min(this.#attempts.attemptMs, answerTimeoutMs) : answerTimeoutMs;
    const request = {
      sessionId: this.host.sessionId(this.channel.life),
      epoch: this.#epoch,
      connection,
      isKnown: this.#isKnown,
      limits: this.channel.own,
      resource,
      privateData,
    };
    this.#askedMs = this.host.nowMs();
    this.host.ask(request, withinMs);
  }

  #lost(reason: string): void {
    const { channel, manners } = this;
    const nowMs = this.host.nowMs();
    this.#fruitless = channel.progress > 0 || nowMs - this.#openMs >= OF_USE_MS ? 0 : this.#fruitless + 1;
    channel.detach();
    // Where it is in doubt what the server has, that is asked.
    const isParted = channel.isParting && (channel.hasNothingLeft || !channel.isMoving || !channel.keepsCalls);
    if (isParted) {
      this.onDone();
      return;
    }
    const isHurried = this.#fruitless <= 1;
    if (isHurried) this.#lostMs = nowMs;
    const restMs = this.#lostMs + manners.reconnectMs - nowMs;
    if (restMs <= 0) {
      if (manners.reconnectMs === 0) this.over(XioStatus.XIO_E_SESSION_DISCONNECTED, reason);
      else this.#late();
      return;
    }
    this.host.limit(restMs);
    if (isHurried) {
      this.#attempts.hurry();
      this.#connect();
    } else {
      // Whoever takes the session and lets go of it at once is not asked again at once.
      this.#attempts.again();
      this.#pause();
    }
  }

  #late(): void {
    const { reconnectMs } = this.manners;
    this.over(XioStatus.XIO_E_SESSION_DISCONNECTED, `the server was not to be reached again within ${reconnectMs} ms`);
  }

  #accepted(answer: SetupAnswer, received: number): string | undefined {
    const how = this.#isKnown ? 'resumed' : this.#hasRestarted ? 'restarted' : 'begun';
    if (!this.#isKnown) this.channel.begin(answer.limits);
    const lie = this.channel.attach(received);
    if (lie !== undefined) return lie;
    this.#openMs = this.host.nowMs();
    this.#attempts.answered(this.#openMs - this.#askedMs);
    if (how !== 'resumed') this.#begunMs = this.#openMs;
    this.#isKnown = true;
    this.#hasRestarted = false;
    this.#wasOpen = true;
    this.#epoch = answer.epoch;
    this.#state = 'open';
    this.host.limit(Infinity);
    this.host.onOpen(how, answer);
    return undefined;
  }

  #forgotten(received: number): string | undefined {
    if (!this.#isKnown) return 'the server says that it does not know of a session which is new';
    const lie = this.channel.settle(received);
    if (lie !== undefined) return lie;
    if (this.channel.hasNothingLeft) this.over(XioStatus.XIO_E_SUCCESS, 'this end was done');
    else if (this.channel.isMoving) this.#moveOn();
    // Those who were told may have ended it.
    else if (this.#restart()) this.#ask();
    return undefined;
  }

  /** Begins anew, under another name: wherever the session was begun before, it is not gone on with. @returns false where that has ended it */
  #restart(): boolean {
    const problem = this.host.roomProblem();
    if (problem !== undefined) {
      this.over(XioStatus.XIO_E_NO_USER_BUFS, problem);
      return false;
    }
    this.#epoch = new Uint8Array(EPOCH_BYTES);
    this.#isKnown = false;
    this.#hasRestarted = true;
    this.channel.restart();
    return this.state !== 'over';
  }

  /** What was sent to the server is done with, or lost: the session goes where that has sent it. */
  #moveOn(): void {
    const nowMs = this.host.nowMs();
    if (nowMs - this.#begunMs >= SETTLED_MS) this.#redirects = 0;
    const isClean = this.channel.asked === 0 && !this.channel.keepsCalls;
    if (!this.#mayGoOn() || !this.#restart()) return;
    const { reconnectMs } = this.manners;
    if (reconnectMs > 0) {
      this.#attempts.hurry();
      this.host.limit(reconnectMs);
    }
    this.#goTo(this.#next, isClean);
  }

  #redirected({ addresses }: SetupAnswer): string | undefined {
    if (this.#isKnown) return 'a session is sent on as if it were new';
    if (this.#mayGoOn()) this.#goTo(addresses, true);
    return undefined;
  }

  /** Whether it may be sent on once more. It is over otherwise. */
  #mayGoOn(): boolean {
    const { maxRedirects } = this.manners;
    this.#redirects += 1;
    if (this.#redirects <= maxRedirects) return true;
    this.over(XioStatus.XIO_E_SESSION_REDIRECTED, `the session was sent on more than ${maxRedirects} times`);
    return false;
  }

  #goTo(addresses: readonly string[], isClean: boolean): void {
    this.#attempts.use([...addresses, ...this.manners.addresses]);
    this.host.dropLink('close');
    this.#state = 'connecting';
    this.host.onRedirected(this.address, isClean);
    // Those who were told may have ended it.
    if (this.state === 'connecting') this.#connect();
  }
}
