import type { MessagePort } from 'node:worker_threads';
import type { AdapterCommand, AdapterFacts, AdapterReply } from '../../../api/soft/index.js';
import type { ErrnoName } from '../../../device/ibta/index.js';
import { codeOf, errnoNameOf } from '../../../device/link/index.js';
import { CommandError } from '../../../device/nic/index.js';
import type { AdapterSpec } from '../native-adapter.js';

/**
 * What a NIC's thread and its driver say to each other beside the rings.
 *
 * Commands and replies go over a message port that both read synchronously. A command has a number, and its reply the same:
 * a call may be interrupted while it waits, and nobody is to take the reply that comes then for his own. `DoorbellPage.COMMANDS`
 * is the number of the last command that was sent, `REPLIES` a count that changes with each reply, so that neither looks for a
 * message that has not been sent. The first reply tells how the start went, the last that the thread has let go of everything.
 */

/** `workerData` of the thread. */
export interface ThreadStart {
  readonly doorbells: ArrayBufferLike;
  readonly asyncEvents: ArrayBufferLike;
  readonly cmEvents: ArrayBufferLike;
  readonly spec: AdapterSpec;
  readonly commands: MessagePort;
  /** Takes {@link Notice}s. */
  readonly notices: MessagePort;
  /** Whether there are system calls; otherwise the thread lives in its event loop, and messages wake it. */
  readonly native: boolean;
  /** One word: {@link ThreadState}. */
  readonly state: SharedArrayBuffer;
  /**
   * One word, of all NIC threads of one program's thread: 1 while the program, tired of polling, naps on it. Whichever
   * NIC has done something puts 0 back and wakes it.
   */
  readonly poller: SharedArrayBuffer;
}

/** Values of the thread's state word: what it is found in when nothing is heard of it. */
export const ThreadState = {
  /** None of our code has run in it. */
  UNBORN: 0,
  RUNNING: 1,
  /** It has let go of everything, or was refused what it needs. */
  STOPPED: 2,
  FAILED: 3,
} as const;
export type ThreadState = (typeof ThreadState)[keyof typeof ThreadState];

/** What goes to the thread. `wake` says nothing: that a message came is what wakes a thread without an eventfd. */
export type ThreadMessage = { readonly number: number; readonly command: AdapterCommand } | { readonly wake: true };

/** How the start went. */
export type StartReply = Started | { readonly errno: ErrnoName; readonly message: string };

/** The adapter is up. */
export interface Started {
  readonly facts: AdapterFacts;
  /** Number of the eventfd that wakes the thread, for as long as it has not stopped. */
  readonly wakeFd?: number;
}

/** What comes back over the command port. */
export type ThreadReply =
  | { readonly started: StartReply }
  | { readonly number: number; readonly reply: AdapterReply }
  | { readonly stopped: true };

/** What the thread says unasked. */
export type Notice =
  | { readonly kind: 'event' }
  | { readonly kind: 'warning'; readonly text: string }
  | { readonly kind: 'failure'; readonly text: string };

/** As a reply, what a start or a command threw. */
export function refusal(error: unknown): { readonly errno: ErrnoName; readonly message: string } {
  if (error instanceof CommandError) return { errno: error.errno, message: error.message };
  return { errno: errnoNameOf(codeOf(error)), message: error instanceof Error ? error.message : String(error) };
}
