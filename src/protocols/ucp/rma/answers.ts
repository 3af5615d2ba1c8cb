import type { PeerProblem } from '../protocol/index.js';
import type { Completion } from '../uct/index.js';
import { UcsStatus } from '../wire/index.js';
import { lie } from '../worker/errors.js';
import type { Epoch, EpochTracker } from './epoch-tracker.js';

/** Messages that want an answer, and that the peer may have of this end's without having answered any. It keeps an answer for each. */
export const MOST_UNANSWERED = 128;

export interface Answered extends Completion {
  readonly isAnswered: boolean;
  /** @returns what is wrong with it */
  onData(payload: Uint8Array): string | undefined;
}

/** What this end's messages are to be answered with: by data that names its request, or by the word that the oldest of the others was done. */
export class Answers {
  readonly #confirmations: Epoch[] = [];
  readonly #byRequest = new Map<number, Answered>();
  #failure: UcsStatus | undefined;
  #requests = 0;

  /**
   * @param epId what this end calls the endpoint
   * @param onRoom there may be room for more
   */
  constructor(
    readonly epId: number,
    private readonly epochs: EpochTracker,
    private readonly onRoom: () => void,
  ) {}

  /** Whether no more may be asked before an answer comes. */
  get isFull(): boolean {
    return this.#failure === undefined && this.#confirmations.length + this.#byRequest.size >= MOST_UNANSWERED;
  }

  /** For {@link expect}: 1 or more. */
  get nextRequestId(): number {
    return this.#requests + 1;
  }

  /** Something was sent that is to be confirmed. */
  expectCompletion(epoch: Epoch): void {
    this.epochs.join(epoch);
    this.#confirmations.push(epoch);
  }

  /** Something was sent that is to be answered by data. */
  expect(requestId: number, answered: Answered): void {
    this.#requests = requestId;
    this.#byRequest.set(requestId, answered);
  }

  onCompletion(epId: number): PeerProblem | undefined {
    if (epId !== this.epId) return lie(`endpoint ${epId} is told that something was done, and this is ${this.epId}`);
    const epoch = this.#confirmations.shift();
    if (epoch === undefined) return lie('something was done that nobody has asked for');
    this.epochs.end(epoch);
    this.onRoom();
    return undefined;
  }

  onAnswer(requestId: number, payload: Uint8Array): PeerProblem | undefined {
    const answered = this.#byRequest.get(requestId);
    if (answered === undefined) return lie(`request ${requestId} is answered, and there is none`);
    const problem = answered.onData(payload);
    if (problem !== undefined) return lie(problem);
    if (!answered.isAnswered) return undefined;
    this.#byRequest.delete(requestId);
    answered.onComplete(UcsStatus.UCS_OK);
    this.onRoom();
    return undefined;
  }

  /** No answer comes any more. */
  fail(status: UcsStatus): void {
    this.#failure = status;
    for (const answered of this.#byRequest.values()) answered.onComplete(status);
    this.#byRequest.clear();
    for (const epoch of this.#confirmations.splice(0)) this.epochs.end(epoch);
    this.onRoom();
  }
}
