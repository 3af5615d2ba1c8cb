import type { SetupAnswer, SetupRequest, XioStatus } from '../wire/index.js';

/** What a client does as its {@link ClientMachine} says. */
export interface ClientHost {
  /** ms that never go back. */
  nowMs(): number;
  /**
   * Makes a link: to be answered by {@link ClientMachine.onLink} or {@link ClientMachine.onConnectFailed}, not before this returns.
   *
   * @param withinMs gives up after so many ms, if it would not have done so before
   */
  connect(address: string, withinMs: number): void;
  /** Sends SESSION on the link, and has {@link ClientMachine.onUnanswered} called after so many ms, unless it is called again before. */
  ask(request: SetupRequest, withinMs: number): void;
  /** Has {@link ClientMachine.onPause} called after so many ms. */
  pause(delayMs: number): void;
  /** Has {@link ClientMachine.onLate} called after so many ms, unless it is called again before; Infinity for never. */
  limit(delayMs: number): void;
  /** Ends the link, of which nothing is heard any more. */
  dropLink(how: 'close' | 'abort'): void;
  /** A name for a session that nobody can guess; the same for all connections of the session that are in that life of theirs. */
  sessionId(life: number): Uint8Array;
  /** Whether there is room for what another server may send. @returns a sentence that says why not */
  roomProblem(): string | undefined;
  onOpen(how: 'begun' | 'resumed' | 'restarted', answer: SetupAnswer): void;
  /** The server has sent the session on. @param isClean whether nothing that was sent is in doubt */
  onRedirected(address: string, isClean: boolean): void;
  onOver(status: XioStatus, reason: string, answer?: SetupAnswer): void;
}

export interface ClientManners {
  readonly addresses: readonly string[];
  readonly resource: string;
  readonly privateData: Uint8Array;
  readonly connection: number;
  readonly maxRedirects: number;
  /** How long a server may take to answer SESSION. */
  readonly answerTimeoutMs: number;
  /** For how long it tries to connect again. */
  readonly reconnectMs: number;
}
