/** What a verdict can be. */

/** What a verdict is called by programs. */
export const Cause = {
  /** What the connection managers said did not come to be a connection. */
  NOT_CONNECTED: 'not-connected',
  /** All was answered: at the first attempt, or after repeats of which nothing shows that they were needed, or that they were. */
  ANSWERED: 'answered',
  REPEATED: 'repeated',
  REPAIRED: 'repaired',
  /** All was answered, some of it long after it was sent for the last time: whether anybody still waited shows nowhere. */
  ANSWERED_LATE: 'answered-late',
  /** Not all was answered, and then one of the two ended the connection. */
  DISCONNECTED: 'disconnected',
  /** The peer refused a request. */
  REMOTE_ACCESS: 'remote-access',
  INVALID_REQUEST: 'invalid-request',
  REMOTE_OPERATION: 'remote-operation',
  NOT_READY: 'not-ready',
  /** The peer asked for the same packet again and again. */
  SEQUENCE: 'sequence',
  /** Different requests have the same PSN, or one has a PSN of a READ's responses. */
  PSN_REUSED: 'psn-reused',
  /** The peer speaks of PSNs that were never sent. */
  PSN_MISMATCH: 'psn-mismatch',
  /** Nothing has come back: from the beginning, or from some time on. Which of the next it was takes the peer's capture. */
  NO_ANSWER: 'no-answer',
  FELL_SILENT: 'fell-silent',
  REQUESTS_LOST: 'requests-lost',
  REQUESTS_DAMAGED: 'requests-damaged',
  ANSWERS_LOST: 'answers-lost',
  ANSWERS_DAMAGED: 'answers-damaged',
  /** What arrived was not answered. */
  UNHEARD: 'unheard',
  /** Not answered, and not tried often: the capture may have ended too early. */
  UNFINISHED: 'unfinished',
  /** Not answered, though the capture goes on for long after that. */
  NEVER_ANSWERED: 'never-answered',
  /** A service that acknowledges nothing. */
  UNACKNOWLEDGED: 'unacknowledged',
  LOST: 'lost',
  DAMAGED: 'damaged',
  ARRIVED: 'arrived',
} as const;
export type Cause = (typeof Cause)[keyof typeof Cause];

/** A cause, a sentence of at most 120 characters, and sentences with the numbers. */
export interface Verdict {
  readonly cause: Cause;
  readonly text: string;
  readonly evidence: readonly string[];
}

/** The longest verdict. */
export const MAX_VERDICT_CHARACTERS = 120;

/** What ends well, or does not show how it ended. */
export const GOOD: ReadonlySet<Cause> = new Set([
  Cause.ANSWERED,
  Cause.REPEATED,
  Cause.REPAIRED,
  Cause.ANSWERED_LATE,
  Cause.UNFINISHED,
  Cause.UNACKNOWLEDGED,
  Cause.ARRIVED,
]);
