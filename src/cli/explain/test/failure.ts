import type { Cause } from '../verdicts/cause.js';
import type { WcStatus, WorkCompletion } from '../../../entry/index.js';
import type { Testbed } from './testbed.js';

export interface Expected {
  readonly cause: Cause;
  readonly words: RegExp;
}

/** What came of a script: what was seen, and the completion that bears the failure. */
export interface Played {
  readonly testbed: Testbed;
  readonly completion: WorkCompletion;
}

/** Something that goes wrong, and how it is to be told. */
export interface Failure {
  readonly name: string;
  readonly script: () => Played;
  readonly status: WcStatus;
  readonly completion: RegExp;
  /** What the capture of the requester tells; undefined where nothing goes over the wire. */
  readonly oneSide: Expected | undefined;
  /** What the captures of both tell; the same where it is left out. */
  readonly bothSides?: Expected;
}
