import type { CopyEngine } from './copy-engine.js';
import { ReadAhead } from './read-ahead.js';
import { WriteBehind } from './write-behind.js';

/** What one queue pair has under way from and to foreign memory. Most have nothing, and none of this. */
export class QpCopies {
  readonly sending: ReadAhead;
  readonly answering: ReadAhead;
  /** What requests of the peer bring, and what answers to its own. */
  readonly requests: WriteBehind;
  readonly responses: WriteBehind;

  constructor(engine: CopyEngine, wake: Wake) {
    this.sending = new ReadAhead(engine, wake.toSend);
    this.answering = new ReadAhead(engine, wake.toAnswer);
    this.requests = new WriteBehind(engine, wake.toTakeRequests);
    this.responses = new WriteBehind(engine, wake.toTakeResponses);
  }

  /** The queue pair takes and sends nothing any more. @returns how many packets waited */
  stop(): number {
    this.sending.drop();
    return this.requests.drop() + this.responses.drop();
  }

  /** Nor does it answer any more. */
  abandon(): void {
    this.stop();
    this.answering.drop();
  }
}

/** What is to be done when a copy has ended that took longer. */
export interface Wake {
  readonly toSend: () => void;
  readonly toAnswer: () => void;
  readonly toTakeRequests: () => void;
  readonly toTakeResponses: () => void;
}

/** Which of its buffers takes what a packet brings. */
export type Side = 'requests' | 'responses';

/** A queue pair, as whoever copies for it knows it. */
export interface CopyingQp {
  /** Undefined until it meets foreign memory. */
  readonly copies: QpCopies | undefined;
  openCopies(): QpCopies;
}
