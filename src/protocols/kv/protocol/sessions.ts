import { newSessionId, type SessionId, sessionKey, type RemoteValue } from '../wire/index.js';
import { ReplyCache } from './reply-cache.js';

/** Registered memory that holds a value on its way. */
export interface ValueBuffer {
  /** At least as many as were asked for. What others have left in them is still there. */
  readonly bytes: Uint8Array;
  readonly addr: number;
  readonly lkey: number;
  /** No request uses it any more. To be called once. */
  release(): void;
}

/** One value on its way between a client's memory and the server's. */
export interface Transfer {
  /** Which way: READ brings it to the server, WRITE to the client. */
  readonly isWrite: boolean;
  readonly remote: RemoteValue;
  readonly buffer: ValueBuffer;
  /** Bytes of the value. */
  readonly length: number;
  /** Called once: it is there, or never will be. Nobody touches the buffer any more. */
  done(isThere: boolean): void;
}

/** How many sessions a server has, and for how long. */
export interface SessionLimits {
  readonly maxSessions: number;
  /** After so long in silence a session is forgotten. */
  readonly maxSilenceUs: number;
}

/** How a client is reached. */
export interface ClientWay {
  /** Sends a copy of an answer, if there is room. */
  send(answer: Uint8Array): void;
  /** @returns false when there is no way to its memory; then the transfer is not told any more */
  move(transfer: Transfer): boolean;
}

export class Session {
  heardUs: number;
  /** Whether a request of its client's has come. */
  hasAsked = false;
  /** Bytes of the longest answer that its client can be sent. */
  answerBytes = Infinity;
  /** The way to its client; undefined while there is none. */
  way: ClientWay | undefined;
  /** Values that are on their way between its client's memory and the server's, or wait for room; and the bytes of the first. */
  transfers = 0;
  transferBytes = 0;
  hasEnded = false;
  /** Told when the session is forgotten. */
  onEnd: (() => void) | undefined;
  /** Ends the connection by which its client reads the store; undefined while there is none. */
  endReader: (() => void) | undefined;
  readonly slots: ReplyCache;

  constructor(
    readonly id: SessionId,
    window: number,
    nowUs: number,
  ) {
    this.heardUs = nowUs;
    this.slots = new ReplyCache(window);
  }
}

/** The clients of a server: so many at most, and none that was silent for long. */
export class Sessions {
  readonly #byKey = new Map<string, Session>();

  /** @param random gives 32 bits that nobody can guess */
  constructor(
    readonly limits: SessionLimits,
    private readonly random: () => number,
  ) {}

  get size(): number {
    return this.#byKey.size;
  }

  /** @returns undefined when there are as many as there may be */
  open(window: number, nowUs: number): Session | undefined {
    if (this.size >= this.limits.maxSessions) this.sweep(nowUs);
    if (this.size >= this.limits.maxSessions) return undefined;
    let id = newSessionId(this.random);
    while (this.find(id) !== undefined) id = newSessionId(this.random);
    const session = new Session(id, window, nowUs);
    this.#byKey.set(sessionKey(id), session);
    return session;
  }

  find(id: SessionId): Session | undefined {
    return this.#byKey.get(sessionKey(id));
  }

  /** Forgets a session. Idempotent. */
  end(session: Session): void {
    if (!this.#byKey.delete(sessionKey(session.id))) return;
    session.hasEnded = true;
    session.way = undefined;
    session.onEnd?.();
    session.endReader?.();
  }

  /** Forgets those that were silent for too long. */
  sweep(nowUs: number): void {
    for (const session of [...this.#byKey.values()])
      if (nowUs - session.heardUs >= this.limits.maxSilenceUs) this.end(session);
  }

  endAll(): void {
    for (const session of [...this.#byKey.values()]) this.end(session);
  }
}
