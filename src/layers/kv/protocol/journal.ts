import type { Partition } from '../store/index.js';
import type { Status } from '../wire/index.js';

/** Keeps what clients change where it outlives the server. Without I/O of its own to whoever uses it: it is asked, and told, and never throws. */
export interface Journal {
  /** Whose changes it keeps. */
  readonly store: Partition;
  /** Whether something was changed that is not committed. */
  readonly hasChanges: boolean;
  /** What is answered to those who want to change something, since nothing could be kept of it; undefined while it can. */
  readonly refusal: Status | undefined;
  /**
   * Makes what was changed last, as far as the policy promises.
   *
   * @returns undefined once it does; otherwise nothing of it has happened, and that is to be answered
   */
  commit(): Status | undefined;
  /** In how many ms {@link work} is to be called; undefined: not before something is changed. */
  readonly waitMs: number | undefined;
  /** Does a piece of what is done beside serving. */
  work(): void;
  /**
   * Milliseconds of the clock by which entries expire, which goes on while there is no server. @param nowUs of a clock that does not go back
   */
  timeMs(nowUs: number): number;
}
