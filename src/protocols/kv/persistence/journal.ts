import type { Partition } from '../store/index.js';

/** Why nothing can be kept: the disk is full, and nothing has changed; or it fails, and nobody knows what is on it. */
export type Refusal = 'full' | 'failed';

/** Keeps what clients change where it outlives the server. None of it throws for what the disk does. */
export interface Journal {
  /** Whose changes it keeps. */
  readonly store: Partition;
  /** Whether something was changed that is not committed. */
  readonly hasChanges: boolean;
  /** Why nothing may be changed now; undefined while it may. */
  readonly refusal: Refusal | undefined;
  /**
   * Keeps what was changed since the last time, as far as the policy promises.
   *
   * @returns undefined once it is kept; otherwise it was taken back
   */
  commit(): Refusal | undefined;
  /** In how many ms {@link work} is to be called; undefined: not before something is changed. */
  readonly waitMs: number | undefined;
  /** Does a piece of what is done beside serving. */
  work(nowUs: number): void;
  /** Milliseconds of the clock by which entries expire, which goes on while there is no server. @param nowUs of a clock that does not go back */
  timeMs(nowUs: number): number;
}
